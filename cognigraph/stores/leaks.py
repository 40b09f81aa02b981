"""Words that only forgotten messages used, and what was read out of others with these words.

A message is read with those before it as context: "He moved to Oslo" can yield a fact that names
Ben, whom only the message before it named. Once that one is forgotten, the fact must go too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cognigraph.text.terms import term_counts


def only_in(gone: Iterable[str], left: Iterable[str]) -> frozenset[str]:
    """Terms of the forgotten texts that the remaining texts do not have."""
    return _terms(gone) - _terms(left) if (gone := tuple(gone)) else frozenset()


def leaking(words: frozenset[str], names: Mapping[str, Iterable[str]]) -> list[str]:
    """Those of some chunks for which something was read that has one of these words, sorted.

    ``names`` are the names and spellings that were read out of each chunk.
    """
    return sorted(
        chunk for chunk, said in names.items() if words and not words.isdisjoint(_terms(said))
    )


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in term_counts(text))

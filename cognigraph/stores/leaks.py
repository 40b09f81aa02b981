"""Words that only forgotten messages used, and what was read out of others with these words.

A message is read with those before it as context: "He moved to Oslo" can yield a fact that names
Ben, whom only the message before it named. Once that one is forgotten, the fact must go too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cognigraph.text.terms import STOP_WORDS, terms

_RUN = 4


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


def quoting(
    reasons: Mapping[str, tuple[str, str]], gone: Iterable[str], left: Iterable[str]
) -> list[str]:
    """Those of some rulings whose reason quotes the forgotten texts, sorted.

    ``reasons`` are by ruling: the reason, and the facts in words that it is about. It quotes if it
    has a word that only the forgotten texts used, apart from those of the facts and words without a
    topic, or four words in their order.
    """
    gone = tuple(gone)
    words = only_in(gone, left) - STOP_WORDS
    runs = {run for text in gone for run in _runs(text)}
    return sorted(
        ruling
        for ruling, (reason, about) in reasons.items()
        if words & (_terms([reason]) - _terms([about])) or not runs.isdisjoint(_runs(reason))
    )


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    found = terms(text)
    return (tuple(found[at : at + _RUN]) for at in range(len(found) - _RUN + 1))


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in terms(text))

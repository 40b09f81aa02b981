"""What is forgotten together with messages: what quotes words that only they used; and its counts.

A message is read with those before it as context: "He moved to Oslo" can yield a fact that names
Ben, whom only the message before it named. Once that one is forgotten, the fact must go too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cognigraph.model import Forgotten
from cognigraph.stores.protocols import Chosen
from cognigraph.text.terms import STOP_WORDS, terms

Counts = tuple[int, int]
"""How many are deleted, and how many stay because other messages support them too."""


@dataclass(slots=True)
class Preview:
    """Uids of chunks that would go, and of sessions that would lose their summary (``reset``).

    ``leaks`` are other chunks out of which something was read that only those said.
    """

    gone: set[str] = field(default_factory=set)
    leaks: set[str] = field(default_factory=set)
    reset: list[str] = field(default_factory=list)
    _messages: int = 0
    _ended: int = 0

    def add(
        self, part: Chosen, there: Collection[str], chunks: int, leaks: Iterable[str], is_read: bool
    ) -> None:
        """Add a session with some number of ``chunks``, and those of the chosen that still exist.

        ``is_read`` says whether an extractor has read one of them, so that others may rest on it.
        """
        if not there:
            return
        ends = len(there) == chunks
        self._messages += sum(uid in there for uid in part.messages)
        self._ended += ends
        self.gone.update(there)
        self.leaks.update(leaks)
        if ends or is_read:
            self.reset.append(part.session_uid)

    def forgotten(
        self, triples: Counts, entities: Counts, of_sessions: tuple[int, int, int, int]
    ) -> Forgotten:
        """All counts; ``of_sessions`` are keys, themes and revisions that go, and messages that are
        read again."""
        keys, themes, revisions, reread = of_sessions
        return Forgotten(
            messages=self._messages,
            chunks=len(self.gone),
            sessions=self._ended,
            triples=triples[0],
            entities=entities[0],
            keys=keys,
            themes=themes,
            revisions=revisions,
            kept_triples=triples[1],
            kept_entities=entities[1],
            reread=reread,
        )


_RUN = 4


def only_in(gone: Iterable[str], left: Iterable[str]) -> frozenset[str]:
    """Terms of the forgotten texts that the remaining texts do not have."""
    return _terms(gone) - _terms(left) if (gone := tuple(gone)) else frozenset()


def leaking(words: frozenset[str], names: Mapping[str, Iterable[str]]) -> list[str]:
    """The chunks out of which a name with one of these words was read, sorted.

    ``names`` are the names and spellings that were read out of each chunk.
    """
    return sorted(
        chunk for chunk, said in names.items() if words and not words.isdisjoint(_terms(said))
    )


def quoting(
    reasons: Mapping[str, tuple[str, str]], gone: Iterable[str], left: Iterable[str]
) -> list[str]:
    """The rulings whose reason quotes the forgotten texts, sorted.

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

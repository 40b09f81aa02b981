"""What forgetting some messages would delete, counted from what both stores read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from cognigraph.model import Forgotten
from cognigraph.stores.protocols import Chosen

Counts = tuple[int, int]
"""How many go, and how many stay because other messages say or mention them too."""


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

"""What forgetting removed, what it left because others said it too, and texts over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cognigraph.model.messages import StoredMessage


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of ``forget``, or with ``dry_run`` what it would be.

    ``messages`` to ``cached_answers`` count what went. ``kept_triples`` and ``kept_entities`` count
    facts and entities of the forgotten messages that stay, because other messages said or mention
    them too. ``reread`` messages of the same sessions are queued to be read again, without what
    was forgotten. ``is_erased`` says whether the bytes are gone from the file and its journal;
    it is ``None`` on Neo4j, where the server decides when it uses the space again. ``listed`` are
    with ``dry_run`` the first 100 of the messages, oldest first in each session.
    """

    messages: int = 0
    chunks: int = 0
    sessions: int = 0
    triples: int = 0
    entities: int = 0
    keys: int = 0
    themes: int = 0
    revisions: int = 0
    cached_answers: int = 0
    kept_triples: int = 0
    kept_entities: int = 0
    reread: int = 0
    dry_run: bool = False
    is_erased: bool | None = None
    listed: tuple[StoredMessage, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything matched."""
        return self.messages > 0


@dataclass(frozen=True, slots=True)
class MessageVersion:
    """A text that a message has or had. ``replaced_at`` is ``None`` for the present text."""

    number: int
    text: str
    replaced_at: datetime | None = None

"""The role that reads the stored graph for inspection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.model import (
    Entity,
    Episode,
    Session,
    Stats,
    StoredMessage,
    Summary,
    Triple,
    Written,
)
from cognigraph.model.listing import TripleQuery
from cognigraph.settings import QuerySettings


class GraphReader(Protocol):
    """Reads the graph for people: messages, sessions, entities, triples, counts, Cypher."""

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message; the newest one if several sessions have a message of that id."""
        ...

    def sessions(
        self,
        space: str,
        *,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Session]:
        """Sessions, newest first; with ``as_of`` as far as they had gone by then.

        With ``as_of``, ``ids`` are the only ones that are read.

        A session that went on later has the keys and summary of its newest revision of that time.
        """
        ...

    def entities(
        self,
        space: str,
        *,
        match: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Entity]:
        """Canonical entities, most triples first; with ``match`` those whose name contains it.

        Normalised names and aliases are compared. With ``as_of`` only what had been said by then
        counts; entities are merged as they are now.
        """
        ...

    def triples(self, space: str, query: TripleQuery) -> list[Triple]:
        """Triples, newest observation first; with ``entity`` those it is subject or object of.

        An alias stands for its entity; a name that entities of several types share stands for all
        of them. ``as_of`` leaves out triples that were first observed later; the other triples keep
        their later sources.
        """
        ...

    def summaries(self, space: str, session: str) -> list[Summary]:
        """The stored revisions of a session's keys and summary, newest first."""
        ...

    def episodes(
        self, space: str, *, session: str | None = None, limit: int, offset: int = 0
    ) -> list[Episode]:
        """Themes that cover messages, the one that ended last first."""
        ...

    def written(self, space: str) -> list[Written]:
        """All versions of what writers keep (profile and procedures), by chain, oldest first."""
        ...

    def stats(self, space: str, *, as_of: datetime | None = None) -> Stats:
        """Counts of a space; zeros for one that does not exist.

        With ``as_of`` only what had been said by then counts. No chunk is leased then, and no
        summary is due.
        """
        ...

    def cypher(
        self,
        space: str,
        query: str,
        parameters: Mapping[str, Any],
        *,
        limit: int,
        timeout: float,
        limits: QuerySettings = DEFAULT_LIMITS,
    ) -> list[dict[str, Any]]:
        """Run a read-only query that sees only this space."""
        ...

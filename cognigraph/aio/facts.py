"""``AsyncFacts``: the operations on facts that change, for asyncio; a part of ``AsyncSpace``."""

from __future__ import annotations

from datetime import datetime

from cognigraph.aio.writing import AsyncWriting
from cognigraph.model import (
    Conflict,
    Entity,
    EntityProfile,
    Filter,
    History,
    Session,
    Stats,
    Status,
    Triple,
)


class AsyncFacts(AsyncWriting):
    """One tenant, as far as it concerns messages and facts that change."""

    async def sessions(
        self, limit: int = 100, offset: int = 0, *, as_of: datetime | str | None = None
    ) -> list[Session]:
        """See :meth:`cognigraph.Space.sessions`."""
        return await self._run(self._space.sessions, limit, offset, as_of=as_of)

    async def entities(
        self,
        match: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
    ) -> list[Entity]:
        """See :meth:`cognigraph.Space.entities`."""
        return await self._run(self._space.entities, match, limit, offset, as_of=as_of)

    async def stats(self, *, as_of: datetime | str | None = None) -> Stats:
        """See :meth:`cognigraph.Space.stats`."""
        return await self._run(self._space.stats, as_of=as_of)

    async def triples(
        self,
        entity: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        status: Status | None = None,
        slot: str | None = None,
        text: str | None = None,
        where: Filter | None = None,
    ) -> list[Triple]:
        """See :meth:`cognigraph.Space.triples`."""
        return await self._run(
            self._space.triples,
            entity,
            limit,
            offset,
            as_of=as_of,
            valid_at=valid_at,
            status=status,
            slot=slot,
            text=text,
            where=where,
        )

    async def history(
        self,
        entity: str,
        relation: str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> list[History]:
        """See :meth:`cognigraph.Space.history`."""
        return await self._run(
            self._space.history, entity, relation, as_of=as_of, valid_at=valid_at
        )

    async def profile(
        self,
        entity: str,
        *,
        earlier: bool = False,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> EntityProfile:
        """See :meth:`cognigraph.Space.profile`."""
        return await self._run(
            self._space.profile, entity, earlier=earlier, as_of=as_of, valid_at=valid_at
        )

    async def conflicts(self, limit: int = 100) -> list[Conflict]:
        """See :meth:`cognigraph.Space.conflicts`."""
        return await self._run(self._space.conflicts, limit)

    async def supersede(
        self,
        old: Triple | str,
        new: Triple | str,
        *,
        at: datetime | str | None = None,
        reason: str = "",
    ) -> None:
        """See :meth:`cognigraph.Space.supersede`."""
        await self._run(self._space.supersede, old, new, at=at, reason=reason)

    async def retract(self, triple: Triple | str, *, reason: str = "") -> None:
        """See :meth:`cognigraph.Space.retract`."""
        await self._run(self._space.retract, triple, reason=reason)

    async def restore(self, triple: Triple | str, *, reason: str = "") -> None:
        """See :meth:`cognigraph.Space.restore`."""
        await self._run(self._space.restore, triple, reason=reason)

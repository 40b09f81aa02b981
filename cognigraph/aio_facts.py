"""``AsyncFacts``: the operations on facts that change, for asyncio; a part of ``AsyncSpace``."""

from __future__ import annotations

from datetime import datetime

from cognigraph.aio_writing import AsyncWriting
from cognigraph.model import Conflict, History, Triple


class AsyncFacts(AsyncWriting):
    """One tenant, as far as it concerns messages and facts that change."""

    async def history(self, entity: str, relation: str | None = None) -> list[History]:
        """See :meth:`cognigraph.Space.history`."""
        return await self._run(self._space.history, entity, relation)

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

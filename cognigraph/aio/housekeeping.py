"""``AsyncHousekeeping``: the housekeeping operations of a space, for asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cognigraph.aio.writing import AsyncWriting, InThreads
from cognigraph.memory import Memory
from cognigraph.model import (
    Filter,
    Forgotten,
    MessageOrder,
    MessagePage,
    MessageVersion,
    SpacesResult,
    StoredMessage,
)
from cognigraph.settings import SearchSettings


class AsyncHousekeeping(AsyncWriting):
    """One tenant, as far as its messages are kept in order. Each operation is awaited."""

    async def messages(
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        order: MessageOrder = "oldest",
        limit: int = 100,
        after: str | None = None,
        where: Filter | None = None,
    ) -> MessagePage:
        """See :meth:`cognigraph.Space.messages`."""
        return await self._run(
            self._space.messages,
            session=session,
            speaker=speaker,
            since=since,
            until=until,
            order=order,
            limit=limit,
            after=after,
            where=where,
        )

    async def forget(
        self,
        *,
        message: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
        allow_again: bool = False,
    ) -> Forgotten:
        """See :meth:`cognigraph.Space.forget`."""
        return await self._run(
            self._space.forget,
            message=message,
            session=session,
            speaker=speaker,
            before=before,
            entity=entity,
            everything=everything,
            dry_run=dry_run,
            allow_again=allow_again,
        )

    async def expire(self, *, dry_run: bool = False) -> Forgotten:
        """See :meth:`cognigraph.Space.expire`."""
        return await self._run(self._space.expire, dry_run=dry_run)

    async def update(
        self, id: str, text: str, *, session: str | None = None, raw: Any = None
    ) -> StoredMessage:
        """See :meth:`cognigraph.Space.update`."""
        return await self._run(self._space.update, id, text, session=session, raw=raw)

    async def versions(self, id: str, session: str | None = None) -> list[MessageVersion]:
        """See :meth:`cognigraph.Space.versions`."""
        return await self._run(self._space.versions, id, session)

    async def export_space(self, path: str | Path, *, derived: bool = False) -> int:
        """See :meth:`cognigraph.Space.export_space`."""
        return await self._run(self._space.export_space, path, derived=derived)

    async def import_space(self, path: str | Path) -> int:
        """See :meth:`cognigraph.Space.import_space`."""
        return await self._run(self._space.import_space, path)


class AsyncSpaces(InThreads):
    """Operations on whole spaces, and on the whole store. Each is awaited."""

    _memory: Memory

    async def delete_space(self, name: str) -> None:
        """See :meth:`cognigraph.Memory.delete_space`."""
        await self._run(self._memory.delete_space, name)

    async def copy_space(self, a: str, b: str) -> int:
        """See :meth:`cognigraph.Memory.copy_space`."""
        return await self._run(self._memory.copy_space, a, b)

    async def search_spaces(
        self,
        spaces: Sequence[str],
        question: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        settings: SearchSettings | None = None,
    ) -> SpacesResult:
        """See :meth:`cognigraph.Memory.search_spaces`."""
        return await self._run(
            self._memory.search_spaces,
            spaces,
            question,
            k,
            now,
            as_of=as_of,
            valid_at=valid_at,
            where=where,
            settings=settings,
        )

    async def backup(self, path: str | Path) -> None:
        """See :meth:`cognigraph.Memory.backup`."""
        await self._run(self._memory.backup, path)

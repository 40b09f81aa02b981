"""``AsyncImporting``: the operation of a space that reads files, for asyncio."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cognigraph.aio.housekeeping import AsyncHousekeeping
from cognigraph.model import ImportCallback, ImportReport


class AsyncImporting(AsyncHousekeeping):
    """One tenant of a memory, as far as files are read into it."""

    async def import_file(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        session: str | None = None,
        speaker: str | None = None,
        columns: Mapping[str, str] | None = None,
        skip_invalid: bool = False,
        dry_run: bool = False,
        prune: bool = False,
        on_progress: ImportCallback | None = None,
    ) -> ImportReport:
        """See :meth:`cognigraph.Space.import_file`; ``on_progress`` runs in a worker thread."""
        return await self._run(
            self._space.import_file,
            path,
            format=format,
            session=session,
            speaker=speaker,
            columns=columns,
            skip_invalid=skip_invalid,
            dry_run=dry_run,
            prune=prune,
            on_progress=on_progress,
        )

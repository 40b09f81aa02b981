"""``SQLiteStore``: the default store, one local SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cognigraph.errors import StoreError
from cognigraph.model.storage import AuditEntry, Check, EmbedderIdentity, StoreInfo
from cognigraph.stores.records import audit_entry
from cognigraph.stores.reindex import Precision
from cognigraph.stores.sqlite import messages
from cognigraph.stores.sqlite.connection import Pool, mapped_errors
from cognigraph.stores.sqlite.entities import SQLiteResolution
from cognigraph.stores.sqlite.file import Changes, MemoryFile
from cognigraph.stores.sqlite.graph import SQLiteGraph
from cognigraph.stores.sqlite.housekeeping import SQLiteHousekeeping, run_checks
from cognigraph.stores.sqlite.index.index_cache import Snapshots, SpaceIndexes, drop_stale
from cognigraph.stores.sqlite.index.layer import FEW_ROWS
from cognigraph.stores.sqlite.messages import SQLiteMessages
from cognigraph.stores.sqlite.queue import SQLiteQueue
from cognigraph.stores.sqlite.reindex import SQLiteReindexing
from cognigraph.stores.sqlite.schema import prepare
from cognigraph.stores.sqlite.search import SQLiteSearch
from cognigraph.stores.sqlite.states import SQLiteStates
from cognigraph.times import Clock, system_clock

DEFAULT_PRECISION: Precision = "float16"
"""Half the file size of float32 with the same recall (docs/embedders.md)."""


class SQLiteStore:
    """A memory in one SQLite file; see :class:`cognigraph.stores.protocols.Store` for the contract.

    ``index_bytes`` bounds the memory of the in-memory search indexes: those of the least recently
    searched spaces are dropped and read again when needed. The space searched last always stays.
    """

    is_on_server = False

    def __init__(
        self,
        path: str | Path,
        embedder: EmbedderIdentity | None,
        *,
        clock: Clock = system_clock,
        vectors: Precision | None = None,
        index_bytes: int = 2 << 30,
        busy_timeout: float = 60.0,
        accept_loss: bool = False,
    ) -> None:
        self._pool = Pool(path, busy_timeout=busy_timeout)
        self._indexes = SpaceIndexes(index_bytes, FEW_ROWS)
        try:
            self._record = prepare(
                self._pool, embedder, vectors or DEFAULT_PRECISION, clock, accept_loss=accept_loss
            )
            if not self._pool.is_read_only:
                drop_stale(self._pool)
        except BaseException:
            self._pool.close()
            raise
        self._indexes.snapshots = Snapshots(self._pool, self._record.generation)
        file = MemoryFile(self._pool, self._record, clock)
        self._pool.changes = Changes(self._pool)
        self.messages = SQLiteMessages(file)
        self.queue = SQLiteQueue(file)
        self.search = SQLiteSearch(file, self._indexes)
        self.resolution = SQLiteResolution(file)
        self.states = SQLiteStates(file)
        self.graph = SQLiteGraph(file)
        self.housekeeping = SQLiteHousekeeping(file)

    @property
    def info(self) -> StoreInfo:
        record = self._record
        details = {"vectors": record.vectors.precision}
        return StoreInfo(
            "sqlite", self._pool.path, record.schema_version, record.embedder, details,
            is_read_only=self._pool.is_read_only,
        )  # fmt: skip

    def close(self) -> None:
        """Close all connections and drop the in-memory indexes."""
        self._indexes.finish()
        self._pool.close()
        self._indexes.clear()

    def bookmarks(self) -> tuple[str, ...]:
        """None: every program that opens the file sees its newest state."""
        return ()

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        """Refuse bookmarks, which are of a server."""
        if bookmarks:
            raise StoreError(
                f"{self._pool.path} is a file, which has no bookmarks; these are of a Neo4j server"
            )

    def spaces(self) -> list[str]:
        with self._pool.read() as connection:
            query = (
                "SELECT name FROM space WHERE id IN (SELECT space_id FROM session) "
                f"AND {messages.FILLED} ORDER BY name"
            )
            return [row[0] for row in connection.execute(query)]

    def audit_log(self, space: str | None, *, limit: int, offset: int = 0) -> list[AuditEntry]:
        of_space = "" if space is None else "WHERE space = :space"
        query = f"""SELECT at, space, action, by, subjects, details FROM audit {of_space}
                    ORDER BY id DESC LIMIT :limit OFFSET :offset"""
        values = {"space": space, "limit": limit, "offset": offset}
        with self._pool.read() as connection:
            return [audit_entry(*row) for row in connection.execute(query, values)]

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> SQLiteReindexing:
        return SQLiteReindexing(self._pool, self._record, embedder, precision)

    def check(self) -> list[Check]:
        with self._pool.connection() as connection, mapped_errors(self._pool.path):
            return run_checks(connection, self._pool.path, self._pool.is_read_only)

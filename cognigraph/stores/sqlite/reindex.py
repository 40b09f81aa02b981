"""Changes the embedder of a SQLite file in place.

New vectors are collected in the ``*_next`` tables, beside the ones in use, so the work can stop and
resume at any row. One transaction at the end embeds what was added meanwhile, replaces the old
vectors and records the new embedder; until it commits, all processes read the old vectors.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.errors import EmbedderMismatchError, StoreError
from cognigraph.model.graph import stated
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.reindex import Precision, Unindexed
from cognigraph.stores.sqlite.connection import Pool, mapped_errors
from cognigraph.stores.sqlite.file import Record, check_generation, read_meta, write_meta
from cognigraph.stores.sqlite.rows import VectorFormat
from cognigraph.text.terms import headed, searched

logger = logging.getLogger("cognigraph.sqlite")

_BATCH = 256


@dataclass(frozen=True, slots=True)
class _Layer:
    """Rows with vectors: their table, the columns of their text, and where the vectors are.

    ``key`` is a column that identifies a row permanently; an id may be reused.
    """

    name: str
    columns: str
    text: Callable[..., str]
    table: str
    id: str
    key: str = "id"


_NAMES = _Layer("entity", "normalised", str, "name_vector", "entity_id", "uid")
_LAYERS = (
    _NAMES,
    _Layer("chunk", "speaker, text, fresh", searched, "chunk_index", "chunk_id"),
    _Layer(
        "triple", "subject, relation, object, when_text, negated", stated, "triple_index",
        "triple_id",
    ),
    _Layer("key", "name", str, "key", "id"),
    _Layer("theme", "title, summary", headed, "theme", "id"),
)  # fmt: skip


class SQLiteReindexing:
    """See :class:`cognigraph.stores.reindex.Reindexing`."""

    def __init__(
        self, pool: Pool, record: Record, embedder: EmbedderIdentity, precision: Precision | None
    ) -> None:
        self._pool = pool
        self._record = record
        self._embedder = embedder
        self._new = VectorFormat(embedder.dimension, precision or record.vectors.precision)
        self._same_embedder = embedder == record.embedder
        self._after: dict[str, Any] = {}
        self._switched = False
        # In a file from an older version, names may have no vectors yet.
        self._layers = (_NAMES,) if self._same_embedder else _LAYERS
        self._only_names = self._same_embedder and self._new == record.vectors
        with pool.read() as connection:
            self.needed = not self._only_names or bool(self._missing(connection, 1, {}))
        if not self._only_names:
            with pool.write() as connection:
                check_generation(connection, pool.path, record)
                self._begin(connection)

    @property
    def _target(self) -> str:
        new = self._new
        return f"{new.precision} {new.dimension} {self._embedder.name}"

    def _begin(self, connection: sqlite3.Connection) -> None:
        if read_meta(connection).get("next") != self._target:
            self._forget(connection)
            write_meta(connection, next=self._target)

    def _forget(self, connection: sqlite3.Connection) -> None:
        for layer in _LAYERS:
            connection.execute(f"DELETE FROM {layer.name}_next")
        connection.execute("DELETE FROM meta WHERE key = 'next'")

    def progress(self) -> tuple[int, int]:
        with self._pool.read() as connection:
            done, total = (
                sum(
                    connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in tables
                )
                for tables in (
                    [self._made(layer)[0] for layer in self._layers],
                    [layer.name for layer in self._layers],
                )
            )
        return (0, total - done) if self._same_embedder else (done, total)

    def _made(self, layer: _Layer) -> tuple[str, str]:
        """The table that holds the new vectors, and its id column."""
        return (layer.table, layer.id) if self._same_embedder else (f"{layer.name}_next", "id")

    def waiting(self, limit: int) -> list[Unindexed]:
        with self._pool.read() as connection:
            return self._missing(connection, limit, self._after)

    def _missing(
        self, connection: sqlite3.Connection, limit: int, after: dict[str, Any]
    ) -> list[Unindexed]:
        found: list[Unindexed] = []
        for layer in self._layers:
            key, (made, id) = layer.key, self._made(layer)
            first = "" if layer is _NAMES else 0
            rows: list[tuple[Any, ...]] = connection.execute(
                f"""SELECT {key}, {layer.columns} FROM {layer.name} WHERE {key} > ? AND NOT EXISTS
                      (SELECT 1 FROM {made} n WHERE n.{id} = {layer.name}.id)
                    ORDER BY {key} LIMIT ?""",
                (after.get(layer.name, first), limit - len(found)),
            ).fetchall()
            found += [
                Unindexed(layer.name, row[0], layer.text(*row[1:]), layer is _NAMES) for row in rows
            ]
            if rows:
                after[layer.name] = rows[-1][0]
            if len(found) >= limit:
                break
        return found

    def write(self, rows: Sequence[Unindexed], vectors: Vector) -> None:
        with self._pool.write() as connection:
            if self._only_names:
                check_generation(connection, self._pool.path, self._record)
            elif read_meta(connection).get("next") != self._target:
                raise EmbedderMismatchError(
                    f"another reindexing of {self._pool.path} has taken the place of this one, or "
                    "has finished; look at `cognigraph doctor` and start again if need be"
                )
            self._keep(connection, rows, vectors)

    def _keep(
        self, connection: sqlite3.Connection, rows: Sequence[Unindexed], vectors: Vector
    ) -> None:
        layers = {layer.name: layer for layer in self._layers}
        packed = self._record.vectors if self._same_embedder else self._new
        for row, vector in zip(rows, vectors, strict=True):
            layer = layers[row.layer]
            # If the row was replaced since it was read, nothing is written and it waits again.
            connection.execute(
                f"INSERT OR REPLACE INTO {self._made(layer)[0]} SELECT id, ? FROM {layer.name} "
                f"WHERE {layer.key} = ?",
                (packed.pack(vector), row.key),
            )

    def switch(self, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        with self._pool.write() as connection:
            check_generation(connection, self._pool.path, self._record)
            if not self._only_names:
                self._begin(connection)
            after: dict[str, Any] = {}
            while rows := self._missing(connection, _BATCH, after):
                self._keep(connection, rows, embed(rows))
            if self._only_names:
                return
            if self._same_embedder:
                self._convert(connection)
            else:
                self._replace(connection)
            self._forget(connection)
            # The in-memory search indexes of all processes are rebuilt.
            connection.execute("UPDATE space SET epoch = random()")
            write_meta(
                connection,
                embedder=self._embedder.name,
                dimension=self._embedder.dimension,
                vectors=self._new.precision,
                generation=self._record.generation + 1,
            )
        self._switched = True

    def _replace(self, connection: sqlite3.Connection) -> None:
        for layer in _LAYERS:
            connection.execute(
                # Names may have had no vectors, so INSERT and not UPDATE.
                "INSERT OR REPLACE INTO name_vector SELECT id, vector FROM entity_next"
                if layer is _NAMES
                else f"""UPDATE {layer.table} SET vector = n.vector FROM {layer.name}_next n
                         WHERE n.id = {layer.table}.{layer.id}"""
            )

    def _convert(self, connection: sqlite3.Connection) -> None:
        old, new = self._record.vectors.dtype, self._new.dtype
        connection.create_function(
            "converted",
            1,
            lambda blob: np.frombuffer(blob, old).astype(new).tobytes(),
            deterministic=True,
        )
        for layer in _LAYERS:
            connection.execute(f"UPDATE {layer.table} SET vector = converted(vector)")

    def clean(self) -> None:
        """Return the disk space of the old vectors and of the ``*_next`` tables."""
        if not self._switched:
            return
        try:
            with self._pool.connection() as connection, mapped_errors(self._pool.path):
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreError as error:  # e.g. too little disk space; the file is correct, only larger
            logger.warning("%s stays larger than it need be: %s", self._pool.path, error)

"""Changing the embedder of a file in place.

New vectors collect in the ``*_next`` tables, beside the ones in use, so the work can stop and go on
at any row. One transaction at the end embeds what was added meanwhile, puts the new vectors in the
place of the old ones and records the new embedder; until it commits, everyone reads the old ones.
Vectors of names, their blocks and pairs are kept with the embedder they come from, both at a time.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from cognigraph.errors import EmbedderMismatchError, StoreError
from cognigraph.ingest.nearness import place, withdraw
from cognigraph.stores.arrays import Vector
from cognigraph.stores.base import EmbedderIdentity
from cognigraph.stores.reindexing import Precision, Unindexed
from cognigraph.stores.sqlite.blobs import VectorFormat
from cognigraph.stores.sqlite.connection import Pool, mapped_errors
from cognigraph.stores.sqlite.names import SQLiteNames
from cognigraph.stores.sqlite.schema import Record, check_generation, read_meta, write_meta
from cognigraph.text import headed, searched, stated

logger = logging.getLogger("cognigraph.sqlite")

_BATCH = 256
_NAMES = "name"


@dataclass(frozen=True, slots=True)
class _Layer:
    """Rows with vectors: their table, the columns of their text, and where the vectors are."""

    name: str
    columns: str
    text: Callable[..., str]
    table: str
    id: str


_LAYERS = (
    _Layer("chunk", "speaker, text, fresh", searched, "chunk_index", "chunk_id"),
    _Layer(
        "triple", "subject, relation, object, when_text, negated", stated, "triple_index",
        "triple_id",
    ),
    _Layer("key", "name", str, "key", "id"),
    _Layer("theme", "title, summary", headed, "theme", "id"),
)  # fmt: skip


def _start() -> dict[str, Any]:
    """What each layer's keys come after."""
    return {_NAMES: ""} | {layer.name: 0 for layer in _LAYERS}


class SQLiteReindexing:
    """See :class:`cognigraph.stores.base.Reindexing`."""

    def __init__(
        self, pool: Pool, record: Record, embedder: EmbedderIdentity, precision: Precision | None
    ) -> None:
        self._pool = pool
        self._record = record
        self._embedder = embedder
        self._new = VectorFormat(embedder.dimension, precision or record.vectors.precision)
        self._same_embedder = embedder == record.embedder
        self._after = _start()
        self._switched = False
        changes = not self._same_embedder or self._new != record.vectors
        with pool.read() as connection:
            self.needed = changes or bool(self._names(connection, 1, ""))
        self._only_names = not changes
        if changes:
            with pool.write() as connection:
                check_generation(connection, pool.path, record)
                self._begin(connection)
            self._withdraw(keep={record.embedder.label, embedder.label})

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
        """Vectors that are there, and how many there will be."""
        with self._pool.read() as connection:
            total = _count(connection, "entity")
            done = _count(connection, "name_vector WHERE embedder = ?", self._embedder.label)
            if self._same_embedder:
                return 0, total - done
            for layer in _LAYERS:
                done += _count(connection, f"{layer.name}_next")
                total += _count(connection, layer.name)
        return done, total

    def waiting(self, limit: int) -> list[Unindexed]:
        """The next rows without a new vector."""
        with self._pool.read() as connection:
            return self._missing(connection, limit, self._after)

    def _names(self, connection: sqlite3.Connection, limit: int, after: str) -> list[Unindexed]:
        rows = connection.execute(
            """SELECT uid, normalised FROM entity WHERE uid > ? AND NOT EXISTS
                 (SELECT 1 FROM name_vector WHERE entity_id = entity.id AND embedder = ?)
               ORDER BY uid LIMIT ?""",
            (after, self._embedder.label, limit),
        )
        return [Unindexed(_NAMES, uid, name, name=True) for uid, name in rows]

    def _missing(
        self, connection: sqlite3.Connection, limit: int, after: dict[str, Any]
    ) -> list[Unindexed]:
        found = self._names(connection, limit, after[_NAMES])
        if found:
            after[_NAMES] = found[-1].key
        for layer in self._layers:
            rows: list[tuple[Any, ...]] = connection.execute(
                f"""SELECT id, {layer.columns} FROM {layer.name} WHERE id > ? AND NOT EXISTS
                      (SELECT 1 FROM {layer.name}_next n WHERE n.id = {layer.name}.id)
                    ORDER BY id LIMIT ?""",
                (after[layer.name], limit - len(found)),
            ).fetchall()
            found += [Unindexed(layer.name, row[0], layer.text(*row[1:])) for row in rows]
            if rows:
                after[layer.name] = rows[-1][0]
        return found

    @property
    def _layers(self) -> tuple[_Layer, ...]:
        return () if self._same_embedder else _LAYERS

    def write(self, rows: Sequence[Unindexed], vectors: Vector) -> None:
        """Keep some new vectors."""
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
        names: dict[str, Vector] = {}
        for row, vector in zip(rows, vectors, strict=True):
            if row.name:
                names[str(row.key)] = vector
                continue
            # The row may have been replaced since it was read: then it waits again.
            connection.execute(
                f"INSERT OR REPLACE INTO {row.layer}_next SELECT id, ? FROM {row.layer} "
                "WHERE id = ?",
                (self._new.pack(vector), row.key),
            )
        for ledger, uids in _ledgers(connection, self._embedder.label, names):
            place(ledger, ledger.add_vectors({uid: names[uid] for uid in uids}))

    def _withdraw(self, keep: Collection[str]) -> None:
        """Delete what the vectors of names by other embedders led to, some at a time."""
        stale: list[tuple[str, str]] | None = None
        while stale is None or stale:
            with self._pool.write() as connection:
                stale = connection.execute(
                    f"""SELECT v.embedder, e.uid FROM name_vector v JOIN entity e
                        ON e.id = v.entity_id WHERE v.embedder NOT IN ({",".join("?" * len(keep))})
                        ORDER BY v.embedder LIMIT ?""",
                    (*keep, _BATCH),
                ).fetchall()
                for embedder, group in groupby(stale, key=lambda row: row[0]):
                    for ledger, uids in _ledgers(connection, embedder, [uid for _, uid in group]):
                        withdraw(ledger, uids)

    def switch(self, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        """Embed what is still missing and make the new vectors the ones in use."""
        with self._pool.write() as connection:
            check_generation(connection, self._pool.path, self._record)
            if not self._only_names:
                self._begin(connection)
            after = _start()
            while rows := self._missing(connection, _BATCH, after):
                self._keep(connection, rows, embed(rows))
            if self._only_names:
                return
            if self._same_embedder:
                self._convert(connection)
            for layer in self._layers:
                connection.execute(
                    f"""UPDATE {layer.table} SET vector = n.vector FROM {layer.name}_next n
                        WHERE n.id = {layer.table}.{layer.id}"""
                )
            self._forget(connection)
            # Everyone's search indexes start over.
            connection.execute("UPDATE space SET epoch = epoch + 1")
            write_meta(
                connection,
                embedder=self._embedder.name,
                dimension=self._embedder.dimension,
                vectors=self._new.precision,
                generation=self._record.generation + 1,
            )
        self._switched = True

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
        """Give the room of the old vectors, and of the second copy, back to the disk."""
        self._withdraw(keep={self._embedder.label})
        if not self._switched:
            return
        try:
            with self._pool.connection() as connection, mapped_errors(self._pool.path):
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreError as error:  # too little room to do it in: the file is right, only larger
            logger.warning("%s stays larger than it need be: %s", self._pool.path, error)


def _ledgers(
    connection: sqlite3.Connection, embedder: str, uids: Collection[str]
) -> Iterator[tuple[SQLiteNames, list[str]]]:
    """A ledger for each space of some entities that are still there, with those in it."""
    rows = connection.execute(
        f"""SELECT space_id, uid FROM entity WHERE uid IN ({",".join("?" * len(uids))})
            ORDER BY space_id, uid""",
        tuple(uids),
    ).fetchall()
    for id, group in groupby(rows, key=lambda row: int(row[0])):
        yield SQLiteNames(connection, id, embedder), [row[1] for row in group]


def _count(connection: sqlite3.Connection, rows: str, *parameters: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {rows}", parameters).fetchone()[0])

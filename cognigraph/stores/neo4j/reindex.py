"""Changes the embedder of a Neo4j database in place.

New vectors are stored in a second property of each node, with vector indexes of their own, so the
work can stop and resume at any node. The last transaction locks all spaces, embeds what was added
meanwhile and records the new embedder, whose generation determines which property is in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cognigraph.arrays import Vector
from cognigraph.errors import EmbedderMismatchError
from cognigraph.model.graph import stated
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.index.packed import pack_all
from cognigraph.stores.neo4j.index.vectors import OwnIndexes, wait_until_built
from cognigraph.stores.neo4j.statements import packed_property, vector_property
from cognigraph.stores.neo4j.values import pack_name_vector, vector
from cognigraph.stores.reindex import Unindexed
from cognigraph.text.terms import headed, searched

_BATCH = 256
_CLEAN_BATCH = 5000
_INDEX_TIMEOUT = 3600


@dataclass(frozen=True, slots=True)
class _Layer:
    label: str
    columns: tuple[str, ...]
    text: Callable[..., str]
    statement: str = "reindex/write"
    packed: Callable[[Vector], Any] = vector

    @property
    def replace(self) -> tuple[tuple[str, str], ...]:
        return () if self.label == "Chunk" else ((":Chunk", f":{self.label}"),)


_NAMES = _Layer("Named", ("normalised",), str, "reindex/write_names", pack_name_vector)
_LAYERS = (
    _NAMES,
    _Layer("Chunk", ("speaker", "text", "fresh"), searched),
    # All extracted triples, also duplicates, with the names their vectors were made from.
    _Layer("Fact", ("said_subject", "relation", "said_object", "when", "negated"), stated),
    _Layer("Key", ("name",), str),
    _Layer("Theme", ("title", "summary"), headed),
)


class Neo4jReindexing:
    """See :class:`cognigraph.stores.reindex.Reindexing`."""

    def __init__(
        self,
        connection: Connection,
        indexes: OwnIndexes,
        current: EmbedderIdentity,
        embedder: EmbedderIdentity,
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._embedder = embedder
        # In a database from an older version, names may have no vectors yet.
        self._only_names = current == embedder
        self._layers = (_NAMES,) if self._only_names else _LAYERS
        self._generation = connection.generation + (not self._only_names)
        self._property = vector_property(self._generation)
        self._target = f"{embedder.dimension} {embedder.name}"
        self._after: dict[str, str] = {}
        self.needed = not self._only_names or bool(self._missing(connection.rows, 1, {}))
        if not self._only_names:
            self._begin()

    def _begin(self) -> None:
        """Start or resume; remove vectors that an earlier or abandoned embedder left behind."""
        _, _, _, under_way, stale = self._connection.write(_checked_state)
        if under_way == self._target:
            return
        if under_way is not None or stale is not None:
            self._remove(self._property)
        self._connection.write(lambda tx: _note(tx, next=self._target))

    def progress(self) -> tuple[int, int]:
        done = total = 0
        for layer in self._layers:
            row = self._connection.row("reindex/count", *layer.replace, property=self._property)
            assert row is not None
            total, done = total + row[0], done + row[1]
        return (0, total - done) if self._only_names else (done, total)

    def waiting(self, limit: int) -> list[Unindexed]:
        return self._missing(self._connection.rows, limit, self._after)

    def _missing(
        self, rows: Callable[..., list[list[Any]]], limit: int, after: dict[str, str]
    ) -> list[Unindexed]:
        found: list[Unindexed] = []
        for layer in self._layers:
            if len(found) >= limit:
                break
            for uid, values in rows(
                "reindex/waiting",
                *layer.replace,
                property=self._property,
                columns=list(layer.columns),
                after=after.get(layer.label, ""),
                limit=limit - len(found),
            ):
                after[layer.label] = uid
                found.append(Unindexed(layer.label, uid, layer.text(*values), layer is _NAMES))
        return found

    def write(self, rows: Sequence[Unindexed], vectors: Vector) -> None:

        def keep(tx: Transaction) -> None:
            if _checked_state(tx)[3] != self._target and not self._only_names:
                raise EmbedderMismatchError(
                    f"another reindexing of {self._connection.uri} has taken the place of this "
                    "one; start it again when that is done"
                )
            # Only derivations delete nodes with vectors, and only while they lock their space.
            tx.rows("reindex/hold_facts")
            self._keep(tx, rows, vectors)

        self._connection.write(keep)

    def _keep(self, tx: Transaction, rows: Sequence[Unindexed], vectors: Vector) -> None:
        for layer in _LAYERS:
            values = [
                {"uid": row.key, "vector": own}
                for row, vector in zip(rows, vectors, strict=True)
                if row.layer == layer.label and (own := layer.packed(vector)) is not None
            ]
            if values:
                replace = () if layer is _NAMES else layer.replace
                tx.rows(layer.statement, *replace, property=self._property, rows=values)

    def switch(self, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        """Build the indexes, embed the remaining nodes and switch to the new vectors."""
        if self._only_names:
            self._connection.write(lambda tx: self._hold_and_catch_up(tx, embed))
            return
        names = self._indexes.make_again(self._property, self._embedder.dimension)
        wait_until_built(self._connection, names, _INDEX_TIMEOUT)

        def change(tx: Transaction) -> None:
            tx.rows("reindex/hold")
            self._hold_and_catch_up(tx, embed)
            _note(
                tx, generation=self._generation, embedder=self._embedder.name,
                dimension=self._embedder.dimension, stale=self._connection.embedding, next=None,
            )  # fmt: skip

        self._connection.write(change)
        # A space created during that transaction was not locked by it. Its first messages, if any,
        # have only old vectors, and get their new ones here.
        self._connection.write(lambda tx: self._catch_up(tx, embed))
        self._indexes.make_again(self._property, self._embedder.dimension)

    def _hold_and_catch_up(
        self, tx: Transaction, embed: Callable[[Sequence[Unindexed]], Vector]
    ) -> None:
        tx.rows("reindex/hold_facts")
        _checked_state(tx)
        self._catch_up(tx, embed)

    def _catch_up(self, tx: Transaction, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        after: dict[str, str] = {}
        while rows := self._missing(tx.rows, _BATCH, after):
            self._keep(tx, rows, embed(rows))

    def clean(self) -> None:
        """Pack the nodes, and remove what is left of the old embedder, also by an earlier run."""
        row = self._connection.row("reindex/state")
        if row is not None and row[4] is not None:
            pack_all(self._connection, vector_property(row[0]), row[2])
            self._indexes.drop(row[4])
            self._remove(row[4])
            self._connection.write(lambda tx: _note(tx, stale=None))

    def _remove(self, name: str) -> None:
        for layer in _LAYERS:
            after: str | None = ""
            while after is not None:
                after = self._remove_some(layer, name, after)

    def _remove_some(self, layer: _Layer, name: str, after: str) -> str | None:
        row = self._connection.write(
            lambda tx: tx.row(
                "reindex/clean",
                *layer.replace,
                property=name,
                packed=packed_property(name),
                after=after,
                limit=_CLEAN_BATCH,
            )
        )
        return None if row is None else row[0]


def _note(tx: Transaction, **properties: Any) -> None:
    tx.rows("reindex/note", properties=properties)


def _checked_state(tx: Transaction) -> list[Any]:
    tx.check_generation()
    row = tx.row("reindex/state")
    assert row is not None
    return row

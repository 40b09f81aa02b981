"""Removing a whole space in bounded transactions."""

from __future__ import annotations

from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.index.vectors import OwnIndexes

_BATCH = 1000
_STEPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    # Without its session, a worker cannot write what it read.
    ("sessions", ()),
    ("nodes", ()),
    ("triples", ()),
    ("merges", ()),
    ("names", ()),
    ("names", (("entity:Entity", "entity:Alias"),)),
    *(
        (
            "nodes",
            (
                ("node:Chunk", f"node:{label}"),
                ("(space, seq)", "(space)"),
                (" AND node.seq IS NOT NULL", ""),
            ),
        )
        for label in ("Key", "Version", "Forgotten")
    ),
)
"""Statements, and what they replace, from what holds the others together on."""


def remove(connection: Connection, indexes: OwnIndexes, space: str) -> None:
    """Delete all nodes of a space; after an interruption the same call goes on."""
    for name, replace in _STEPS:
        while _delete(connection, name, replace, space) == _BATCH:
            pass
    indexes.drop_of(space)
    connection.write(lambda tx: tx.rows("remove/end", space=space))


def _delete(
    connection: Connection, name: str, replace: tuple[tuple[str, str], ...], space: str
) -> int:
    row = connection.write(lambda tx: tx.row(f"remove/{name}", *replace, space=space, limit=_BATCH))
    return int(row[0]) if row else 0

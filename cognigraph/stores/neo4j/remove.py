"""Removing a whole space in bounded transactions."""

from __future__ import annotations

from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.forget import choose
from cognigraph.stores.neo4j.index import kept_words
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.protocols.housekeeping_store import Selection

_BATCH = 1000
_STEPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    # Without its session, a worker cannot write what it read.
    ("sessions", ()),
    ("nodes", ()),
    ("triples", ()),
    ("merges", ()),
    (
        "nodes",
        (
            ("node:Chunk", "node:Written"),
            ("(space, seq)", "(space, chain, version)"),
            (" AND node.seq <= $until", " AND node.chain IS NOT NULL AND node.version IS NOT NULL"),
        ),
    ),
    ("names", ()),
    ("names", (("entity:Entity", "entity:Alias"),)),
    *(
        (
            "nodes",
            (
                ("node:Chunk", f"node:{label}"),
                ("(space, seq)", "(space)"),
                (" AND node.seq <= $until", ""),
            ),
        )
        for label in ("Key", "Version", "Forgotten")
    ),
)
"""Statements, and what they replace, from what holds the others together on."""


def remove(
    connection: Connection,
    indexes: OwnIndexes,
    space: str,
    *,
    remember: bool,
    keep_forgotten: bool = False,
) -> None:
    """Delete all nodes of a space; after an interruption the same call goes on.

    With ``remember`` the keys of its messages are noted as forgotten, and stay. What is added to
    the space meanwhile stays too. With ``keep_forgotten`` only the keys noted before stay.
    """
    row = connection.write(lambda tx: tx.row("remove/begin", space=space))
    until = row[0] if row else 0
    if remember:
        _remember(connection, space)
    for name, replace in _STEPS[:-1] if remember or keep_forgotten else _STEPS:
        while _delete(connection, name, replace, space, until) == _BATCH:
            pass
    own = indexes.expected(space)
    indexes.drop_of(own)

    def end(tx: Transaction) -> None:
        tx.rows("remove/end", space=space)
        kept_words.drop(tx, space)

    connection.write(end)
    # A search that saw the space without its indexes may have created them again.
    indexes.drop_of(own)


def _remember(connection: Connection, space: str) -> None:
    chosen = choose(connection, space, Selection())
    uids = [uid for part in chosen for uid in part.messages]
    for start in range(0, len(uids), _BATCH):
        batch = uids[start : start + _BATCH]

        def note(tx: Transaction, batch: list[str] = batch) -> None:
            tx.rows("forget/remember", space=space, messages=batch)

        connection.write(note)


def _delete(
    connection: Connection,
    name: str,
    replace: tuple[tuple[str, str], ...],
    space: str,
    until: int,
) -> int:
    row = connection.write(
        lambda tx: tx.row(f"remove/{name}", *replace, space=space, until=until, limit=_BATCH)
    )
    return int(row[0]) if row else 0

"""Packs the nodes that earlier versions wrote, or that have got the vectors of another embedder."""

from __future__ import annotations

from cognigraph.stores.neo4j.connection import Connection, packed_property
from cognigraph.stores.neo4j.index.packed import packed_of_values, unpacked

_BATCH = 2000
_LAYERS = ("Chunk", "Fact", "Theme")


def pack_all(connection: Connection, embedding: str, dimension: int) -> None:
    """Pack all nodes that are not packed yet, with the vectors of the property ``embedding``.

    What was interrupted is continued.
    """
    for layer in _LAYERS:
        after: str | None = ""
        while after is not None:
            after = _pack_some(connection, layer, after, embedding, dimension)


def _pack_some(
    connection: Connection, layer: str, after: str, embedding: str, dimension: int
) -> str | None:
    """Pack the next nodes; return the uid of the last one, if there was any."""
    replace = (
        (f"node.{packed_property(connection.embedding)}", f"node.{packed_property(embedding)}"),
        (":Chunk", f":{layer}"),
    )
    row = connection.row(
        "schema/unpacked", *replace, after=after, limit=_BATCH, unpacked=unpacked(embedding)
    )
    assert row is not None
    last, nodes = row
    rows = [[values[0], text, packed_of_values(values, dimension)] for text, values in nodes]
    if rows:
        connection.write(lambda tx: tx.rows("schema/pack", *replace, rows=rows))
    return None if last is None else str(last)

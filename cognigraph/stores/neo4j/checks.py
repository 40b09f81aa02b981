"""What ``doctor`` looks at in a server."""

from __future__ import annotations

from cognigraph.model.storage import Check
from cognigraph.stores.neo4j.connection import Connection, Row

_LABELS = [
    "CogniGraph",
    "Space",
    "SpaceFacts",
    "Session",
    "Key",
    "Theme",
    "Triple",
    "Entity",
    "Alias",
    "Named",
    "Fact",
    "Block",
    "Merge",
    "Chunk",
]


def run(connection: Connection, schema_version: int, dimension: int) -> list[Check]:
    """Server, schema, indexes and totals."""
    components = {row[0]: row for row in connection.rows("schema/components")}
    _, versions, edition = components.get("Neo4j Kernel", ["", ["?"], "?"])
    indexes = connection.rows("schema/indexes", labels=_LABELS)
    totals = connection.row("read/totals") or [0, 0, 0]
    return [
        Check("Neo4j", True, f"{versions[0]} {edition} at {connection.uri}"),
        Check("schema", True, f"version {schema_version}"),
        _states(indexes),
        _dimensions(indexes, dimension),
        Check("content", True, "{} spaces, {} chunks, {} triples".format(*totals)),
    ]


def _states(indexes: list[Row]) -> Check:
    waiting = sorted(f"{name} is {state}" for name, _, state, _ in indexes if state != "ONLINE")
    failed = any("FAILED" in text for text in waiting)
    return Check(
        "indexes",
        not waiting,
        f"{len(indexes) - len(waiting)} of {len(indexes)} online"
        + "".join(f"; {text}" for text in waiting),
        "drop the failed index and open the memory again: it is built anew"
        if failed
        else "wait until the server has filled them; searches are correct meanwhile, only slower",
    )


def _dimensions(indexes: list[Row], dimension: int) -> Check:
    vectors = [row for row in indexes if row[1] == "VECTOR"]
    wrong = sorted(f"{name} has {found}" for name, _, _, found in vectors if found != dimension)
    return Check(
        "vector indexes",
        not wrong,
        "; ".join(wrong) or f"{len(vectors)} big layers have their own, {dimension} dimensions",
        "another program made these indexes; drop them and open the memory again",
    )

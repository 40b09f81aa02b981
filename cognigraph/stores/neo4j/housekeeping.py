"""Checks of a database for ``doctor``, and the role of housekeeping."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cognigraph.errors import StoreError
from cognigraph.model.filters import MessageQuery
from cognigraph.model.storage import AuditEntry, Check
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.export import Neo4jExport
from cognigraph.stores.neo4j.index.vectors import Layer
from cognigraph.stores.neo4j.messages import list_messages
from cognigraph.stores.protocols import imports_check
from cognigraph.stores.records import Placed

_PER_QUERY = "db.memory.transaction.max"

_IN_TOTAL = "dbms.memory.transaction.total.max"

_UNLIMITED = re.compile(r"0+(\.0+)?\s*[a-zA-Z]*")

_LABELS = (
    "CogniGraph Space SpaceFacts Session Key Theme Triple Entity Alias Named Fact Block Written "
    "Merge Chunk Audit"
).split()


def run_checks(
    connection: Connection,
    schema_version: int,
    dimension: int,
    vector_indexes: Mapping[str, tuple[Layer, str]],
) -> list[Check]:
    """Check server, schema, indexes and memory limit, and count the content.

    ``vector_indexes`` are those that large spaces must have: layer and space by name.
    """
    components = {row[0]: row for row in connection.rows("schema/components")}
    _, versions, edition = components.get("Neo4j Kernel", ["", ["?"], "?"])
    indexes = connection.rows("schema/indexes", labels=_LABELS)
    totals = connection.row("read/totals") or [0, 0, 0]
    return [
        Check("Neo4j", True, f"{versions[0]} {edition} at {connection.uri}"),
        Check("schema", True, f"version {schema_version}"),
        _states(indexes),
        _vectors(indexes, dimension, vector_indexes),
        memory_limit(_settings(connection)),
        Check("content", True, "{} spaces, {} chunks, {} triples".format(*totals)),
        *imports_check([name for (name,) in connection.rows("read/imports")]),
    ]


def _settings(connection: Connection) -> dict[str, str] | None:
    """Return the server's memory limits, or ``None`` if the user may not read settings."""
    try:
        return dict(connection.rows("schema/memory_settings", names=[_PER_QUERY, _IN_TOTAL]))
    except StoreError:
        return None


def memory_limit(settings: Mapping[str, str] | None) -> Check:
    """Report how much memory of the server one query may use, and how to limit it.

    The check never fails: a memory works without the limit, and only an administrator can set it.
    """
    name = "query memory"
    if settings is None:
        return Check(name, True, f"unknown: this user may not read {_PER_QUERY}")
    total = settings.get(_IN_TOTAL, "unknown")
    value = settings.get(_PER_QUERY, "unknown")
    if _UNLIMITED.fullmatch(value):
        return Check(
            name,
            True,
            f"one query may use all memory for transactions ({_IN_TOTAL}: {total}); set "
            f"{_PER_QUERY}, for example to 256m, so that a heavy query cannot make others fail",
        )
    return Check(name, True, f"{value} for one query ({_PER_QUERY}), {total} for all")


def _states(indexes: list[Row]) -> Check:
    waiting = sorted(f"{name} is {state}" for name, _, state, _ in indexes if state != "ONLINE")
    failed = any("FAILED" in text for text in waiting)
    return Check(
        "indexes",
        not waiting,
        f"{len(indexes) - len(waiting)} of {len(indexes)} online"
        + "".join(f"; {text}" for text in waiting),
        "drop the failed index and open the memory again, which rebuilds it"
        if failed
        else "wait until the server has built them; searches are correct meanwhile, only slower",
    )


def _vectors(
    indexes: list[Row], dimension: int, expected: Mapping[str, tuple[Layer, str]]
) -> Check:
    vectors = {row[0]: row[3] for row in indexes if row[1] == "VECTOR"}
    wrong = sorted(f"{name} has {found}" for name, found in vectors.items() if found != dimension)
    missing = sorted(
        f"{name} ({layer} of space {space!r}) is missing"
        for name, (layer, space) in expected.items()
        if name not in vectors
    )
    return Check(
        "vector indexes",
        not wrong and not missing,
        "; ".join([*wrong, *missing]) or f"{len(vectors)} for large layers, {dimension} dimensions",
        "another program created these indexes; drop them and open the memory again"
        if wrong
        else "search in the space: that makes them again in the background; until the server has "
        "built them, searches there are correct, only slower",
    )


# ``Neo4jHousekeeping``: lists, forgets, exports and imports messages, and removes spaces.


class Neo4jHousekeeping(Neo4jExport):
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        return list_messages(self._connection, space, query)

    # The database

    def audit(self, entry: AuditEntry) -> None:
        self._connection.write(lambda tx: tx.audit(entry))

    def backup(self, path: str) -> None:
        """Refuse: a server has tools of its own."""
        raise StoreError(
            f"{self._connection.uri} cannot be backed up from here; use neo4j-admin database dump "
            "(or backup), or export each space"
        )

    def erase(self) -> bool | None:
        """Nothing to do: the server decides when it uses deleted space again."""
        return None

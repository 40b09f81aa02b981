"""The Neo4j store, for large memories and several processes."""

from __future__ import annotations

from cognigraph.errors import ConfigurationError
from cognigraph.stores.divided import DividedStore
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.store import Neo4jDatabases, Neo4jStore
from cognigraph.stores.protocols import Store
from cognigraph.stores.registry import StoreRequest

__all__ = ["Neo4jStore", "open_store"]


def open_store(request: StoreRequest) -> Store:
    """Open one database or several; see :func:`cognigraph.stores.registry.open_store`."""
    if request.storage.vectors is not None:
        raise ConfigurationError(
            "storage.vectors is for SQLite files; leave it out: the vector format of Neo4j cannot "
            "be chosen"
        )
    if request.database is None or isinstance(request.database, str):
        return _opened(request, request.database)
    if request.embedder is None:
        raise ConfigurationError("a memory in several databases needs an embedder")
    with within(request.storage.open_timeout):
        databases = Neo4jDatabases(
            request.embedder,
            lambda name: Connection(
                request.location,
                request.auth,
                name,
                read_timeout=request.storage.read_timeout,
                write_timeout=request.storage.open_timeout,
            ),
            lambda name: _opened(request, name),
        )
    return DividedStore(databases, request.database)


def _opened(request: StoreRequest, database: str | None) -> Neo4jStore:
    return Neo4jStore(
        request.location,
        request.embedder,
        auth=request.auth,
        database=database,
        clock=request.clock,
        read_timeout=request.storage.read_timeout,
        write_timeout=request.storage.write_timeout,
        open_timeout=request.storage.open_timeout,
        reads=request.storage.reads,
    )

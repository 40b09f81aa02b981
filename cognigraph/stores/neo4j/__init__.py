"""The Neo4j store, for large memories and several processes."""

from __future__ import annotations

from cognigraph.errors import ConfigurationError
from cognigraph.stores.neo4j.store import Neo4jStore
from cognigraph.stores.registry import StoreRequest

__all__ = ["Neo4jStore", "open_store"]


def open_store(request: StoreRequest) -> Neo4jStore:
    """Open a database by its URI; see :class:`cognigraph.stores.registry.StorePackage`."""
    if request.storage.vectors is not None:
        raise ConfigurationError(
            "storage.vectors is for SQLite files; leave it out: the vector format of Neo4j cannot "
            "be chosen"
        )
    return Neo4jStore(
        request.location,
        request.embedder,
        auth=request.auth,
        database=request.database,
        clock=request.clock,
        read_timeout=request.storage.read_timeout,
        write_timeout=request.storage.write_timeout,
        open_timeout=request.storage.open_timeout,
        reads=request.storage.reads,
    )

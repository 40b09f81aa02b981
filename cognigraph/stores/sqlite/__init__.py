"""The embedded store: one SQLite file."""

from __future__ import annotations

from pathlib import Path

from cognigraph.errors import ConfigurationError
from cognigraph.stores.registry import StoreRequest
from cognigraph.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore", "open_store"]


def open_store(request: StoreRequest) -> SQLiteStore:
    """Open a SQLite file; see :func:`cognigraph.stores.registry.open_store`."""
    location = request.location
    if not location or location == ":memory:":
        raise ConfigurationError(
            "a memory needs a file (threads and processes share it); for a throw-away one use a "
            "path inside tempfile.TemporaryDirectory()"
        )
    if request.auth is not None or request.database is not None:
        raise ConfigurationError(f"auth and database are for Neo4j; {location!r} is a file")
    return SQLiteStore(
        Path(location).expanduser(),
        request.embedder,
        clock=request.clock,
        vectors=request.storage.vectors,
        index_bytes=request.storage.index_bytes,
        accept_loss=request.storage.accept_loss,
    )

"""The embedded store: one SQLite file."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.stores.registry import StoreRequest
from cognigraph.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore", "open_store"]


def open_store(request: StoreRequest) -> SQLiteStore:
    """Open a file; see :class:`cognigraph.stores.registry.StorePackage`."""
    location = request.location
    if not location or location == ":memory:":
        raise ConfigurationError(
            "a memory needs a file (threads and processes share it); for a throw-away one use a "
            "path inside tempfile.TemporaryDirectory()"
        )
    if request.auth is not None or request.database is not None:
        raise ConfigurationError(f"auth and database are for Neo4j; {location!r} is a file")
    path = Path(location).expanduser()
    _check_regular(path)
    return SQLiteStore(
        path,
        request.embedder,
        clock=request.clock,
        vectors=request.storage.vectors,
    )


def _check_regular(path: Path) -> None:
    """Refuse what can never be a database file, before SQLite reports it as an I/O error."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # it is not there yet, or opening it will tell why it cannot be read
    if S_ISDIR(mode):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not S_ISREG(mode):
        raise StoreError(
            f"{path} is a device, pipe or socket and cannot hold a memory; give the path of a "
            "regular file"
        )

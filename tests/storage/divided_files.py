"""A store for tests: the spaces of a memory in several SQLite files, as in databases of a server.

The location is ``files://FOLDER``. The classes under test are those that a Neo4j server with
several databases uses; each database is a real store.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cognigraph.model.storage import StoreInfo
from cognigraph.stores.divided import DividedStore
from cognigraph.stores.registry import StoreRequest
from cognigraph.stores.sqlite import SQLiteStore
from cognigraph.stores.sqlite.schema import migrations


class Files:
    """The files of a folder as databases."""

    def __init__(self, folder: Path, request: StoreRequest) -> None:
        self._folder = folder
        self._request = request

    def canonical(self, name: str) -> str:
        return name.lower()

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("*.db"))

    def spaces(self, name: str) -> list[str]:
        with closing(sqlite3.connect(self._folder / f"{name}.db")) as db:
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'space'").fetchone() is None:
                return []  # another thread is creating the file
            rows = db.execute("SELECT name FROM space WHERE id IN (SELECT space_id FROM chunk)")
            return sorted(name for (name,) in rows)

    def logged(self, name: str) -> list[str]:
        with closing(sqlite3.connect(self._folder / f"{name}.db")) as db:
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit'").fetchone() is None:
                return []
            return sorted(space for (space,) in db.execute("SELECT DISTINCT space FROM audit"))

    def open(self, name: str) -> SQLiteStore:
        request = self._request
        return SQLiteStore(self._folder / f"{name}.db", request.embedder, clock=request.clock)

    def info(self) -> StoreInfo:
        assert self._request.embedder is not None
        return StoreInfo(
            "sqlite", str(self._folder), migrations()[-1][0], self._request.embedder, {}
        )

    def close(self) -> None:
        pass


def open_store(request: StoreRequest) -> DividedStore:
    assert callable(request.database)
    folder = Path(request.location.removeprefix("files://"))
    return DividedStore(Files(folder, request), request.database)

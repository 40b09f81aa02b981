"""The checks of a file find episodes that lost what they cover."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from cognigraph import Memory
from cognigraph.testing import HashEmbedder


def test_an_episode_without_messages_is_reported(tmp_path):
    path = tmp_path / "memory.db"
    with Memory(path, embedder=HashEmbedder(), enrich="manual") as memory:
        memory.add("I moved to Oslo in May with my old green bicycle.", speaker="Ann", session="s")
        memory.flush()
        check = next(item for item in memory.admin.check() if item.name == "episodes")
        assert (check.ok, check.detail) == (True, "1 of 1 cover messages of their session")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM covers")
    connection.close()
    with Memory(path, embedder=HashEmbedder(), enrich="manual") as memory:
        check = next(item for item in memory.admin.check() if item.name == "episodes")
        assert (check.ok, check.detail) == (False, "0 of 1 cover messages of their session")

"""The audit log of a file cannot be changed, and older files get one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cognigraph import Memory


def test_rows_of_the_log_cannot_be_changed_or_deleted(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", enrich="manual") as memory:
        space = memory.space("ann", by="ann")
        space.add("I live in Oslo.", id="m1")
        space.forget(message="m1")
    with sqlite3.connect(tmp_path / "m.db") as connection:
        for statement in ("UPDATE audit SET by = 'ben'", "DELETE FROM audit"):
            with pytest.raises(sqlite3.IntegrityError, match="append only"):
                connection.execute(statement)
        assert connection.execute("SELECT by FROM audit").fetchall() == [("ann",)]
    connection.close()

"""Row ids that a search remembers: rows are found by them, and else by their uids."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from typing import Any

from cognigraph.stores.sqlite.connection import Pool, cache_kib
from cognigraph.stores.sqlite.rows import RowIds, select_in

QUERY = "SELECT c.id, c.uid FROM chunk c WHERE c.text != 'hidden' AND"


def rows(count: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, uid UNIQUE, space_id, text)"
    )
    connection.executemany(
        "INSERT INTO chunk (uid, space_id, text) VALUES (?, ?, ?)",
        [(f"u{n}", 1 + n % 2, "hidden" if n == 4 else "said") for n in range(count)],
    )
    return connection


def test_rows_are_found_by_ids_that_are_known_and_else_by_uid():
    wanted = ["u0", "u2", "u3", "u4", "u6", "u9"]  # u3 is in another space, u4 hidden, u9 nowhere
    expected = [(1, "u0"), (3, "u2"), (7, "u6")]
    known = RowIds()
    with closing(rows(8)) as connection:
        assert sorted(known.select(connection, QUERY, "c", wanted, 1)) == expected
        known.remember(["u0", "u3", "u4"], [1, 4, 5])
        assert sorted(known.select(connection, QUERY, "c", wanted, 1)) == expected
        assert known.select(connection, QUERY, "c", [], 1) == []


def test_a_row_that_was_deleted_and_stored_again_is_found_by_its_uid():
    known = RowIds()
    known.remember(["u2"], [3])
    with closing(rows(3)) as connection:
        connection.execute("DELETE FROM chunk WHERE uid = 'u2'")
        assert known.select(connection, QUERY, "c", ["u2"], 1) == []
        connection.execute("INSERT INTO chunk (uid, space_id, text) VALUES ('u2', 1, 'again')")
        assert known.select(connection, QUERY, "c", ["u2"], 1) == [(4, "u2")]


class _Recording(sqlite3.Connection):
    """A connection that records the statements it ran."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.statements: set[str] = set()

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        self.statements.add(sql)
        return super().execute(sql, *parameters)


def test_a_list_of_any_length_is_read_with_few_statements():
    query = "SELECT id FROM chunk WHERE id IN ({})"
    with closing(_Recording(":memory:")) as connection:
        connection.execute("CREATE TABLE chunk (id INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO chunk VALUES (?)", [(n,) for n in range(1, 1301)])
        connection.statements.clear()
        for count in (0, 1, 15, 16, 17, 20, 511, 513, 1200):
            found = select_in(connection, query, range(1, count + 1))
            assert [row[0] for row in found] == [*range(1, count + 1)]
    assert sorted(statement.count("?") for statement in connection.statements) == [16, 32, 256, 512]


def test_a_connection_caches_a_share_of_a_large_file():
    assert [cache_kib(size) for size in (0, 1 << 30, 2 << 30, 100 << 30)] == [
        16_000, 16_384, 32_768, 64_000
    ]  # fmt: skip


def test_of_many_connections_at_once_four_keep_many_pages_and_are_used_first(tmp_path):
    pool = Pool(tmp_path / "m.db")

    def kept(connection) -> int:
        return connection.execute("PRAGMA cache_size").fetchone()[0]

    with ExitStack() as stack:
        borrowed = [stack.enter_context(pool.connection()) for _ in range(6)]
        assert sorted(map(kept, borrowed)) == [*[-16_000] * 4, -2_000, -2_000]
    with ExitStack() as stack:
        again = [stack.enter_context(pool.connection()) for _ in range(5)]
        assert list(map(kept, again)) == [*[-16_000] * 4, -2_000]
        pool.close()
    assert pool._large == 0

"""Reads the rows of an index from the file, in blocks of joined columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.vector_format import unpack_integers

BATCH = 4096

Span = tuple[int, int, int]
"""The row id of a space, and a range of its revisions: after the first, up to the last."""

# One result row per block of rows: SQLite joins the values of each column without the interpreter
# lock, which is several times faster than 400,000 rows of small objects and runs beside another
# thread. A cast to BLOB keeps the joined bytes unchanged. No name contains a NUL (see
# prepare.check_name).
CHUNKS = """
SELECT group_concat(chunk_id), group_concat(session_id), group_concat(at), group_concat(question),
       group_concat(length), group_concat(coalesce(speaker, ''), char(0)),
       CAST(group_concat(uid, '') AS BLOB), group_concat(length(terms)),
       CAST(coalesce(group_concat(terms, ''), '') AS BLOB), CAST(group_concat(vector, '') AS BLOB),
       group_concat(role)
FROM chunk_index INDEXED BY chunk_index_changed
WHERE space_id = ? AND changed > ? AND changed <= ?"""

TRIPLES = """
SELECT group_concat(triple_id), group_concat(subject_id), group_concat(object_id),
       group_concat(first_observed), group_concat(last_observed), group_concat(length),
       CAST(group_concat(uid, '') AS BLOB), group_concat(length(terms)),
       CAST(coalesce(group_concat(terms, ''), '') AS BLOB), CAST(group_concat(vector, '') AS BLOB)
FROM triple_index INDEXED BY triple_index_changed
WHERE space_id = ? AND changed > ? AND changed <= ?"""


def unchanged(connection: sqlite3.Connection, layer: str, known: tuple[int, int]) -> Ints:
    """The ids of the rows that are as they were in a revision of a space."""
    (ids,) = connection.execute(
        f"SELECT group_concat({layer}_id) FROM {layer}_index INDEXED BY {layer}_index_changed "
        "WHERE space_id = ? AND changed <= ?",
        known,
    ).fetchone()
    return unpack_integers(ids) if ids else np.empty(0, np.int64)


def count(connection: sqlite3.Connection, table: str, span: Span) -> int:
    """The number of rows that were written in a range of revisions."""
    query = f"SELECT count(*) FROM {table} WHERE space_id = ? AND changed > ? AND changed <= ?"
    return int(connection.execute(query, span).fetchone()[0])


def are_many(connection: sqlite3.Connection, table: str, span: Span) -> bool:
    """Whether the rows of a range take several blocks."""
    return count(connection, table, span) > BATCH


def blocks(
    connection: sqlite3.Connection, query: str, table: str, span: Span
) -> Iterator[tuple[Any, ...]]:
    """Blocks of ``BATCH`` rows or a few more, because a revision is never divided."""
    space_id, after, last = span
    boundary = (
        f"SELECT changed FROM {table} INDEXED BY {table}_changed WHERE space_id = ? "
        f"AND changed > ? AND changed <= ? ORDER BY changed LIMIT 1 OFFSET {BATCH - 1}"
    )
    while after < last:
        found = connection.execute(boundary, (space_id, after, last)).fetchone()
        end = last if found is None else found[0]
        row = connection.execute(query, (space_id, after, end)).fetchone()
        if row[0] is not None:
            yield row
        after = end

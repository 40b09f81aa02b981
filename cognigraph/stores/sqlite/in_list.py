"""Reads the rows that are listed in an IN list of any length, with few different statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_BATCH = 512
_LEAST = 16


def select_in(
    connection: sqlite3.Connection, statement: str, values: Sequence[Any], *first: Any
) -> list[tuple[Any, ...]]:
    """Run a query for each batch of values; ``{}`` in it stands for the list.

    ``first`` are the parameters before the list. In these queries ``+space_id`` stops SQLite from
    using the index on the space, which would scan the whole space instead of looking up the list.
    """
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(values), _BATCH):
        part = values[start : start + _BATCH]
        # Few different lengths, so that SQLite has the statement prepared; NULL is in no list.
        length = max(_LEAST, 1 << (len(part) - 1).bit_length())
        parameters = (*first, *part, *[None] * (length - len(part)))
        rows += connection.execute(_with_list(statement, length), parameters).fetchall()
    return rows


@lru_cache(maxsize=256)
def _with_list(statement: str, length: int) -> str:
    """The statement for a list of some length: the same object, whose hash Python remembers."""
    return statement.format(",".join("?" * length))

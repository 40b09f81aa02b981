"""Which rows of the index a filter lets through."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints
from cognigraph.model import Exclusion
from cognigraph.model.filters import Filter, Scalar
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.message_data import ROLE_OF_NUMBER
from cognigraph.times import to_micros

Mask = npt.NDArray[np.bool_]

_BATCH = 500
_MOST = 4
"""A space with one of so many messages of the file is most of it."""


def allowed_chunks(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    where: Filter,
    until: int | None = None,
) -> Mask | None:
    """Whether each chunk (n,) passes the filter and was said by ``until``; None if all do.

    Tags and metadata are looked up in the file.
    """
    masks = [*_masks(connection, index, space_id, where)]
    if until is not None:
        masks.append(index.chunks["at"] <= until)
    return np.logical_and.reduce(masks) if masks else None


def _masks(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, where: Filter
) -> Iterator[Mask]:
    chunks = index.chunks
    passes: Mask = np.array([(role or "person") in where.roles for role in ROLE_OF_NUMBER])
    if any(not passes[number] for number in index.roles):
        yield passes[chunks["role"]]
    if where.sessions:
        yield np.isin(chunks["session"], _sessions(connection, space_id, where.sessions))
    if where.speakers:
        codes = [code for code, name in enumerate(index.speakers) if name in where.speakers]
        yield np.isin(chunks["speaker"], codes)
    if isinstance(where.since, datetime):
        yield chunks["at"] >= to_micros(where.since)
    if where.latest is not None:
        yield chunks["at"] <= to_micros(where.latest)
    if where.tags or where.metadata:
        rows = chunks.find(_with_data(connection, space_id, where, chunks.rows))
        marked = np.zeros(chunks.rows, bool)
        marked[rows[rows >= 0]] = True
        yield marked


def left_out(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, without: Exclusion
) -> Mask:
    """Whether each chunk (n,) belongs to a message that is left out."""
    marked = np.zeros(index.chunks.rows, bool)
    wanted = sorted(without.message_ids)
    for start in range(0, len(wanted), _BATCH):
        part = wanted[start : start + _BATCH]
        found = connection.execute(
            f"""SELECT c.id, s.name, c.message_id FROM chunk c JOIN session s ON s.id = c.session_id
                WHERE c.space_id = ? AND c.message_id IN ({",".join("?" * len(part))})""",
            (space_id, *part),
        )
        ids = [id for id, session, message in found if without.has_message(session, message)]
        rows = index.chunks.find(np.array(ids, np.int64))
        marked[rows[rows >= 0]] = True
    return marked


def _sessions(connection: sqlite3.Connection, space_id: int, names: tuple[str, ...]) -> list[int]:
    marks = ",".join("?" * len(names))
    rows = connection.execute(
        f"SELECT id FROM session WHERE space_id = ? AND name IN ({marks})", (space_id, *names)
    )
    return [row[0] for row in rows]


def _with_data(connection: sqlite3.Connection, space_id: int, where: Filter, chunks: int) -> Ints:
    """The ids of all chunks of the messages with these tags and fields, in a space of some size."""
    (last,) = connection.execute("SELECT max(chunk_id) FROM message_data").fetchone()
    # Without the index (the plus) a space that is most of the file is read in order.
    conditions = ["+d.space_id = ?" if _MOST * chunks > (last or 0) else "d.space_id = ?"]
    parameters: list[object] = [space_id]
    for condition, values in data_conditions(where):
        conditions.append(condition)
        parameters.extend(values)
    # One row of text: fetching a row for each of many messages takes longer than finding them.
    found = connection.execute(
        "SELECT group_concat(d.chunk_id), group_concat(d.parts) FROM message_data d "
        f"WHERE {' AND '.join(conditions)}",
        parameters,
    ).fetchone()
    firsts, counts = (np.fromstring(text or "", np.int64, sep=",") for text in found)
    # The ids of a message's chunks follow each other.
    part = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    ids: Ints = np.repeat(firsts, counts) + part
    return ids


def data_conditions(where: Filter) -> Iterator[tuple[str, tuple[object, ...]]]:
    """SQL conditions on the tags and metadata of a row ``d`` of ``message_data``.

    Most rows are ruled out by a search for the text, which is faster than reading their JSON.
    """
    for tag in where.tags:
        yield from _containing("d.tags", tag)
        yield "EXISTS (SELECT 1 FROM json_each(d.tags) WHERE value = ?)", (tag,)
    for name, value in where.metadata.items():
        yield from _containing("d.metadata", name)
        if isinstance(value, str):
            yield from _containing("d.metadata", value)
        yield _field(name, value)


def _containing(column: str, text: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    if _is_plain(text):
        yield f"instr({column}, ?)", (f'"{text}"',)


def _is_plain(text: str) -> bool:
    """Whether a text stands in JSON as it is, however the JSON was written."""
    return text.isascii() and json.dumps(text) == f'"{text}"'


def _field(name: str, value: Scalar) -> tuple[str, tuple[object, ...]]:
    """A condition on a field of a JSON object. 1 equals 1.0, but not true."""
    types = _types(value)
    marks = ",".join("?" * len(types))
    equal = () if value is None or isinstance(value, bool) else (value,)
    if not _is_plain(name):
        also = " AND value = ?" * len(equal)
        return (
            "EXISTS (SELECT 1 FROM json_each(d.metadata)"
            f" WHERE key = ? AND type IN ({marks}){also})",
            (name, *types, *equal),
        )
    path = f'$."{name}"'
    first = "json_extract(d.metadata, ?) = ? AND " * len(equal)
    paths = (path, *equal) if equal else ()
    return f"({first}json_type(d.metadata, ?) IN ({marks}))", (*paths, path, *types)


def _types(value: Scalar) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("true",) if value else ("false",)
    return ("text",) if isinstance(value, str) else ("integer", "real")

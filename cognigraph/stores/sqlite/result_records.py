"""SQL that reads the records of a result, by row ids where those are known.

A source in one of the messages that are read anyway needs no row of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cognigraph.model import Triple
from cognigraph.stores.candidates import ChunkRecord, NewestSources
from cognigraph.stores.result_records import ResultQuery, ResultRecords
from cognigraph.stores.sqlite.fact_sources import NO_SOURCES, KnownSources, sources_of
from cognigraph.stores.sqlite.message_data import JOIN, metadata_of, tags_of
from cognigraph.stores.sqlite.read import TRIPLE, sessions_by_id, triple_of
from cognigraph.stores.sqlite.row_ids import RowIds
from cognigraph.times import from_micros

_CHUNK = f"""
SELECT c.id, c.uid, c.message_id, s.name, s.uid, c.speaker, c.at, c.text, c.part, c.parts, c.role,
       c.heading, d.metadata, d.tags, d.facts IS NOT NULL
FROM chunk c JOIN session s ON s.id = c.session_id {JOIN} WHERE"""

_Row = tuple[Any, ...]


def result_records(
    connection: sqlite3.Connection, space: int, query: ResultQuery, row_ids: RowIds
) -> ResultRecords:
    """All records of a query."""
    rows = row_ids.select(connection, _CHUNK, "c", query.chunks, space)
    stating = _ids_of(connection, space, query.stating, rows, row_ids)
    said = {row[0]: (row[2], row[3], row[-1]) for row in rows}
    known = KnownSources.of_chunks(connection, [*stating], said)
    triples, often = _triples(connection, space, query.triples, query.newest, row_ids, known)
    return ResultRecords(
        chunks={row[1]: _chunk(row) for row in rows},
        stated=_stated(stating, triples, known),
        triples={triple.uid: triple for triple in triples.values()},
        often=often,
        sessions=sessions_by_id(connection, space, query.sessions),
    )


def chunks(
    connection: sqlite3.Connection, space: int, uids: Sequence[str], row_ids: RowIds
) -> dict[str, ChunkRecord]:
    """Chunks by uid."""
    return {row[1]: _chunk(row) for row in row_ids.select(connection, _CHUNK, "c", uids, space)}


def triples_by_uid(
    connection: sqlite3.Connection,
    space: int,
    uids: Sequence[str],
    newest: NewestSources | None,
    row_ids: RowIds,
) -> dict[str, Triple]:
    """Triples by uid."""
    found, _ = _triples(connection, space, uids, newest, row_ids)
    return {triple.uid: triple for triple in found.values()}


def _chunk(row: _Row) -> ChunkRecord:
    _, uid, message_id, session, session_uid, speaker, at, text, *rest = row
    part, parts, role, heading, metadata, tags, _ = rest
    return ChunkRecord(
        uid, message_id, session, session_uid, speaker, from_micros(at), text, part, parts, role,
        heading, metadata_of(metadata), tags_of(tags),
    )  # fmt: skip


def _ids_of(
    connection: sqlite3.Connection,
    space: int,
    uids: Sequence[str],
    rows: Iterable[_Row],
    row_ids: RowIds,
) -> dict[int, str]:
    """The uids of chunks by their ids; ``rows`` are those of chunks that were read."""
    wanted = set(uids)
    found = {row[0]: row[1] for row in rows if row[1] in wanted}
    if missing := sorted(wanted.difference(found.values())):
        query = "SELECT c.id, c.uid FROM chunk c WHERE"
        found.update(row_ids.select(connection, query, "c", missing, space))
    return found


def _stated(
    chunks: Mapping[int, str], triples: Mapping[int, Triple], known: KnownSources
) -> dict[str, tuple[str, ...]]:
    """The uids of the facts for which each chunk is evidence."""
    stated: dict[str, set[str]] = {}
    for id, sources in known.rows.items():
        if id in triples:
            for source in sources:
                stated.setdefault(chunks[source[1]], set()).add(triples[id].uid)
    return {chunk: tuple(sorted(uids)) for chunk, uids in stated.items()}


def _triples(
    connection: sqlite3.Connection,
    space: int,
    uids: Sequence[str],
    newest: NewestSources | None,
    row_ids: RowIds,
    known: KnownSources | None = None,
) -> tuple[dict[int, Triple], frozenset[str]]:
    """Facts by row id, of uids and of known sources, and the uids of those with many sources."""
    query = f"{TRIPLE} WHERE t.folded_into IS NULL AND"
    ids = known.rows if known else ()
    rows = row_ids.select(connection, query, "t", uids, space, ids)
    found = sources_of(connection, [row[0] for row in rows], newest, known)
    triples = {row[0]: triple_of(row, found.get(row[0], NO_SOURCES)) for row in rows}
    often = frozenset(triples[id].uid for id, sources in found.items() if sources.is_cut)
    return triples, often

"""Reads the records of a result, with one statement."""

from __future__ import annotations

from dataclasses import replace

from cognigraph.ids import session_uid
from cognigraph.model import Triple
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.row_values import chunk_of, sessions_of, triple_of
from cognigraph.stores.result_records import ResultQuery, ResultRecords


def result_records(connection: Connection, space: str, query: ResultQuery) -> ResultRecords:
    """All records of a query."""
    row = connection.row(
        "read/result",
        space=space,
        chunks=list(query.chunks),
        stating=list(query.stating),
        triples=list(query.triples),
        sessions=[session_uid(space, id) for id in dict.fromkeys(query.sessions)],
        count=query.newest.count,
        within=list(query.newest.chunks),
        until=query.newest.until,
    )
    assert row is not None
    chunks, triples, sessions = row
    stated: dict[str, list[str]] = {}
    for one in triples:
        for uid in one[-2]:
            stated.setdefault(uid, []).append(one[0])
    return ResultRecords(
        chunks={chunk[0]: chunk_of(chunk) for chunk in chunks},
        stated={chunk: tuple(sorted(found)) for chunk, found in stated.items()},
        triples={one[0]: triple_with_newest(one[:-2]) for one in triples},
        often=frozenset(one[0] for one in triples if one[-1]),
        sessions={session.id: session for session in sessions_of(sessions)},
    )


def triple_with_newest(row: Row) -> Triple:
    """A fact, of a row that ends with the number of sources that were left out."""
    return replace(triple_of(row[:-1]), older_sources=row[-1])

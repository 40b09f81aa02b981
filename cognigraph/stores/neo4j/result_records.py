"""Reads the records of a result, with one statement.

It lists the sources of facts that have few; those of the others are read by a second one. A source
in one of the messages that are read anyway is sent without what is known of the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cognigraph.ids import session_uid
from cognigraph.model import Triple
from cognigraph.stores.candidates import NewestSources
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.row_values import chunk_of, sessions_of, triple_of
from cognigraph.stores.result_records import ResultQuery, ResultRecords
from cognigraph.times import to_micros


def result_records(connection: Connection, space: str, query: ResultQuery) -> ResultRecords:
    """All records of a query."""
    row = connection.row(
        "read/result",
        space=space,
        chunks=list(dict.fromkeys((*query.chunks, *query.stating))),
        stating=list(dict.fromkeys(query.stating)),
        triples=list(query.triples),
        sessions=[session_uid(space, id) for id in dict.fromkeys(query.sessions)],
        count=query.newest.count,
    )
    assert row is not None
    chunks, facts, sessions = row
    often = frozenset(fact[0] for fact in facts if fact[-1] > query.newest.count)
    triples = _triples([fact for fact in facts if fact[0] not in often], chunks, query.newest)
    if often:
        triples |= triples_with_newest(connection, space, sorted(often), query.newest)
    wanted = set(query.chunks)
    return ResultRecords(
        chunks={one[0]: chunk_of(one[:-1]) for one in chunks if one[0] in wanted},
        stated=_stated(facts),
        triples=triples,
        often=often,
        sessions={session.id: session for session in sessions_of(sessions)},
    )


def triples_with_newest(
    connection: Connection, space: str, uids: Sequence[str], newest: NewestSources
) -> dict[str, Triple]:
    """Facts by uid with their newest sources, however many they have."""
    rows = connection.rows(
        "read/triples_with_newest_sources",
        space=space,
        uids=list(uids),
        count=newest.count,
        chunks=list(newest.chunks),
        until=newest.until,
    )
    return {row[0]: replace(triple_of(row[:-1]), older_sources=row[-1]) for row in rows}


def _triples(
    facts: Iterable[Row], chunks: Iterable[Row], newest: NewestSources
) -> dict[str, Triple]:
    """The facts of which all sources were read, without those later than ``until``."""
    said = {chunk[0]: (chunk[1], chunk[2], chunk[-1]) for chunk in chunks}
    until = None if newest.until is None else to_micros(newest.until)
    found = {}
    for *fact, stating, _ in facts:
        sources = fact[10]
        if sources is None:
            sources = [_source(one, said) for one in stating]
        fact[10] = [one for one in sources if until is None or one[0] <= until]
        fact[14] = min(fact[14] or (), default=None)
        found[fact[0]] = triple_of(fact)
    return found


def _source(stating: Row, said: Mapping[str, tuple[str, str, bool]]) -> Row:
    """A source as in other rows of facts, of one that names a chunk."""
    uid, at, by = stating
    id, session, stated = said[uid]
    return [at, id, session, by, stated]


def _stated(facts: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """The uids of the facts for which each chunk is evidence."""
    found: dict[str, set[str]] = {}
    for fact in facts:
        for chunk, *_ in fact[-2]:
            found.setdefault(chunk, set()).add(fact[0])
    return {chunk: tuple(sorted(uids)) for chunk, uids in found.items()}

"""Converts rows of Neo4j to the model objects that callers get."""

from __future__ import annotations

from cognigraph.model import Session, Source, Theme, Triple
from cognigraph.stores.neo4j.connection import Row
from cognigraph.times import from_micros, parse_when


def session_of(row: Row) -> Session:
    """A session from a row of ``read/sessions``."""
    id, started_at, ended_at, messages, chunk_count, version, keys, themes = row
    return Session(
        id=id,
        started_at=from_micros(started_at),
        ended_at=from_micros(ended_at),
        messages=messages,
        chunks=chunk_count,
        keys=tuple(keys),
        themes=tuple(Theme(title, summary) for title, summary in themes),
        version=version,
    )


def triple_of(row: Row) -> Triple:
    """A triple with its sources from a row of ``read/triples``."""
    uid, subject, subject_type, relation, object, object_type, when, negated = row[:8]
    first_observed, last_observed, sources = row[8:]
    distinct = {(at, id, session, said_by or "") for at, id, session, said_by in sources}
    return Triple(
        uid=uid,
        subject=subject,
        subject_type=subject_type,
        relation=relation,
        object=object,
        object_type=object_type,
        when=parse_when(when),
        negated=negated,
        first_observed=from_micros(first_observed),
        last_observed=from_micros(last_observed),
        sources=tuple(
            Source(id, session, from_micros(at), said_by or None)
            for at, id, session, said_by in sorted(distinct, reverse=True)
        ),
    )

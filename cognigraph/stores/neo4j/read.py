"""Reads for display."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.ids import normalise, session_uid
from cognigraph.model import Entity, Session, Source, Stats, StoredMessage, Summary, Theme, Triple
from cognigraph.stores.candidates import ChunkRecord
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.fulltext import name_hash
from cognigraph.times import from_micros, parse_when


def spaces(connection: Connection) -> list[str]:
    """Names of all spaces, sorted."""
    return sorted(row[0] for row in connection.rows("read/spaces"))


def chunks(connection: Connection, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
    """Chunks by uid."""
    if not uids:
        return {}
    rows = connection.rows("read/chunks", space=space, uids=list(uids))
    return {
        uid: ChunkRecord(uid, id, session, own, speaker, from_micros(at), text, part, parts)
        for uid, id, session, own, speaker, at, text, part, parts in rows
    }


def message(
    connection: Connection, space: str, id: str, session: str | None
) -> StoredMessage | None:
    """A whole message."""
    own = None if session is None else session_uid(space, session)
    row = connection.row("read/message", space=space, id=id, session=own)
    if row is None:
        return None
    name, speaker, at, texts, enriched = row
    text = "".join(texts)
    return StoredMessage(id, name, speaker, from_micros(at), text, len(texts), enriched)


def sessions(connection: Connection, space: str, limit: int, offset: int) -> list[Session]:
    """Sessions, newest first."""
    rows = connection.rows("read/sessions", space=space, skip=offset, limit=limit)
    return [_session(row) for row in rows]


def sessions_by_id(connection: Connection, space: str, ids: Sequence[str]) -> dict[str, Session]:
    """Sessions by the caller's id."""
    if not ids:
        return {}
    uids = [session_uid(space, id) for id in dict.fromkeys(ids)]
    return {row[0]: _session(row) for row in connection.rows("read/sessions_by_uid", uids=uids)}


def _session(row: Row) -> Session:
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


def summaries(connection: Connection, space: str, session: str) -> list[Summary]:
    """Revisions of a session's keys and summary, newest first."""
    rows = connection.rows("read/summaries", session=session_uid(space, session))
    return [
        Summary(
            session=session,
            version=version,
            at=from_micros(at),
            extractor=extractor,
            keys=tuple(keys),
            themes=tuple(Theme(*pair) for pair in zip(titles, texts, strict=True)),
        )
        for version, at, extractor, keys, titles, texts in rows
    ]


def entities(
    connection: Connection, space: str, match: str | None, limit: int, offset: int
) -> list[Entity]:
    """Entities, those with most triples first."""
    rows = connection.rows(
        "read/entities",
        space=space,
        match=None if match is None else normalise(match),
        skip=offset,
        limit=limit,
    )
    return [
        Entity(name, type, triples, mentions, tuple(sorted({*aliases} - {name})))
        for name, type, triples, mentions, aliases in rows
    ]


def triples(
    connection: Connection,
    space: str,
    entity: str | None,
    limit: int,
    offset: int,
    until: datetime | None = None,
) -> list[Triple]:
    """Triples first observed by ``until``, newest observation first."""
    if entity is None:
        rows = connection.rows("read/triples", space=space, until=until, skip=offset, limit=limit)
    else:
        normalised = normalise(entity)
        rows = connection.rows(
            "read/triples_of_entity",
            space=space,
            name_hash=name_hash(space, normalised),
            normalised=normalised,
            until=until,
            skip=offset,
            limit=limit,
        )
    return [_triple(row) for row in rows]


def triples_by_uid(connection: Connection, space: str, uids: Sequence[str]) -> dict[str, Triple]:
    """Triples by uid."""
    if not uids:
        return {}
    rows = connection.rows("read/triples_by_uid", space=space, uids=list(uids))
    return {row[0]: _triple(row) for row in rows}


def _triple(row: Row) -> Triple:
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


def triples_of_chunks(
    connection: Connection, space: str, uids: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Uids of the triples each chunk is evidence for."""
    if not uids:
        return {}
    rows = connection.rows("read/triples_of_chunks", space=space, uids=list(uids))
    return {chunk: tuple(sorted(found)) for chunk, found in rows}


def stats(connection: Connection, space: str, now: datetime) -> Stats:
    """Counts of a space; zeros for one that does not exist."""
    row = connection.row("read/stats", space=space, now=now)
    assert row is not None
    return Stats(space, *row)

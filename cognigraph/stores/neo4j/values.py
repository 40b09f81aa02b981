"""Converts values and rows of Neo4j to those of the models, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from cognigraph.arrays import Floats, Vector
from cognigraph.model import Session, StoredMessage, Theme, Triple
from cognigraph.model.graph import Period
from cognigraph.stores.candidates import ChunkRecord, source_of
from cognigraph.stores.neo4j.connection import Row
from cognigraph.times import from_micros, parse_when, to_micros

_HALF = np.dtype("<f2")


def vector(values: Vector) -> list[float] | None:
    """A vector as a list; ``None`` for the zero vector, which has no cosine and is not stored."""
    return values.tolist() if values.any() else None


def instant(moment: datetime) -> list[int]:
    """Seconds and nanoseconds since 1970. The driver takes a tenth of a millisecond to convert a
    ``datetime``, which is most of what it does for a message."""
    seconds, micros = divmod(to_micros(moment), 1_000_000)
    return [seconds, 1000 * micros]


def pack_name_vector(values: Vector) -> bytes:
    """Pack the vector of a name, which is in no index, into little-endian 16-bit floats."""
    return values.astype(_HALF).tobytes()


def unpack_name_vectors(found: Sequence[bytes], dimension: int) -> Vector:
    """Unpack the vectors of names into a matrix (number of names, dimension)."""
    joined = np.frombuffer(b"".join(found), _HALF)
    return joined.reshape(-1, dimension).astype(np.float32)


def spread(terms: Mapping[str, int]) -> list[str]:
    """A list with each term as often as it occurs."""
    return [term for term, count in terms.items() for _ in range(count)]


def cosine(scores: Floats) -> Floats:
    """Convert Neo4j's similarity, (1 + cos) / 2, to the cosine."""
    return 2.0 * scores - 1.0


def message_of(id: str, row: Row) -> StoredMessage:
    """A whole message, of a row of ``read/message``."""
    session, speaker, at, texts, enriched, role, metadata, tags, raw, expires, written_by = row
    return StoredMessage(
        id=id,
        session=session,
        speaker=speaker,
        at=from_micros(at),
        text="".join(texts),
        chunks=len(texts),
        is_enriched=enriched,
        role=role,
        metadata=json.loads(metadata) if metadata else {},
        tags=tuple(tags or ()),
        raw=None if raw is None else json.loads(raw),
        expires=None if expires is None else from_micros(expires),
        written_by=written_by,
    )


def chunk_of(row: Row) -> ChunkRecord:
    """A chunk, of a row of ``read/chunks``."""
    uid, message_id, session, session_uid, speaker, at, *rest = row
    text, part, parts, role, heading, metadata, tags = rest
    return ChunkRecord(
        uid=uid,
        message_id=message_id,
        session=session,
        session_uid=session_uid,
        speaker=speaker,
        at=from_micros(at),
        text=text,
        part=part,
        parts=parts,
        role=role,
        heading=heading,
        metadata=json.loads(metadata) if metadata else {},
        tags=tuple(tags or ()),
    )


def sessions_of(rows: Iterable[Row]) -> list[Session]:
    """The sessions from rows of ``read/sessions``.

    A session that another client deletes while the statement runs has no properties left, and is
    left out.
    """
    return [_session_of(row) for row in rows if None not in row[:5]]


def _session_of(row: Row) -> Session:
    id, started_at, ended_at, messages, chunk_count, version, keys, themes = row
    return Session(
        id=id,
        started_at=from_micros(started_at),
        ended_at=from_micros(ended_at),
        messages=messages,
        chunks=chunk_count,
        keys=tuple(keys),
        themes=tuple(Theme(*theme) for theme in themes),
        version=version,
    )


def triple_of(row: Row) -> Triple:
    """A triple with its sources from a row of ``read/triples``."""
    uid, subject, subject_type, relation, object, object_type, when, negated = row[:8]
    first_observed, last_observed, sources, status, *standing = row[8:]
    valid_from, valid_to, superseded_by, superseded_at, reason, earlier = standing
    distinct = {(at, id, name, by or "", stated) for at, id, name, by, stated in sources}
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
            source_of(at, id, session, said_by, stated)
            for at, id, session, said_by, stated in sorted(distinct, reverse=True)
        ),
        status=status,
        valid_from=None if valid_from is None else from_micros(valid_from),
        valid_to=None if valid_to is None else from_micros(valid_to),
        superseded_by=superseded_by,
        superseded_at=None if superseded_at is None else from_micros(superseded_at),
        reason=reason,
        earlier=periods(earlier),
    )


def periods(flat: list[int] | None) -> tuple[Period, ...]:
    """The times in which a fact was true before, as they are stored."""
    times = [from_micros(at) for at in flat or ()]
    return tuple(zip(times[::2], times[1::2], strict=True))

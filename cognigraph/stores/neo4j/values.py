"""Converts values and rows of Neo4j to those of the models, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from cognigraph.arrays import Floats, Vector
from cognigraph.model import Session, StoredMessage, Triple
from cognigraph.model.graph import Period
from cognigraph.stores import model_rows
from cognigraph.stores.candidates import ChunkRecord, source_of
from cognigraph.stores.neo4j.connection import Row
from cognigraph.times import from_micros, to_micros

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
    session, speaker, at, texts, is_enriched, role, metadata, tags, *rest = row
    shown = session, speaker, at, role, metadata, *rest
    return model_rows.message_of(id, texts, tags or (), shown, is_enriched=is_enriched)


def chunk_of(row: Row) -> ChunkRecord:
    """A chunk, of a row of ``read/chunks``."""
    return model_rows.chunk_of(row[:-1], row[-1] or ())


def sessions_of(rows: Iterable[Row]) -> list[Session]:
    """The sessions from rows of ``read/sessions``.

    A session that another client deletes while the statement runs has no properties left, and is
    left out.
    """
    return [model_rows.session_of(row) for row in rows if None not in row[:5]]


def triple_of(row: Row) -> Triple:
    """A triple with its sources from a row of ``read/triples``."""
    distinct = {(at, id, name, by or "", stated) for at, id, name, by, stated in row[10]}
    sources = tuple(source_of(*source) for source in sorted(distinct, reverse=True))
    return model_rows.triple_of((*row[:10], *row[11:-1]), periods(row[-1]), sources)


def periods(flat: list[int] | None) -> tuple[Period, ...]:
    """The times in which a fact was true before, as they are stored."""
    times = [from_micros(at) for at in flat or ()]
    return tuple(zip(times[::2], times[1::2], strict=True))

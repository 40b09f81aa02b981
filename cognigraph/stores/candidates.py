"""The candidate query of a search and its result: candidates in columns, with raw values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.model import Episode, Exclusion, Filter, Role
from cognigraph.text.bm25 import Lexicon

NONE, OUTSIDE = -1, -2
"""Instead of a neighbour's row: the session ends there, or the neighbour is no candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidateQuery:
    """What a search asks of a store: one call gathers every candidate with its raw values.

    ``anchors`` are stemmed entity names (see :class:`EntityRow.key`). A limit of 0 switches that
    candidate source off. ``radius`` adds that many neighbours (along NEXT, in both directions) of
    each candidate chunk. ``as_of`` hides what was observed later; ``texts`` requests the texts of
    the candidates too. Only chunks that pass ``where`` are candidates, and only triples with such a
    chunk as evidence; its times are datetimes. Chunks of messages in ``without`` are found by
    neither vector nor words, but are still candidates as neighbours and as evidence.
    """

    vector: Vector
    terms: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    entity_vectors: tuple[Vector, ...] = ()
    chunks_by_vector: int = 0
    chunks_by_terms: int = 0
    triples_by_vector: int = 0
    triples_by_terms: int = 0
    triples_per_anchor: int = 0
    sessions_by_vector: int = 0
    radius: int = 0
    as_of: datetime | None = None
    texts: bool = False
    where: Filter = field(default_factory=Filter)
    without: Exclusion = field(default_factory=Exclusion)


@dataclass(frozen=True, slots=True, eq=False)
class StoredTexts(Sequence[str]):
    """Texts that a store reads when they are needed; what was deleted meanwhile is empty.

    ``read`` returns the texts of some rows of the store, by their ids.
    """

    ids: Sequence[int]
    read: Callable[[Sequence[int]], Mapping[int, str]]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return self.at(self.ids[index])
        return self.at([self.ids[index]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.at(self.ids))

    def at(self, ids: Sequence[int]) -> list[str]:
        """The texts with these ids."""
        found = self.read(ids)
        return [found.get(id, "") for id in ids]


def texts_at(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    """The texts (k,) of some rows of candidates."""
    if isinstance(texts, StoredTexts):
        return texts.at([texts.ids[row] for row in rows.tolist()])
    return [texts[row] for row in rows.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class ChunkCandidates:
    """Candidate chunks, column-wise; ``n`` rows, sorted by uid.

    ``cosine`` (n,) with the query vector; ``matches`` (n, len(terms)) term frequencies; ``length``
    (n,) in terms; ``session`` (n,) row in :class:`SessionCandidates`; ``at`` (n,) seconds since
    1970; ``previous``/``following`` (n,) rows of the neighbours in the session, ``NONE`` (-1) at
    its ends, ``OUTSIDE`` (-2) for a neighbour that is no candidate; ``question`` (n,) whether the
    chunk asks something; ``by_vector``/``by_terms`` (n,) whether that candidate source found it;
    ``roles`` (n,) those of the speakers, ``None`` for a person; ``texts`` is empty unless the query
    requests it, and read by :func:`texts_at`.
    """

    uids: tuple[str, ...]
    cosine: Floats
    matches: Floats
    length: Floats
    session: Ints
    at: Floats
    question: npt.NDArray[np.bool_]
    previous: Ints
    following: Ints
    by_vector: npt.NDArray[np.bool_]
    by_terms: npt.NDArray[np.bool_]
    speakers: tuple[str | None, ...]
    roles: tuple[Role | None, ...]
    texts: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TripleCandidates:
    """Candidate triples, column-wise; ``m`` rows, sorted by uid.

    ``evidence`` holds, per triple, rows in :class:`ChunkCandidates`; ``session`` (m,) the session
    row of its newest evidence; ``at`` (m,) the time of that evidence in seconds since 1970;
    ``by_vector``/``by_terms``/``by_anchor`` (m,) whether that candidate source found it; ``texts``
    (subject, relation and object of each) is empty unless the query requests it.
    """

    uids: tuple[str, ...]
    cosine: Floats
    matches: Floats
    length: Floats
    at: Floats
    session: Ints
    evidence: tuple[tuple[int, ...], ...]
    by_vector: npt.NDArray[np.bool_]
    by_terms: npt.NDArray[np.bool_]
    by_anchor: npt.NDArray[np.bool_]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SessionCandidates:
    """Sessions of the candidates; ``s`` rows, sorted by uid.

    ``theme`` (s,) best cosine of its themes with the query vector; ``keys`` (s,
    len(entity_vectors)) best cosine of its keys with each entity vector; NaN where there is nothing
    to compare. ``matches`` (s, len(terms)) term frequencies in all its themes; ``length`` (s,) the
    number of terms in them.
    """

    uids: tuple[str, ...]
    ids: tuple[str, ...]
    theme: Floats
    keys: Floats
    matches: Floats
    length: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Everything a search ranks. ``anchors`` are the names of the anchor entities found."""

    lexicon: Lexicon
    chunks: ChunkCandidates
    triples: TripleCandidates
    sessions: SessionCandidates
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewestSources:
    """Which sources of a fact to read: the newest ``count``, and those in some chunks.

    ``chunks`` are uids. Sources later than ``until`` are neither read nor counted.
    """

    count: int = 10
    chunks: Sequence[str] = ()
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A stored chunk for display."""

    uid: str
    message_id: str
    session: str
    session_uid: str
    speaker: str | None
    at: datetime
    text: str
    part: int
    parts: int
    role: Role | None = None
    heading: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeCandidate:
    """An episode, the cosine of its theme with the query vector, and the chunks that it covers.

    ``chunks`` are uids in the order of the session. A cosine below 0 counts as 0.
    """

    episode: Episode
    cosine: float
    chunks: tuple[str, ...]

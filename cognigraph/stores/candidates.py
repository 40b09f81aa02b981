"""What a search asks of a store and gets: candidates in columns, and records of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.model import Episode, Exclusion, Filter, Role, Session, Source, Triple
from cognigraph.text.word_book import Lexicon, NumberedTexts
from cognigraph.times import from_micros

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

    ``read`` returns the texts of some rows of the store, by their ids. ``words`` and ``names`` are
    those of each text that the store knows without reading it.
    """

    ids: Sequence[int] | Ints
    read: Callable[[Sequence[int]], Mapping[int, str]]
    words: NumberedTexts | None = None
    names: NumberedTexts | None = None
    _found: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return self._at(self.ids[index])
        return self._at([int(self.ids[index])])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._at(self.ids))

    def some(self, rows: Ints) -> StoredTexts:
        """Some of the texts; what was read before is not read again."""
        return StoredTexts(
            np.asarray(self.ids)[rows],
            self.read,
            None if self.words is None else self.words.at(rows),
            None if self.names is None else self.names.at(rows),
            self._found,
        )

    def _at(self, ids: Sequence[int] | Ints) -> list[str]:
        """The texts with these ids."""
        wanted = ids.tolist() if isinstance(ids, np.ndarray) else ids
        missing = [id for id in wanted if id not in self._found]
        if missing:
            self._found.update(dict.fromkeys(missing, "") | dict(self.read(missing)))
        return [self._found[id] for id in wanted]


def texts_at(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    """The texts (k,) of some rows of candidates."""
    if isinstance(texts, StoredTexts):
        return texts.some(rows)
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
class Evidence(Sequence[tuple[int, ...]]):
    """Which chunks are evidence of which triples, as pairs: ``triples`` (e,) and ``chunks`` (e,).

    Both are rows of candidates. The pairs are sorted by triple, then by chunk. As a sequence it has
    the rows of the chunks of each of the ``size`` triples.
    """

    triples: Ints
    chunks: Ints
    size: int

    @staticmethod
    def pairs(triples: Ints, chunks: Ints, size: int) -> Evidence:
        """Evidence from pairs in any order."""
        order = np.lexsort((chunks, triples))
        return Evidence(triples[order], chunks[order], size)

    @staticmethod
    def of(chunks: Sequence[Sequence[int]]) -> Evidence:
        """Evidence from the rows of the chunks of each triple."""
        triples = np.repeat(np.arange(len(chunks)), [len(own) for own in chunks])
        rows = np.array([row for own in chunks for row in own], np.int64)
        return Evidence.pairs(triples, rows, len(chunks))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, ...]]: ...

    def __getitem__(self, index: int | slice) -> tuple[int, ...] | Sequence[tuple[int, ...]]:
        if isinstance(index, slice):
            return [*self][index]
        row = range(self.size)[index]
        first, end = np.searchsorted(self.triples, [row, row + 1])
        return tuple(self.chunks[first:end].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        ends = np.searchsorted(self.triples, np.arange(self.size + 1)).tolist()
        chunks = self.chunks.tolist()
        return (tuple(chunks[first:end]) for first, end in pairwise(ends))

    def newest(self, at: Floats) -> Ints:
        """The row of the newest chunk of each triple, of equals the last; -1 without chunks.

        ``at`` are the times of the chunks.
        """
        order = np.lexsort((self.chunks, at[self.chunks], self.triples))
        newest = np.full(self.size, -1, np.int64)
        newest[self.triples[order]] = self.chunks[order]  # the last one written stays
        return newest


@dataclass(frozen=True, slots=True, eq=False)
class TripleCandidates:
    """Candidate triples, column-wise; ``m`` rows, sorted by uid.

    ``evidence`` holds, per triple, rows in :class:`ChunkCandidates`; ``session`` (m,) the session
    row of its newest evidence; ``at`` (m,) the time of that evidence in seconds since 1970;
    ``by_vector``/``by_terms``/``by_anchor`` (m,) whether that candidate source found it; ``texts``
    (subject, relation and object of each) is empty unless the query requests it, and may be read
    when it is needed, like those of chunks.
    """

    uids: tuple[str, ...]
    cosine: Floats
    matches: Floats
    length: Floats
    at: Floats
    session: Ints
    evidence: Evidence
    by_vector: npt.NDArray[np.bool_]
    by_terms: npt.NDArray[np.bool_]
    by_anchor: npt.NDArray[np.bool_]
    texts: Sequence[str] = ()


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


def no_candidates(query: CandidateQuery) -> Candidates:
    """Candidates without rows, in the right shapes."""
    none, rows, flags = np.empty(0), np.empty(0, np.int64), np.empty(0, bool)
    matches = np.empty((0, len(query.terms)))
    return Candidates(
        lexicon=Lexicon(0, 0.0, {}),
        chunks=ChunkCandidates(
            (), none, matches, none, rows, none, flags, rows, rows, flags, flags, (), ()
        ),
        triples=TripleCandidates(
            (), none, matches, none, none, rows, Evidence.of(()), flags, flags, flags
        ),
        sessions=SessionCandidates(
            (), (), none, np.empty((0, len(query.entity_vectors))), matches, none
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ConsecutiveChunks:
    """The newest chunks of a space in the order of their arrival.

    ``vectors`` (n, d) are theirs, and ``sessions`` (n,) tells those of one session from others.
    """

    vectors: Vector
    sessions: Ints


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """Which records of a space to read in one call.

    ``chunks`` are uids of chunks, and ``stating`` of those whose facts are read too. ``triples``
    are uids of further facts, ``sessions`` the callers' ids. ``newest`` says which sources of the
    facts are read.
    """

    chunks: Sequence[str] = ()
    stating: Sequence[str] = ()
    triples: Sequence[str] = ()
    sessions: Sequence[str] = ()
    newest: NewestSources = field(default_factory=NewestSources)

    def __bool__(self) -> bool:
        return any((self.chunks, self.stating, self.triples, self.sessions))


@dataclass(frozen=True, slots=True)
class ResultRecords:
    """Records by uid, sessions by the caller's id; what does not exist is missing.

    ``stated`` are the sorted uids of the facts for which a chunk is evidence. ``often`` are the
    facts that have more sources than the newest of the query, so that those listed depend on its
    chunks.
    """

    chunks: Mapping[str, ChunkRecord] = field(default_factory=dict)
    stated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    triples: Mapping[str, Triple] = field(default_factory=dict)
    often: frozenset[str] = frozenset()
    sessions: Mapping[str, Session] = field(default_factory=dict)


def source_of(at: int, id: str, session: str, said_by: str, stated: bool) -> Source:
    """A source of a fact, of a row of a store; ``stated`` says that an application stated it."""
    provenance: Literal["text", "user"] = "user" if stated else "text"
    return Source(id, session, from_micros(at), said_by or None, provenance)

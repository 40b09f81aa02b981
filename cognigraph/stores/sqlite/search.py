"""``SQLiteSearch``: candidates from the in-memory index, records from the rows of the file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from heapq import nlargest

from cognigraph.arrays import Vector
from cognigraph.model import (
    Session,
    Triple,
)
from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkRecord,
    EpisodeCandidate,
    NewestSources,
)
from cognigraph.stores.no_candidates import no_candidates
from cognigraph.stores.result_records import ResultQuery, ResultRecords
from cognigraph.stores.sqlite import (
    episodes,
    read,
    result_records,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.index.gather import gather_candidates
from cognigraph.stores.sqlite.index.index_cache import FreshIndex, SpaceIndexes
from cognigraph.stores.sqlite.row_ids import RowIds


class SQLiteSearch:
    """See :class:`cognigraph.stores.protocols.SearchIndex`."""

    def __init__(self, file: MemoryFile, indexes: SpaceIndexes) -> None:
        self._file = file
        self._indexes = indexes
        self._row_ids = RowIds()

    def warm(self, space: str) -> None:
        """Start to load the index of a space that was not searched yet, in another thread."""
        self._indexes.load(space, self._file.vectors, self._file.read_vectors)

    def candidates(self, space: str, query: CandidateQuery) -> Candidates:
        """Gather candidates from the in-memory index, after refreshing it."""
        with self._fresh(space) as found:
            if found is None:
                return no_candidates(query)
            connection, index, space_id = found
            return gather_candidates(
                connection, index, space_id, query, self._file.read, self._row_ids
            )

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        """The episodes nearest to a vector, and those that cover one of some chunks."""
        with self._fresh(space) as found:
            if found is None:
                return []
            connection, index, space_id = found
            cosines = index.themes.cosines(vector)
            near = dict(nlargest(limit, cosines.items(), key=lambda item: (item[1], item[0])))
            positive = {slot: cosine for slot, cosine in near.items() if cosine > 0}
            return episodes.candidates(connection, space_id, positive, chunks, cosines)

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """The records of a result, from one snapshot."""
        return self._file.query(
            space,
            ResultRecords(),
            lambda c, s: result_records.result_records(c, s, query, self._row_ids),
        )

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid."""
        return self._file.query(
            space, {}, lambda c, s: result_records.chunks(c, s, uids, self._row_ids)
        )

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:
        """Triples by uid."""
        return self._file.query(
            space,
            {},
            lambda c, s: result_records.triples_by_uid(c, s, uids, newest, self._row_ids),
        )

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        return self._file.query(space, {}, lambda c, s: read.sessions_by_id(c, s, ids))

    def _fresh(self, space: str) -> AbstractContextManager[FreshIndex | None]:
        return self._indexes.fresh(space, self._file.vectors, self._file.read_vectors)

"""The role that finds the candidates of a search and reads the records it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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
from cognigraph.stores.result_records import ResultQuery, ResultRecords


class SearchIndex(Protocol):
    """What a search needs: candidates with their raw values, then the records it returns."""

    def warm(self, space: str) -> None:
        """Start loading, in the background, what a first search of a space needs. Optional."""
        ...

    def candidates(self, space: str, query: CandidateQuery) -> Candidates:
        """Gather the candidates of one space with their raw values; other spaces do not count."""
        ...

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        """The ``limit`` episodes nearest to a vector, and those that cover one of some chunks.

        Only episodes with a cosine above 0 are near. They are sorted by uid.
        """
        ...

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """Read the messages, facts and sessions of a result in one transaction."""
        ...

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid; unknown ones are missing from the answer."""
        ...

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:
        """Triples by uid, with their sources (newest first): all, or those that ``newest`` names.

        A triple that became a duplicate of another since it was found is missing from the answer.
        """
        ...

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        ...

"""What the statement ``gather`` has read of the candidates, as tables.

A search runs this statement twice at the same time: for the chunks that were found, and for the
triples with their evidence. Each answer is decoded as soon as it is there, while the server works
on the other one, and then the tables are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.model import Role
from cognigraph.stores.candidates import NONE, OUTSIDE, CandidateQuery, SessionCandidates
from cognigraph.stores.neo4j.connection import Row
from cognigraph.stores.neo4j.index.packed import columns
from cognigraph.stores.neo4j.values import cosine

Flags = npt.NDArray[np.bool_]

_NO_ROW = -3


@dataclass(frozen=True)
class _Table:
    """Columns of the same length, as lists and arrays; the first of them are the uids."""

    uids: list[str]

    def with_rows_of(self, other: Self) -> Self:
        """The rows of both."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        both = {name: _one_after_the_other(own[name], getattr(other, name)) for name in own}
        return replace(self, **both)

    def at(self, rows: Sequence[int]) -> Self:
        """Some of the rows."""
        taken = {one.name: _taken(getattr(self, one.name), rows) for one in fields(self)}
        return replace(self, **taken)

    def first_of_each(self) -> list[int]:
        """The first row of each uid, in the order of the uids."""
        count = len(self.uids)
        first = dict(zip(reversed(self.uids), range(count - 1, -1, -1), strict=True))
        return list(map(first.__getitem__, sorted(first)))


def _one_after_the_other(one: Any, other: Any) -> Any:
    return one + other if isinstance(one, list) else np.concatenate([one, other])


def _taken(column: Any, rows: Sequence[int]) -> Any:
    if isinstance(column, list):
        return list(map(column.__getitem__, rows))
    return column[np.asarray(rows, np.int64)]


@dataclass(frozen=True)
class ChunkTable(_Table):
    """Chunks with the same values as :class:`ChunkCandidates`, and their element ids."""

    ids: list[str]
    sessions: list[str]
    cosine: Floats
    matches: Floats
    length: Floats
    at_seconds: Floats
    question: Flags
    speakers: list[str | None]
    roles: list[Role | None]
    texts: list[str]
    passes: Flags

    @classmethod
    def of(cls, row: Row, space: str, query: CandidateQuery) -> ChunkTable:
        """Of the first columns that the statement returns for chunks."""
        values, ids, texts = row
        nodes = columns(values, len(query.vector))
        return cls(
            uids=nodes.uids,
            ids=ids,
            sessions=nodes.sessions,
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            at_seconds=nodes.at,
            question=nodes.question,
            speakers=nodes.speakers,
            roles=nodes.roles,
            texts=texts,
            passes=nodes.have_role(query.where.roles) & nodes.are_of(space),
        )

    def candidates(self) -> tuple[ChunkTable, dict[str, int]]:
        """Those that pass, each once and in the order of their uids, and the row of each id."""
        rows = [row for row in self.first_of_each() if self.passes[row]]
        chosen = self.at(rows)
        position = {uid: row for row, uid in enumerate(chosen.uids)}
        found = zip(self.ids, map(position.get, self.uids), strict=True)
        row_of = {id: row for id, row in found if row is not None}
        return chosen, row_of


@dataclass(frozen=True)
class TripleTable(_Table):
    """Triples, with the element ids of the chunks that are evidence."""

    cosine: Floats
    matches: Floats
    length: Floats
    evidence: list[list[str]]
    texts: list[str]

    @classmethod
    def of(cls, row: Row, space: str, query: CandidateQuery) -> TripleTable:
        """Of the columns that the statement returns for triples, in the order of their uids."""
        values, evidence, texts = row
        nodes = columns(values, len(query.vector))
        table = cls(
            uids=nodes.uids,
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            evidence=evidence,
            texts=texts,
        )
        own = nodes.are_of(space)
        return table.at([row for row in table.first_of_each() if own[row]])


@dataclass(frozen=True)
class SessionTable(_Table):
    """Sessions with the same values as :class:`SessionCandidates`."""

    ids: list[str]
    theme: Floats
    keys: Floats
    matches: Floats
    length: Floats

    @classmethod
    def of(cls, rows: Sequence[Row], space: str, query: CandidateQuery) -> SessionTable:
        """Of the rows that the statement returns for sessions."""
        themes = columns([one for row in rows for one in row[2]], len(query.vector))
        owner = np.repeat(np.arange(len(rows)), [len(row[2]) for row in rows])
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, owner, themes.cosine(query.vector))
        matches = np.zeros((len(rows), len(query.terms)))
        np.add.at(matches, owner, themes.matches(space, query.terms))
        return cls(
            uids=[row[0] for row in rows],
            ids=[row[1] for row in rows],
            theme=np.where(np.isfinite(best), best, np.nan),
            keys=_keys(rows, query),
            matches=matches,
            length=np.bincount(owner, themes.length, len(rows)).astype(float),
        )

    def candidates(self) -> SessionCandidates:
        """Each session once, sorted by uid."""
        chosen = self.at(self.first_of_each())
        return SessionCandidates(
            uids=tuple(chosen.uids),
            ids=tuple(chosen.ids),
            theme=chosen.theme,
            keys=chosen.keys,
            matches=chosen.matches,
            length=chosen.length,
        )


def _keys(rows: Sequence[Row], query: CandidateQuery) -> Floats:
    """The best cosine (sessions, entities) of a key of each session, NaN without keys."""
    entities = query.entity_vectors
    known = [position for position, entity in enumerate(entities) if entity.any()]
    keys = np.full((len(rows), len(entities)), np.nan)
    for position, row in enumerate(rows if entities else ()):
        count, nearest = row[3:]
        if count:
            keys[position] = 0.0  # a zero vector has nothing in common with any key
            keys[position, known] = cosine(np.array(nearest, float))
    return keys


@dataclass(frozen=True)
class Links:
    """Which chunk follows which in its session: element ids, in any order."""

    befores: list[str]
    afters: list[str]

    def neighbours(self, row_of: dict[str, int], count: int) -> tuple[Ints, Ints]:
        """The rows of the chunks before and after each of ``count`` candidates."""
        before = _rows(self.befores, row_of)
        after = _rows(self.afters, row_of)
        previous, following = np.full(count, NONE, np.int64), np.full(count, NONE, np.int64)
        has_row = before != _NO_ROW
        following[before[has_row]] = np.where(after == _NO_ROW, OUTSIDE, after)[has_row]
        has_row = after != _NO_ROW
        previous[after[has_row]] = np.where(before == _NO_ROW, OUTSIDE, before)[has_row]
        return previous, following


def _rows(ids: Sequence[str], row_of: dict[str, int]) -> Ints:
    return np.fromiter(map(row_of.get, ids, repeat(_NO_ROW)), np.int64, len(ids))


@dataclass(frozen=True)
class ReadCandidates:
    """What one run of the statement has read."""

    triples: TripleTable
    chunks: ChunkTable
    links: Links
    sessions: SessionTable

    @classmethod
    def of(cls, row: Row, space: str, query: CandidateQuery) -> ReadCandidates:
        """Of the row that the statement returns."""
        triples, (*chunks, befores, afters), sessions = row
        return cls(
            TripleTable.of(triples, space, query),
            ChunkTable.of(chunks, space, query),
            Links(befores, afters),
            SessionTable.of(sessions, space, query),
        )

    @classmethod
    def nothing(cls, query: CandidateQuery) -> ReadCandidates:
        """As if the statement had been run with nothing to read."""
        return cls.of([[[]] * 3, [[]] * 5, []], "", query)

    def together(self, other: ReadCandidates) -> ReadCandidates:
        """What two runs have read; both may have read the same chunks and sessions."""
        return ReadCandidates(
            self.triples.with_rows_of(other.triples),
            self.chunks.with_rows_of(other.chunks),
            Links(self.links.befores + other.links.befores, self.links.afters + other.links.afters),
            self.sessions.with_rows_of(other.sessions),
        )

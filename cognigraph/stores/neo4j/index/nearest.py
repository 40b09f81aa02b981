"""The results of a search by vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Vector
from cognigraph.stores.neo4j.connection import Row
from cognigraph.stores.neo4j.index.packed import Columns, columns


@dataclass(frozen=True, slots=True)
class Nearest:
    """The results of a vector search, nearest first; the first ``limit`` are candidates."""

    limit: int
    similarity: Sequence[float] = ()
    all: Sequence[str] = ()
    all_sessions: Sequence[str] = ()
    subjects: Sequence[str] = ()
    objects: Sequence[str] = ()
    is_cut_off: bool = False
    """Whether there may be more chunks that pass than an index has returned."""

    @property
    def uids(self) -> Sequence[str]:
        """Uids of the candidates."""
        return self.all[: self.limit]

    @property
    def sessions(self) -> Sequence[str]:
        """Uids of the sessions of the candidate chunks or themes."""
        return self.all_sessions[: self.limit]

    def with_those_of(self, newest: Nearest) -> Nearest:
        """Merge two results for chunks, nearest first; ``newest`` wins for the same uid."""
        found: dict[str, tuple[float, str]] = {}
        for part in (newest, self):
            for score, uid, session in zip(
                part.similarity, part.all, part.all_sessions, strict=True
            ):
                found[uid] = score, session
        order = sorted(found, key=lambda uid: -found[uid][0])
        scores, sessions = [found[uid][0] for uid in order], [found[uid][1] for uid in order]
        return Nearest(self.limit, scores, order, sessions)

    def around(self, entity: str) -> list[str]:
        """Uids of the triples that have an entity as subject or object."""
        # Without any hub, subjects and objects are not read.
        ends = zip(self.all, self.subjects, self.objects, strict=True) if self.subjects else ()
        return [uid for uid, subject, object in ends if entity in (subject, object)]


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a vector index has returned: nodes, in any order, and which of them pass a filter."""

    nodes: Columns
    similarity: Floats
    passes: npt.NDArray[np.bool_]
    ends: Sequence[Sequence[str]]
    """Uids of the subjects and objects of triples, if they were asked for."""
    limit: int

    @classmethod
    def of(
        cls, row: Row, space: str, vector: Vector, roles: Sequence[str] | None, limit: int
    ) -> Indexed:
        """Of a row of ``nearest_indexed``; ``roles`` are those of chunks that pass."""
        values, passes, ends = row
        nodes = columns(values, len(vector))
        similarity = (1.0 + nodes.cosine(vector)) / 2.0
        good = np.array(passes, bool) & nodes.are_of(space) & (similarity > 0.5)
        if roles is not None:
            good &= nodes.have_role(roles)
        return cls(nodes, similarity, good, ends, limit)

    @property
    def lowest(self) -> float:
        """The lowest similarity of all nodes."""
        return float(self.similarity.min(initial=1.0))

    def nearest(self) -> Nearest:
        """The nodes that pass, nearest first."""
        order = np.argsort(-self.similarity, kind="stable")
        rows = order[self.passes[order]].tolist()
        uids, sessions, ends = self.nodes.uids, self.nodes.sessions, self.ends
        return Nearest(
            self.limit,
            self.similarity[rows].tolist(),
            [uids[row] for row in rows],
            [sessions[row] for row in rows],
            [ends[row][0] for row in rows] if ends else (),
            [ends[row][1] for row in rows] if ends else (),
        )

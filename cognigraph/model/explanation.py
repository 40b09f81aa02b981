"""Why an expected message is found, or is not."""

from __future__ import annotations

from dataclasses import dataclass

from cognigraph.model.answers import Hit
from cognigraph.model.graph import Triple
from cognigraph.model.messages import StoredMessage


@dataclass(frozen=True, slots=True)
class LegStanding:
    """Where a message, or its best triple, stands in one leg.

    ``rank`` is its place; ``None`` where the leg does not see it among its best 1,000. ``value`` is
    the cosine or BM25 score; the leg hands on ``limit`` candidates.
    """

    name: str
    rank: int | None
    value: float | None
    limit: int


@dataclass(frozen=True, slots=True)
class SignalStanding:
    """What one signal gave a message, the last hit that was returned, and the first.

    ``value`` is raw, ``points`` are what it added to the score, ``rank`` its place among all
    candidates by this signal.
    """

    name: str
    value: float | None
    points: float
    points_at_k: float
    points_of_best: float
    rank: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that was tried, and the place the expected message then had."""

    what: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an expected message is where it is.

    ``rank`` is its place among all ``candidates`` (``None``: it was none), ``score_at_k`` what the
    last returned hit had; ``signals`` begin with what it lost most on; ``variants`` are its places
    with one part of the ranking off; ``proposals`` what would have brought it among the first k.
    """

    question: str
    expected: StoredMessage
    k: int
    rank: int | None
    score: float | None
    score_at_k: float | None
    candidates: int
    legs: tuple[LegStanding, ...]
    signals: tuple[SignalStanding, ...]
    triples: tuple[Triple, ...]
    hits: tuple[Hit, ...]
    variants: tuple[tuple[str, int | None], ...]
    proposals: tuple[Proposal, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether it is among the first k."""
        return self.rank is not None and self.rank <= self.k

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.is_found:
            return f"found: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}"
        if self.rank is not None:
            return (
                f"missed: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}; "
                f"it scores {self.score:.3f}, the last hit {self.score_at_k:.3f}"
            )
        if any(leg.rank is not None for leg in self.legs):
            return f"missed: not among the {self.candidates} candidates that the legs found"
        return "missed: neither its vector, nor its words, nor a triple is near the question"

    def __repr__(self) -> str:
        return f"<Explanation {self.expected.id}: {self.verdict}>"


def _nth(rank: int | None) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get((rank or 0) % 10, "th")
    return f"{rank}{'th' if (rank or 0) % 100 in (11, 12, 13) else suffix}"

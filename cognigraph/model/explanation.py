"""Explanation of why an expected message is found for a question, or is not."""

from __future__ import annotations

from dataclasses import dataclass

from cognigraph.model.answers import Hit
from cognigraph.model.graph import Triple
from cognigraph.model.messages import StoredMessage


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """The rank of a message, or of its best triple, in one candidate source.

    ``rank`` is ``None`` if it is not among the source's best 1,000. ``value`` is its cosine or BM25
    score; ``limit`` is the number of candidates that the source contributes.
    """

    name: str
    rank: int | None
    value: float | None
    limit: int


@dataclass(frozen=True, slots=True)
class SignalStanding:
    """What one signal contributed to the score of a message, of the last hit, and of the first.

    ``value`` is the raw signal and ``points`` its contribution to the score; ``rank`` is the rank
    of the message among all candidates by this signal alone.
    """

    name: str
    value: float | None
    points: float
    points_at_k: float
    points_of_best: float
    rank: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that was tried, and the rank of the expected message with it."""

    what: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an expected message has its rank.

    ``rank`` is its rank among all ``candidates`` (``None`` if it is not one of them), and
    ``score_at_k`` the score of the last returned hit. ``signals`` begin with the one that cost it
    most; ``variants`` are its ranks with one part of the ranking switched off; ``proposals`` are
    changes that would bring it among the first k.
    """

    question: str
    expected: StoredMessage
    k: int
    rank: int | None
    score: float | None
    score_at_k: float | None
    candidates: int
    candidate_sources: tuple[SourceStanding, ...]
    signals: tuple[SignalStanding, ...]
    triples: tuple[Triple, ...]
    hits: tuple[Hit, ...]
    variants: tuple[tuple[str, int | None], ...]
    proposals: tuple[Proposal, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether the message is among the first k."""
        return self.rank is not None and self.rank <= self.k

    @property
    def verdict(self) -> str:
        """The explanation in one sentence."""
        if self.is_found:
            return f"found: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}"
        if self.rank is not None:
            return (
                f"missed: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}; "
                f"it scores {self.score:.3f}, the last hit {self.score_at_k:.3f}"
            )
        if any(source.rank is not None for source in self.candidate_sources):
            return (
                f"missed: not among the {self.candidates} candidates, because its rank is too low "
                "in every candidate source"
            )
        return "missed: neither its vector, nor its words, nor a triple matches the question"

    def __repr__(self) -> str:
        return f"<Explanation {self.expected.id}: {self.verdict}>"


def _nth(rank: int | None) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get((rank or 0) % 10, "th")
    return f"{rank}{'th' if (rank or 0) % 100 in (11, 12, 13) else suffix}"

"""What a loop works with and returns: plans, evidence, assessments, rounds and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from cognigraph.model import Citation, Context, Layer, Triple, Usage

Verdict = Literal["enough", "partial", "nothing", "unchecked"]
"""How far the evidence answers the question, according to the last assessment."""

StopReason = Literal[
    "answered", "rounds", "no new query", "limit", "model failed", "no model", "nothing found"
]
"""Why a loop ended."""


Source = Layer | Literal["memories"]
"""What a round searches: a layer, or ``memories``: episodes, facts and what writers keep."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a round searches for: its queries, the layer, and ``k`` results for each query.

    ``again`` is how many further messages a second look brings, at most one of each session.
    ``related`` asks for the messages beside the evidence found so far, instead of a search.
    ``reason`` says why this plan was made.
    """

    queries: tuple[str, ...]
    layer: Source = "messages"
    k: int = 15
    related: bool = False
    reason: str = ""
    again: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One item that a loop has found. A model names it by its ``label``, such as ``M3``.

    ``id`` is that of the message (with its ``session``), or the uid of the fact or episode.
    ``query`` is the query that found it, in the round ``round``.
    """

    label: str
    layer: Layer
    id: str
    session: str | None
    text: str
    at: datetime
    query: str = ""
    round: int = 1


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the evidence is worth.

    ``deep`` asks for the details behind the evidence. ``missing`` says what is not known yet, and
    ``queries`` what might find it. ``kept`` are labels of the evidence that matters (empty: all of
    it), ``conflicts`` labels of evidence that contradicts itself. ``answer`` is the answer, if the
    assessment gives one.
    """

    verdict: Verdict
    reason: str = ""
    missing: str = ""
    queries: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    deep: bool = False
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the memory that a loop proposes: ``new`` supersedes ``old``, or ``old`` goes.

    ``applied`` says whether it was made. :meth:`Review.restore` with ``old`` undoes it.
    """

    action: Literal["supersede", "retract"]
    old: Triple
    new: Triple | None = None
    at: datetime | None = None
    reason: str = ""
    applied: bool = False

    def __str__(self) -> str:
        done = "applied" if self.applied else "proposed"
        if self.new is None:
            return f"{done}: retract {self.old.text!r} ({self.reason})"
        since = f" since {self.at:%Y-%m-%d}" if self.at else ""
        return f"{done}: {self.new.text!r} supersedes {self.old.text!r}{since} ({self.reason})"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One prompt of a loop: what was shown, what came back and what it cost.

    ``prompt`` is its name and version. ``reply`` is the validated answer as plain data, ``None`` if
    the call failed; then ``error`` says why. ``dropped`` lists what was left out of the answer.
    """

    prompt: str
    model: str
    system: str
    user: str
    reply: Any = None
    usage: Usage = field(default_factory=Usage)
    dropped: tuple[str, ...] = ()
    error: str = ""

    def __str__(self) -> str:
        used = self.usage
        cost = f", cost {used.cost:.4f}" if used.cost else ""
        spent = f"{used.input_tokens:,} + {used.output_tokens:,} tokens, {used.calls} call(s){cost}"
        lines = [f"{self.prompt} of {self.model}: {spent}"]
        lines.append(f"failed: {self.error}" if self.error else f"-> {self.reply}")
        lines.extend(f"left out: {reason}" for reason in self.dropped)
        return "\n  ".join(lines)


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a loop: what was searched for, what was new, and what was made of it."""

    number: int
    plan: Plan
    found: tuple[Evidence, ...] = ()
    assessment: Assessment | None = None
    deepened: tuple[Evidence, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        plan = self.plan
        asked = "; ".join(plan.queries) or "related messages"
        lines = [f"round {self.number}: {plan.layer}, {asked} -> {len(self.found)} new"]
        if self.deepened:
            lines.append(f"deepened: {len(self.deepened)} more")
        if self.assessment is not None:
            lines.append(_told(self.assessment))
        lines.extend(str(call) for call in self.calls)
        lines.extend(f"note: {note}" for note in self.notes)
        return "\n  ".join(lines)


def _told(assessment: Assessment) -> str:
    parts: list[str] = [assessment.verdict]
    if assessment.missing or assessment.reason:
        parts.append(assessment.missing or assessment.reason)
    if assessment.conflicts:
        parts.append(f"in conflict: {', '.join(assessment.conflicts)}")
    return "assessed: " + "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of :meth:`Space.ask`, and how it came about.

    Without a usable model ``text`` is empty, ``context`` is the block of
    :meth:`Space.context`, and ``notes`` say why. ``citations`` are the items of the block that the
    answer names. ``calls`` holds those calls that belong to no round, such as the one that writes
    the answer.
    """

    question: str
    text: str
    context: Context
    citations: tuple[Citation, ...]
    rounds: tuple[Round, ...]
    verdict: Verdict
    proposals: tuple[Repair, ...]
    usage: Usage
    stopped: StopReason
    strategy: str = ""
    calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def all_calls(self) -> tuple[ModelCall, ...]:
        """All calls in the order in which they were made."""
        return (*(call for round in self.rounds for call in round.calls), *self.calls)

    @property
    def trace(self) -> str:
        """All of it in words: rounds, calls, costs, proposals and notes."""
        lines = [f"{self.strategy}: {self.question}", *map(str, self.rounds)]
        lines.extend(str(call) for call in self.calls)
        lines.extend(str(proposal) for proposal in self.proposals)
        lines.extend(f"note: {note}" for note in self.notes)
        used = self.usage
        lines.append(
            f"stopped: {self.stopped}; {used.calls} calls, "
            f"{used.input_tokens + used.output_tokens:,} tokens"
        )
        return "\n".join(lines)

"""What became of one lease, what is left to do, and the limits of one run.

In an enrichment the limits are checked between its steps and apply to any extractor that reports
its usage. A loop makes a ``cognigraph.llm.Budget`` of them, which is checked before each call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from cognigraph.errors import ConfigurationError
from cognigraph.model import Usage
from cognigraph.validation import check_fields


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one lease; with ``chunks`` 0 the lease was for the session's summary alone.

    ``rejected`` lists what was left out and why (``reason: what``). ``usage`` is what the extractor
    used, also if it failed. ``error`` is the reason if nothing was written. ``lost`` says that
    another worker took over, ``summary_due`` that the session's summary could not be written and is
    queued. ``stopped`` is the reason if the run ends here although work may be left.
    """

    space: str
    session: str
    chunks: int
    triples: int = 0
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    lost: bool = False
    summary_due: bool = False
    stopped: str | None = None


class Waiting(NamedTuple):
    """The numbers of chunks and due summaries that wait to be enriched, and of missing vectors."""

    chunks: int
    summaries: int
    vectors: int = 0

    @property
    def total(self) -> int:
        """Chunks and summaries together."""
        return self.chunks + self.summaries


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a run; ``None`` is no limit.

    The step of an enrichment that reaches a limit is the last one. ``rounds`` limits the rounds of
    a loop, or the steps of an enrichment.
    """

    rounds: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    time: timedelta | None = None

    def __post_init__(self) -> None:
        check_fields(self, "limits")
        for name in ("rounds", "calls", "tokens", "cost"):
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                raise ConfigurationError(f"the limit of {name} must not be negative")

    def reached(self, usage: Usage, seconds: float, rounds: int = 0) -> str | None:
        """A sentence that names the limit that is reached; ``None`` if none is."""
        if self.rounds is not None and rounds >= self.rounds:
            return f"the limit of {self.rounds:,} rounds is reached"
        if self.calls is not None and usage.calls >= self.calls:
            return f"the limit of {self.calls:,} calls is reached"
        if self.tokens is not None and usage.input_tokens + usage.output_tokens >= self.tokens:
            return f"the limit of {self.tokens:,} tokens is reached"
        if self.cost is not None and usage.cost >= self.cost:
            return f"the limit of cost {self.cost:g} is reached"
        if self.time is not None and seconds >= self.time.total_seconds():
            return f"the limit of {self.time.total_seconds():g} seconds is reached"
        return None

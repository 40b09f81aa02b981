"""``Limits`` of one run of enrichment or of one loop of a question.

In an enrichment they are checked between its steps and apply to any extractor that reports its
usage. A loop makes a ``cognigraph.llm.Budget`` of them, which is checked before each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from cognigraph.errors import ConfigurationError
from cognigraph.model import Usage
from cognigraph.validation import check_fields


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

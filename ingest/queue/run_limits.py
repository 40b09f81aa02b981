"""``Limits`` of one run of enrichment, checked between its steps.

They apply to any extractor that reports its usage. The budget of a model
(``cognigraph.llm.Budget``) is checked before each call and therefore never exceeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from cognigraph.errors import ConfigurationError
from cognigraph.model import Usage
from cognigraph.validation import check_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a run; ``None`` is no limit. The step that reaches a limit is the last one."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    time: timedelta | None = None

    def __post_init__(self) -> None:
        check_fields(self, "limits")
        for name, limit in (("calls", self.calls), ("tokens", self.tokens), ("cost", self.cost)):
            if limit is not None and not limit >= 0:
                raise ConfigurationError(f"the limit of {name} must not be negative")

    def reached(self, usage: Usage, seconds: float) -> str | None:
        """A sentence that names the limit that is reached; ``None`` if none is."""
        if self.calls is not None and usage.calls >= self.calls:
            return f"the limit of {self.calls:,} calls is reached"
        if self.tokens is not None and usage.input_tokens + usage.output_tokens >= self.tokens:
            return f"the limit of {self.tokens:,} tokens is reached"
        if self.cost is not None and usage.cost >= self.cost:
            return f"the limit of cost {self.cost:g} is reached"
        if self.time is not None and seconds >= self.time.total_seconds():
            return f"the limit of {self.time.total_seconds():g} seconds is reached"
        return None

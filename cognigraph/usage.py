"""What model calls cost, in calls, tokens, seconds and money."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls came to; adds up with ``+``.

    ``calls`` went to the endpoint (retries are calls too); ``cached`` were answered without one.
    ``cost`` is in the currency of the prices that were set, 0.0 where none were.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
            self.cost + other.cost,
        )

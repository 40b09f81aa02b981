"""Usage of language models: calls, tokens, seconds and cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of language models; values are added with ``+``.

    ``calls`` counts requests to the endpoint, retries included; ``cached`` counts answers that came
    from a cache. ``cached_input_tokens`` are those of the input tokens which the endpoint says that
    it did not have to read again. ``cost`` is in the currency of the configured prices, and 0.0
    without prices.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    cached_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))

"""The answer of MemBuilder (section C.1): the whole core profile, and the most similar memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cognigraph.loop.data import Plan
from cognigraph.loop.state import LoopState


@dataclass(frozen=True, slots=True)
class MostSimilar:
    """``route`` without a model: the ``k`` memories most similar to the question, of any kind."""

    needs_model: ClassVar[bool] = False
    k: int = 10

    def __call__(self, state: LoopState) -> Plan:
        """Plan one search."""
        return Plan((state.question,), "memories", self.k, reason="as it was asked")

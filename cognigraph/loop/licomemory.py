"""The slots of the loop on LiCoMemory's search: notice what a block lacks, and search for that.

The paper has no loop. Its search is the first round; what follows is measured in
``bench/strategies.py``: messages that are not in the block yet, a few for each new query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast, get_args

from cognigraph.loop.data import Assessment, Plan, Verdict
from cognigraph.loop.shown import NONE
from cognigraph.loop.state import LoopState
from cognigraph.model import Layer
from cognigraph.text.marks import one_line


@dataclass(frozen=True, slots=True)
class AskAsItIs:
    """``route`` without a model: the question itself, to one layer."""

    needs_model: ClassVar[bool] = False
    k: int = 15
    layer: Layer = "messages"

    def __call__(self, state: LoopState) -> Plan:
        """Plan one search."""
        return Plan((state.question,), self.layer, self.k, reason="as it was asked")


@dataclass(frozen=True, slots=True)
class NoticeMissing:
    """``assess``: a model reads the block and says what is missing, and what to search for."""

    needs_model: ClassVar[bool] = True

    def __call__(self, state: LoopState) -> Assessment:
        """Judge the present block."""
        from cognigraph.loop.schemas import MissingAnswer

        inputs = {
            "asked": state.asked_on,
            "history": state.history_lines,
            "question": one_line(state.question),
            "sent": state.sent_lines,
            "memory": str(state.block()) or NONE,
        }
        answer = state.asker.ask("lico-missing-1", MissingAnswer, inputs)
        verdict = answer.verdict.strip().lower()
        if verdict not in get_args(Verdict):
            state.note(f"the verdict {verdict[:40]!r} is none of those asked for: taken as partial")
            verdict = "partial"
        if verdict == "enough" and answer.queries:
            state.note(f"enough, and yet {len(answer.queries)} queries: they were not sent")
        queries = () if verdict == "enough" else tuple(answer.queries)
        return Assessment(cast(Verdict, verdict), missing=answer.missing, queries=queries)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """``reflect``: send the first ``queries`` of the queries proposed that are new.

    Each brings up to ``new`` messages that are not among the evidence yet.
    """

    needs_model: ClassVar[bool] = False
    queries: int = 3
    new: int = 6

    def __call__(self, state: LoopState) -> Plan | None:
        """Plan the next round; ``None`` ends the loop."""
        found = state.assessment
        if found is None or found.verdict == "enough":
            return None
        chosen = state.unsent(found.queries, self.queries)
        return Plan(tuple(chosen), "messages", self.new, reason=found.missing) if chosen else None

"""The slots of the loop on LiCoMemory's search: notice what a block lacks, and search for that.

The paper has no loop. Its search is the first round; what follows is measured in
``bench/strategies.py``: messages that are not in the block yet, a few for each new query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast, get_args

from cognigraph.loop.data import Assessment, Plan, Source, Verdict
from cognigraph.loop.state import NONE, LoopState, asks_for_many
from cognigraph.text.marks import one_line

_TOKENS = 60
"""Of a message in a block."""


@dataclass(frozen=True, slots=True)
class AskAsItIs:
    """``route`` without a model: the question itself, to one layer or to the memories.

    The parts of a list, a number or a sum may be scattered over many sessions. For such a question
    ``many`` messages are searched for instead of ``k``, and a second look brings ``again`` more, at
    most one of each session; facts of one kind stand beside each other. In a block without room
    for them the messages would only make each other shorter.
    """

    k: int = 15
    layer: Source = "messages"
    many: int = 25
    again: int = 8

    def __call__(self, state: LoopState) -> Plan:
        """Plan one search."""
        has_room = state.max_tokens >= _TOKENS * (self.many + self.again)
        if self.layer == "messages" and has_room and asks_for_many(state.question, state.now):
            return Plan(
                (state.question,),
                k=max(self.k, self.many),
                reason="as it was asked; the answer may be scattered",
                again=self.again,
            )
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
            state.note(
                f"the verdict {verdict[:40]!r} is not one of those asked for: taken as partial"
            )
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

    queries: int = 3
    new: int = 6

    def __call__(self, state: LoopState) -> Plan | None:
        """Plan the next round; ``None`` ends the loop."""
        assessment = state.assessment
        if assessment is None or assessment.verdict == "enough":
            return None
        chosen = state.unsent(assessment.queries, self.queries)
        return (
            Plan(tuple(chosen), "messages", self.new, reason=assessment.missing) if chosen else None
        )

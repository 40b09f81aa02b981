"""Write the answer to a question from the block of a loop, and check what it cites."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cognigraph.loop.shown import NONE
from cognigraph.loop.state import LoopState
from cognigraph.model import Citation, Context
from cognigraph.text.marks import one_line

_LABEL = re.compile(r"\[?\b([STCEF]\d+)\b\]?")


@dataclass(frozen=True, slots=True)
class Written:
    """An answer, the block that it was written from, and the items that it cites."""

    text: str
    context: Context
    citations: tuple[Citation, ...]


def write_answer(state: LoopState, *, last: bool = True) -> Written:
    """Ask the model for the answer.

    Raises:
        ModelError: there is no usable answer.
    """
    from cognigraph.loop.schemas import FinalAnswer

    block = state.block()
    inputs = {
        "asked": state.asked_on,
        "history": state.history_lines,
        "question": one_line(state.question),
        "pool": state.answer_lines,
        "memory": str(block) or NONE,
    }
    answer = state.asker.ask("loop-answer-1", FinalAnswer, inputs, last=last)
    text = answer.answer.strip()
    return Written(text, block, cited(state, block, answer.labels, text))


def cited(state: LoopState, block: Context, labels: list[str], text: str) -> tuple[Citation, ...]:
    """The items of a block that an answer names; labels that the block lacks are noted."""
    known = {citation.label: citation for citation in block.citations}
    named = [found[1] for label in labels for found in _LABEL.finditer(label.upper())]
    invented = len({label for label in named if label not in known})
    invented += sum(not _LABEL.search(label.upper()) for label in labels)
    if invented:
        state.note(f"{invented} labels of the answer are not in the block: left out")
    inside = [found[1] for found in re.finditer(r"\[([STCEF]\d+)\]", text)]
    return tuple(known[label] for label in dict.fromkeys((*named, *inside)) if label in known)

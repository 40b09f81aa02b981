"""The slots of HyMem: a light module first, and a deep one when it does not suffice.

Level-1 memory are the summaries of episodes, level-2 memory their messages. Algorithm 1 is the loop
of these slots: ``q_0`` is what is answered, ``q_i`` what is searched for, and the intermediate
answers are the memory pool ``M_i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from cognigraph.loop.data import Assessment, Plan
from cognigraph.loop.state import NONE, LoopState, says_unknown, write_answer
from cognigraph.text.marks import one_line

T = TypeVar("T")


def batches_of(items: Sequence[T], d: int) -> list[tuple[T, ...]]:
    """Partition the candidates S into batches S_i of ``d`` items (eq. 1); the last may be smaller.

    >>> batches_of([1, 2, 3, 4, 5], 2)
    [(1, 2), (3, 4), (5,)]
    """
    return [tuple(items[start : start + d]) for start in range(0, len(items), d)]


@dataclass(frozen=True, slots=True)
class LightModule:
    """``assess``: answer from summaries, under a strict verdict (section 3.2, G_theta).

    The paper's prompt lets the model refuse whenever the summaries are incomplete, vague or
    doubtful; then the deep module is activated. A summary is made once, and what was said later in
    the conversation may differ from it. So the ``messages`` best messages are shown as well, all in
    order of time; 0 is the paper's form. An answer that says that something is not known counts as
    no answer.
    """

    needs_model: ClassVar[bool] = True
    messages: int = 5

    def __call__(self, state: LoopState) -> Assessment:
        """Answer ``q_0`` from the summaries found for ``q_i`` and from the pool."""
        from cognigraph.loop.schemas import LightAnswer

        if state.plan.layer == "messages":
            return Assessment("partial", "there are messages and no summaries", deep=True)
        shown = self._in_time(state)
        inputs = {
            "asked": state.asked_on,
            "question": one_line(state.question),
            "pool": state.answer_lines,
            "summaries": state.lines(shown),
        }
        answer = state.asker.ask("hymem-light-2", LightAnswer, inputs)
        unknown = says_unknown(answer.answer)
        if answer.sure and answer.answer.strip() and not unknown:
            state.answers.append(answer.answer)
            state.choose(shown)
            state.cited = ()
            return Assessment("enough", "the summaries suffice", answer=answer.answer)
        if answer.sure:
            what = "the answer says that something is not known" if unknown else "without an answer"
            state.note(f"sure, but {what}: taken as not sure")
        return Assessment("partial", "the summaries do not suffice", deep=True)

    def _in_time(self, state: LoopState) -> list[str]:
        """The labels of the summaries and of the best messages, earliest first."""
        query = state.plan.queries[0] if state.plan.queries else state.question
        said = (
            state.add(state.recall.messages(query, self.messages), query) if self.messages else ()
        )
        labels = dict.fromkeys((*state.shown, *said))
        return sorted(set(labels), key=lambda label: (state.pool.item(label).at, label))


@dataclass(frozen=True, slots=True)
class DeepModule:
    """``deepen``: a model selects among ``n`` summaries; their messages are read (section 3.3).

    Coarse recall gives the ``n`` best summaries, which are judged in batches of ``d`` at the same
    time (f_gamma). The messages that the selected episodes cover answer the question (G_gamma): as
    they were said, in order of time, if they fit in the block. The answer may be inferred, as with
    the paper's prompt.
    """

    needs_model: ClassVar[bool] = True
    n: int
    d: int

    def __call__(self, state: LoopState) -> None:
        """Read the messages behind the selected summaries, and answer ``q_0`` from them."""
        query = state.plan.queries[0] if state.plan.queries else state.question
        if state.plan.layer == "messages":
            state.choose(state.shown)
        else:
            candidates = state.add(state.recall.episodes(query, self.n), query)
            selected = self.select(state, query, candidates)
            episodes = state.pool.episodes(selected)
            state.choose(state.add(state.recall.covered(query, episodes), query))
        state.as_said = True
        answer = write_answer(state, last=False, prompt="hymem-deep-1")
        state.answers.append(answer.text)
        state.cited = answer.citations

    def select(self, state: LoopState, query: str, candidates: Sequence[str]) -> tuple[str, ...]:
        """Return the labels that the model selects; the order of the batches is irrelevant."""
        from cognigraph.loop.schemas import SelectAnswer

        batches = batches_of(candidates, self.d)
        answers = state.asker.ask_all(
            "hymem-select-1",
            SelectAnswer,
            [{"question": one_line(query), "summaries": state.lines(batch)} for batch in batches],
        )
        chosen = {
            label
            for batch, answer in zip(batches, answers, strict=True)
            for label in state.known(answer.ids, among=batch)
        }
        return tuple(label for label in candidates if label in chosen)


@dataclass(frozen=True, slots=True)
class ReflectionModule:
    """``reflect``: is the answer complete, and what is to be asked next (section 3.4, R).

    An answer that says that something is not known is not complete. If the model has no further
    question then, the messages themselves (level 2) are searched for the question, once.
    """

    needs_model: ClassVar[bool] = True
    k: int

    def __call__(self, state: LoopState) -> Plan | None:
        """Return the search for ``q_{i+1}``; ``None`` if the answer is complete."""
        from cognigraph.loop.schemas import ReflectAnswer

        inputs = {
            "question": one_line(state.question),
            "answer": one_line(state.answers[-1]) if state.answers else NONE,
            "sent": state.sent_lines,
        }
        answer = state.asker.ask("hymem-reflect-2", ReflectAnswer, inputs)
        unknown = not state.answers or says_unknown(state.answers[-1])
        if answer.complete and not unknown:
            state.verdict = "enough"
            return None
        state.verdict = "partial"
        asked = [answer.question] if answer.question.strip() else []
        if new := state.unsent(asked, 1, "episodes"):
            return Plan(tuple(new), "episodes", self.k, reason="a part is missing")
        if unknown and state.unvisited("messages", state.question):
            return Plan((state.question,), "messages", self.k, reason="not known from the episodes")
        return None

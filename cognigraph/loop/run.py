"""Run a loop: rounds of searching and judging within limits, then the answer.

Nothing that a model does stops a loop with an exception. A limit that is reached ends the rounds,
and the answer is written from what was found. A model that fails leaves the block of a search
without a loop, and a note that says which prompt failed and why.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cognigraph.errors import ModelError, NotFoundError
from cognigraph.loop.data import (
    Answer,
    Assessment,
    Evidence,
    ModelCall,
    Plan,
    Repair,
    Round,
    StopReason,
)
from cognigraph.loop.licomemory_slots import AskAsItIs
from cognigraph.loop.state import LoopState, WrittenAnswer, write_answer
from cognigraph.loop.strategy import Strategy
from cognigraph.model import Citation, Context, Usage
from cognigraph.text.redaction import redacted
from cognigraph.text.terms import printable

OnRound = Callable[[Round], None]
"""Called with each round of a loop as it ends."""

Apply = Callable[[Sequence[Repair]], None]
"""Makes all proposed changes in one transaction."""

NO_MODEL = (
    "no model is configured: this is the block without a loop; set COGNIGRAPH_MODEL and "
    "OPENAI_API_KEY (or OPENAI_BASE_URL) and open the memory with model='openai', or pass a Model"
)


@dataclass
class Loop:
    """One run of a strategy for one question.

    ``plain_tokens`` is the budget of the block that is left if the loop cannot be run.
    """

    strategy: Strategy
    state: LoopState
    rounds_most: int
    plain_tokens: int = 1300
    on_round: OnRound | None = None
    apply: Apply | None = None
    rounds: list[Round] = field(default_factory=list)
    proposals: list[Repair] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: StopReason = "rounds"

    def run(self, *, answer: bool) -> Answer:
        """Run the rounds, and write the answer if asked for it."""
        state = self.state
        if not state.has_asker and (self.strategy.needs_model):
            self.notes.append(NO_MODEL)
            return self._without_loop("no model")
        if self.rounds_most < 1:
            self.notes.append("stopped early: the limit of 0 rounds is reached")
            return self._without_loop("limit")
        try:
            self._search()
        except ModelError as error:
            return self._without_loop("model failed", error)
        if not len(state.pool) and not state.block():
            state.verdict, self.stopped = "nothing", "nothing found"
            self.notes.append("nothing was found: there is nothing to answer from")
            return self._answer("", state.block(), (), ())
        if not answer or not state.has_asker:
            if answer:
                self.notes.append(NO_MODEL)
            return self._answer("", state.block(), (), self._made())
        try:
            written = self._written()
        except ModelError as error:
            if not self._is_limit(error):
                return self._without_loop("model failed", error)
            return self._answer(self._last_answer(), state.block(), (), self._made())
        return self._answer(written.text, written.context, written.citations, self._made())

    # Rounds

    def _search(self) -> None:
        """Run rounds until there is no further plan or a limit is reached."""
        plan: Plan | None = self._first_plan()
        while plan is not None:
            if len(self.rounds) >= self.rounds_most:
                self.stopped = "rounds"
                return
            plan = self._round(plan)
            if self.stopped == "limit":
                return
        enough = self.state.verdict == "enough"
        self.stopped = "answered" if enough else "no new query"

    def _first_plan(self) -> Plan:
        self.state.round = 1
        try:
            return self.strategy.route(self.state)
        except ModelError as error:
            if not self._is_limit(error):
                self._record(Plan(()), (), (), time.monotonic())
                raise
            return Plan((self.state.question,), reason="as it was asked: no call is left")

    def _round(self, plan: Plan) -> Plan | None:
        """Run one round; returns the plan of the next one."""
        started, state = time.monotonic(), self.state
        state.round = len(self.rounds) + 1
        state.assessment = None
        before = len(state.pool)
        evidence = state.fetch(plan)
        deepened: tuple[Evidence, ...] = ()
        following: Plan | None = None
        failure: ModelError | None = None
        try:
            state.assessment = self._assess()
            evidence = state.pool.items[before:]  # with what the assessment has looked up
            if state.assessment is not None:
                state.verdict = state.assessment.verdict
                if state.assessment.deep and self.strategy.deepen is not None:
                    self.strategy.deepen(state)
                    deepened = state.pool.items[before + len(evidence) :]
                if state.assessment.conflicts and self.strategy.repair is not None:
                    self._propose(self.strategy.repair(state))
            reflect = self.strategy.reflect
            # With nothing found, there is nothing that a model could reflect on.
            if reflect is not None and (len(state.pool) or not getattr(reflect, "needs_model", 0)):
                following = reflect(state)
        except ModelError as error:
            failure = error
        self._record(plan, evidence, deepened, started)
        if failure is not None and not self._is_limit(failure):
            raise failure
        return following

    def _assess(self) -> Assessment | None:
        """Assess the evidence; a first round without any needs no model to be called empty."""
        if self.strategy.assess is None:
            return None
        if not self.state.shown:
            return Assessment("nothing", "nothing was found")
        return self.strategy.assess(self.state)

    def _propose(self, repairs: Sequence[Repair]) -> None:
        known = {proposal.old.uid for proposal in self.proposals}
        self.proposals.extend(proposal for proposal in repairs if proposal.old.uid not in known)

    def _record(
        self,
        plan: Plan,
        evidence: Sequence[Evidence],
        deepened: Sequence[Evidence],
        started: float,
    ) -> None:
        state = self.state
        done = Round(
            len(self.rounds) + 1,
            plan,
            tuple(evidence),
            state.assessment,
            tuple(deepened),
            state.take_calls(),
            tuple(state.notes),
            round(time.monotonic() - started, 3),
        )
        state.notes.clear()
        self.rounds.append(done)
        if self.on_round is not None:
            self.on_round(done)

    # The end

    def _is_limit(self, error: ModelError) -> bool:
        """Whether a limit of this loop was reached; if so, note it."""
        reached = self.state.asker.limit_of(error)
        if reached is None:
            return False
        if self.stopped != "limit":
            self.stopped = "limit"
            self.notes.append(f"stopped early: {reached}")
        return True

    def _written(self) -> WrittenAnswer:
        """The answer: the last intermediate one if there is one, else a new one."""
        state = self.state
        if state.answers and self.stopped != "limit":
            block = state.block()
            return WrittenAnswer(state.answers[-1], block, state.cited)
        return write_answer(state)

    def _last_answer(self) -> str:
        return self.state.answers[-1] if self.state.answers else ""

    def _made(self) -> tuple[Repair, ...]:
        """The proposals; made, if that was asked for."""
        if self.apply is None or not self.proposals:
            return tuple(self.proposals)
        try:
            self.apply(self.proposals)
        except NotFoundError as error:
            self.notes.append(f"the changes were not made: {error}")
            return tuple(self.proposals)
        return tuple(replace(proposal, applied=True) for proposal in self.proposals)

    def _without_loop(self, stopped: StopReason, error: ModelError | None = None) -> Answer:
        """The answer when there is no usable model: the block of a search without a loop."""
        state = self.state
        self.stopped = stopped
        if error is not None:
            self.notes.append(
                f"the model failed in round {max(1, len(self.rounds))} "
                f"({redacted(printable(str(error)))}); this is the block without a loop"
            )
        block = self._look_again(state.recall.block(state.question, self.plain_tokens))
        return self._answer(self._last_answer(), block, (), tuple(self.proposals))

    def _look_again(self, block: Context) -> Context:
        """A wider block than that of one search, if the parts of the answer may be scattered."""
        plan = AskAsItIs()(self.state)
        if not plan.again or not block or len(self.state.pool):
            return block
        self.state.fetch(plan)
        return self.state.block()

    def _answer(
        self,
        text: str,
        block: Context,
        citations: tuple[Citation, ...],
        proposals: tuple[Repair, ...],
    ) -> Answer:
        state = self.state
        calls: tuple[ModelCall, ...] = state.take_calls()
        usage = sum((call.usage for round in self.rounds for call in round.calls), Usage())
        usage = sum((call.usage for call in calls), usage)
        notes = (*self.notes, *state.notes)
        return Answer(
            question=state.question,
            text=text,
            context=block.with_notes(notes),
            citations=citations,
            rounds=tuple(self.rounds),
            verdict=state.verdict,
            proposals=proposals,
            usage=usage,
            stopped=self.stopped,
            strategy=self.strategy.name,
            calls=calls,
            notes=notes,
        )

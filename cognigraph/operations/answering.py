"""``Answering``: the operation of a space that answers a question by a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, Literal

from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.loop.asker import Asker
from cognigraph.loop.data import Answer
from cognigraph.loop.recall import Recall
from cognigraph.loop.run import Loop, OnRound
from cognigraph.loop.state import LoopState
from cognigraph.loop.strategy import Strategy, resolve_strategy
from cognigraph.model import Filter
from cognigraph.operations import fact_states
from cognigraph.operations.inspection import Inspection
from cognigraph.operations.searching import with_request
from cognigraph.settings import Settings
from cognigraph.times import to_utc, zone
from cognigraph.validation import checked


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRequest:
    """A question for a loop, with everything that its answer depends on."""

    question: str
    strategy: str | Strategy = "licomemory"
    history: Sequence[str] = ()
    limits: Limits | None = None
    max_tokens: int | None = None
    now: datetime | str | None = None
    as_of: datetime | str | None = None
    where: Filter | None = None
    timezone: str | tzinfo | None = None
    settings: Settings | None = None
    on_round: OnRound | None = None


def new_state(engine: Engine, space: str, request: LoopRequest) -> LoopState:
    """Create the state in which the loop of a request begins."""
    chosen = request.settings or engine.settings
    reader = zone(request.timezone) or engine.zone or UTC
    now = engine.clock() if request.now is None else to_utc(request.now, engine.zone)
    run = partial(
        with_request, engine, space, now=now, as_of=request.as_of, where=request.where,
        settings=chosen.search,
    )  # fmt: skip
    return LoopState(
        request.question,
        recall=Recall(run, chosen.context, reader),
        asker=None if engine.model is None else Asker(engine.model, request.limits),
        history=request.history,
        now=now,
        max_tokens=request.max_tokens or resolve_strategy(request.strategy).max_tokens,
    )


def run_loop(
    engine: Engine, space: str, request: LoopRequest, *, answer: bool, apply: bool
) -> Answer:
    """Run the loop of a request; see :meth:`Answering.ask`."""
    strategy = resolve_strategy(request.strategy)
    most = (request.limits or Limits()).rounds
    settings = request.settings or engine.settings
    engine.store.search.warm(space)
    loop = Loop(
        strategy,
        new_state(engine, space, request),
        strategy.rounds if most is None else min(strategy.rounds, most),
        plain_tokens=request.max_tokens or settings.context.max_tokens,
        on_round=request.on_round,
        apply=partial(fact_states.apply_repairs, engine.store, space) if apply else None,
    )
    return loop.run(answer=answer)


class Answering(Inspection):
    """One tenant of a memory, as far as questions about it are answered."""

    def _state(self, request: LoopRequest) -> LoopState:
        return new_state(self._engine, self._name, request)

    @checked
    def ask(
        self,
        question: str,
        history: Sequence[str] = (),
        *,
        strategy: str | Strategy = "licomemory",
        limits: Limits | None = None,
        repair: Literal["propose", "apply"] = "propose",
        on_round: OnRound | None = None,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        as_of: datetime | str | None = None,
        where: Filter | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """Answer a question by a loop: search, notice what is missing, search again, answer.

        The memory's model judges and answers. Without one, or if it fails, the result has the block
        of :meth:`context` and a note; no :class:`ModelError` is raised.

        Args:
            question: the question in natural language.
            history: the turns of the conversation before it, oldest first.
            strategy: ``"licomemory"``, ``"hymem"``, ``"ama"``, or a
                :class:`~cognigraph.loop.Strategy`.
            limits: of rounds, calls, tokens, cost and time. A limit that is reached ends the
                search; the last call is kept for the answer.
            repair: whether changes of facts in conflict are only proposed, or made as well, all in
                one transaction. :meth:`restore` undoes each.
            on_round: called with each :class:`~cognigraph.loop.Round` as it ends.
            max_tokens: budget of the block that the answer is written from; the strategy's if
                absent.
            now: when the question is asked; the clock's time if absent.
            as_of: answer from what was known at this time.
            where: which messages are considered.
            timezone: the timezone in which times are shown to the model.
            settings: settings for this call, instead of the memory's.
        """
        request = LoopRequest(
            question=question,
            strategy=strategy,
            history=checked_turns(history),
            limits=limits,
            max_tokens=max_tokens,
            now=now,
            as_of=as_of,
            where=where,
            timezone=timezone,
            settings=settings,
            on_round=on_round,
        )
        return run_loop(self._engine, self._name, request, answer=True, apply=repair == "apply")


def checked_turns(history: Sequence[str]) -> tuple[str, ...]:
    """The turns before a question; :class:`ConfigurationError` if they are none."""
    if isinstance(history, str) or not all(isinstance(turn, str) for turn in history):
        raise ConfigurationError("history must be a sequence of texts, the turns before a question")
    return tuple(history)


def loop_state(space: Answering, question: str, **options: Any) -> LoopState:
    """Create a state with which a slot of a loop can be called alone.

    ``options`` are those of :meth:`Answering.ask` that say how to search: ``now``, ``as_of``,
    ``where``, ``timezone``, ``settings``, ``limits``, ``history`` and ``max_tokens``.
    """
    return space._state(LoopRequest(question=question, **options))

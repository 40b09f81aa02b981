"""``Asker``: asks a model within the limits of one loop, and records every call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from cognigraph.errors import BudgetExceededError, ModelError, ModelUnavailableError
from cognigraph.ingest.queue.step import Limits
from cognigraph.llm import Answer, Budget, Model, Prompt
from cognigraph.llm.prompts import PromptFile, prompt_file, render
from cognigraph.loop.data import ModelCall
from cognigraph.model import Usage
from cognigraph.text.redaction import redacted
from cognigraph.text.terms import printable

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T", bound="BaseModel")
_AT_ONCE = 8
_MOST_DROPPED = 20
_MOMENT = 0.05
"""Seconds by which a call may be cut short before its time is up."""


@cache
def loop_prompt(id: str) -> PromptFile:
    """Load a prompt of the loop by its name and version."""
    return prompt_file(id, "cognigraph.loop.prompts")


class _Limited:
    """A model whose calls count against a budget."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.name = model.name
        self._budget = budget
        self._model = model

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        self._budget.reserve()
        try:
            answer = self._model.ask(prompt, schema)
        except ModelError as error:
            self._budget.settle(error.usage)
            raise
        self._budget.settle(answer.usage)
        return answer


def _limited(model: Model, budget: Budget) -> Model:
    """The model with one more budget, which counts every request if the model can tell them."""
    within = getattr(model, "within", None)
    return within(budget) if callable(within) else _Limited(model, budget)


class Asker:
    """A model with the limits of one loop. Thread-safe.

    No request exceeds the limits of calls and time. Tokens and cost are known after a call, so the
    call after one that exceeds them is refused. The last call is kept for the answer: it is made
    with ``last=True`` only.
    """

    def __init__(self, model: Model, limits: Limits | None = None) -> None:
        self.name = model.name
        self._start = time.monotonic()
        self._limits = limits or Limits()
        most = self._limits
        whole = Budget(calls=most.calls, tokens=most.tokens, cost=most.cost, time=most.time)
        early = Budget(calls=None if most.calls is None else max(0, most.calls - 1))
        self._last = _limited(model, whole)
        self._early = _limited(self._last, early)
        self._calls: list[ModelCall] = []
        self._taken = 0
        self._lock = Lock()

    @property
    def usage(self) -> Usage:
        """What all calls have used so far."""
        with self._lock:
            return sum((call.usage for call in self._calls), Usage())

    @property
    def reached(self) -> str | None:
        """A sentence that names the limit that is reached; ``None`` if none is."""
        used, most = self.usage, self._limits.calls
        if most is not None and used.calls == most - 1:
            return f"the last of {most} calls is kept for the answer"
        return self._limits.reached(used, time.monotonic() - self._start)

    def limit_of(self, error: ModelError) -> str | None:
        """A sentence if an error says that a limit of this loop is reached; ``None`` otherwise."""
        if isinstance(error, BudgetExceededError):
            return self.reached
        late = time.monotonic() - self._start + _MOMENT
        if isinstance(error, ModelUnavailableError) and self._limits.time is not None:
            return Limits(time=self._limits.time).reached(Usage(), late)
        return None

    def take(self) -> tuple[ModelCall, ...]:
        """Return the calls since the last time, in the order in which they were asked."""
        with self._lock:
            calls = tuple(self._calls[self._taken :])
            self._taken = len(self._calls)
            return calls

    def ask(self, id: str, schema: type[T], inputs: Mapping[str, str], *, last: bool = False) -> T:
        """Fill a prompt of the loop and ask it.

        Raises:
            ModelError: there is no usable answer; the call is recorded nevertheless.
        """
        return self._recorded([self._ask(id, schema, inputs, last)])[0]

    def ask_all(self, id: str, schema: type[T], batches: Sequence[Mapping[str, str]]) -> list[T]:
        """Ask one prompt for each batch of inputs at the same time; results keep their order.

        The endpoint's limiter decides how many requests really run at a time.

        Raises:
            ModelError: one of them failed, after all have ended.
        """
        if len(batches) < 2:
            return [self.ask(id, schema, batch) for batch in batches]
        with ThreadPoolExecutor(min(len(batches), _AT_ONCE)) as pool:
            replies = list(pool.map(lambda batch: self._ask(id, schema, batch, False), batches))
        return self._recorded(replies)

    def _recorded(self, replies: Sequence[tuple[ModelCall, T | ModelError]]) -> list[T]:
        """Record the calls in order; return the answers, or raise the first error."""
        values: list[T] = []
        with self._lock:
            self._calls.extend(call for call, _ in replies)
        for _, reply in replies:
            if isinstance(reply, ModelError):
                raise reply
            values.append(reply)
        return values

    def _ask(
        self, id: str, schema: type[T], inputs: Mapping[str, str], last: bool
    ) -> tuple[ModelCall, T | ModelError]:
        prompt = render(loop_prompt(id), **inputs)
        call = ModelCall(id, self.name, prompt.system, prompt.user)
        try:
            answer = (self._last if last else self._early).ask(prompt, schema)
        except ModelError as error:
            return replace(call, usage=error.usage, error=redacted(printable(str(error)))), error
        reply = answer.value.model_dump(mode="json")
        dropped = answer.dropped[:_MOST_DROPPED]
        return replace(call, reply=reply, usage=answer.usage, dropped=dropped), answer.value

"""``ChatModel``: answers in the form of a schema from an OpenAI-compatible endpoint.

Each request is counted by the budget before it is made, waits for the limiter, is tried again with
jitter, and adapts to what the endpoint understands. The ``openai`` client could retry by itself,
but it would hide its attempts: ``Retry-After`` has to pause the other threads too, an account
without credit is not worth a second attempt, and an error 500 may be about the form of the request.
"""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from cognigraph.errors import (
    ConfigurationError,
    ModelAnswerError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
)
from cognigraph.llm.answer_cache import ResponseCache, cache_key
from cognigraph.llm.endpoint import OPENAI_URL, Endpoint, Reply, check_credentials
from cognigraph.llm.limits import DEFAULT_CALLS, Budget, Limiter, wait_before_retry
from cognigraph.llm.parse_answer import ParsedAnswer, json_schema, read
from cognigraph.llm.protocols import Answer, Mode, Prices, Prompt, T
from cognigraph.llm.replies import (
    Answered,
    AskDifferently,
    Dialect,
    Dialects,
    Message,
    TryAgain,
    Verdict,
    Withheld,
    in_words,
    judge,
    learned,
)
from cognigraph.model import Usage
from cognigraph.text.marks import estimate_tokens
from cognigraph.text.terms import storable

logger = logging.getLogger("cognigraph.llm")

_MAX_QUOTED = 6000
_MOST_DIALECTS = 6
_ROLE_TOKENS = 4


@dataclass(slots=True)
class _Tally:
    """What was spent for one prompt, and how its last request was made and answered."""

    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    mode: Mode = "json_schema"
    status: int | None = None


class ChatModel:
    """A model behind an OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp, LiteLLM).

    Args:
        model: name of the model at the endpoint.
        base_url: base URL of the API, such as ``http://localhost:11434/v1``; OpenAI's by default.
        api_key: not needed for a server without keys.
        temperature: omitted for models that reject it.
        timeout: for one whole call, from connecting to the last byte.
        max_output_tokens: a longer answer is cut off; its complete items are kept.
        prices: used to count cost; required by a budget of cost.
        cache: answers that were already paid for.
        limiter: by default one that is shared by the whole process for this endpoint.
        budget: limits that stop the next call; unlimited by default (:attr:`budget`).
        attempts: maximum number of requests for one answer.
        mode: the mode to try first; a simpler one follows if the server does not support it.
        sleep: waits between attempts; for tests.
        random: gives the jitter; for tests.
        dialects: what is known of endpoints; for tests.

    Raises:
        ConfigurationError: an argument is invalid, or the extra ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float = 0.0,
        timeout: timedelta = timedelta(seconds=60),
        max_output_tokens: int = 8192,
        prices: Prices | None = None,
        cache: ResponseCache | None = None,
        limiter: Limiter | None = None,
        budget: Budget | None = None,
        attempts: int = 4,
        mode: Mode = "json_schema",
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
        dialects: Dialects = learned,
    ) -> None:
        _check(model, base_url, api_key, mode)
        if timeout <= timedelta(0) or max_output_tokens < 1 or attempts < 1:
            raise ConfigurationError("timeout, max_output_tokens and attempts must be positive")
        if not 0 <= temperature <= 2:
            raise ConfigurationError("temperature must be between 0 and 2")
        _check_prices(budget, prices)
        self.name = model
        self.budget = budget if budget is not None else Budget()
        self.prices = prices
        self._cache = cache
        self._endpoint = Endpoint(OPENAI_URL if base_url is None else base_url, api_key)
        own = self._endpoint.base_url == OPENAI_URL
        self._first_dialect = Dialect(mode, "max_completion_tokens" if own else "max_tokens")
        self._dialects = dialects
        self._limiter = limiter or Limiter.shared(self._endpoint.base_url)
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._timeout = timeout.total_seconds()
        self._attempts = attempts
        self._sleep = sleep
        self._random = random

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str] | None = None, **options: Any
    ) -> ChatModel:
        """Create a model from environment variables; two of them suffice.

        ``COGNIGRAPH_MODEL`` and ``OPENAI_API_KEY`` for OpenAI; ``COGNIGRAPH_MODEL`` and
        ``OPENAI_BASE_URL`` for a server without keys. ``COGNIGRAPH_MODEL_PRICES`` may give prices
        per million tokens (``"0.15,0.60"``: input, output). ``options`` go to the constructor and
        take precedence.
        """
        environ = os.environ if environ is None else environ
        model = environ.get("COGNIGRAPH_MODEL", "").strip()
        if not model:
            raise ConfigurationError("set COGNIGRAPH_MODEL to the name of a model")
        options.setdefault("base_url", environ.get("OPENAI_BASE_URL", "").strip() or None)
        options.setdefault("api_key", environ.get("OPENAI_API_KEY", "").strip() or None)
        if prices := environ.get("COGNIGRAPH_MODEL_PRICES", "").strip():
            options.setdefault("prices", Prices.parse(prices))
        return cls(model, **options)

    def allow(self, calls: int) -> None:
        """Let ``calls`` more calls than by default be under way at once, for background work."""
        self._limiter.widen(DEFAULT_CALLS + calls)

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """Answer the prompt with an instance of the schema.

        Of an answer that is cut off or partly invalid, the complete valid items are kept. An
        answer without anything usable is sent back to the model once for repair. An empty result
        is never invented: only an object with all the lists of the schema counts as "nothing
        found".

        Raises:
            ModelError: see its subclasses; ``usage`` holds what was spent nevertheless.
        """
        tally = _Tally()
        try:
            return self._ask(prompt, schema, tally)
        except ModelError as error:
            error.usage, error.attempts, error.status = tally.usage, tally.attempts, tally.status
            raise error from None  # the cause may quote the request, and with it the key

    def within(self, budget: Budget) -> ChatModel:
        """Return this model with one more budget; connections, cache and limiter are shared.

        Calls count against both budgets.

        Raises:
            ConfigurationError: the budget limits cost, and the model has no prices.
        """
        _check_prices(budget, self.prices)
        limited = copy(self)
        limited.budget = budget.inside(self.budget)
        return limited

    def forget_answers(self) -> int:
        """Empty the cache of answers; return how many it held."""
        return 0 if self._cache is None else self._cache.clear()

    def _ask(self, prompt: Prompt, schema: type[T], tally: _Tally) -> Answer[T]:
        form = json_schema(schema)
        key = cache_key(prompt, self.name, form)
        if kept := self._cached(key, schema):
            return kept
        messages: list[Message] = [
            {"role": "system", "content": storable(prompt.system)},
            {"role": "user", "content": storable(prompt.user)},
        ]
        reply = self._call(messages, form, tally)
        reading = read(reply.text, schema, cut_off=reply.cut_off)
        if reading.value is None:
            self._learn(reading, tally.mode)
            messages += _repair(reply.text, reading, form)
            reply = self._call(messages, form, tally)
            reading = read(reply.text, schema, cut_off=reply.cut_off)
        if reading.value is None:
            raise ModelAnswerError(
                f"{self.name} gave no usable answer to {prompt.name!r}, even after one retry: "
                f"{self._endpoint.quoted(reading.problem)}{self._advice(reading)}"
            )
        if self._cache is not None and not reading.cut_off:
            self._cache.put(key, reply.text, prompt=prompt, model=self.name)
        return Answer(
            reading.value, tally.usage, reading.salvaged, reading.dropped, reading.cut_off
        )

    def _cached(self, key: bytes, schema: type[T]) -> Answer[T] | None:
        """An answer from the cache, if it still fits the schema."""
        text = self._cache.get(key) if self._cache is not None else None
        reading = read(text, schema) if text is not None else None
        if reading is None or reading.value is None:
            return None
        return Answer(reading.value, Usage(cached=1), reading.salvaged, reading.dropped)

    @property
    def _dialect(self) -> Dialect:
        return self._dialects.get((self._endpoint.base_url, self.name), self._first_dialect)

    def _learn(self, reading: ParsedAnswer[T], mode: Mode) -> None:
        """Step down to a simpler mode if a complete answer shows that this one was ignored."""
        if reading.cut_off or not reading.formless:
            return
        dialect = self._dialect
        if dialect.mode == mode and (lower := dialect.step_down()):
            self._dialects[self._endpoint.base_url, self.name] = lower

    def _advice(self, reading: ParsedAnswer[T]) -> str:
        if not reading.cut_off:
            return ""
        return (
            f"; it was cut off: raise max_output_tokens (now {self._max_output_tokens}), "
            "or ask for less at a time"
        )

    # One call

    def _call(
        self, messages: Sequence[Message], schema: Mapping[str, Any], tally: _Tally
    ) -> Answered:
        """Retry until there is an answer, adding every request to ``tally``.

        Raises:
            ModelUnavailableError: every attempt failed.
            ModelRefusedError: the endpoint refused the request.
            ModelAnswerError: the model or a content filter refused to answer.
            BudgetExceededError: the next request would exceed the budget.
        """
        failed = dialects = 0
        while True:
            dialect = self._dialect
            verdict = self._request(dialect, messages, schema, tally)
            if isinstance(verdict, Answered):
                return verdict
            if isinstance(verdict, AskDifferently) and dialects < _MOST_DIALECTS:
                dialects += 1
                logger.debug("%s: trying %s instead of %s", self.name, verdict.dialect, dialect)
                self._dialects[self._endpoint.base_url, self.name] = verdict.dialect
                continue
            if not isinstance(verdict, TryAgain):
                raise self._final(verdict)
            failed += 1
            if verdict.pointless or failed >= self._attempts:
                raise self._unavailable(verdict)
            wait = wait_before_retry(self._limiter, failed, verdict.after, self._random)
            logger.info("%s: %s; trying again in %.1f s", self.name, verdict.reason, wait)
            self.budget.check(wait)
            self._sleep(wait)

    def _request(
        self,
        dialect: Dialect,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        tally: _Tally,
    ) -> Verdict:
        body = dialect.body(
            self.name,
            messages,
            schema,
            temperature=self._temperature,
            max_output_tokens=self._max_output_tokens,
        )
        with self._limiter.slot(self.budget.check):
            self.budget.reserve()
            seconds = max(0.001, min(self._timeout, self.budget.remaining()))
            reply = self._endpoint.post(body, seconds)
        verdict = judge(reply, dialect, self._endpoint.quoted)
        usage = self._usage(reply, verdict, body["messages"])
        self.budget.settle(usage)
        tally.usage += usage
        tally.attempts += 1
        tally.mode = dialect.mode
        tally.status = reply.status or None
        return verdict

    def _usage(self, reply: Reply, verdict: Verdict, messages: Sequence[Message]) -> Usage:
        """The usage of a request; tokens that the server does not count are estimated.

        If the reply timed out or was too large, the endpoint has probably processed the request, so
        its input is charged. A request that was answered with an error is not charged.
        """
        usage = Usage(calls=1, seconds=reply.seconds)
        input: int | None = None
        output = cached = 0
        if isinstance(verdict, Answered):
            input, cached = verdict.input_tokens, verdict.cached_input_tokens
            counted = verdict.output_tokens
            output = estimate_tokens(verdict.text) if counted is None else counted
        elif reply.failure not in ("timeout", "size"):
            return usage
        if input is None:
            input = sum(estimate_tokens(part["content"]) + _ROLE_TOKENS for part in messages)
        cost = self.prices.cost(input, output, cached) if self.prices is not None else 0.0
        return replace(
            usage, input_tokens=input, output_tokens=output, cost=cost, cached_input_tokens=cached
        )

    def _unavailable(self, verdict: TryAgain) -> ModelUnavailableError:
        if verdict.pointless:
            advice = "the account has no credit left; check its billing and try again later"
        else:
            advice = "nothing is lost; the same call can be repeated"
        error = ModelUnavailableError(f"{self._where} is not available: {verdict.reason}; {advice}")
        error.retry_after = verdict.after
        return error

    def _final(self, verdict: Verdict) -> ModelRefusedError | ModelAnswerError:
        if isinstance(verdict, Withheld):
            return ModelAnswerError(f"{self._where} did not answer: {verdict.reason}")
        if isinstance(verdict, AskDifferently):
            return ModelRefusedError(
                f"{self._where} rejected every form of the request that was tried"
            )
        assert not isinstance(verdict, Answered | TryAgain)
        error = ModelRefusedError(
            f"{self._where} refused the request: {verdict.reason}; {_what_to_check(verdict.reason)}"
        )
        error.too_long = verdict.too_long
        return error

    @property
    def _where(self) -> str:
        return f"{self.name} at {self._endpoint.base_url}"

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._endpoint.close()

    def __enter__(self) -> ChatModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ChatModel {self._where}>"


def _check(model: str, base_url: str | None, api_key: str | None, mode: str) -> None:
    if not model:
        raise ConfigurationError("the name of a model is required")
    check_credentials(base_url, api_key)
    if mode not in ("json_schema", "json_object", "text"):
        raise ConfigurationError(f"unknown mode {mode!r}; use json_schema, json_object or text")


def _check_prices(budget: Budget | None, prices: Prices | None) -> None:
    if budget is not None and budget.limits_cost and prices is None:
        raise ConfigurationError(
            "a budget of cost needs prices: prices=Prices(input, output), "
            "or COGNIGRAPH_MODEL_PRICES='input,output' per million tokens"
        )


def _repair(text: str, reading: ParsedAnswer[Any], form: Mapping[str, Any]) -> list[Message]:
    """The messages that quote the unusable answer to the model and ask for a valid one."""
    problem = reading.problem + ("; it was cut off, be brief" if reading.cut_off else "")
    quoted = text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]} [...]"
    return [
        {"role": "assistant", "content": quoted or "(nothing)"},
        {
            "role": "user",
            "content": f"That could not be used: {problem}.\n\n{in_words(form)}",
        },
    ]


def _what_to_check(reason: str) -> str:
    if reason.startswith(("HTTP 401", "HTTP 403")):
        return "check the API key (OPENAI_API_KEY) and its permissions"
    if reason.startswith("HTTP 404"):
        return "check the model's name and the base URL, which usually ends in /v1"
    if reason.startswith("it redirects"):
        return "if that is the intended server, set it as the base URL"
    return "check the model's name, its settings and the length of the input"

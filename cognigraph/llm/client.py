"""ChatModel: a client that gets schema-validated answers from an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any

from cognigraph.errors import ConfigurationError, ModelAnswerError, ModelError
from cognigraph.llm.answer_cache import AnswerCache, cache_key
from cognigraph.llm.calls import Requests, Tally, call
from cognigraph.llm.endpoint import OPENAI_URL, Endpoint, check_credentials
from cognigraph.llm.limits import DEFAULT_CALLS, Budget, Limiter
from cognigraph.llm.parse_answer import ParsedAnswer, json_schema, read
from cognigraph.llm.protocols import Answer, Mode, Prices, Prompt, T
from cognigraph.llm.replies import Dialect, Dialects, Message, in_words, known
from cognigraph.model import Usage
from cognigraph.text.terms import storable

_MAX_QUOTED = 6000


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
        cache: AnswerCache | None = None,
        limiter: Limiter | None = None,
        budget: Budget | None = None,
        attempts: int = 4,
        mode: Mode = "json_schema",
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
        dialects: Dialects = known,
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
        endpoint = Endpoint(OPENAI_URL if base_url is None else base_url, api_key)
        own = endpoint.base_url == OPENAI_URL
        self._requests = Requests(
            endpoint=endpoint,
            model=model,
            dialect=Dialect(mode, "max_completion_tokens" if own else "max_tokens"),
            dialects=dialects,
            limiter=limiter or Limiter.shared(endpoint.base_url),
            budget=self.budget,
            temperature=temperature,
            max_output_tokens=max_output_tokens,
            timeout=timeout.total_seconds(),
            attempts=attempts,
            prices=prices,
            sleep=sleep,
            random=random,
        )

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
        self._requests.limiter.widen(DEFAULT_CALLS + calls)

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """Answer the prompt with an instance of the schema.

        Of an answer that is cut off or partly invalid, the complete valid items are kept. An
        answer without anything usable is sent back to the model once for repair. An empty result
        is never invented: only an object with all the lists of the schema counts as "nothing
        found".

        Raises:
            ModelError: see its subclasses; ``usage`` holds what was spent nevertheless.
        """
        tally = Tally()
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
        limited._requests = replace(self._requests, budget=limited.budget)
        return limited

    def forget_answers(self) -> int:
        """Empty the cache of answers; return how many it held.

        A cache of another kind than :class:`ResponseCache` must have ``clear`` for that.
        """
        clear = getattr(self._cache, "clear", None)
        return int(clear() or 0) if callable(clear) else 0

    def _ask(self, prompt: Prompt, schema: type[T], tally: Tally) -> Answer[T]:
        form = json_schema(schema)
        key = cache_key(prompt, self.name, form)
        if kept := self._cached(key, schema):
            return kept
        messages: list[Message] = [
            {"role": "system", "content": storable(prompt.system)},
            {"role": "user", "content": storable(prompt.user)},
        ]
        reply = call(self._requests, messages, form, tally)
        reading = read(reply.text, schema, cut_off=reply.cut_off)
        if repaired := reading.value is None:
            self._learn(reading, tally.mode)
            messages += _repair(reply.text, reading, form)
            reply = call(self._requests, messages, form, tally)
            reading = read(reply.text, schema, cut_off=reply.cut_off)
        if reading.value is None:
            raise ModelAnswerError(
                f"{self.name} gave no usable answer to {prompt.name!r}, even after one retry: "
                f"{self._requests.endpoint.quoted(reading.problem)}{self._advice(reading)}"
            )
        if self._cache is not None and not reading.cut_off:
            self._cache.put(key, reply.text, prompt=prompt, model=self.name)
        return Answer(
            reading.value,
            tally.usage,
            reading.salvaged,
            reading.dropped,
            repaired,
            tally.mode,
            reading.cut_off,
            tally.estimated,
        )

    def _cached(self, key: bytes, schema: type[T]) -> Answer[T] | None:
        """An answer from the cache, if it still fits the schema."""
        text = self._cache.get(key) if self._cache is not None else None
        reading = read(text, schema) if text is not None else None
        if reading is None or reading.value is None:
            return None
        return Answer(reading.value, Usage(cached=1), reading.salvaged, reading.dropped)

    def _learn(self, reading: ParsedAnswer[T], mode: Mode) -> None:
        """Step down to a simpler mode if a complete answer shows that this one was ignored."""
        if reading.cut_off or not reading.formless:
            return
        requests = self._requests
        where = (requests.endpoint.base_url, requests.model)
        dialect = requests.dialects.get(*where, requests.dialect)
        if dialect.mode == mode and (lower := dialect.step_down()):
            requests.dialects.learn(*where, lower)

    def _advice(self, reading: ParsedAnswer[T]) -> str:
        if not reading.cut_off:
            return ""
        return (
            f"; it was cut off: raise max_output_tokens (now "
            f"{self._requests.max_output_tokens}), or ask for less at a time"
        )

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._requests.endpoint.close()

    def __enter__(self) -> ChatModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ChatModel {self.name} at {self._requests.endpoint.base_url}>"


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

"""One model call: budget, limiter, retries with jitter, and adapting to the endpoint's dialect.

The ``openai`` client could retry by itself, but it would hide its attempts: a budget counts each of
them before it is made, ``Retry-After`` has to pause the other threads too, an account without
credit is not worth a second attempt, and an error 500 may be about the form of the request.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cognigraph.errors import ModelAnswerError, ModelRefusedError, ModelUnavailableError
from cognigraph.llm.endpoint import Endpoint, Reply
from cognigraph.llm.limits import Budget, Limiter, wait_before_retry
from cognigraph.llm.protocols import Mode, Prices
from cognigraph.llm.replies import (
    Answered,
    AskDifferently,
    Dialect,
    Dialects,
    Message,
    TryAgain,
    Verdict,
    Withheld,
    judge,
)
from cognigraph.model import Usage
from cognigraph.text.marks import estimate_tokens

logger = logging.getLogger("cognigraph.llm")

_MOST_DIALECTS = 6
_ROLE_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Requests:
    """How to make requests: endpoint and model, timeout, number of attempts, and limits."""

    endpoint: Endpoint
    model: str
    dialect: Dialect
    dialects: Dialects
    limiter: Limiter
    budget: Budget
    temperature: float
    max_output_tokens: int
    timeout: float
    attempts: int
    prices: Prices | None = None
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


@dataclass(slots=True)
class Tally:
    """Running totals of the calls made for one prompt."""

    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    estimated: bool = False
    mode: Mode = "json_schema"
    status: int | None = None


def call(
    requests: Requests, messages: Sequence[Message], schema: Mapping[str, Any], tally: Tally
) -> Answered:
    """Retry until there is an answer, adding every call to ``tally``.

    Raises:
        ModelUnavailableError: every attempt failed.
        ModelRefusedError: the endpoint refused the request.
        ModelAnswerError: the model or a content filter refused to answer.
        BudgetExceededError: the next call would exceed the budget.
    """
    failed = dialects = 0
    while True:
        dialect = requests.dialects.get(
            requests.endpoint.base_url, requests.model, requests.dialect
        )
        verdict = _once(requests, dialect, messages, schema, tally)
        if isinstance(verdict, Answered):
            return verdict
        if isinstance(verdict, AskDifferently) and dialects < _MOST_DIALECTS:
            dialects += 1
            logger.debug("%s: trying %s instead of %s", requests.model, verdict.dialect, dialect)
            requests.dialects.learn(requests.endpoint.base_url, requests.model, verdict.dialect)
            continue
        if not isinstance(verdict, TryAgain):
            raise _final(requests, verdict)
        failed += 1
        _wait(requests, verdict, failed)


def _once(
    requests: Requests,
    dialect: Dialect,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    tally: Tally,
) -> Verdict:
    body = dialect.body(
        requests.model,
        messages,
        schema,
        temperature=requests.temperature,
        max_output_tokens=requests.max_output_tokens,
    )
    budget = requests.budget
    with requests.limiter.slot(budget.check):
        budget.reserve()
        reply = requests.endpoint.post(body, max(0.001, min(requests.timeout, budget.remaining())))
    verdict = judge(reply, dialect, requests.endpoint.quoted)
    usage, estimated = _usage(requests, reply, verdict, body["messages"])
    budget.settle(usage)
    tally.usage += usage
    tally.attempts += 1
    tally.estimated |= estimated
    tally.mode = dialect.mode
    tally.status = reply.status or None
    return verdict


def _usage(
    requests: Requests, reply: Reply, verdict: Verdict, messages: Sequence[Message]
) -> tuple[Usage, bool]:
    """The usage of a call, and whether its token counts are estimates.

    If the reply timed out or was too large, the endpoint has probably processed the request, so
    its input is charged. A request that was answered with an error is not charged.
    """
    usage = Usage(calls=1, seconds=reply.seconds)
    answered = isinstance(verdict, Answered)
    if not answered and reply.failure not in ("timeout", "size"):
        return usage, False
    input = verdict.input_tokens if isinstance(verdict, Answered) else None
    output = verdict.output_tokens if isinstance(verdict, Answered) else 0
    estimated = input is None or output is None
    if input is None:
        input = sum(estimate_tokens(part["content"]) + _ROLE_TOKENS for part in messages)
    if output is None:
        output = estimate_tokens(verdict.text) if isinstance(verdict, Answered) else 0
    cost = requests.prices.cost(input, output) if requests.prices is not None else 0.0
    return replace(usage, input_tokens=input, output_tokens=output, cost=cost), estimated


def _wait(requests: Requests, verdict: TryAgain, failed: int) -> None:
    """Wait before the next attempt, or give up."""
    if verdict.pointless or failed >= requests.attempts:
        raise _unavailable(requests, verdict)
    wait = wait_before_retry(requests.limiter, failed, verdict.after, requests.random)
    logger.info("%s: %s; trying again in %.1f s", requests.model, verdict.reason, wait)
    requests.budget.check(wait)
    requests.sleep(wait)


def _unavailable(requests: Requests, verdict: TryAgain) -> ModelUnavailableError:
    where = f"{requests.model} at {requests.endpoint.base_url}"
    if verdict.pointless:
        advice = "the account has no credit left; check its billing and try again later"
    else:
        advice = "nothing is lost; the same call can be repeated"
    error = ModelUnavailableError(f"{where} is not available: {verdict.reason}; {advice}")
    error.retry_after = verdict.after
    return error


def _final(requests: Requests, verdict: Verdict) -> ModelRefusedError | ModelAnswerError:
    where = f"{requests.model} at {requests.endpoint.base_url}"
    if isinstance(verdict, Withheld):
        return ModelAnswerError(f"{where} did not answer: {verdict.reason}")
    if isinstance(verdict, AskDifferently):
        return ModelRefusedError(f"{where} rejected every form of the request that was tried")
    assert not isinstance(verdict, Answered | TryAgain)
    error = ModelRefusedError(
        f"{where} refused the request: {verdict.reason}; {_what_to_check(verdict.reason)}"
    )
    error.too_long = verdict.too_long
    return error


def _what_to_check(reason: str) -> str:
    if reason.startswith(("HTTP 401", "HTTP 403")):
        return "check the API key (OPENAI_API_KEY) and its permissions"
    if reason.startswith("HTTP 404"):
        return "check the model's name and the base URL, which usually ends in /v1"
    if reason.startswith("it redirects"):
        return "if that is the intended server, set it as the base URL"
    return "check the model's name, its settings and the length of the input"

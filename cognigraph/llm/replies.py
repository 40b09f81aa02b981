"""The form of request that an endpoint understands, and what its replies mean. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Literal

from cognigraph.llm.endpoint import Reply
from cognigraph.llm.parse_answer import parse
from cognigraph.llm.protocols import Mode
from cognigraph.text.redaction import quoted
from cognigraph.text.terms import storable

_SIMPLER: Mapping[Mode, Mode] = {"json_schema": "json_object", "json_object": "text"}
_FORM_WORDS = (
    "response_format", "response format", "json_schema", "json schema", "json_object", "json mode",
    "structured output", "guided", "grammar", "schema",
)  # fmt: skip

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of request that one endpoint and model accept.

    ``limit`` is the name of the parameter that limits output tokens, empty if none is accepted;
    ``temperature`` says whether that parameter is accepted.
    """

    mode: Mode = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    temperature: bool = True

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        *,
        temperature: float,
        max_output_tokens: int,
    ) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {"model": model, "messages": self._messages(messages, schema)}
        if self.temperature:
            body["temperature"] = temperature
        if self.limit:
            body[self.limit] = max_output_tokens
        if self.mode == "json_schema":
            form = {"name": "answer", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _messages(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
        """The messages; the schema is added in words unless the server receives it."""
        if self.mode == "json_schema":
            return list(messages)
        first, *rest = messages
        told = f"{first['content']}\n\n{in_words(schema)}"
        return [{**first, "content": told}, *rest]

    def step_down(self) -> Dialect | None:
        """The dialect with the next simpler mode; ``None`` after plain text."""
        mode = _SIMPLER.get(self.mode)
        return None if mode is None else replace(self, mode=mode)

    def adapt(self, complaint: str, param: str = "") -> Dialect | None:
        """The dialect to try after an endpoint rejected this one; ``None`` if it is not the cause.

        ``complaint`` is the text of a 400 or 422 reply; ``param`` is the parameter it names, or
        empty.
        """
        text = complaint.lower()
        named = param.lower() or text
        if self.limit and self.limit in named:
            other: Literal["max_tokens", "max_completion_tokens", ""] = ""
            if self.limit == "max_tokens" and "max_completion_tokens" in text:
                other = "max_completion_tokens"
            elif self.limit == "max_completion_tokens":
                other = "max_tokens"
            return replace(self, limit=other)
        if self.temperature and "temperature" in named:
            return replace(self, temperature=False)
        if any(word in named for word in _FORM_WORDS):
            return self.step_down()
        return None


def in_words(schema: Mapping[str, Any]) -> str:
    """The instruction to follow the schema, for servers that do not enforce it."""
    form = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must match this JSON schema:\n{form}"


Dialects = dict[tuple[str, str], Dialect]
"""Dialects by the base URL of an endpoint and the name of a model."""
learned: Dialects = {}
"""What this process has learned of endpoints."""

LATER = frozenset({408, 409, 425, 429})
_FORM = frozenset({400, 422})
_BROKEN_BY_FORM = frozenset({500, 501})  # how some servers answer a response_format
_FORM_OF_ANSWER = re.compile(r"response_format|json_schema|json_object|grammar", re.IGNORECASE)
_EXCERPT = 300
_READ = 20_000
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|window|size)|too (?:long|large)|maximum.{0,20}tokens|too many tokens"
    r"|exceeds?.{0,40}(?:tokens|context|length)",
    re.IGNORECASE,
)
_ANSWER_TOO_LONG = re.compile(r"completion|max_tokens|output tokens", re.IGNORECASE)
_FILTERED = re.compile(r"content.?(?:filter|management|policy)", re.IGNORECASE)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "insufficient credits")
_MARKUP = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^<>]*>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answered:
    """The reply holds a text, and token counts if the server gave them.

    ``cached_input_tokens`` are those of the input tokens that it had in its cache.
    """

    text: str
    cut_off: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The same request may succeed later.

    ``after`` is the wait in seconds that the endpoint asked for; ``pointless`` means that a retry
    now cannot succeed (the account has no credit).
    """

    reason: str
    after: float | None = None
    pointless: bool = False


@dataclass(frozen=True, slots=True)
class AskDifferently:
    """The endpoint does not understand the form of the request."""

    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Refused:
    """The same request will never succeed."""

    reason: str
    too_long: bool = False


@dataclass(frozen=True, slots=True)
class Withheld:
    """The model or a content filter refused to answer."""

    reason: str


Verdict = Answered | TryAgain | AskDifferently | Refused | Withheld


def judge(
    reply: Reply,
    dialect: Dialect,
    quote: Callable[[str], str] = quoted,
) -> Verdict:
    """Classify the reply to a request in this dialect.

    ``quote`` makes the words of the server fit for an error message.
    """
    if reply.failure == "redirect":
        return Refused(reply.reason)
    if reply.failure:
        return TryAgain(reply.reason)
    text = reply.body.decode("utf-8", "replace")
    body = _json(text)
    status = reply.status
    if status == 200 and isinstance(body, dict) and not body.get("choices"):
        # Gateways report failures of the server behind them in this way.
        inner = body.get("error")
        code = inner.get("code") if isinstance(inner, dict) else None
        if inner and not (isinstance(code, int) and 400 <= code < 600):
            return TryAgain(f"it returned an error: {quote(_said(body, text))}")
        status = code if inner and isinstance(code, int) else 200
    if status < 400:
        return _judge_body(status, body, text, quote)
    return _judge_error(status, body, text, dialect, retry_after(reply.headers), quote)


def _judge_body(status: int, body: Any, text: str, quote: Callable[[str], str]) -> Verdict:
    choices = body.get("choices") if isinstance(body, dict) else None
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        what = f"body: {quote(_said(body, text))}" if text.strip() else "the body is empty"
        return TryAgain(f"HTTP {status}, but no chat completion ({what})")
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    finish = choices[0].get("finish_reason")
    if refusal := message.get("refusal"):
        return Withheld(f"the model refused: {quote(str(refusal))}")
    if finish == "content_filter":
        return Withheld("a content filter withheld the answer")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    input_tokens, details = _count(usage.get("prompt_tokens")), usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Answered(
        storable(_content(message.get("content"))),
        cut_off=finish == "length",
        input_tokens=input_tokens,
        output_tokens=_count(usage.get("completion_tokens")),
        cached_input_tokens=min(cached or 0, input_tokens or 0),
    )


def _content(content: Any) -> str:
    """The text of a message: a string, a list of parts, or JSON that the server already parsed."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return json.dumps(content) if isinstance(content, dict) else ""


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**53 else None


def _judge_error(
    status: int,
    body: Any,
    text: str,
    dialect: Dialect,
    after: float | None,
    quote: Callable[[str], str],
) -> Verdict:
    words = _said(body, text)
    said = f"HTTP {status}: {quote(words)}"
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {}
    code, param = str(error.get("code") or ""), str(error.get("param") or "")
    complaint = f"{code} {words[:_EXCERPT]} {_rejected_parameters(body)}"
    by_form = status in _BROKEN_BY_FORM and _FORM_OF_ANSWER.search(complaint)
    if by_form and (other := dialect.step_down()):
        return AskDifferently(other)
    if status in LATER or status >= 500:
        return TryAgain(said, after, pointless=any(sign in text.lower() for sign in _NO_CREDIT))
    too_long = status == 413 or (status in _FORM and bool(_TOO_LONG.search(complaint)))
    if status in _FORM:
        if _FILTERED.search(code):
            return Withheld(said)
        if too_long and dialect.limit and _ANSWER_TOO_LONG.search(complaint):
            return AskDifferently(replace(dialect, limit=""))
        if not too_long and (other := dialect.adapt(complaint, param)):
            return AskDifferently(other)
    return Refused(said, too_long=too_long)


def _rejected_parameters(body: Any) -> str:
    """The parameters that a FastAPI server rejects (other parts of it may quote the request)."""
    details = body.get("detail") if isinstance(body, dict) else None
    indices = [part.get("loc") for part in details or () if isinstance(part, dict)]
    return " ".join(str(index) for index in indices) if isinstance(details, list) else ""


def _said(body: Any, text: str) -> str:
    """The text of an error reply."""
    error = body.get("error", body) if isinstance(body, dict) else None
    for key in ("message", "detail", "error"):
        if isinstance(error, dict) and error.get(key):
            error = error[key]
    if isinstance(error, list) and error and isinstance(error[0], dict):
        error = error[0].get("msg")
    words = error if isinstance(error, str) else _MARKUP.sub(" ", text[:_READ])
    return " ".join(words[:_READ].split()) or "(nothing)"


def _json(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date)."""
    lower = {key.lower(): value for key, value in headers.items()}
    if (milliseconds := _seconds(lower.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = lower.get("retry-after")
    if value is None or (seconds := _seconds(value)) is not None:
        return seconds if value is not None else None
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def _seconds(value: str | None) -> float | None:
    try:
        seconds = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None

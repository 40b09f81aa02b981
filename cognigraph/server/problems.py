"""Errors as ``application/problem+json`` (RFC 9457): what is wrong, and what to do."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from cognigraph.errors import (
    BudgetExceededError,
    CogniGraphError,
    ConfigurationError,
    ConflictError,
    EmbedderMismatchError,
    EmbeddingError,
    FlushTimeout,
    InvalidMessageError,
    ModelError,
    NotFoundError,
    QueryError,
    StoreUnavailableError,
)
from cognigraph.server.answers import AnyTextResponse
from cognigraph.text.redaction import redacted

logger = logging.getLogger("cognigraph.server")
MEDIA_TYPE = "application/problem+json"
_STATUS: tuple[tuple[type[CogniGraphError], int, str], ...] = (
    (ConflictError, 409, "Conflict"),
    (InvalidMessageError, 422, "A value of the request cannot be used"),
    (NotFoundError, 404, "Not found"),
    (QueryError, 400, "The query cannot be run"),
    (ConfigurationError, 400, "The request cannot be done"),
    (StoreUnavailableError, 503, "The store does not answer"),
    (EmbedderMismatchError, 503, "The store was made with another embedder"),
    (FlushTimeout, 504, "It takes longer"),
    (BudgetExceededError, 429, "The budget is used up"),
    (ModelError, 502, "The model failed"),
    (EmbeddingError, 502, "The embedder failed"),
)
_UNEXPECTED = "Internal error"
_IN_OUR_WORDS = (
    (re.compile(r"pass skip_invalid=True"), 'send "skip_invalid": true'),
    (
        re.compile(r"open the memory with timezone=('[^']*')"),
        r"start the server with --timezone \1",
    ),
    (re.compile(r"files\.load\(\) reads it"), "POST .../files/load reads it"),
    (re.compile(r"give the id that add\(\) returned \(search shows them too\)"),
     "GET .../messages lists them"),
    (re.compile(r"flush\(\) or `cognigraph enrich`"), "POST .../flush or .../queue/enrich"),
    (re.compile(r"use space\.search\(\)"), "use POST .../search"),
    (re.compile(r"name='\.\.\.'(?:, or --name)?"), '"name": "..."'),
)  # fmt: skip
"""What the library says in Python, as a client can do it."""
_SECONDS_TO_WAIT = 1
_EMBEDDER_FAILED = (
    "the embedder failed, so nothing was searched or stored; the same request can be repeated, and "
    "the log of the server has the reason"
)
_NOT_AN_OBJECT = "model_attributes_type"
"""What pydantic calls a body that is text, a list or another value in place of an object."""
_DETAILS = ("index", "position", "stored", "ids", "pending", "limit", "allowed", "used", "attempts")
"""Attributes of errors that are passed on."""


class Problem(HTTPException):
    """A request that is refused; raised by the server itself."""

    def __init__(
        self, status: int, title: str, detail: str, *, wait: float | None = None, **more: Any
    ) -> None:
        super().__init__(status, detail)
        self.status, self.title = status, title
        self.wait, self.more = wait, more

    def response(self) -> Response:
        """The response that tells the client."""
        headers = {} if self.wait is None else {"Retry-After": f"{max(1, round(self.wait))}"}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return problem(self.status, self.title, self.detail, headers=headers, **self.more)


def problem(
    status: int,
    title: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """A problem document."""
    retryable = status in (429, 503, 504)
    document = {"type": "about:blank", "title": title, "status": status, "detail": redacted(detail)}
    document |= {"retryable": retryable, **more}
    return AnyTextResponse(document, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def invalid_request(found: Sequence[Mapping[str, Any]], content_type: str) -> Response:
    """The problem of a request that is not what the route reads: each field with what is wrong."""
    errors = [_invalid_field(item, content_type) for item in found]
    detail = "; ".join(f"{error['field']}: {error['problem']}" for error in errors[:5])
    return problem(422, "The request is not valid", detail, errors=errors)


def _invalid_field(error: Mapping[str, Any], content_type: str) -> dict[str, str]:
    location = [str(part) for part in error["loc"] if part != "body"]
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "it cannot be read")
        where = ", ".join(f"character {part}" for part in location)
        return {"field": "body", "problem": f"is not JSON: {reason} at {where}"}
    if not location and error["type"] == _NOT_AN_OBJECT:
        return {"field": "body", "problem": _expected_object(content_type)}
    return {"field": ".".join(location) or "body", "problem": error["msg"]}


def _expected_object(content_type: str) -> str:
    if "json" in content_type.lower():
        return "must be a JSON object"
    return "must be a JSON object, sent with the header 'Content-Type: application/json'"


def _status_and_title(error: CogniGraphError) -> tuple[int, str]:
    known = ((status, title) for kind, status, title in _STATUS if isinstance(error, kind))
    return next(known, (500, _UNEXPECTED))


def _detail(error: CogniGraphError) -> str:
    text = str(error)
    for pattern, words in _IN_OUR_WORDS:
        text = pattern.sub(words, text)
    return text


def of_error(error: CogniGraphError) -> Response:
    """The problem that one of our errors is; of an unexpected one only the log has the text."""
    status, title = _status_and_title(error)
    if isinstance(error, EmbeddingError):
        logger.error("the embedder failed", exc_info=error)
        return problem(status, title, _EMBEDDER_FAILED, retryable=error.is_retryable)
    if status == 500:
        logger.error("a request failed", exc_info=error)
        return problem(status, title, "the log of the server has the reason")
    more = {name: getattr(error, name) for name in _DETAILS if hasattr(error, name)}
    more["retryable"] = error.is_retryable
    headers = {"Retry-After": str(_SECONDS_TO_WAIT)} if status == 503 else {}
    return problem(status, title, _detail(error), headers=headers, **more)


def as_document(error: CogniGraphError) -> dict[str, Any]:
    """The same problem as data, for a stream whose status is already sent."""
    found: dict[str, Any] = json.loads(bytes(of_error(error).body))
    return found

"""Responses: value objects as JSON, and their schemas for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from starlette.responses import Response

from cognigraph.model import Context
from cognigraph.plain_data import COMPUTED, plain
from cognigraph.server.json_response import AnyTextResponse
from cognigraph.times import When

_WHEN = "An event time: 2026, 2026-05, 2026-05-20, 2026-05-20T09:30, or two of these and a slash."


def document(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a value object, or several, as JSON."""
    return AnyTextResponse(plain(value), status, headers=dict(headers or {}))


def described(schema: Any, status: int = 200, what: str = "Done.") -> dict[int | str, Any]:
    """The entry of the OpenAPI document for a successful response."""
    return {status: {"model": schema, "description": what}}


def described_text(media_type: str, what: str) -> dict[int | str, Any]:
    """The entry for a successful response that is text and not JSON."""
    return {200: {"description": what, "content": {media_type: {"schema": {"type": "string"}}}}}


@cache
def schema_of(kind: type) -> type[BaseModel]:
    """A model whose JSON schema is that of a value object as :func:`document` writes it."""
    if kind is Context:
        return _context()
    hints = get_type_hints(kind)
    given: dict[str, Any] = {
        field.name: (_schema(hints[field.name]), ...) for field in fields(kind)
    }
    given |= {name: (str, ...) for name in COMPUTED.get(kind, ())}
    made: type[BaseModel] = create_model(
        kind.__name__, __config__=ConfigDict(extra="forbid"), __doc__=kind.__doc__, **given
    )
    return made


def _context() -> type[BaseModel]:
    hints = get_type_hints(Context)
    return create_model(
        "Context",
        __doc__="A prompt block with its size, and what it was made from.",
        text=(str, ...),
        tokens=(int, ...),
        citations=(_schema(hints["citations"]), ...),
        notes=(list[str], ...),
        hits=(_schema(hints["hits"]), ...),
    )


@cache
def page_of(kind: type) -> type[BaseModel]:
    """The schema of a page of value objects, with the cursor of the next page."""
    return create_model(
        f"{kind.__name__}Page",
        __doc__="A page of a listing. `next` is the cursor of the next page, null at the end.",
        items=(_list_of(kind), ...),
        next=(str | None, ...),
    )


def _schema(hint: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is When:
        return str
    if origin in (Union, UnionType):
        return Union[tuple(_schema(one) for one in arguments)]  # noqa: UP007
    if origin is Literal:
        return hint
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple[tuple(_schema(one) for one in arguments)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _schema(arguments[1])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _list_of(arguments[0])
    if hint is Context or (isinstance(hint, type) and is_dataclass(hint)):
        return schema_of(hint)
    return datetime if hint is datetime else hint


def _list_of(hint: Any) -> Any:
    return list[_schema(hint)]  # type: ignore[misc]

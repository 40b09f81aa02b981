"""Responses: value objects as JSON, and their schemas for the OpenAPI document."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.responses import JSONResponse, Response

from cognigraph.errors import ConfigurationError
from cognigraph.model import Context, Hit, SearchResult, SpaceHit, SpacesResult, Triple
from cognigraph.plain_data import COMPUTED, plain
from cognigraph.server.chosen_fields import Fields
from cognigraph.times import When

_T = TypeVar("_T")
# A field with a factory is not required, and has no default in the schema.
_IF_EXPLAINED: Any = Field(default_factory=lambda: None, description="Only with `explain`.")
_UNLESS_EXPLAINED: Any = Field(
    default_factory=list, description="Without `explain`: those of `trace`."
)
_WHEN = "An event time: 2026, 2026-05, 2026-05-20, 2026-05-20T09:30, or two of these and a slash."


def document(
    value: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    fields: Fields | None = None,
) -> Response:
    """A response with a value object, or several, as JSON; with ``fields``, only these."""
    made = plain(value) if fields is None else fields.of(value)
    return AnyTextResponse(made, status, headers=dict(headers or {}))


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
    given |= {name: (given[name][0], _IF_EXPLAINED) for name in EXPLAINED.get(kind, ())}
    if kind is SearchResult:
        given["notes"] = (list[str], _UNLESS_EXPLAINED)
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
        confidence=(float | None, ...),
        notes=(list[str], ...),
        hits=(_schema(hints["hits"]), _IF_EXPLAINED),
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
        return Union[tuple(_schema(argument) for argument in arguments)]  # noqa: UP007
    if origin is Literal:
        return hint
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple[tuple(_schema(argument) for argument in arguments)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _schema(arguments[1])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _list_of(arguments[0])
    if hint is Context or (isinstance(hint, type) and is_dataclass(hint)):
        return schema_of(hint)
    return datetime if hint is datetime else hint


def _list_of(hint: Any) -> Any:
    return list[_schema(hint)]  # type: ignore[misc]


class AnyTextResponse(JSONResponse):
    """JSON in UTF-8; with lone surrogates, which a raw payload may have, in ASCII with escapes."""

    def render(self, content: Any) -> bytes:
        """Encode the content."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


MOST_SOURCES = 10


_WITH_FACTS: Mapping[type, tuple[str, ...]] = {
    Hit: ("triples",),
    SearchResult: ("hits", "triples", "others"),
    SpaceHit: ("hit",),
    SpacesResult: ("hits", "results"),
}
"""Which fields of an answer have facts in them."""


def brief(answered: _T) -> _T:
    """What was found, with at most ten sources of each fact. A fact of many hits is cut once."""
    shortened: dict[int, Triple] = {}

    def cut(value: Any) -> Any:
        if isinstance(value, Triple):
            if id(value) not in shortened:
                shortened[id(value)] = _with_newest_sources(value)
            return shortened[id(value)]
        if isinstance(value, Context):
            return Context(
                value, tokens=value.tokens, hits=cut(value.hits), citations=value.citations,
                confidence=value.confidence, notes=value.notes,
            )  # fmt: skip
        if isinstance(value, tuple):
            return tuple(map(cut, value))
        if isinstance(value, Mapping):
            return {name: cut(item) for name, item in value.items()}
        return replace(
            value, **{name: cut(getattr(value, name)) for name in _WITH_FACTS[type(value)]}
        )

    made: _T = cut(answered)
    return made


def _with_newest_sources(fact: Triple) -> Triple:
    if len(fact.sources) <= MOST_SOURCES:
        return fact
    older = fact.source_count - MOST_SOURCES
    return replace(fact, sources=fact.sources[:MOST_SOURCES], older_sources=older)


EXPLAINED: Mapping[type, tuple[str, ...]] = {
    Hit: ("why", "triples"),
    SearchResult: ("trace", "others"),
    SpacesResult: ("results",),
    Context: ("hits",),
}
"""What an answer has only if the request asks for explanations: it is ten times as much."""


def answer(
    result: SearchResult | SpacesResult | Context, *, explain: bool, fields: Fields | None
) -> Response:
    """A response with what was found, without what only explains it unless that is asked for.

    Fields that are named are sent in any case.
    """
    made: dict[str, Any] = plain(brief(result))
    if fields is not None:
        notes = {"notes": made["trace"]["notes"]} if isinstance(result, SearchResult) else {}
        return AnyTextResponse(fields.of(made | notes))
    if explain:
        return AnyTextResponse(made)
    if isinstance(result, SpacesResult):
        hits = [item | {"hit": _without(item["hit"], Hit)} for item in made["hits"]]
        made = _without(made, SpacesResult) | {"hits": hits}
    elif isinstance(result, SearchResult):
        hits, notes = [_without(hit, Hit) for hit in made["hits"]], made["trace"]["notes"]
        made = _without(made, SearchResult) | {"hits": hits, "notes": notes}
    else:
        made = _without(made, Context)
    return AnyTextResponse(made)


def _without(made: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {name: value for name, value in made.items() if name not in EXPLAINED[kind]}


MOST = 1000
"""The largest page."""


def paged(listing: Callable[..., Sequence[_T]], limit: int, cursor: str | None) -> Any:
    """One page of a listing that takes a limit and an offset, with the cursor of the next."""
    offset = 0 if cursor is None else _offset(cursor)
    found = listing(limit=limit + 1, offset=offset)
    return {
        "items": found[:limit],
        "next": _cursor(offset + limit) if len(found) > limit else None,
    }


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"at {offset}".encode()).decode().rstrip("=")


def _offset(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    word, _, number = text.partition(" ")
    if word != "at" or not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise ConfigurationError(
            f"the cursor {cursor[:40]!r} is not one of this listing; give the `next` of a page"
        )
    return int(number)

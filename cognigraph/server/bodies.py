"""What clients send: bodies and query parameters, derived from the operations they are for.

The name, default and help of a field are those of the parameter (:mod:`cognigraph.declared`); its
type is what JSON has for the parameter's. Only limits of one request are added here.
"""

from __future__ import annotations

import json
from collections.abc import Callable as CallableOrigin
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Iterable as IterableOrigin
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache
from inspect import Parameter as Slot
from inspect import Signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import unquote

from fastapi import Depends, Query
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field, create_model

from cognigraph.declared import Parameter, Verb, declared
from cognigraph.errors import ConfigurationError
from cognigraph.ingest.queue.step import Limits
from cognigraph.loop.strategy import Strategy
from cognigraph.model import (
    DEFAULT_SESSION,
    Context,
    Filter,
    Message,
    RoleFilter,
    StatedFact,
    Triple,
)
from cognigraph.server.access import MemoryHere
from cognigraph.server.answers import MOST
from cognigraph.settings import SearchSettings, Settings
from cognigraph.space import Space

MOST_HITS = 1000
MOST_TOKENS = 200_000
MOST_ROWS = 10_000
MOST_SECONDS = 60.0
MOST_CANDIDATES = 1000
MOST_QUERIES = 20
MOST_SPACES = 200
MOST_MESSAGES = 10_000
"""Limits of one request, so that none occupies the server for long."""

_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "k": {"ge": 1, "le": MOST_HITS},
    "max_tokens": {"ge": 1, "le": MOST_TOKENS},
    "per_session": {"ge": 1},
    "min_confidence": {"ge": 0, "le": 1},
    "timeout": {"gt": 0, "le": MOST_SECONDS},
    "also": {"max_length": MOST_QUERIES},
    "spaces": {"min_length": 1, "max_length": MOST_SPACES},
    "messages": {"max_length": MOST_MESSAGES},
    "version": {"ge": 1},
}
_ROWS = {"ge": 1, "le": MOST_ROWS}

Time = Annotated[
    str,
    Field(
        description="ISO 8601 with an offset, such as 2026-05-20T09:00:00+02:00 or ...Z",
        examples=["2026-05-20T09:00:00Z"],
    ),
]
Arguments = dict[str, Any]
Scalar = str | int | float | bool | None


class Body(BaseModel):
    """A body whose fields are the arguments of an operation; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def arguments(self, settings: Settings) -> Arguments:
        """The arguments of the operation; ``settings`` are those of the served memory."""
        return {name: _taken(getattr(self, name), settings) for name in self.model_fields_set}


def _taken(value: Any, settings: Settings) -> Any:
    """A value of a body as the operation takes it."""
    if isinstance(value, (FilterBody, LimitsBody)):
        return value.as_taken()
    if isinstance(value, SettingsBody):  # which is a SearchSettingsBody, too
        return replace(settings, search=value.changed(settings.search))
    if isinstance(value, SearchSettingsBody):
        return value.changed(settings.search)
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    return [_taken(item, settings) for item in value] if isinstance(value, list) else value


class StatedBody(Body):
    """A fact that is given with the message that says it."""

    subject: str = Field(examples=["user"])
    relation: str = Field(examples=["lives in"])
    object: str = Field(examples=["Oslo"])
    valid_from: str | None = Field(None, description="As precise as it is given: 2026-05.")
    valid_to: str | None = Field(None, description="Until when, including it.")
    replaces: str | None = Field(None, description="The object before it.", examples=["Bergen"])
    negated: bool = False
    types: list[str | None] | None = Field(None, examples=[["person", "location"]])


class FilterBody(Body):
    """Which messages are considered; all conditions must hold."""

    roles: list[RoleFilter] | None = None
    session: str | list[str] | None = None
    speaker: str | list[str] | None = None
    tags: list[str] | None = None
    since: Time | None = None
    until: Time | None = None
    metadata: dict[str, Scalar] | None = None

    def as_taken(self) -> Filter:
        """The filter that the operation takes."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return Filter(**{name: value for name, value in given.items() if value is not None})


class LimitsBody(Body):
    """The limits of a run of the model; the rest of an enrichment stays queued."""

    rounds: Annotated[int, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(ge=0, le=1e9)] | None = None

    def as_taken(self) -> Limits:
        """The limits that the operation takes."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        seconds = given.pop("seconds", None)
        return Limits(**given, time=None if seconds is None else timedelta(seconds=seconds))


class SearchSettingsBody(BaseModel):
    """Search settings of this request; all others are those of the served memory."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, str | int | float | bool]

    def changed(self, settings: SearchSettings) -> SearchSettings:
        """The settings with those of this request in their place."""
        given = self.__pydantic_extra__
        known = {field.name for field in fields(SearchSettings)} - {"licomemory"}
        for name, value in given.items():
            if name not in known:
                raise ConfigurationError(
                    f"there is no search setting {name!r}; there are {', '.join(sorted(known))}"
                )
            is_count = isinstance(value, int) and not isinstance(value, bool)
            if is_count and name != "max_question_chars" and value > MOST_CANDIDATES:  # type: ignore[operator]
                raise ConfigurationError(f"settings.{name} must be at most {MOST_CANDIDATES:,}")
        return replace(settings, **given)  # type: ignore[arg-type]


class SettingsBody(SearchSettingsBody):
    """Search settings of this request, for an operation that has others, too."""


class _Message(Body):
    """A message: `text`, or `role` and `content` as in chat completions.

    With an `id`, sending it again changes nothing. Fields that are not listed become metadata.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    session: str = DEFAULT_SESSION
    content: str | list[Any] | dict[str, Any] | None = None

    def arguments(self, settings: Settings) -> Arguments:
        """The message as `add_many` takes it."""
        return self.model_dump(exclude_unset=True)


@cache
def from_body(verb: Verb) -> Any:
    """Make a dependency that reads the arguments of an operation from the body of a request.

    Callbacks have no place in a request and are left out.
    """

    async def arguments(memory: MemoryHere, body: Any) -> Arguments:
        given: Arguments = body.arguments(memory.settings)
        return given

    arguments.__annotations__["body"] = body_of(verb)
    return Depends(arguments)


@cache
def body_of(verb: Verb) -> type[Body]:
    """Make the body of a request that has the arguments of an operation."""
    if verb is Space.add:
        return MessageBody
    operation = declared(verb)
    name = "".join(word.capitalize() for word in verb.__name__.split("_")) + "Body"
    own = _fields(operation.parameters.values())
    made: type[Body] = create_model(name, __base__=Body, __doc__=operation.summary, **own)
    return made


@cache
def from_query(verb: Verb) -> Any:
    """Make a dependency that reads the arguments of a listing from the query of a request.

    A page is asked for by ``limit`` and ``cursor``, which the route reads.
    """
    own = declared(verb).parameters
    slots = [
        Slot(
            parameter.name,
            Slot.KEYWORD_ONLY,
            default=Slot.empty if parameter.is_required else parameter.default,
            annotation=_query(parameter, own),
        )
        for parameter in own.values()
        if parameter.name not in _PAGING
    ]

    async def arguments(**given: Any) -> Arguments:
        return {name: value for name, value in given.items() if value is not None}

    arguments.__signature__ = Signature(slots)  # type: ignore[attr-defined]
    return Depends(arguments)


_PAGING = ("limit", "offset", "after")


def _query(parameter: Parameter, all_of_it: Mapping[str, Parameter]) -> Any:
    if parameter.hint == Filter | None:
        return Annotated[Filter | None, Depends(_by_kind if "session" in all_of_it else _by_all)]
    description = sentence(parameter.help)
    query = Query(description=description, **_BOUNDS.get(parameter.name, {}))
    return Annotated[_json(parameter.hint), query]


_Several = Annotated[list[str] | None, Query(description="May be repeated.")]
_Json = Annotated[str | None, Query(description="A JSON object that is a part.")]


async def _by_kind(
    roles: _Several = None, tags: _Several = None, metadata: _Json = None
) -> Filter | None:
    """Which messages count, for an operation that itself says of which session and time."""
    return _filter(roles=roles, tags=tags, metadata=metadata)


async def _by_all(
    roles: _Several = None,
    session: _Several = None,
    speaker: _Several = None,
    tags: _Several = None,
    since: Time | None = None,
    until: Time | None = None,
    metadata: _Json = None,
) -> Filter | None:
    """Which messages count."""
    return _filter(
        roles=roles, session=session, speaker=speaker, tags=tags, since=since, until=until,
        metadata=metadata,
    )  # fmt: skip


def _filter(metadata: str | None, **given: Any) -> Filter | None:
    chosen = {name: value for name, value in given.items() if value}
    if metadata:
        try:
            chosen["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"metadata must be a JSON object: {error}") from error
    return Filter(**chosen) if chosen else None


def _fields(parameters: Iterable[Parameter]) -> dict[str, Any]:
    return {
        parameter.name: (_json(parameter.hint), _field(parameter))
        for parameter in parameters
        if _json(parameter.hint) is not None
    }


def _field(parameter: Parameter) -> Any:
    default = parameter.default
    if parameter.is_required:
        default = None if NoneType in get_args(parameter.hint) else ...
    bounds = _ROWS if parameter.name == "limit" else _BOUNDS.get(parameter.name, {})
    examples = _EXAMPLES.get(parameter.name)
    return Field(
        [] if default == () else default,
        description=sentence(parameter.help),
        examples=None if examples is None else [examples],
        **bounds,
    )


_EXAMPLES: Mapping[str, str] = {
    "text": "I moved to Oslo in May.",
    "question": "Where does Ann live?",
    "query": "MATCH (e:Entity) RETURN e.name LIMIT 10",
}


def sentence(text: str) -> str:
    """A help text as a sentence."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _json(hint: Any) -> Any:
    """What JSON has for the type of a parameter; ``None`` for a callback."""
    if hint in _JSON:
        return _JSON[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _json_of_any(inner)
    if origin is CallableOrigin:
        return None
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, Any]
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return list[_json(inner[0])]  # type: ignore[misc]
    return hint


def _json_of_any(kinds: Sequence[Any]) -> Any:
    """The type for something that Python takes in several forms, of which JSON has the simplest."""
    series = [kind for kind in kinds if get_origin(kind) is IterableOrigin]
    if series:
        return _json(series[0])
    kept = [_json(kind) for kind in kinds if kind in _JSON or not is_dataclass(kind)]
    kept = [
        kind for kind in dict.fromkeys(kept) if kind not in (None, NoneType, dict[str, Any])
    ] or [kind for kind in dict.fromkeys(kept) if kind not in (None, NoneType)]
    if any(kind in _INSTEAD_OF_TEXT for kind in kept):
        kept = [kind for kind in kept if kind is not str]
    if not kept:
        return None
    return Union[tuple([*kept, *([None] if NoneType in kinds else [])])]  # noqa: UP007


_STRATEGY = Literal["licomemory", "hymem", "ama", "membuilder"]
_INSTEAD_OF_TEXT = (Time, _STRATEGY)
"""Types of texts: where Python takes any text or an object, JSON has these."""

_JSON: dict[Any, Any] = {
    datetime: Time,
    tzinfo: str,
    Path: str,
    Strategy: _STRATEGY,
    Filter: FilterBody,
    Limits: LimitsBody,
    SearchSettings: SearchSettingsBody,
    Settings: SettingsBody,
    StatedFact: StatedBody,
    Triple: str,
    Context: str,
}


class UpdateBody(Body):
    """The new text of a message, and the payload that belongs to it."""

    text: str
    raw: Any = None


class CopyBody(Body):
    """Where to copy a space to."""

    to: str


_TEXT = Field(None, examples=["I moved to Oslo in May."])
_GIVEN = {**_fields(declared(Space.add).parameters.values()), "text": (str | None, _TEXT)}
MessageBody = create_model("MessageBody", __base__=_Message, __doc__=_Message.__doc__, **_GIVEN)
_JSON[Message] = MessageBody


# Parameters that several routes share.


async def _id(id: Annotated[str, InPath(description="The id of a message.")]) -> str:
    return unquote(id)


MessageId = Annotated[str, Depends(_id)]
Limit = Annotated[int, Query(ge=1, le=MOST, description="The largest number of items.")]
Cursor = Annotated[str | None, Query(description="The `next` of the page before.")]
Explain = Annotated[
    bool, Query(description="Also why each hit has its rank, its facts, and the trace.")
]
InSession = Annotated[
    str | None, Query(description="The session, if messages of several sessions have the id.")
]

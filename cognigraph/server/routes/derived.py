"""Routes that are their operation and nothing else: path, arguments and answer follow from it.

``space.review.retract`` is ``POST /v1/spaces/{space}/review/retract``. To serve another operation
in this way, add it to one of the lists.
"""

# The annotations of endpoints are made at run time, so they must not be strings.
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from fastapi import APIRouter, Request, Response

from cognigraph.declared import Operation, Verb, declared
from cognigraph.errors import NotFoundError
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from cognigraph.server.access import Editable, Forgettable, Readable, grant_of
from cognigraph.server.answers import described, document, page_of, paged, schema_of
from cognigraph.server.bodies import Arguments, Cursor, Limit, from_body, from_query, sentence
from cognigraph.server.chosen_fields import Fields, fields_of
from cognigraph.space import Space

_READ: tuple[Verb, ...] = (
    Space.facts,
    Space.history,
    Space.entities,
    Space.stats,
    Queue.estimate,
    Queue.failures,
    Review.conflicts,
    Review.duplicates,
    Review.merges,
    Overview.sessions,
    Overview.summaries,
    Overview.episodes,
    Overview.profile,
    Overview.core_profile,
    Overview.procedures,
)
"""Operations that a client calls with GET."""

_CHANGE: tuple[Verb, ...] = (
    Space.forget,
    Queue.redo,
    Queue.retry,
    Review.supersede,
    Review.retract,
    Review.restore,
    Review.merge,
    Review.split,
)
"""Operations that a client calls with POST and a key that may read and write, or forget."""

router = APIRouter()


def _get(verb: Verb) -> None:
    operation = declared(verb)
    query = from_query(verb)
    of_answer = Annotated[Fields | None, fields_of(_schema(_returned(verb)))]

    def page(
        space: Readable,
        given: Annotated[Arguments, query],
        fields: of_answer,
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> Response:
        listing = partial(operation.bound_to(space), **given)
        if "offset" in operation.parameters:
            return document(paged(listing, limit, cursor), fields=fields)
        return document({"items": listing(limit=limit), "next": None}, fields=fields)

    def whole(
        space: Readable,
        given: Annotated[Arguments, query],
        fields: of_answer,
    ) -> Response:
        answer = operation.bound_to(space)(**given)
        if answer is None:
            raise NotFoundError(f"this space has no such {operation.name.replace('_', ' ')}")
        is_list = isinstance(answer, list)
        return document({"items": answer, "next": None} if is_list else answer, fields=fields)

    _add("GET", operation, page if "limit" in operation.parameters else whole)


def _post(verb: Verb) -> None:
    operation = declared(verb)
    body = from_body(verb)

    def change(space: Editable, given: Annotated[Arguments, body]) -> Response:
        return _done(operation.bound_to(space)(**given))

    def forget(request: Request, space: Forgettable, given: Annotated[Arguments, body]) -> Response:
        if given.get("dry_run"):  # it lists messages
            grant_of(request).check("read", space.name)
        return _done(space.forget(**given))

    _add("POST", operation, forget if verb is Space.forget else change)


def _done(answer: Any) -> Response:
    if answer is None:
        return Response(status_code=204)
    return document({"count": answer} if isinstance(answer, int) else answer)


def _add(method: str, operation: Operation, endpoint: Verb) -> None:
    returned = _returned(operation.verb)
    router.add_api_route(
        f"/{operation.path}",
        endpoint,
        methods=[method],
        name=operation.name,
        tags=[operation.group or "space"],
        description=sentence(operation.description),
        status_code=204 if returned is NoneType else 200,
        responses={} if returned is NoneType else described(_schema(returned)),
    )


def _returned(verb: Verb) -> Any:
    return get_type_hints(verb)["return"]


def _schema(returned: Any) -> Any:
    if get_origin(returned) in (Union, UnionType):
        returned = next(kind for kind in get_args(returned) if kind is not NoneType)
    if get_origin(returned) is list:
        return page_of(get_args(returned)[0])
    return dict[str, int] if returned is int else schema_of(returned)


for verb in _READ:
    _get(verb)
for verb in _CHANGE:
    _post(verb)

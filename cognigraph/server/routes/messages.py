"""Routes that add, list, correct and forget messages."""

from __future__ import annotations

import hashlib
import json
from threading import Lock
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Header, Request, Response

from cognigraph.errors import NotFoundError
from cognigraph.model import DEFAULT_SESSION, AddResult, Forgotten, MessageVersion, StoredMessage
from cognigraph.plain_data import plain
from cognigraph.server.access import Editable, Forgettable, Readable, Writable
from cognigraph.server.answers import described, document, page_of, schema_of
from cognigraph.server.bodies import (
    Arguments,
    Cursor,
    InSession,
    Limit,
    MessageId,
    UpdateBody,
    from_body,
    from_query,
)
from cognigraph.server.chosen_fields import Fields, fields_of
from cognigraph.server.problems import Problem
from cognigraph.space import Space
from cognigraph.tracing import span

router = APIRouter(tags=["messages"])
_updating = Lock()
_NOT_PART_OF_ETAG = ("is_enriched", "chunks")
IfMatch = Annotated[str | None, Header(description="The ETag of the message as you know it.")]


_ADDED = {
    **described(schema_of(AddResult), 201, "Stored."),
    **described(schema_of(AddResult), 200, "Nothing changed: it was stored before."),
}


@router.post("/messages", status_code=201, responses=_ADDED)
def add(
    request: Request, space: Writable, given: Annotated[Arguments, from_body(Space.add)]
) -> Response:
    """Store one message. It can be found as soon as this returns; enrichment follows."""
    with span("cognigraph.add", space.name):
        result = space.add_many([given])
    where = f"{request.url.path.rstrip('/')}/{quote(result.id, safe='')}"
    where += f"?session={quote(given.get('session') or DEFAULT_SESSION, safe='')}"
    return document(result, 201 if result.new else 200, {"Location": where})


@router.post("/messages/batch", status_code=201, responses=_ADDED)
def add_many(space: Writable, given: Annotated[Arguments, from_body(Space.add_many)]) -> Response:
    """Store many messages, some hundreds in each transaction.

    With `skip_invalid`, the answer tells of each message: `ids` are in the order given, `new`
    were not stored before, `rejected` has the index and the reason of those that were left out.
    Without it, the first bad message ends the request with 422: its `index` is in the problem,
    the messages before it are stored, and those after it are not. Then correct it and send the
    same batch again: with ids, or with times, what is stored is not stored twice.
    """
    with span("cognigraph.add", space.name, messages=len(given["messages"])):
        return _added(space.add_many(**given))


@router.post("/facts", status_code=201, responses=_ADDED)
def add_fact(space: Writable, given: Annotated[Arguments, from_body(Space.add_fact)]) -> Response:
    """State a fact that the application knows. No model reads it."""
    with span("cognigraph.add", space.name):
        return _added(space.add_fact(**given))


def _added(result: AddResult) -> Response:
    """201 if something was stored, else 200."""
    return document(result, 201 if result.new else 200)


@router.get("/messages", responses=described(page_of(StoredMessage)))
def messages(
    space: Readable,
    given: Annotated[Arguments, from_query(Space.messages)],
    fields: Annotated[Fields | None, fields_of(page_of(StoredMessage))],
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List messages in order of time. With `tags` or `metadata`, of people and assistants only,
    unless `roles` says otherwise."""
    page = space.messages(**given, limit=limit, after=cursor)
    following = page.cursor if len(page) == limit else None
    return document({"items": page.messages, "next": following}, fields=fields)


@router.get("/messages/{id}", responses=described(schema_of(StoredMessage)))
def get(
    space: Readable,
    id: MessageId,
    fields: Annotated[Fields | None, fields_of(schema_of(StoredMessage))],
    session: InSession = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Get one whole message. Its ETag stands for its text and what was given with it."""
    message = _existing(space, id, session)
    tag = etag(message)
    if if_none_match is not None and _names(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return document(message, headers={"ETag": tag}, fields=fields)


@router.patch("/messages/{id}", responses=described(schema_of(StoredMessage)))
def update(
    space: Editable,
    id: MessageId,
    body: UpdateBody,
    session: InSession = None,
    if_match: IfMatch = None,
) -> Response:
    """Replace the text of a message, and read it again. `If-Match` refuses a lost update."""
    with _updating:
        _check_unchanged(space, id, session, if_match)
        message = space.update(id, body.text, session=session, raw=body.raw)
    return document(message, headers={"ETag": etag(message)})


@router.delete("/messages/{id}", responses=described(schema_of(Forgotten)))
def delete(
    space: Forgettable, id: MessageId, session: InSession = None, if_match: IfMatch = None
) -> Response:
    """Forget one message, with all that was made from it and from nothing else."""
    with _updating:
        _check_unchanged(space, id, session, if_match)
        report = space.forget(message=id, session=session)
    if not report:
        raise _missing(id)
    return document(report)


@router.get("/messages/{id}/versions", responses=described(page_of(MessageVersion)))
def versions(
    space: Readable,
    id: MessageId,
    fields: Annotated[Fields | None, fields_of(page_of(MessageVersion))],
    session: InSession = None,
) -> Response:
    """List the texts of a message, oldest first."""
    page = {"items": space.overview.versions(id, session), "next": None}
    return document(page, fields=fields)


def etag(message: StoredMessage) -> str:
    """The ETag of a message; enrichment does not change it."""
    found = {name: value for name, value in plain(message).items() if name not in _NOT_PART_OF_ETAG}
    text = json.dumps(found, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _check_unchanged(space: Space, id: str, session: str | None, if_match: str | None) -> None:
    if if_match is None:
        return
    if not _names(if_match, etag(_existing(space, id, session))):
        raise Problem(
            412, "The message has changed", "get it again, and send the ETag that it has now"
        )


def _names(header: str, tag: str) -> bool:
    """Whether a header such as ``If-Match`` names a tag."""
    given = [item.strip().removeprefix("W/") for item in header.split(",")]
    return "*" in given or tag in given


def _existing(space: Space, id: str, session: str | None) -> StoredMessage:
    message = space.get(id, session)
    if message is None:
        raise _missing(id)
    return message


def _missing(id: str) -> NotFoundError:
    return NotFoundError(f"this space has no message {id!r}; GET .../messages lists them")

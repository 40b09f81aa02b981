"""Routes that add, list, correct and forget messages."""

from __future__ import annotations

import hashlib
import json
from threading import Lock
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request, Response

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.model import (
    AddResult,
    Filter,
    Forgotten,
    MessageOrder,
    MessageVersion,
    StoredMessage,
)
from cognigraph.plain_data import plain
from cognigraph.server.access import Readable, Writable
from cognigraph.server.bodies import (
    ExchangeBody,
    ExpireBody,
    FactBody,
    ForgetBody,
    MessageBody,
    MessagesBody,
    Time,
    UpdateBody,
)
from cognigraph.server.documents import described, document, page_of, schema_of
from cognigraph.server.problems import Problem
from cognigraph.server.routes.parameters import Cursor, InSession, Limit, MessageId, Names
from cognigraph.tracing import span

router = APIRouter(tags=["messages"])
_updating = Lock()
_NOT_PART_OF_ETAG = ("is_enriched", "chunks")
IfMatch = Annotated[str | None, Header(description="The ETag of the message as you know it.")]


@router.post(
    "/messages",
    status_code=201,
    responses={
        **described(schema_of(AddResult), 201, "Stored."),
        **described(schema_of(AddResult), 200, "Nothing changed: it was stored before."),
    },
)
def add(request: Request, space: Writable, body: MessageBody) -> Response:
    """Store one message. It can be found as soon as this returns; enrichment follows."""
    with span("cognigraph.add", space.name):
        result = space.add_many([body.mapping()])
    where = f"{request.url.path.rstrip('/')}/{quote(result.id, safe='')}"
    where += f"?session={quote(body.session, safe='')}"
    return document(result, 201 if result.new else 200, {"Location": where})


@router.post("/messages/batch", responses=described(schema_of(AddResult)))
def add_many(space: Writable, body: MessagesBody) -> Response:
    """Store many messages, some hundreds in each transaction."""
    messages = [message.mapping() for message in body.messages]
    with span("cognigraph.add", space.name, messages=len(messages)):
        return document(space.add_many(messages, skip_invalid=body.skip_invalid))


@router.post("/exchanges", responses=described(schema_of(AddResult)))
def add_exchange(space: Writable, body: ExchangeBody) -> Response:
    """Store what a user said and what the assistant answered."""
    with span("cognigraph.add", space.name, messages=2):
        return document(space.add_exchange(**body.given()))


@router.post("/facts", responses=described(schema_of(AddResult)))
def add_fact(space: Writable, body: FactBody) -> Response:
    """State a fact that the application knows. No model reads it."""
    with span("cognigraph.add", space.name):
        return document(space.add_fact(**body.given()))


@router.get("/messages", responses=described(page_of(StoredMessage)))
def messages(
    space: Readable,
    session: Annotated[str | None, Query(description="Only of this session.")] = None,
    speaker: Annotated[str | None, Query(description="Only of this speaker.")] = None,
    since: Time | None = None,
    until: Time | None = None,
    roles: Names = None,
    tags: Names = None,
    metadata: Annotated[str | None, Query(description="A JSON object that is a part.")] = None,
    order: MessageOrder = "oldest",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List messages in order of time. With `tags` or `metadata`, of people and assistants only,
    unless `roles` says otherwise."""
    page = space.messages(
        session=session,
        speaker=speaker,
        since=since,
        until=until,
        order=order,
        limit=limit,
        after=cursor,
        where=_passing(roles, tags, metadata),
    )
    return document({"items": page.messages, "next": page.cursor if len(page) == limit else None})


def _passing(
    roles: list[str] | None, tags: list[str] | None, metadata: str | None
) -> Filter | None:
    given: dict[str, Any] = {"roles": roles, "tags": tags}
    if metadata:
        try:
            given["metadata"] = json.loads(metadata)
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"metadata must be a JSON object: {error}") from error
    chosen = {name: value for name, value in given.items() if value}
    return Filter(**chosen) if chosen else None


@router.get("/messages/{id}", responses=described(schema_of(StoredMessage)))
def get(
    space: Readable,
    id: MessageId,
    session: InSession = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Get one whole message. Its ETag stands for its text and what was given with it."""
    message = _existing(space, id, session)
    tag = etag(message)
    if if_none_match is not None and _names(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return document(message, headers={"ETag": tag})


@router.patch("/messages/{id}", responses=described(schema_of(StoredMessage)))
def update(
    space: Writable,
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
    space: Writable, id: MessageId, session: InSession = None, if_match: IfMatch = None
) -> Response:
    """Forget one message, with all that was made from it and from nothing else."""
    with _updating:
        _check_unchanged(space, id, session, if_match)
        report = space.forget(message=id, session=session)
    if not report:
        raise _missing(id)
    return document(report)


@router.get("/messages/{id}/versions", responses=described(page_of(MessageVersion)))
def versions(space: Readable, id: MessageId, session: InSession = None) -> Response:
    """List the texts of a message, oldest first."""
    return document({"items": space.versions(id, session), "next": None})


@router.post("/forget", responses=described(schema_of(Forgotten)))
def forget(space: Writable, body: ForgetBody) -> Response:
    """Forget messages. Send it with `dry_run` first: the counts are those of the real run."""
    return document(space.forget(**body.given()))


@router.post("/expire", responses=described(schema_of(Forgotten)))
def expire(space: Writable, body: ExpireBody) -> Response:
    """Forget the messages whose time is over."""
    return document(space.expire(dry_run=body.dry_run))


def etag(message: StoredMessage) -> str:
    """The ETag of a message; enrichment does not change it."""
    found = {name: value for name, value in plain(message).items() if name not in _NOT_PART_OF_ETAG}
    text = json.dumps(found, sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _check_unchanged(space: Writable, id: str, session: str | None, if_match: str | None) -> None:
    if if_match is None:
        return
    if not _names(if_match, etag(_existing(space, id, session))):
        raise Problem(
            412, "The message has changed", "get it again, and send the ETag that it has now"
        )


def _names(header: str, tag: str) -> bool:
    """Whether a header such as ``If-Match`` names a tag."""
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in given or tag in given


def _existing(space: Readable, id: str, session: str | None) -> StoredMessage:
    message = space.get(id, session)
    if message is None:
        raise _missing(id)
    return message


def _missing(id: str) -> NotFoundError:
    return NotFoundError(f"this space has no message {id!r}; GET .../messages lists them")

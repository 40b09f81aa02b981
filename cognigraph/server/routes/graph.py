"""Routes that read the graph: sessions, entities, triples, and what they count up to."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from cognigraph.model import (
    Conflict,
    Entity,
    History,
    Merge,
    Session,
    Stats,
    Summary,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.server.access import Readable
from cognigraph.server.bodies import Time
from cognigraph.server.documents import described, document, page_of, schema_of
from cognigraph.server.paging import paged
from cognigraph.server.routes.parameters import Cursor, Limit, SessionId

router = APIRouter(tags=["graph"])
Named = Annotated[str | None, Query(description="A whole name or alias.")]


@router.get("/stats", responses=described(schema_of(Stats)))
def stats(space: Readable) -> Response:
    """Count the content of the space, and how much of it waits to be enriched."""
    return document(space.stats())


@router.get("/sessions", responses=described(page_of(Session)))
def sessions(space: Readable, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """List sessions with their keys and summaries, newest first."""
    return document(paged(space.sessions, limit, cursor))


@router.get("/sessions/{session}/summaries", responses=described(page_of(Summary)))
def summaries(space: Readable, session: SessionId) -> Response:
    """List the revisions of a session's summary, newest first."""
    return document({"items": space.summaries(session), "next": None})


@router.get("/entities", responses=described(page_of(Entity)))
def entities(
    space: Readable,
    match: Annotated[str | None, Query(description="A part of the name or of an alias.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List entities, those with the most triples first."""
    return document(paged(partial(space.entities, match), limit, cursor))


@router.get("/triples", responses=described(page_of(Triple)))
def triples(
    space: Readable,
    entity: Named = None,
    as_of: Time | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List triples with their sources, newest first."""
    return document(paged(partial(space.triples, entity, as_of=as_of), limit, cursor))


@router.get("/history", responses=described(page_of(History)))
def history(
    space: Readable,
    entity: Annotated[str, Query(description="A whole name or alias.")],
    relation: Annotated[str | None, Query(description="A relation or a slot.")] = None,
) -> Response:
    """List what was said about each slot of an entity, oldest first, and what ended it."""
    return document({"items": space.history(entity, relation), "next": None})


@router.get("/conflicts", responses=described(page_of(Conflict)))
def conflicts(space: Readable, limit: Limit = 100) -> Response:
    """List current triples of which only one can be true."""
    return document({"items": space.conflicts(limit), "next": None})


@router.get("/duplicates", responses=described(page_of(SuspectedDuplicate)))
def suspected_duplicates(space: Readable, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """List pairs of entities that may be the same, most similar first."""
    return document(paged(space.suspected_duplicates, limit, cursor))


@router.get("/merges", responses=described(page_of(Merge)))
def merges(space: Readable, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """List all merges by rules and users, newest first."""
    return document(paged(space.merges, limit, cursor))

"""Routes that read the graph: sessions, entities, triples, and what they count up to."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from cognigraph.errors import NotFoundError
from cognigraph.model import (
    Conflict,
    CoreProfile,
    Entity,
    EntityProfile,
    Episode,
    Filter,
    History,
    Merge,
    Procedure,
    Session,
    Stats,
    Status,
    Summary,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.server.access import Readable
from cognigraph.server.bodies import Time
from cognigraph.server.documents import described, document, page_of, schema_of
from cognigraph.server.paging import paged
from cognigraph.server.routes.parameters import Cursor, Limit, Names, SessionId

router = APIRouter(tags=["graph"])


async def _sources(
    roles: Names = None,
    session: Names = None,
    speaker: Names = None,
    tags: Names = None,
    since: Time | None = None,
    until: Time | None = None,
) -> Filter | None:
    """Which messages count as sources; a parameter with several values may be repeated."""
    given = {"session": session, "speaker": speaker, "tags": tags, "since": since, "until": until}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value}
    if roles:
        chosen["roles"] = roles
    return Filter(**chosen) if chosen else None


Sources = Annotated[Filter | None, Depends(_sources)]
Named = Annotated[str | None, Query(description="A whole name or alias.")]


@router.get("/stats", responses=described(schema_of(Stats)))
def stats(space: Readable, as_of: Time | None = None) -> Response:
    """Count the content of the space, and how much of it waits to be enriched."""
    return document(space.stats(as_of=as_of))


@router.get("/sessions", responses=described(page_of(Session)))
def sessions(
    space: Readable, as_of: Time | None = None, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """List sessions with their keys and summaries, newest first."""
    return document(paged(partial(space.sessions, as_of=as_of), limit, cursor))


@router.get("/episodes", responses=described(page_of(Episode)))
def episodes(
    space: Readable,
    session: Annotated[str | None, Query(description="Only of this session.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List parts of conversations that are about one thing, the one that ended last first."""
    return document(paged(partial(space.episodes, session), limit, cursor))


@router.get("/sessions/{session}/summaries", responses=described(page_of(Summary)))
def summaries(space: Readable, session: SessionId) -> Response:
    """List the revisions of a session's summary, newest first."""
    return document({"items": space.summaries(session), "next": None})


@router.get("/core-profile", responses=described(schema_of(CoreProfile)))
def core_profile(
    space: Readable,
    version: Annotated[int | None, Query(ge=1, description="From 1; the newest if absent.")] = None,
) -> Response:
    """Get what is known of the user in general, as one text that the writers keep."""
    found = space.core_profile(version)
    if found is None:
        raise NotFoundError(
            "there is no such core profile; it is kept with the extractor membuilder, in versions"
        )
    return document(found)


@router.get("/procedures", responses=described(page_of(Procedure)))
def procedures(
    space: Readable,
    versions: Annotated[bool, Query(description="Also earlier versions.")] = False,
) -> Response:
    """List how things are done, step by step, as the writers keep it."""
    return document({"items": space.procedures(versions=versions), "next": None})


@router.get("/entities", responses=described(page_of(Entity)))
def entities(
    space: Readable,
    match: Annotated[str | None, Query(description="A part of the name or of an alias.")] = None,
    as_of: Time | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List entities, those with the most triples first."""
    return document(paged(partial(space.entities, match, as_of=as_of), limit, cursor))


@router.get("/triples", responses=described(page_of(Triple)))
def triples(
    space: Readable,
    where: Sources,
    entity: Named = None,
    as_of: Time | None = None,
    valid_at: Time | None = None,
    status: Status | None = None,
    slot: Annotated[str | None, Query(description="Such as home or work.")] = None,
    text: Annotated[str | None, Query(description="A part of the fact in words.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List triples with their sources, newest first."""
    listing = partial(
        space.triples,
        entity,
        as_of=as_of,
        valid_at=valid_at,
        status=status,
        slot=slot,
        text=text,
        where=where,
    )
    return document(paged(listing, limit, cursor))


@router.get("/history", responses=described(page_of(History)))
def history(
    space: Readable,
    entity: Annotated[str, Query(description="A whole name or alias.")],
    relation: Annotated[str | None, Query(description="A relation or a slot.")] = None,
    as_of: Time | None = None,
    valid_at: Time | None = None,
) -> Response:
    """List what was said about each slot of an entity, oldest first, and what ended it."""
    found = space.history(entity, relation, as_of=as_of, valid_at=valid_at)
    return document({"items": found, "next": None})


@router.get("/profile", responses=described(schema_of(EntityProfile)))
def profile(
    space: Readable,
    entity: Annotated[str, Query(description="A whole name or alias.")],
    earlier: Annotated[bool, Query(description="Also facts that are over.")] = False,
    as_of: Time | None = None,
    valid_at: Time | None = None,
) -> Response:
    """Get what is true of an entity, by slot, with its types and aliases."""
    found = space.profile(entity, earlier=earlier, as_of=as_of, valid_at=valid_at)
    return document(found)


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

"""Routes on whole spaces, and on the whole store."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request, Response

from cognigraph.errors import ConfigurationError
from cognigraph.memory import Memory
from cognigraph.model import SpacesResult
from cognigraph.model.storage import AuditEntry, Check, StoreInfo
from cognigraph.server.access import Owned, Readable, WholeStore, grant_of, memory_of
from cognigraph.server.answers import (
    answer,
    described,
    document,
    page_of,
    paged,
    schema_of,
)
from cognigraph.server.bodies import (
    MOST_SPACES,
    Arguments,
    CopyBody,
    Cursor,
    Explain,
    Limit,
    from_body,
)
from cognigraph.server.chosen_fields import Fields, fields_of
from cognigraph.server.keys import audit_of_all
from cognigraph.tracing import span

router = APIRouter(prefix="/v1/spaces/{space}", tags=["spaces"])
store = APIRouter(tags=["store"])
OfAudit = Annotated[Fields | None, fields_of(page_of(AuditEntry))]


@router.get("", responses=described(dict[str, object]))
def space(space: Readable) -> Response:
    """Get the name of the space and what it holds."""
    return document({"name": space.name, "stats": space.stats()})


@router.delete("", status_code=204)
def delete_space(request: Request, space: Owned) -> Response:
    """Delete the space with all that it holds."""
    memory_of(request).admin.delete_space(space.name, by=grant_of(request).by)
    return Response(status_code=204)


@router.post("/copy", status_code=201, responses=described(dict[str, int], 201))
def copy_space(request: Request, space: Owned, body: CopyBody) -> Response:
    """Copy the space to another one, which must hold no messages."""
    grant_of(request).check("admin", body.to)
    copied = memory_of(request).admin.copy_space(space.name, body.to)
    return document({"messages": copied}, 201)


@router.get("/audit", responses=described(page_of(AuditEntry)))
def audit(
    request: Request, space: Owned, fields: OfAudit, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """List what was decided, corrected and removed in the space, and by whom, newest first."""
    listing = partial(memory_of(request).admin.audit, space.name)
    return document(paged(listing, limit, cursor), fields=fields)


@store.get("/audit", responses=described(page_of(AuditEntry)))
def audit_log(
    request: Request,
    memory: WholeStore,
    fields: OfAudit,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List the audit log of all spaces, also of deleted ones, and of the keys, newest first."""
    listing = partial(audit_of_all, memory, request.app.state.keys)
    return document(paged(listing, limit, cursor), fields=fields)


@store.get("/spaces", responses=described(dict[str, list[str]]))
def spaces(request: Request) -> Response:
    """List the spaces that hold messages, as far as the key may read them."""
    return document({"items": _readable(request)})


def _readable(request: Request) -> list[str]:
    grant = grant_of(request)
    return [name for name in memory_of(request).spaces() if grant.reads(name)]


@store.post("/search", responses=described(schema_of(SpacesResult)))
def search_spaces(
    request: Request,
    given: Annotated[Arguments, from_body(Memory.search_spaces)],
    fields: Annotated[Fields | None, fields_of(schema_of(SpacesResult))],
    explain: Explain = False,
) -> Response:
    """Search several spaces, each by itself, and rank their messages together.

    Without `spaces`, all that hold messages and that the key may read.
    """
    named = given.pop("spaces", None)
    for name in named or ():
        grant_of(request).check("read", name)
    spaces = _readable(request) if named is None else named
    if len(spaces) > MOST_SPACES:
        raise ConfigurationError(
            f"the key may read {len(spaces):,} spaces, and at most {MOST_SPACES} are searched at "
            "once; name some in `spaces`"
        )
    with span("cognigraph.search", f"{len(spaces)} spaces"):
        found = memory_of(request).search_spaces(spaces, **given)
    return answer(found, explain=explain, fields=fields)


@store.get("/info", responses=described(schema_of(StoreInfo)))
def info(memory: WholeStore) -> Response:
    """Say where the data is stored, and with which schema and embedder."""
    return document(memory.info)


@store.get("/check", responses=described(page_of(Check)))
def check(memory: WholeStore) -> Response:
    """Check the health of the store, as `cognigraph doctor` does."""
    return document({"items": memory.admin.check(), "next": None})

"""Routes by which users decide on facts and entities."""

from __future__ import annotations

from fastapi import APIRouter, Response

from cognigraph.server.access import Writable
from cognigraph.server.bodies import MergeBody, ReasonBody, SplitBody, SupersedeBody
from cognigraph.server.routes.parameters import TripleUid

router = APIRouter(tags=["decisions"])


@router.post("/triples/{uid}/supersede", status_code=204)
def supersede(space: Writable, uid: TripleUid, body: SupersedeBody) -> Response:
    """Record that another triple has taken the place of this one."""
    space.supersede(uid, body.by, at=body.at, reason=body.reason)
    return Response(status_code=204)


@router.post("/triples/{uid}/retract", status_code=204)
def retract(space: Writable, uid: TripleUid, body: ReasonBody) -> Response:
    """Take a triple back, as if it had never been said. `restore` undoes it."""
    space.retract(uid, reason=body.reason)
    return Response(status_code=204)


@router.post("/triples/{uid}/restore", status_code=204)
def restore(space: Writable, uid: TripleUid, body: ReasonBody) -> Response:
    """Make a triple current, whatever superseded it."""
    space.restore(uid, reason=body.reason)
    return Response(status_code=204)


@router.post("/entities/merge", status_code=204)
def merge(space: Writable, body: MergeBody) -> Response:
    """Merge the entity `name` into the entity `into`. `split` undoes it."""
    space.merge(body.name, body.into, type=body.type, into_type=body.into_type)
    return Response(status_code=204)


@router.post("/entities/split", status_code=204)
def split(space: Writable, body: SplitBody) -> Response:
    """Undo a merge; with `apart_from`, keep two entities apart."""
    space.split(body.name, apart_from=body.apart_from, type=body.type, other_type=body.other_type)
    return Response(status_code=204)

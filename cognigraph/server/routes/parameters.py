"""Parameters that several routes share."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path, Query

from cognigraph.server.paging import MOST


async def _id(id: Annotated[str, Path(description="The id of a message.")]) -> str:
    return unquote(id)


async def _uid(uid: Annotated[str, Path(description="The uid of a triple.")]) -> str:
    return unquote(uid)


async def _session(session: Annotated[str, Path(description="The id of a session.")]) -> str:
    return unquote(session)


MessageId = Annotated[str, Depends(_id)]
TripleUid = Annotated[str, Depends(_uid)]
SessionId = Annotated[str, Depends(_session)]
Limit = Annotated[int, Query(ge=1, le=MOST, description="The largest number of items.")]
Cursor = Annotated[str | None, Query(description="The `next` of the page before.")]
Names = Annotated[list[str] | None, Query(description="May be repeated.")]
InSession = Annotated[
    str | None, Query(description="The session, if messages of several sessions have the id.")
]

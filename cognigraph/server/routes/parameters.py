"""Parameters that several routes share."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path, Query

from cognigraph.server.answers import MOST


async def _id(id: Annotated[str, Path(description="The id of a message.")]) -> str:
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

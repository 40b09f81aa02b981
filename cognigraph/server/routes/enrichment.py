"""Routes that enrich, and that wait for it."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from cognigraph.errors import FlushTimeout
from cognigraph.ingest.queue.step import Limits, Step
from cognigraph.operations.queue import Queue
from cognigraph.server.access import Writable
from cognigraph.server.answers import described
from cognigraph.server.bodies import Arguments, from_body
from cognigraph.server.long_work import Report, give_up_turn, run_long, unless_left
from cognigraph.space import Space
from cognigraph.tracing import span

router = APIRouter(tags=["enrichment"])
_MOST_SECONDS_TO_FLUSH = 600.0
_PAUSES = (0.02, 0.5)
"""The shortest and the longest number of seconds between two looks at the queue."""
Seconds = Annotated[float, Query(ge=0, allow_inf_nan=False)]


@router.post("/queue/enrich", responses=described(dict[str, object]))
async def enrich(
    request: Request, space: Writable, given: Annotated[Arguments, from_body(Queue.enrich)]
) -> Response:
    """Enrich what waits in the space now, instead of in the background.

    With `Accept: text/event-stream` each batch is an event `progress`, and the end is `result`.
    """
    return await run_long(request, lambda report: _enrich(space, given.get("limits"), report))


def _enrich(space: Space, limits: Limits | None, report: Report) -> dict[str, object]:
    total = space.stats().pending
    done = 0

    def on_step(step: Step) -> None:
        nonlocal done
        done += 0 if step.error else step.chunks
        report({"done": done, "total": max(total, done), "step": step})

    with span("cognigraph.enrich", space.name):
        steps = space.queue.enrich(on_step, limits=limits)
    after = space.stats()
    return {
        "chunks": done,
        "pending": after.pending + after.leased,
        "failed": after.failed,
        "stopped": steps[-1].stopped if steps else None,
    }


@router.post("/flush", status_code=204)
async def flush(request: Request, space: Writable, timeout: Seconds = 30.0) -> Response:
    """Wait until everything added to the space is enriched; 504 if it takes longer."""
    seconds = min(timeout, _MOST_SECONDS_TO_FLUSH)
    await unless_left(request, asyncio.create_task(_flush(request, space, seconds)))
    return Response(status_code=204)


async def _flush(request: Request, space: Space, seconds: float) -> None:
    """Look at the queue again and again. Between two looks it has neither a place nor a thread."""
    until = time.monotonic() + seconds
    pause, longest = _PAUSES
    while True:
        try:
            return await to_thread.run_sync(space.flush, 0.0)
        except FlushTimeout as error:
            if error.halted or time.monotonic() >= until:
                raise
        turn = give_up_turn(request)
        await asyncio.sleep(pause)
        await turn.begin()
        pause = min(2 * pause, longest)

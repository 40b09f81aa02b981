"""Routes that look after the queue of messages to be enriched."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from cognigraph.errors import FlushTimeout
from cognigraph.ingest.queue.estimate import Estimate
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.ingest.queue.step import Step
from cognigraph.server.access import Readable, Writable
from cognigraph.server.bodies import LimitsBody, RedoBody
from cognigraph.server.documents import described, document, page_of, schema_of
from cognigraph.server.long_work import Report, give_up_turn, run_long, unless_left
from cognigraph.space import Space
from cognigraph.stores.records import Failure
from cognigraph.tracing import span

router = APIRouter(tags=["enrichment"])
_MOST_SECONDS_TO_FLUSH = 600.0
_PAUSES = (0.02, 0.5)
"""The shortest and the longest number of seconds between two looks at the queue."""
Seconds = Annotated[float, Query(ge=0, allow_inf_nan=False)]


@router.post("/enrich", responses=described(dict[str, object]))
async def enrich(request: Request, space: Writable, body: LimitsBody) -> Response:
    """Enrich what waits in the space now, instead of in the background.

    With `Accept: text/event-stream` each batch is an event `progress`, and the end is `result`.
    """
    return await run_long(request, lambda report: _enrich(space, body.limits(), report))


def _enrich(space: Space, limits: Limits, report: Report) -> dict[str, object]:
    total = space.stats().pending
    done = 0

    def on_step(step: Step) -> None:
        nonlocal done
        done += 0 if step.error else step.chunks
        report({"done": done, "total": max(total, done), "step": step})

    with span("cognigraph.enrich", space.name):
        steps = space.enrich(on_step, limits=limits)
    after = space.stats()
    return {
        "chunks": done,
        "pending": after.pending + after.leased,
        "failed": after.failed,
        "stopped": steps[-1].stopped if steps else None,
    }


@router.get("/estimate", responses=described(schema_of(Estimate)))
def estimate(space: Readable, redo: bool = False, older_than: str | None = None) -> Response:
    """Estimate what enriching all pending messages would take."""
    return document(space.estimate(redo=redo, older_than=older_than))


@router.post("/redo", responses=described(dict[str, int]))
def redo(space: Writable, body: RedoBody) -> Response:
    """Queue enriched messages to be read again."""
    return document({"chunks": space.redo(body.older_than)})


@router.get("/failures", responses=described(page_of(Failure)))
def failures(space: Readable) -> Response:
    """List chunks and summaries whose last enrichment failed, with the reason."""
    return document({"items": space.failures(), "next": None})


@router.post("/failures/retry", responses=described(dict[str, int]))
def retry_failed(space: Writable) -> Response:
    """Put parked chunks and summaries back into the queue."""
    return document({"chunks": space.retry_failed()})


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

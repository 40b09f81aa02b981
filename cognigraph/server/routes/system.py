"""Routes for those who run the server: health, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from cognigraph._version import __version__
from cognigraph.errors import CogniGraphError
from cognigraph.server.access import WholeStore, memory_of
from cognigraph.server.answers import described_text, document
from cognigraph.server.problems import problem

router = APIRouter(tags=["system"])
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health")
async def health(request: Request) -> Response:
    """Say that the process answers, and whether its background worker does its work."""
    return document({**_status(request, "ok"), "version": __version__})


@router.get("/ready")
def ready(request: Request) -> Response:
    """Say whether the store answers, what the first questions need is loaded, and it stays."""
    if request.app.state.stopping.is_set():
        return problem(503, "Not ready", "the server is about to stop; ask another")
    if not request.app.state.warm_up.is_done:
        return problem(503, "Not ready", "the embedder and the indexes are being loaded; wait")
    try:
        memory_of(request).spaces()
    except CogniGraphError as error:
        return problem(503, "Not ready", str(error))
    return document(_status(request, "ready"))


def _status(request: Request, word: str) -> dict[str, str]:
    """This word, or ``degraded`` and why: the server answers, but messages are not enriched.

    The store is not asked, so that an answer comes also if the store gives none.
    """
    state = memory_of(request).admin.worker_state
    if state is None or state.problem is None:
        return {"status": word}
    return {"status": "degraded", "reason": state.problem}


@router.get("/metrics", response_class=Response, responses=described_text("text/plain", "Metrics."))
def metrics(request: Request, memory: WholeStore) -> Response:
    """Count requests, their time and the queue, in the text format of Prometheus."""
    found = request.app.state.metrics.text(
        memory.admin.waiting(), memory.admin.longest_wait(), memory.admin.worker_state
    )
    return Response(found, media_type=_TEXT)

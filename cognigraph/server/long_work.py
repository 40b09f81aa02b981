"""Work that takes long: its result as JSON, or its progress as server-sent events."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from starlette.responses import StreamingResponse

from cognigraph.errors import CogniGraphError
from cognigraph.plain_data import plain
from cognigraph.server.access import permitted_of
from cognigraph.server.documents import document
from cognigraph.server.problems import Problem, as_document

logger = logging.getLogger("cognigraph.server")
Report = Callable[[Any], None]
"""Tells the client of progress. It ends the work if the client has left or the server stops."""
Work = Callable[[Report], Any]
EVENTS = "text/event-stream"
_SECONDS_BETWEEN_SIGNS = 10.0


class LongWork:
    """How much long work may run at once, and whether it is to end."""

    def __init__(self, most: int) -> None:
        self.limiter = CapacityLimiter(most)
        self.stopping = Event()
        self._receiving = 0

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """Hold a place for the upload of a file, so that uploads cannot fill the disk.

        Raises:
            Problem: there are too many uploads, or too much long work runs already.
        """
        self.check()
        if self._receiving >= self.limiter.total_tokens:
            raise Problem(503, "Too many uploads", "try again when one has ended", wait=5)
        self._receiving += 1
        try:
            yield
        finally:
            self._receiving -= 1

    def check(self) -> None:
        """Refuse work if enough is running.

        Raises:
            Problem: it is.
        """
        if self.limiter.borrowed_tokens >= self.limiter.total_tokens:
            raise Problem(
                503,
                "Too much long work",
                f"{self.limiter.total_tokens:g} imports, enrichments or exports run already; "
                "try again when one has ended",
                wait=5,
            )


class _Left(Exception):
    """The client has left, or the server is about to stop."""


def long_work_of(request: Request) -> LongWork:
    """The long work of the server that a request is for."""
    found: LongWork = request.app.state.long_work
    return found


async def run_long(
    request: Request, work: Work, afterwards: Callable[[], object] = lambda: None
) -> Response:
    """Run work in a thread. ``afterwards`` runs when it has ended, however it ends.

    What was finished before a client leaves stays; all such work can be repeated.
    """
    state = long_work_of(request)
    try:
        state.check()
    except Problem:
        afterwards()
        raise
    run = _Run(state, work, afterwards, permitted_of(request))
    run.start()
    if EVENTS in request.headers.get("accept", ""):
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(run.events(), media_type=EVENTS, headers=headers)
    result = await run.task
    return Response(status_code=204) if result is None else document(result)


class _Run:
    def __init__(
        self,
        state: LongWork,
        work: Work,
        afterwards: Callable[[], object],
        is_permitted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._state, self._work, self._afterwards = state, work, afterwards
        self._is_permitted = is_permitted
        self._loop = asyncio.get_running_loop()
        self._progress: asyncio.Queue[Any] = asyncio.Queue()
        self._left = Event()

    def start(self) -> None:
        """Begin the work, whether or not its client ever reads of it."""
        self.task = asyncio.create_task(self._result())
        self.task.add_done_callback(self._end)

    async def _result(self) -> Any:
        try:
            return await to_thread.run_sync(self._do, limiter=self._state.limiter)
        finally:  # also if it is cancelled before a thread is free
            self._afterwards()

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._progress.put_nowait(None)
        if not task.cancelled():
            task.exception()  # marks it as seen; a client that has left does not ask for it

    async def events(self) -> AsyncIterator[str]:
        try:
            while (progress := await self._next()) is not None:
                yield ": working\n\n" if progress == "" else _event("progress", progress)
            yield _ending(self.task)
        finally:
            self._left.set()

    async def _next(self) -> Any:
        try:
            return await asyncio.wait_for(self._progress.get(), _SECONDS_BETWEEN_SIGNS)
        except TimeoutError:
            return ""

    def _do(self) -> Any:
        try:
            return self._work(self._report)
        except _Left:
            logger.info("long work ended early: its client has left, or the server stops")
            raise Problem(
                503, "Stopped", "the server is about to stop; repeat it", wait=5
            ) from None

    def _report(self, progress: Any) -> None:
        if self._left.is_set() or self._state.stopping.is_set():
            raise _Left
        if not self._is_permitted():
            raise Problem(401, "The key is not valid", "it was revoked while the work ran")
        self._loop.call_soon_threadsafe(self._progress.put_nowait, plain(progress))


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def _ending(task: asyncio.Task[Any]) -> str:
    error = task.exception()
    if error is None:
        return _event("result", plain(task.result()))
    if isinstance(error, CogniGraphError):
        return _event("problem", as_document(error))
    if isinstance(error, Problem):
        return _event("problem", {"title": error.title, "detail": error.detail})
    logger.error("long work failed", exc_info=error)
    return _event("problem", {"title": "Internal error", "detail": "see the log of the server"})

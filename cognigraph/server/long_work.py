"""Turns of clients, so that one with many requests does not keep the others waiting."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from threading import Event
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from starlette.responses import StreamingResponse

from cognigraph.errors import CogniGraphError
from cognigraph.plain_data import plain
from cognigraph.server.access import permitted_of
from cognigraph.server.answers import document
from cognigraph.server.problems import Problem, as_document


class FairShare:
    """Places that the clients who have requests share evenly; the rest of each waits its turn.

    A client alone has all places, and each of two has half of them. At least one place is left to
    each, so with more clients than places there are as many requests in work as clients, up to
    ``most``. Used from the event loop alone.
    """

    def __init__(self, places: int, most: float = math.inf) -> None:
        self._places = places
        self._most = most
        self._working: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def working(self, client: str) -> int:
        """The requests of a client that are in work."""
        return self._working[client]

    def waiting(self, client: str) -> int:
        """The requests of a client that wait."""
        return len(self._waiting.get(client, ()))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[Turn]:
        """Wait for the turn of a client, and end it afterwards."""
        turn = Turn(self, client)
        await turn.begin()
        try:
            yield turn
        finally:
            turn.end()

    async def _begin(self, client: str) -> None:
        if client not in self._waiting and self._has_place(client):
            self._working[client] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._end(client)
            else:
                self._leave(client, turn)
            raise

    def _leave(self, client: str, turn: asyncio.Future[None]) -> None:
        self._waiting[client].remove(turn)
        if not self._waiting[client]:
            del self._waiting[client]

    def _end(self, client: str) -> None:
        self._working[client] -= 1
        if not self._working[client]:
            del self._working[client]
        for waiting in sorted(self._waiting, key=self.working):
            if self._working.total() >= self._most:
                break
            self._admit(waiting)

    def _admit(self, client: str) -> None:
        turns = self._waiting[client]
        while turns and self._has_place(client):
            turn = turns.popleft()
            if not turn.cancelled():
                self._working[client] += 1
                turn.set_result(None)
        del self._waiting[client]
        if turns:  # behind all others: who always has requests waiting must not always be first
            self._waiting[client] = turns

    def _has_place(self, client: str) -> bool:
        if self._working.total() >= self._most:
            return False
        active = len(self._working.keys() | self._waiting.keys() | {client})
        return self._working[client] < max(1, self._places // active)


class Turn:
    """A client's place in a share, which may be given up and waited for again."""

    def __init__(self, share: FairShare, client: str) -> None:
        self.client = client
        self._share = share
        self._has_place = False

    async def begin(self) -> None:
        """Wait for a place."""
        await self._share._begin(self.client)
        self._has_place = True

    def end(self) -> None:
        """Give up the place, if there is one."""
        if self._has_place:
            self._has_place = False
            self._share._end(self.client)


logger = logging.getLogger("cognigraph.server")
Report = Callable[[Any], None]
"""Tells the client of progress. It ends the work if the client has left or the server stops."""
Work = Callable[[Report], Any]
EVENTS = "text/event-stream"
_SECONDS_BETWEEN_SIGNS = 10.0
_MOST_OF_ALL = 4
"""How many times the places of one client all clients together have."""
_T = TypeVar("_T")


class LongWork:
    """The places of long work and of the files that wait for it, and whether it is to end.

    The clients share them: one alone has ``places``, and each that comes has one at least, as long
    as all together have not four times as many.
    """

    def __init__(self, places: int, patience: float) -> None:
        self.most = places * _MOST_OF_ALL
        self.running = FairShare(places, self.most)
        self.files = FairShare(places, self.most)
        self.limiter = CapacityLimiter(math.inf)
        self.stopping = Event()
        self._patience = patience

    async def place(self, share: FairShare, request: Request) -> Turn:
        """Wait for a place in one of the shares. The request gives up that of short work.

        Raises:
            Problem: it does not get one in time, or its client has left.
        """
        turn = Turn(share, give_up_turn(request).client)
        if share.waiting(turn.client) >= self.most:
            raise self._too_much(share, turn.client)
        try:
            async with asyncio.timeout(self._patience):
                if share is self.files:  # the body is still to come, so nobody may read it here
                    await turn.begin()
                else:
                    await unless_left(request, asyncio.create_task(turn.begin()))
        except BaseException as error:
            turn.end()  # it may have come at this very moment
            if isinstance(error, TimeoutError):
                raise self._too_much(share, turn.client) from None
            raise
        return turn

    def _too_much(self, share: FairShare, client: str) -> Problem:
        own = share.working(client)
        status, whose = (429, f"{own} of yours") if own else (503, "as many as the server takes")
        return Problem(
            status,
            "Too much long work",
            f"of imports, enrichments, exports and questions to a model, {whose} run already; "
            "try again when one has ended",
            wait=5,
        )


class _Left(Exception):
    """The client has left, or the server is about to stop."""


def long_work_of(request: Request) -> LongWork:
    """The long work of the server that a request is for."""
    found: LongWork = request.app.state.long_work
    return found


def give_up_turn(request: Request) -> Turn:
    """Let other requests of the client have the place that the gate gave to this one."""
    turn: Turn = request.scope["cognigraph.turn"]
    turn.end()
    return turn


async def unless_left(
    request: Request, work: asyncio.Task[_T], end: Callable[[], object] | None = None
) -> _T:
    """Wait for a task; as soon as the client leaves, ``end`` it, or else cancel it.

    Raises:
        Problem: the client has left, so nobody reads this.
    """
    end = end or work.cancel
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait((work, leaving), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        end()
        await asyncio.wait((work,))
        leaving.result()
        raise Problem(499, "The client has left", "the work has ended")
    finally:
        leaving.cancel()
        if not work.done():
            end()


async def _left(request: Request) -> None:
    """Wait until the client leaves; a body that nobody reads is read and dropped."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run_long(
    request: Request, work: Work, afterwards: Callable[[], object] = lambda: None
) -> Response:
    """Run work in a thread, and answer with its result.

    ``afterwards`` runs when it has ended, however it ends. What was finished before a client leaves
    stays; all such work can be repeated.
    """
    run = await begin_long(request, work, afterwards)
    if EVENTS in request.headers.get("accept", ""):
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(run.events(), media_type=EVENTS, headers=headers)
    result = await run.result(request)
    return Response(status_code=204) if result is None else document(result)


async def begin_long(
    request: Request, work: Work, afterwards: Callable[[], object] = lambda: None
) -> Run:
    """Begin work in a thread, as soon as there is a place for it; see :func:`run_long`."""
    state = long_work_of(request)
    try:
        place = await state.place(state.running, request)
    except BaseException:
        afterwards()
        raise

    def over() -> None:
        place.end()
        afterwards()

    run = Run(state, work, over, permitted_of(request))
    run.start()
    return run


class Run:
    """Work in a thread that ends soon after its client has left."""

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

    async def result(self, request: Request) -> Any:
        """What the work returns, unless the client of the request leaves before."""
        return await unless_left(request, self.task, self._left.set)

    async def events(self) -> AsyncIterator[str]:
        """The progress and the result as server-sent events."""
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

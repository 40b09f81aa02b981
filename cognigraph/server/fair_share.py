"""Turns of clients, so that one with many requests does not keep the others waiting."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairShare:
    """Places that the clients who have requests share evenly; the rest of each waits its turn.

    A client alone has all places, and each of two has half of them. At least one place is left to
    each, so with more clients than places there are as many requests in work as clients. Used from
    the event loop alone.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._working: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def count(self, client: str) -> int:
        """The requests of a client that are in work or wait."""
        return self._working[client] + len(self._waiting.get(client, ()))

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for the turn of a client, and end it afterwards."""
        await self._begin(client)
        try:
            yield
        finally:
            self._end(client)

    async def _begin(self, client: str) -> None:
        if client not in self._waiting and self._working[client] < self._share(client):
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
        for waiting in list(self._waiting):
            self._admit(waiting)

    def _admit(self, client: str) -> None:
        turns = self._waiting[client]
        while turns and self._working[client] < self._share(client):
            turn = turns.popleft()
            if not turn.cancelled():
                self._working[client] += 1
                turn.set_result(None)
        if not turns:
            del self._waiting[client]

    def _share(self, client: str) -> int:
        active = len(self._working.keys() | self._waiting.keys() | {client})
        return max(1, self._places // active)

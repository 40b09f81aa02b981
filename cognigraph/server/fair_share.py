"""Turns of clients, so that one with many requests does not keep the others waiting."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


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
        if not turns:
            del self._waiting[client]

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

"""Clients share the places of a server evenly."""

from __future__ import annotations

import asyncio
import math

import pytest

from cognigraph.server.gate import ServerLimits
from cognigraph.server.long_work import FairShare
from tests.rest.test_access import bearer


class Crowd:
    """Requests that last until they are told to end, and the order in which they began."""

    def __init__(self, places: int, most: float = math.inf) -> None:
        self.share = FairShare(places, most)
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def send(self, *names: str) -> None:
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._request(name))
        await self._settled()

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
            await self._settled()

    async def _request(self, name: str) -> None:
        async with self.share.turn(name[0]):
            self.begun.append(name)
            await self._ends[name].wait()

    @staticmethod
    async def _settled() -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def test_a_client_alone_has_all_places_and_gives_them_up_to_a_second_one():
    async def run() -> None:
        crowd = Crowd(4)
        await crowd.send("a1", "a2", "a3", "a4", "a5", "a6", "a7")
        assert crowd.begun == ["a1", "a2", "a3", "a4"]
        await crowd.send("b1", "b2", "b3")
        assert crowd.begun[4:] == ["b1", "b2"]  # at once, although all places are taken
        assert (crowd.share.working("a"), crowd.share.waiting("a")) == (4, 3)
        assert (crowd.share.working("b"), crowd.share.waiting("b")) == (2, 1)
        await crowd.end("a1", "a2")
        assert crowd.begun[6:] == []  # of its share of two both are in work
        await crowd.end("a3")
        assert crowd.begun[6:] == ["a5"]
        await crowd.end("b1")
        assert crowd.begun[7:] == ["b3"]
        await crowd.end("b2", "b3")
        assert crowd.begun[8:] == ["a6", "a7"]  # alone again
        await crowd.end("a4", "a5", "a6", "a7")
        assert crowd.share.working("a") == 0 and not crowd.share._waiting

    asyncio.run(run())


def test_with_more_clients_than_places_each_has_one():
    async def run() -> None:
        crowd = Crowd(2)
        await crowd.send("a1", "a2", "b1", "b2", "c1", "c2", "d1")
        assert crowd.begun == ["a1", "a2", "b1", "c1", "d1"]
        await crowd.end("a1")
        assert crowd.begun[5:] == []  # the first one still has a request in work
        await crowd.end("b1", "c1")
        assert crowd.begun[5:] == ["b2", "c2"]
        for name in ("a2", "b2", "c2", "d1"):
            await crowd.end(name)

    asyncio.run(run())


def test_a_request_that_is_cancelled_while_it_waits_takes_no_place():
    async def run() -> None:
        crowd = Crowd(1)
        await crowd.send("a1", "a2", "a3")
        crowd.tasks["a2"].cancel()
        await crowd.end("a1")
        assert crowd.begun == ["a1", "a3"]
        await crowd.send("a4")
        crowd._ends["a3"].set()
        await asyncio.sleep(0)
        crowd.tasks["a4"].cancel()  # at the moment at which its turn has come
        await crowd.end("a3")
        await crowd.send("a5")
        assert crowd.begun[-1] == "a5"
        await crowd.end("a5")
        assert crowd.share.working("a") == 0

    asyncio.run(run())


def test_all_clients_together_have_no_more_places_than_there_are_and_the_next_is_who_has_none():
    async def run() -> None:
        crowd = Crowd(2, most=3)
        await crowd.send("a1", "a2", "b1", "a3", "b2", "c1")
        assert crowd.begun == ["a1", "a2", "b1"]
        await crowd.end("a1")
        assert crowd.begun[3:] == ["c1"]  # the others have waited longer, but have a place
        await crowd.end("a2", "c1")
        assert crowd.begun[4:] == ["a3"]
        await crowd.end("b1", "a3", "b2")
        assert crowd.begun[5:] == ["b2"]

    asyncio.run(run())


def test_who_always_has_requests_waiting_is_served_as_often_as_who_asks_now_and_then():
    async def run() -> None:
        crowd = Crowd(1, most=1)
        await crowd.send("z0", *(f"g{number}" for number in range(9)))  # the greedy one is first
        await crowd.send("a1", "b1", "c1")
        for name in ("z0", "g0", "a1", "b1", "c1", "g1"):
            if name == "b1":
                await crowd.send("a2")
            await crowd.end(name)
        assert crowd.begun == ["z0", "g0", "a1", "b1", "c1", "g1", "a2"]
        await crowd.end("a2", *(f"g{number}" for number in range(2, 9)))
        assert not crowd.share._waiting and crowd.share.working("g") == 0

    asyncio.run(run())


def test_a_place_that_was_given_up_is_waited_for_again():
    async def run() -> None:
        share = FairShare(1)
        async with share.turn("a") as first:
            first.end()
            first.end()
            async with share.turn("a") as second:
                again = asyncio.create_task(first.begin())
                await asyncio.sleep(0)
                assert (share.working("a"), share.waiting("a")) == (1, 1)
                second.end()
                await again
        assert share.working("a") == 0

    asyncio.run(run())


@pytest.mark.parametrize("requests", [1, 4])
@pytest.mark.slow
def test_one_key_cannot_take_all_requests_that_the_server_takes(serve, keys, requests):
    client = serve(keys=keys, limits=ServerLimits(requests=requests, rate=0))
    key = keys.create("greedy", ["read"], None)
    gate = client.app.middleware_stack
    while not hasattr(gate, "_share"):
        gate = getattr(gate, "app", None) or gate._app
    id = keys.find(key).id
    gate._requests[id] = max(1, requests // 2)
    refused = client.get("/v1/spaces", headers=bearer(key))
    assert refused.status_code == 429 and refused.headers["retry-after"] == "1"
    other = keys.create("modest", ["read"], None)
    assert client.get("/v1/spaces", headers=bearer(other)).status_code == 200

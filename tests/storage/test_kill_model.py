"""The worker or the model fails at any call: nothing is lost or duplicated afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from cognigraph import Memory
from tests.forked import Forked
from tests.servers.model_server import (
    Behaviour,
    Exchange,
    ModelServer,
    cut,
    drop,
    good,
    hang,
    raw,
    status,
)
from tests.storage import readers
from tests.storage.readers import (
    BATCH,
    PER_SESSION,
    THINGS,
    answer,
    open_memory,
    turn,
)

pytestmark = [pytest.mark.slow, pytest.mark.oldest_line]

ROOT = Path(__file__).parents[2]
TURNS = 2 * PER_SESSION
WINDOWS = 2 * -(-PER_SESSION // BATCH)
CALLS = 2 * WINDOWS
"""Of an undisturbed run: one to read and one to sum up for each of two windows of two sessions."""

PLACES = [
    *(("sqlite", k) for k in range(1, CALLS + 1)),
    *(("neo4j-5.26", k) for k in (1, 2, CALLS // 2 + 1)),
]


class Place:
    """A store and its spaces, to be filled."""

    def __init__(self, location: dict[str, Any], name: str) -> None:
        self.location = str(location["location"])
        auth = location.get("auth")
        self.auth = ":".join(auth) if auth else "-"
        self.name = name

    def open(self, url: str, **model: Any) -> Memory:
        return open_memory(self.location, self.auth, url, **model)

    def start(self, space: str, url: str) -> Forked:
        return Forked(readers.main, self.location, self.auth, space, url)


@pytest.fixture
def place(location: dict[str, Any], space_name: str) -> Place:
    return Place(location, space_name)


def graph(memory: Memory, name: str) -> dict[str, Any]:
    """Everything that enrichment wrote, except for the time when it did."""
    space = memory.space(name)
    mentions = "MATCH (c:Chunk)-[:MENTIONS]->(e:Entity) RETURN c.message_id AS id, e.name AS name"
    return {
        "triples": sorted(
            (t.text, str(t.when), t.first_observed, t.last_observed, t.sources)
            for t in space.facts(limit=1000)
        ),
        "entities": sorted(
            (e.name, e.type, e.triples, e.mentions) for e in space.entities(limit=1000)
        ),
        "mentions": sorted((row["id"], row["name"]) for row in space.cypher(mentions)),
        "sessions": [(s.id, s.keys, s.themes, s.version) for s in space.overview.sessions()],
        "revisions": [
            [(r.version, r.extractor, r.keys, r.themes) for r in space.overview.summaries(s.id)]
            for s in space.overview.sessions()
        ],
        "queue": (space.stats().done, space.stats().pending, space.stats().failed),
    }


def undisturbed(place: Place, server: ModelServer) -> dict[str, Any]:
    # Half a second, which a call has elsewhere, may pass on a busy machine.
    with place.open(server.url, timeout=timedelta(seconds=30)) as memory:
        memory.space(f"{place.name}-calm").add_many(turn(n) for n in range(TURNS))
        memory.space(f"{place.name}-calm").flush()
        assert server.calls == CALLS
        found = graph(memory, f"{place.name}-calm")
    assert len(found["triples"]) == len(THINGS)  # two of them occur in both sessions
    assert [version for *_, version in found["sessions"]] == [2, 2]
    server.requests.clear()
    return found


def at_call(number: int, act: Callable[[Exchange], None]) -> Behaviour:
    """Act once, at the call with this number, and answer all others."""
    lock, seen = Lock(), 0
    well = good(answer)

    def behave(exchange: Exchange) -> None:
        nonlocal seen
        with lock:
            seen += 1
            due = seen == number
        (act if due else well)(exchange)

    return behave


def is_summary(exchange: Exchange) -> bool:
    """Whether the model is asked for a summary, not to read."""
    return "summary of a conversation" in exchange.messages[0]["content"]


def only_chosen(request: pytest.FixtureRequest, k: int) -> None:
    """Run only some of the crashes on Neo4j, where tests take longer."""
    store = request.node.callspec.params["location"]
    if (store, k) not in PLACES:
        pytest.skip("not on this store")


@pytest.mark.parametrize("k", range(1, CALLS + 1))
def test_the_worker_is_killed_at_any_call(place: Place, request, k: int) -> None:
    only_chosen(request, k)
    with ModelServer(good(answer)) as server:
        expected = undisturbed(place, server)
        with place.open(server.url) as memory:
            memory.space(place.name).add_many(turn(n) for n in range(TURNS))
        worker: list[Forked] = []

        def kill(exchange: Exchange) -> None:
            worker[0].kill()
            exchange.hang_up()

        server.then(at_call(k, kill))
        worker.append(place.start(place.name, server.url))
        worker[0].finish()
        assert worker[0].wait() == -9
        assert server.calls == k
        server.then(good(answer))
        with place.open(server.url) as memory:
            memory.space(place.name).flush(timeout=20)  # does not wait for the old lease
            assert graph(memory, place.name) == expected
        # At most the current window is requested again.
        assert CALLS <= server.calls - 1 <= CALLS + 1


FAULTS: dict[str, Behaviour] = {
    "500": status(500, "broken"),
    "429": status(429, "slower", retry_after=0.01),
    "html": raw("<html><body>Bad gateway</body></html>", content_type="text/html"),
    "hangs": hang(3.0),
    "cut": cut(),
    "drop": drop(),
    "401": status(401, "who are you"),
}
FAILING = {*(("sqlite", fault) for fault in FAULTS), ("neo4j-5.26", "500")}


def calls_that_fail(fault: str, location: dict[str, Any]) -> range:
    """Any call for one fault in a file; a reading and a summary on Neo4j and for other faults.

    What the client makes of a fault does not depend on the call.
    """
    is_any = fault == "500" and "auth" not in location
    return range(1, CALLS + 1 if is_any else 3)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_the_model_fails_at_any_call(location, space_name, request, fault: str) -> None:
    """Extraction or summary: after a restart the result is as if nothing had happened."""
    store = request.node.callspec.params["location"]
    if (store, fault) not in FAILING:
        pytest.skip("the fault is the model's; the store sees a failure as elsewhere")
    with ModelServer(good(answer)) as server:
        expected = undisturbed(Place(location, space_name), server)
        for k in calls_that_fail(fault, location):
            place = Place(location, f"{space_name}-{k}")
            server.then(at_call(k, FAULTS[fault]))
            with place.open(server.url) as memory:
                space = memory.space(place.name)
                space.add_many(turn(n) for n in range(TURNS))
                space.queue.enrich()
            with place.open(server.url) as memory:  # the restart
                memory.space(place.name).flush(timeout=20)
                assert graph(memory, place.name) == expected, k
            assert server.calls == CALLS + 1, k  # the failed request is repeated
            server.requests.clear()


def test_workers_in_several_processes_share_the_queue(place: Place) -> None:
    sessions = 12
    with ModelServer(good(answer)) as server:
        with place.open(server.url) as memory:
            memory.space(place.name).add_many(turn(n) for n in range(sessions * PER_SESSION))
        workers = [place.start(place.name, server.url) for _ in range(3)]
        for worker in workers:
            worker.finish()
            assert worker.wait() == 0
        read = [
            exchange.messages[1]["content"]
            for exchange in server.requests
            if not is_summary(exchange)
        ]
        assert len(read) == len(set(read)) == sessions * WINDOWS // 2
        assert server.calls == 2 * len(read)
        with place.open(server.url) as memory:
            stats = memory.space(place.name).stats()
            assert (stats.done, stats.pending, stats.leased) == (sessions * PER_SESSION, 0, 0)
            found = {
                s.id: s.themes[0].summary for s in memory.space(place.name).overview.sessions()
            }
        for number in range(sessions):
            first = number * PER_SESSION
            said = [turn(n) for n in range(first, first + PER_SESSION)]
            assert found[f"s{number}"] == " ".join(
                f"{item.speaker} likes {item.text.split()[2]}." for item in said
            )


def test_workers_in_several_processes_share_due_summaries(place: Place) -> None:
    sessions = 12
    first = [turn(PER_SESSION * number + n) for number in range(sessions) for n in range(BATCH)]
    with ModelServer() as server:
        well, down = good(answer), status(500, "broken")
        server.then(lambda asked: (down if is_summary(asked) else well)(asked))
        with place.open(server.url) as memory:
            space = memory.space(place.name)
            space.add_many(first)
            space.queue.enrich()
            stats = space.stats()
            assert (stats.done, stats.summaries_pending) == (len(first), sessions)
        server.requests.clear()
        server.then(well)
        workers = [place.start(place.name, server.url) for _ in range(3)]
        for worker in workers:
            worker.finish()
            assert worker.wait() == 0
        asked = [exchange.messages[1]["content"] for exchange in server.requests]
        assert len(asked) == len(set(asked)) == sessions
        with place.open(server.url) as memory:
            assert memory.space(place.name).stats().summaries_pending == 0
            found = {
                s.id: s.themes[0].summary for s in memory.space(place.name).overview.sessions()
            }
        for number in range(sessions):
            said = first[BATCH * number : BATCH * (number + 1)]
            assert found[f"s{number}"] == " ".join(
                f"{item.speaker} likes {item.text.split()[2]}." for item in said
            )

"""Servers that are stopped while they work, alone and as one of several on the same Neo4j."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from cognigraph import Memory
from cognigraph.ingest.model.extractor import READ_PROMPT
from cognigraph.llm.prompts import prompt_file
from tests.servers.model_server import Exchange, ModelServer, good
from tests.servers.served import Served, served
from tests.storage.test_crashes import forget_what_waits

pytestmark = pytest.mark.slow
SESSIONS = 12
DRAIN = 4
READ = prompt_file(READ_PROMPT).parts["system"]


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=60, verify=False) as client:
        yield client


class Model:
    """Reads one fact out of each message, and holds what it is asked until it may ``go``."""

    def __init__(self) -> None:
        self.go = Event()
        self.read = Counter[str]()
        self.asked = Event()

    def __call__(self, exchange: Exchange) -> None:
        prompt = "\n".join(message["content"] for message in exchange.messages)
        if "Where does Ann live?" in prompt:
            self.asked.set()
            self.go.wait(60)
            good(
                {"verdict": "enough", "missing": "", "queries": [], "answer": "Oslo", "labels": []}
            )(exchange)
            return
        towns = re.findall(r"moved to (town-\d+)", exchange.messages[-1]["content"])
        if exchange.messages[0]["content"].startswith(READ):  # and not to summarise the session
            self.read.update(towns)
        self.go.wait(60)
        facts = [f"{n} | Ann | moves to | {town}" for n, town in enumerate(towns, 1)]
        good({"entities": [], "facts": facts, "keys": [], "themes": []})(exchange)


def test_a_server_that_is_told_to_stop_ends_what_it_has_begun(
    http: httpx.Client, tmp_path: Path
) -> None:
    db, model = tmp_path / "memory.db", Model()

    def ready() -> int:
        return http.get(f"{server.url}/ready").status_code

    def takes_connections() -> bool:
        try:
            return http.get(f"{server.url}/health").is_success
        except httpx.TransportError:
            return False

    with (
        ModelServer(model) as endpoint,
        ThreadPoolExecutor() as pool,
        served(
            "serve", "--db", db, "--port", 0, "--extractor", "openai", "--drain", DRAIN,
            COGNIGRAPH_MODEL="test", OPENAI_BASE_URL=endpoint.url,
        ) as server,
    ):  # fmt: skip
        space = f"{server.url}/v1/spaces/ann"
        until(lambda: ready() == 200)
        http.post(f"{space}/messages", json={"text": "I moved to town-1.", "speaker": "Ann"})
        http.post(f"{space}/flush", params={"timeout": 0})  # not after a pause of 20 seconds
        until(lambda: model.read["town-1"] == 1)  # the worker has a lease, and waits for the model
        question = {"question": "Where does Ann live?"}
        asked = pool.submit(http.post, f"{space}/ask", json=question)
        assert model.asked.wait(60)

        server.process.send_signal(signal.SIGTERM)
        until(lambda: ready() == 503)
        assert http.get(f"{server.url}/health").status_code == 200
        late = http.post(f"{space}/messages", json={"text": "I moved to town-2.", "id": "late"})
        assert late.status_code == 201  # who has not seen yet that it stops is served
        until(lambda: not takes_connections())
        assert not asked.done() and server.process.poll() is None
        model.go.set()
        assert (asked.result().status_code, asked.result().json()["text"]) == (200, "Oslo")
        assert server.process.wait(60) == 0
    with Memory(db, enrich="manual") as memory:
        assert memory._engine.store.queue.leases() == {}
        stats = memory.space("ann").stats()
        assert (stats.messages, stats.leased) == (2, 0)
        assert memory.space("ann").get("late") is not None


@pytest.mark.neo4j
@pytest.mark.oldest_line
def test_servers_on_one_neo4j_read_each_message_once(
    http: httpx.Client, neo4j_server: Any, space_name: str, tmp_path: Path
) -> None:
    """What one of them had not read when it was stopped, the other one reads."""
    forget_what_waits(neo4j_server.uri, neo4j_server.auth)
    model = Model()
    with ModelServer(model) as endpoint:

        def replica() -> Any:
            auth = ("--auth", ":".join(neo4j_server.auth)) if neo4j_server.auth else ()
            return served(
                "serve", "--db", neo4j_server.uri, *auth, "--keys", tmp_path / "keys", "--port", 0,
                "--extractor", "openai", COGNIGRAPH_MODEL="test", OPENAI_BASE_URL=endpoint.url,
            )  # fmt: skip

        def add(server: Served, number: int) -> None:
            message = {"text": f"I moved to town-{number}.", "session": f"s{number}"}
            path = f"{server.url}/v1/spaces/{space_name}/messages"
            assert http.post(path, json={**message, "speaker": "Ann"}).status_code == 201

        def stats() -> dict[str, int]:
            return dict(http.get(f"{second.url}/v1/spaces/{space_name}/stats").json())

        with replica() as first, replica() as second:
            for number in range(SESSIONS):
                add((first, second)[number % 2], number)
            until(lambda: endpoint.running >= 2)  # both have work
            model.go.set()
            until(lambda: stats()["done"] == SESSIONS)
            assert model.read == {f"town-{number}": 1 for number in range(SESSIONS)}
            for number in range(SESSIONS, 2 * SESSIONS):
                add(first, number)
            first.stop()
            until(lambda: stats()["done"] == 2 * SESSIONS)
            assert (stats()["leased"], stats()["failed"]) == (0, 0)

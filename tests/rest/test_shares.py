"""What one key does leaves places, threads and time to the others; on a real server."""

from __future__ import annotations

import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
import uvicorn

from cognigraph import Memory
from cognigraph.ingest import Extraction, Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.listening import _config, _listening
from cognigraph.server.app import ServerSettings, create_app
from cognigraph.server.gate import ServerLimits
from cognigraph.server.keys import KeyFile
from cognigraph.testing import HashEmbedder
from tests.rest.test_access import bearer

pytestmark = pytest.mark.slow

PATIENCE = 0.5
PLACES = 4


class Held(RulesExtractor):
    """The rules, which wait with what the space ``mean`` says until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()
        self.read = 0

    def extract(self, window: Window) -> Extraction:
        if "held" in window.chunks[0].text:
            self.read += 1
            self.go.wait(60)
        return super().extract(window)


class HeldEmbedder(HashEmbedder):
    """Texts as vectors, where questions wait that say so."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    def embed(self, texts: Any, *arguments: Any, **options: Any) -> Any:
        if any("slow" in text for text in texts):
            self.go.wait(60)
        return super().embed(texts, *arguments, **options)


class Served:
    """A server on a port of loopback, with a greedy and a modest client."""

    def __init__(self, address: tuple[str, int], app: Any, keys: KeyFile, held: Held) -> None:
        self.address, self.app, self.held = address, app, held
        self.greedy = keys.create("greedy", ["read", "write"], ["mean"])
        self.modest = keys.create("modest", ["read", "write"], ["ann"])
        self.url = f"http://{address[0]}:{address[1]}/v1/spaces"

    def request(self, method: str, path: str, key: str | None = None, **more: Any) -> Any:
        headers = bearer(key or self.modest)
        return httpx.request(method, self.url + path, headers=headers, timeout=30, **more)

    @contextmanager
    def begun(self, method: str, path: str, sent: bytes = b"{}", length: int | None = None) -> Any:
        """A request of the greedy client that is not waited for."""
        head = f"{method} /v1/spaces{path} HTTP/1.1\r\nHost: x\r\n" + "".join(
            f"{name}: {value}\r\n"
            for name, value in {
                **bearer(self.greedy),
                "Content-Type": "application/json",
                "Content-Length": len(sent) if length is None else length,
            }.items()
        )
        with socket.create_connection(self.address) as connection:
            connection.sendall(head.encode() + b"\r\n" + sent)
            yield connection

    def work_of_modest_client_is_done(self) -> None:
        """Ask for everything that counts as long work."""
        line = json.dumps({"text": "Ann likes tea.", "id": "m1"})
        for method, path, body in (
            ("POST", "/ann/files/import-file", {"content": line}),
            ("POST", "/ann/queue/enrich", {"json": {}}),
            ("POST", "/ann/ask", {"json": {"question": "What does Ann like?"}}),
            ("GET", "/ann/files/export", {}),
        ):
            answer = self.request(method, path, **body)
            assert answer.status_code == 200, (path, answer.text)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


Start = Callable[..., Served]


@pytest.fixture
def start(tmp_path: Path, keys: KeyFile, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    with ExitStack() as stack:

        def run(enrich: str = "manual", rate: float = 0, **limits: Any) -> Served:
            held, embedder = Held(), HeldEmbedder()
            memory = stack.enter_context(
                Memory(tmp_path / "m.db", extractor=held, embedder=embedder, enrich=enrich)
            )
            chosen = ServerLimits(long=PLACES, patience=PATIENCE, rate=rate, **limits)
            app = create_app(memory, ServerSettings(keys=keys, warm_up=False, limits=chosen))
            listener = stack.enter_context(_listening("127.0.0.1", 0))
            server = uvicorn.Server(_config(app))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            stack.callback(thread.join)
            stack.callback(lambda: setattr(server, "should_exit", True))
            stack.callback(held.go.set)
            stack.callback(embedder.go.set)
            until(lambda: server.started)
            return Served(listener.getsockname(), app, keys, held)

        yield run
    assert list(files.iterdir()) == []


def filled(served: Served, sessions: int = 1) -> None:
    body = {
        "messages": [
            {"text": "Ann held a cup.", "id": f"m{n}", "session": f"s{n}"} for n in range(sessions)
        ]
    }
    assert served.request("POST", "/mean/messages/batch", served.greedy, json=body).is_success


def test_waiting_for_the_queue_takes_no_place_and_ends_with_its_client(start: Start) -> None:
    served = start("background", places=2)
    filled(served)
    gate = gate_of(served)
    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(served.begun("POST", "/mean/flush?timeout=600"))
        until(lambda: gate._requests.total() == 12)
        served.work_of_modest_client_is_done()
        answer = served.request("GET", "/mean/stats", served.greedy)
        assert (answer.status_code, answer.json()["messages"]) == (200, 1)
    until(lambda: not gate._requests)
    late = served.request("POST", "/mean/flush?timeout=0.05", served.greedy)
    assert (late.status_code, late.json()["pending"]) == (504, 1)
    served.held.go.set()
    assert served.request("POST", "/mean/flush", served.greedy).status_code == 204
    assert served.request("POST", "/mean/flush?timeout=nan", served.greedy).status_code == 422


def gate_of(served: Served) -> Any:
    gate = served.app.middleware_stack
    while not hasattr(gate, "_requests"):
        gate = getattr(gate, "app", None) or gate._app
    return gate


def test_a_key_that_has_all_its_long_work_leaves_places_to_others(start: Start) -> None:
    served = start()
    filled(served, PLACES)
    running = served.app.state.long_work.running
    with ExitStack() as stack:
        for _ in range(PLACES):
            stack.enter_context(served.begun("POST", "/mean/queue/enrich"))
        until(lambda: served.held.read == PLACES)
        served.work_of_modest_client_is_done()
        question = {"question": "What does Ann hold?"}
        for method, path, body in (
            ("GET", "/mean/files/export", None),
            ("POST", "/mean/context", {**question, "strategy": "ama"}),
        ):
            answer = served.request(method, path, served.greedy, json=body)
            assert (answer.status_code, answer.headers["retry-after"]) == (429, "5"), path
            assert answer.json()["retryable"] is True
            assert f"{PLACES} of yours run already" in answer.json()["detail"]
        short = served.request("POST", "/mean/context", served.greedy, json=question)
        assert short.status_code == 200
    served.held.go.set()
    until(lambda: not running._working)
    assert served.request("GET", "/mean/files/export", served.greedy).status_code == 200


def test_an_enrichment_ends_soon_after_its_client_has_left(start: Start) -> None:
    served = start()
    filled(served, 40)
    served.held.go.set()
    with served.begun("POST", "/mean/queue/enrich"):
        until(lambda: served.held.read >= 2)
    until(lambda: not served.app.state.long_work.running._working)
    assert served.request("GET", "/mean/stats", served.greedy).json()["pending"] > 0


def test_slow_uploads_hold_up_neither_others_nor_the_server(start: Start) -> None:
    served = start()
    files = served.app.state.long_work.files
    with ExitStack() as stack:
        slow = [
            stack.enter_context(served.begun("POST", "/mean/files/import-file", b"{", 10**6))
            for _ in range(PLACES + 1)
        ]
        until(lambda: files.working(client_of(served)) == PLACES)
        served.work_of_modest_client_is_done()
        done = time.monotonic() + 2 * PATIENCE
        for connection in slow:
            connection.settimeout(30)
        while time.monotonic() < done:  # a byte now and then does not make it fast
            for connection in slow:
                try:
                    connection.sendall(b" ")
                except OSError:  # the server has closed it
                    done = 0.0
            time.sleep(0.02)
        answers = [connection.recv(4000).decode() for connection in slow]
        assert {answer.split()[1] for answer in answers} <= {"408", "429"}
        assert "8 KB a second" in "".join(answers)
    until(lambda: not files._working)


def client_of(served: Served) -> str:
    return served.greedy.split("_")[1]


def test_a_file_that_comes_fast_enough_may_take_longer_than_the_patience(start: Start) -> None:
    served = start(body_seconds=4 * PATIENCE)
    line = json.dumps({"text": "Ann likes tea.", "id": "m1"}).encode() + b"\n"

    def slowly(seconds: float) -> Iterator[bytes]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield line * 20
            time.sleep(0.02)

    with ThreadPoolExecutor() as pool:
        taken = pool.submit(
            served.request, "POST", "/ann/files/import-file", content=slowly(2 * PATIENCE)
        )
        endless = pool.submit(
            served.request,
            "POST",
            "/mean/files/import-file",
            served.greedy,
            content=slowly(8 * PATIENCE),
        )
        assert taken.result().json()["new"] == 1
        with suppress(httpx.WriteError):  # it was still sending when the server hung up
            assert endless.result().status_code == 408
    assert served.request("GET", "/mean/stats", served.greedy).json()["messages"] == 0


def test_slow_requests_of_one_key_leave_threads_to_others(start: Start) -> None:
    served = start()
    filled(served)
    gate = gate_of(served)
    question = json.dumps({"question": "a slow one"}).encode()
    with ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(served.begun("POST", "/mean/search", question))
        until(lambda: gate._requests.total() == 30)
        found = served.request("POST", "/ann/search", json={"question": "Who?"})
        assert (found.status_code, found.json()["hits"]) == (200, [])


def test_a_client_on_this_machine_cannot_pass_for_many_with_wrong_keys(start: Start) -> None:
    served = start(rate=100)
    with httpx.Client(headers=bearer("cg_a_b")) as client:
        answers = [
            client.get(served.url, headers={"X-Forwarded-For": f"203.0.113.{n}"}).status_code
            for n in range(30)
        ]
    assert set(answers) == {401, 429}

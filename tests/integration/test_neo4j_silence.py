"""A Neo4j that is stopped, silent or cut off: every call ends in time, and nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from threading import Event
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from neo4j import Driver

from cognigraph import Memory, Settings, Space, StorageSettings, StoreUnavailableError
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from tests.servers.neo4j_server import Server
from tests.servers.tcp_proxy import TcpProxy

T = TypeVar("T")

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

TIMEOUT = 2.0
SLACK = 8.0
"""For a machine under load. Without a deadline the calls here take forty seconds, or for ever."""
STORAGE = StorageSettings(read_timeout=TIMEOUT, write_timeout=TIMEOUT)
QUESTION = "Where does Ann live?"


def opened(uri: str, server: Server, storage: StorageSettings = STORAGE) -> Memory:
    return Memory(uri, auth=server.auth, enrich="manual", settings=Settings(storage=storage))


def in_the_end(call: Callable[[], T]) -> T:
    """Repeat a call while its errors are retryable, because a busy server needs a moment."""
    until = time.monotonic() + 60
    while True:
        try:
            return call()
        except StoreUnavailableError:
            assert time.monotonic() < until


def fails_in_time(call: Callable[[], Any], timeout: float = TIMEOUT) -> None:
    started = time.monotonic()
    with pytest.raises(StoreUnavailableError):
        call()
    assert time.monotonic() - started < timeout + SLACK


@contextmanager
def stopped(server: Server) -> Iterator[None]:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@pytest.fixture
def proxy(neo4j_server: Server) -> Iterator[TcpProxy]:
    address = urlsplit(neo4j_server.uri)
    assert address.hostname is not None
    proxy = TcpProxy(address.hostname, address.port or 7687)
    try:
        yield proxy
    finally:
        proxy.close()


@pytest.fixture
def space(neo4j_server: Server, proxy: TcpProxy) -> Iterator[Space]:
    """A space behind the proxy that holds one turn."""
    name = f"test-{uuid4().hex[:12]}"
    with opened(neo4j_server.uri, neo4j_server, StorageSettings()) as memory:
        memory.space(name).add("Ann lives in Oslo.", id="first", session="s")
    with opened(f"bolt://127.0.0.1:{proxy.port}", neo4j_server) as memory:
        yield memory.space(name)
        proxy.heal()


VERBS: dict[str, Callable[[Space], Any]] = {
    "add": lambda space: space.add("Ann moved to Bergen.", id="new"),
    "search": lambda space: space.search("Where does Ann live?"),
    "context": lambda space: space.context("Where does Ann live?"),
    "get": lambda space: space.get("first"),
    "sessions": lambda space: space.overview.sessions(),
    "entities": lambda space: space.entities(),
    "triples": lambda space: space.facts(),
    "stats": lambda space: space.stats(),
    "flush": lambda space: space.flush(timeout=TIMEOUT),
    "merge": lambda space: space.review.merge("Ann", "Anna"),
}


def test_every_verb_fails_in_time_when_the_server_is_silent(
    neo4j_server: Server, space: Space, proxy: TcpProxy
) -> None:
    """All at once, each in a memory of its own, because each waits until its time is up."""
    uri = f"bolt://127.0.0.1:{proxy.port}"
    with ExitStack() as stack:
        spaces = {
            verb: stack.enter_context(opened(uri, neo4j_server)).space(space.name) for verb in VERBS
        }
        threads = stack.enter_context(ThreadPoolExecutor(len(VERBS)))
        proxy.silence()
        failing = {
            verb: threads.submit(fails_in_time, partial(VERBS[verb], spaces[verb]))
            for verb in VERBS
        }
        assert {verb: failure.exception() for verb, failure in failing.items()} == dict.fromkeys(
            VERBS
        )
        proxy.heal()
        for verb in VERBS:
            found = in_the_end(partial(spaces[verb].search, QUESTION))
            assert "first" in [hit.id for hit in found], verb


def test_opening_fails_in_time_when_nothing_answers(neo4j_server: Server, proxy: TcpProxy) -> None:
    proxy.silence()
    uri = f"bolt://127.0.0.1:{proxy.port}"
    storage = StorageSettings(open_timeout=TIMEOUT)
    fails_in_time(lambda: opened(uri, neo4j_server, storage))


@pytest.mark.parametrize("answered", [0, 1, 30, 200])
def test_a_connection_cut_within_an_answer_is_an_error_in_time(
    space: Space, proxy: TcpProxy, answered: int
) -> None:
    proxy.cut_after(answered)
    fails_in_time(lambda: space.search(QUESTION))
    proxy.heal()
    assert [hit.id for hit in in_the_end(lambda: space.search(QUESTION))] == ["first"]


def test_closing_is_not_held_up_by_a_silent_server(neo4j_server: Server, proxy: TcpProxy) -> None:
    memory = opened(f"bolt://127.0.0.1:{proxy.port}", neo4j_server)
    proxy.silence()
    with ThreadPoolExecutor(1) as threads:
        search = threads.submit(memory.search, QUESTION)
        time.sleep(0.2)
        started = time.monotonic()
        memory.close()
        assert time.monotonic() - started < TIMEOUT + SLACK
        assert search.exception(timeout=SLACK) is not None


def test_a_connection_that_is_made_after_its_call_was_given_up_is_closed(
    neo4j_server: Server, proxy: TcpProxy
) -> None:
    uri = f"bolt://127.0.0.1:{proxy.port}"
    connection = Connection(uri, neo4j_server.auth, None)
    proxy.silence()
    with within(0.5), pytest.raises(StoreUnavailableError):
        connection.rows("read/spaces")
    assert proxy.connections == 1
    proxy.resume()
    until = time.monotonic() + 60
    while proxy.connections and time.monotonic() < until:
        time.sleep(0.05)
    assert proxy.connections == 0
    connection.close()


def test_a_slow_statement_does_not_disturb_the_other_calls(neo4j_server: Server) -> None:
    connection = Connection(neo4j_server.uri, neo4j_server.auth, None)
    driver = connection.driver

    def slow() -> None:
        with within(1.0):
            connection.command_text("UNWIND range(1, 2000000000) AS n RETURN sum(n)", {})

    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(slow)
        while not waiting.done():
            assert connection.row("read/now")
        assert isinstance(waiting.exception(), StoreUnavailableError)
    assert connection.driver is driver
    connection.close()


def test_calls_under_way_are_repeated_when_their_driver_is_replaced(neo4j_server: Server) -> None:
    connection = Connection(neo4j_server.uri, neo4j_server.auth, None)
    first, begun, replaced = connection.driver, Event(), Event()

    def rows(driver: Driver, until: float) -> list[Any]:
        with driver.session() as session:
            session.run("RETURN 1").consume()
            begun.set()
            assert replaced.wait(60)
            return session.run("RETURN 2").single(strict=True).values()

    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(connection._call, rows, 60.0)
        assert begun.wait(60)
        connection._abandon(first)
        first.close()
        replaced.set()
        assert call.result(60) == [2]
    assert connection.driver is not first
    connection.close()


def test_a_stopped_server_loses_nothing_and_is_used_again(neo4j_server: Server) -> None:
    if neo4j_server.pid is None or not hasattr(signal, "SIGSTOP"):
        pytest.skip("stops a server that was started here")
    with opened(neo4j_server.uri, neo4j_server) as memory:
        space = memory.space(f"test-{uuid4().hex[:12]}")
        acknowledged: list[str] = []
        failed: list[str] = []

        def adds(thread: int) -> None:
            for number in range(6):
                id = f"m{thread}-{number}"
                try:
                    space.add(f"Turn {number} of thread {thread}.", id=id, session=f"s{thread}")
                    acknowledged.append(id)
                except StoreUnavailableError:
                    failed.append(id)
                    return

        in_the_end(lambda: space.add("Turn.", id="before", session="s"))
        acknowledged.append("before")
        with ThreadPoolExecutor(4) as threads, stopped(neo4j_server):
            started = time.monotonic()
            running = [threads.submit(adds, thread) for thread in range(4)]
            fails_in_time(lambda: space.search("turn"))
            for future in running:
                future.result(timeout=2 * TIMEOUT + SLACK)
            assert time.monotonic() - started < 2 * TIMEOUT + SLACK
        assert len(failed) == 4
        again = [f"again-{id}" for id in failed]
        for id in again:  # as the errors advise
            in_the_end(partial(space.add, "Said again.", id=id, session="s"))
        for id in (*acknowledged, *again):
            assert in_the_end(partial(space.get, id)) is not None
        assert in_the_end(lambda: space.search("turn")).hits


def test_threads_that_add_to_one_space_do_not_deadlock(
    neo4j_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="cognigraph.neo4j")
    with Memory(neo4j_server.uri, auth=neo4j_server.auth, enrich="manual") as memory:
        space = memory.space(f"test-{uuid4().hex[:12]}")

        def adds(thread: int) -> list[str]:
            return [
                space.add(f"Turn {n}.", id=f"m{thread}-{n}", session=f"s{thread % 3}").id
                for n in range(10)
            ]

        with ThreadPoolExecutor(8) as threads:
            ids = [id for own in threads.map(adds, range(8)) for id in own]
        assert space.stats().messages == len(set(ids)) == 80
        assert [record for record in caplog.records if "Deadlock" in record.getMessage()] == []


def test_a_call_whose_time_is_up_says_so_and_sends_nothing() -> None:
    """Nothing listens at the address, which is not noticed."""
    with (
        closing(Connection("bolt://127.0.0.1:9", None, None)) as connection,
        within(-12.5),
        pytest.raises(StoreUnavailableError, match=r"the time for this call was up 12\.\d s"),
    ):
        connection.rows("read/now")


def test_closing_ends_connections_to_which_a_call_still_writes(neo4j_server: Server) -> None:
    """A call that was given up may hold the buffer of its connection."""
    connection = Connection(neo4j_server.uri, neo4j_server.auth, None)
    connection.rows("read/now")
    pool = connection.driver._pool
    (used,) = (each for own in pool.connections.values() for each in own)
    with memoryview(used.outbox._chunked_data):
        connection.close()
    assert used.closed()

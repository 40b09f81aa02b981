"""A Neo4j address at which nothing listens is an error soon, whatever the scheme."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Timer

import pytest

from cognigraph import (
    ConfigurationError,
    Memory,
    Settings,
    StorageSettings,
    StoreUnavailableError,
)
from cognigraph.stores.neo4j.deadlines import wait_until_listening
from tests.cases import each


@pytest.fixture
def free_port() -> Iterator[int]:
    with socket.socket() as probe:  # bound, so that nobody else gets the port, but not listening
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


@pytest.mark.parametrize("scheme", ["neo4j", "bolt", "neo4j+s"])
def test_opening_a_memory_where_nothing_listens_fails_without_asking_the_driver(
    scheme: str, free_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="neo4j")
    storage = StorageSettings(open_timeout=0.2)
    uri = f"{scheme}://127.0.0.1:{free_port}"
    with pytest.raises(StoreUnavailableError, match=r"nothing listens at .*refused.*check that"):
        Memory(uri, enrich="manual", settings=Settings(storage=storage))
    assert [record for record in caplog.records if "open" in record.getMessage().lower()] == []


def test_the_patience_is_shorter_than_the_time_to_open(free_port: int) -> None:
    started = time.monotonic()
    with pytest.raises(StoreUnavailableError):
        wait_until_listening(f"neo4j://127.0.0.1:{free_port}", patience=0.1)
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_a_server_that_is_starting_is_waited_for(free_port: int) -> None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    listener.bind(("127.0.0.1", port))
    starting = Timer(0.2, listener.listen)
    starting.start()
    wait_until_listening(f"neo4j://127.0.0.1:{port}", patience=60)
    starting.join()
    listener.close()


def test_an_unknown_name_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(StoreUnavailableError, match="Name or service not known"):
        wait_until_listening("neo4j://nowhere", patience=0.05)


@each(
    "uri",
    ["neo4j://[::1", "bolt://[::1", "bolt://[zz]:7687", "bolt://host:bad", "neo4j://host:99999"],
)
def test_half_an_address_is_refused_with_a_whole_one_as_example(uri: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"address .* not valid.* such as .*://\[::1\]:7687"
    ):
        Memory(uri)


@pytest.mark.parametrize("uri", ["neo4j://", "bolt://host:port", "bolt://[::1"])
def test_what_is_no_address_is_left_to_the_driver(uri: str) -> None:
    wait_until_listening(uri, patience=0.05)

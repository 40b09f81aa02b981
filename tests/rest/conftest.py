"""A served memory, called through its ASGI interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cognigraph import Memory
from cognigraph.server.keys import KeyFile
from tests.servers.applications import application

LOCAL = "http://127.0.0.1:8700"
Serve = Callable[..., TestClient]


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "memory.db.keys")


@pytest.fixture
def serve(tmp_path: Path, clock: Any) -> Iterator[Serve]:
    """Serve a memory with the given settings, as on loopback unless told otherwise."""
    with ExitStack() as stack:

        def start(*, memory: Memory | None = None, **settings: Any) -> TestClient:
            if memory is None:
                memory = Memory(tmp_path / "memory.db", enrich="manual", clock=clock)
                stack.callback(memory.close)
            app = application(memory, **settings)
            client = TestClient(app, base_url=LOCAL, raise_server_exceptions=False)
            return stack.enter_context(client)

        yield start


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve()

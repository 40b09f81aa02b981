"""Fixtures: real Neo4j servers, and a memory factory that runs one test on every store."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from cognigraph import Memory
from cognigraph.testing import FrozenClock, ScriptedExtractor
from tests.servers.neo4j_server import LINES, Server, Unavailable, resolve, running_server

START = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)

OpenMemory = Callable[..., Memory]

# No deadlines: these tests run on busy machines too. Loaded here, before any test module is
# imported, because a test's settings are those of the moment at which it is decorated.
settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("full"), max_examples=10)
settings.load_profile("full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the newer lines of Neo4j from tests for which one line is enough."""
    newer = {f"neo4j-{line}" for line in list(LINES)[1:]}
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        enough = params.get("location") in newer and item.get_closest_marker("one_line")
        (dropped if enough else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


@pytest.fixture(scope="session")
def _servers() -> Iterator[Callable[[str], Server]]:
    """Start each Neo4j line once per run, when a test first wants it."""
    with ExitStack() as stack:
        running: dict[str, Server] = {}

        def start(line: str) -> Server:
            if line not in running:
                found = resolve(line)
                if isinstance(found, Unavailable):
                    if os.environ.get("CI"):
                        pytest.fail(f"CI needs Neo4j {line}: {found.reason}")
                    pytest.skip(f"no Neo4j {line}: {found.reason}")
                running[line] = stack.enter_context(running_server(line))
            return running[line]

        yield start


@pytest.fixture(scope="session", params=sorted(LINES))
def neo4j_server(request: pytest.FixtureRequest, _servers: Callable[[str], Server]) -> Server:
    """A running Neo4j, one test run per supported line."""
    return _servers(request.param)


@pytest.fixture(scope="session")
def neo4j_uri(neo4j_server: Server) -> str:
    """Its address (for servers without authentication)."""
    return neo4j_server.uri


STORES = [
    "sqlite",
    *(pytest.param(f"neo4j-{line}", marks=pytest.mark.neo4j) for line in sorted(LINES)),
]


@pytest.fixture(params=STORES)
def location(
    request: pytest.FixtureRequest, tmp_path: Path, _servers: Callable[[str], Server]
) -> dict[str, Any]:
    """Where a memory is opened: arguments for ``Memory``, one test run per store."""
    if request.param == "sqlite":
        return {"location": tmp_path / "memory.db"}
    server = _servers(request.param.removeprefix("neo4j-"))
    return {"location": server.uri, "auth": server.auth}


@pytest.fixture(autouse=True)
def _loggers() -> Iterator[None]:
    """The command line silences the library's loggers; not for the tests after it."""
    loggers = [logging.getLogger(name) for name in ("cognigraph", "neo4j")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands at 2026-05-20 09:00 UTC until told otherwise."""
    return FrozenClock(START)


@pytest.fixture
def extractor() -> ScriptedExtractor:
    """An extractor that finds nothing until a test scripts it."""
    return ScriptedExtractor()


@pytest.fixture
def open_memory(
    location: dict[str, Any], clock: FrozenClock, extractor: ScriptedExtractor
) -> Iterator[OpenMemory]:
    """Open memories on the store under test; they are closed afterwards."""
    with ExitStack() as stack:

        def open(**options: Any) -> Memory:
            defaults = {"enrich": "manual", "clock": clock, "extractor": extractor}
            return stack.enter_context(Memory(**location, **(defaults | options)))

        yield open


@pytest.fixture
def space_name() -> str:
    """A space of its own for each test: Neo4j servers are shared by the whole run."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def later() -> datetime:
    """A moment after everything a test adds."""
    return START + timedelta(days=30)

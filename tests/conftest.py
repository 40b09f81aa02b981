"""Fixtures: real Neo4j servers, and a memory factory that runs one test on every store."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from cognigraph import Memory, Settings, StorageSettings
from cognigraph.testing import FrozenClock, ScriptedExtractor
from tests.servers.neo4j_server import LINES, Server, Unavailable, resolve, running_server

START = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
PATIENT = StorageSettings(read_timeout=120, write_timeout=120, open_timeout=120)

OpenMemory = Callable[..., Memory]
_FUZZ_END = pytest.StashKey[float]()

# No deadlines: these tests run on busy machines too. The same examples in every run, so that a
# run never fails by chance; `make fuzz` explores others. Loaded here, before any test module is
# imported, because a test's settings are those of the moment at which it is decorated.
settings.register_profile(
    "full", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=10)
settings.register_profile(
    "fuzz", settings.get_profile("full"), derandomize=False, max_examples=300, print_blob=True
)
settings.load_profile("full")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests without a server first: the servers start meanwhile.

    Newer lines of Neo4j are taken from tests for which one line is enough. Tests marked ``fuzz``
    run only when they are asked for, and then all in random order, since time may not suffice.
    """
    fuzzing = _is_fuzzing(config)
    first = next(iter(LINES))
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        enough = item.get_closest_marker("one_line") and _line(item) not in (None, first)
        unasked = not fuzzing and item.get_closest_marker("fuzz") is not None
        (dropped if enough or unasked else kept).append(item)
    if fuzzing:
        random.Random(config.getoption("hypothesis_seed")).shuffle(kept)
    items[:] = sorted(kept, key=lambda item: item.get_closest_marker("neo4j") is not None)
    config.hook.pytest_deselected(items=dropped)


def _is_fuzzing(config: pytest.Config) -> bool:
    """Whether the run selects the tests marked ``fuzz``, as ``make fuzz`` does."""
    expression = str(config.getoption("markexpr"))
    return "fuzz" in expression and "not fuzz" not in expression


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note when a fuzz run has to end."""
    seconds = float(os.environ.get("COGNIGRAPH_FUZZ_SECONDS", "600"))
    session.stash[_FUZZ_END] = time.monotonic() + seconds


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop a fuzz run whose time is up, after the test that is running."""
    if _is_fuzzing(item.config) and time.monotonic() > item.session.stash[_FUZZ_END]:
        item.session.shouldstop = "the time for fuzzing is up"


def _line(item: pytest.Item) -> str | None:
    """The line of Neo4j that a test wants."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    line = params.get("neo4j_server") or params.get("location", "").removeprefix("neo4j-")
    return line if line in LINES else None


@pytest.fixture(scope="session", autouse=True)
def _servers(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Server]]:
    """Start each Neo4j line that a test wants once per run, one after another in the background."""
    wanted = {line for line in map(_line, request.session.items) if line}
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:

        def start(line: str) -> Server | Unavailable:
            found = resolve(line)
            if isinstance(found, Unavailable):
                return found
            server = stack.enter_context(running_server(line))
            # The first of everything takes seconds, on a busy machine more than the usual timeouts
            # allow: the schema, and each statement's compilation.
            with Memory(
                server.uri, auth=server.auth, enrich="manual", settings=Settings(storage=PATIENT)
            ) as memory:
                space = memory.space("test-first")
                space.add("Ann lives in Oslo.", speaker="Ann")
                space.flush(timeout=120)
                space.search("Where does Ann live?")
            return server

        starting = {line: pool.submit(start, line) for line in sorted(wanted, reverse=True)}

        def started(line: str) -> Server:
            server = starting[line].result()
            if isinstance(server, Unavailable):
                if os.environ.get("CI"):
                    pytest.fail(f"CI needs Neo4j {line}: {server.reason}")
                pytest.skip(f"no Neo4j {line}: {server.reason}")
            return server

        yield started


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

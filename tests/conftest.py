"""Fixtures: real Neo4j servers, and a memory factory that runs one test on every store."""

from __future__ import annotations

import gc
import logging
import os
import random
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from cognigraph import Memory
from cognigraph.testing import FrozenClock, ScriptedExtractor
from tests.lines import lines_for, preferred_lines
from tests.selection import is_excluded
from tests.servers.neo4j_server import LINES, Server, ServerError, Unavailable
from tests.servers.server_pool import PoolService, RemotePool, ServerPool, empty

_PATIENCE = 600
"""Seconds that a test on a server may take: the first waits for it, and for most of its plans."""

START = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)

OpenMemory = Callable[..., Memory]
_FUZZ_END = pytest.StashKey[float]()
_POOL = pytest.StashKey[ServerPool | RemotePool]()
_SERVICE = pytest.StashKey[PoolService]()
_FILES = pytest.StashKey[dict[str, Path]]()
_LOG_LEVELS = {name: logging.getLogger(name).level for name in ("", "cognigraph", "neo4j")}

# No deadlines: these tests run on busy machines too. The same examples in every run, so that a
# run never fails by chance; `make fuzz` explores others. Loaded here, before any test module is
# imported, because a test's settings are those of the moment at which it is decorated.
settings.register_profile(
    "full",
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=5)
settings.register_profile(
    "fuzz", settings.get_profile("full"), derandomize=False, max_examples=300, print_blob=True
)
settings.load_profile("full")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of which no test is selected: some need packages that take long to load.

    Nor is the ``conftest.py`` of a folder that holds nothing else. What is named on the command
    line is collected.
    """
    if any(collection_path.name in argument for argument in config.args):
        return None
    return is_excluded(collection_path, str(config.getoption("markexpr"))) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all test files without looking for garbage, and never look at what they hold again.

    It took each worker a second, and as much again while the tests ran.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run what needs a server first.

    Tests run on the newest release line of Neo4j, those marked ``every_line`` on the others too, a
    share of the rest (``oldest_line``) on the oldest instead, so that both servers have work,
    and those marked ``above_stores`` on none; those marked ``thorough`` run with every line, or if
    the command line names their file. Tests marked ``fuzz`` run only on request, in random
    order, because the time may not suffice for all.
    """
    fuzzing = _is_fuzzing(config)
    superfluous = _run_elsewhere(items) | _thorough(config, items)
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        unasked = not fuzzing and item.get_closest_marker("fuzz") is not None
        (dropped if unasked or item.nodeid in superfluous else kept).append(item)
    if fuzzing:
        random.Random(config.getoption("hypothesis_seed")).shuffle(kept)
    else:
        kept.sort(key=_turn)
    for item in kept:
        if _line(item) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_PATIENCE))
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


def _run_elsewhere(items: list[pytest.Item]) -> set[str]:
    """Return the ids of tests that run on another store or line in the same run, which is enough.

    Those marked ``above_stores`` run on SQLite, and those not marked ``every_line`` on one
    line. With ``COGNIGRAPH_TEST_EVERY_LINE`` there are none: each of them runs on every line.
    """
    if os.environ.get("COGNIGRAPH_TEST_EVERY_LINE"):
        return set()
    ids = {item.nodeid for item in items}
    above = {
        item.nodeid
        for item in items
        if item.get_closest_marker("above_stores") is not None
        and (line := _line(item)) is not None
        and item.nodeid.replace(f"neo4j-{line}", "sqlite") in ids
    }
    return above | _on_another_line([item for item in items if item.nodeid not in above])


def _thorough(config: pytest.Config, items: list[pytest.Item]) -> set[str]:
    if os.environ.get("COGNIGRAPH_TEST_EVERY_LINE"):
        return set()
    return {
        item.nodeid
        for item in items
        if item.get_closest_marker("thorough") is not None
        and not any(item.path.name in argument for argument in config.args)
    }


def _on_another_line(items: list[pytest.Item]) -> set[str]:
    needed = [(item, line) for item in items if (line := _line(item)) is not None]
    selected = {line for _, line in needed}
    if len(selected) < 2:  # the command line says which
        return set()
    lines, ids = preferred_lines(selected), {item.nodeid for item, _ in needed}

    def runs_elsewhere(item: pytest.Item, line: str) -> bool:
        own = lines_for({mark.name for mark in item.iter_markers()}, lines)
        others = {item.nodeid.replace(f"neo4j-{line}", f"neo4j-{other}") for other in own}
        return line not in own and not others.isdisjoint(ids)

    return {item.nodeid for item, line in needed if runs_elsewhere(item, line)}


def _turn(item: pytest.Item) -> int:
    """Order: tests that need a server, then the rest for whoever is idle.

    The tests of a line run one after another on one worker, so the run takes at least as long as
    they do: they begin as soon as there is a server. Those come last after which it plans every
    statement anew.
    """
    if item.get_closest_marker("neo4j") is None:
        return 2
    return 1 if item.get_closest_marker("changes_indexes") is not None else 0


def _is_fuzzing(config: pytest.Config) -> bool:
    """Whether the run selects the tests marked ``fuzz``, as ``make fuzz`` does."""
    expression = str(config.getoption("markexpr"))
    return "fuzz" in expression and "not fuzz" not in expression


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note when a fuzz run has to end."""
    seconds = float(os.environ.get("COGNIGRAPH_FUZZ_SECONDS", "600"))
    session.stash[_FUZZ_END] = time.monotonic() + seconds


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Empty the database of a server when the tests of another file begin to use it.

    What the tests before left there would be migrated, drained and counted with theirs: the tests
    of a server took half as long again. Before the fixtures of the file, which fill the database.
    """
    line = _line(item)
    if line is None:
        return
    files = item.session.stash.setdefault(_FILES, {})
    if files.get(line) != item.path:
        files[line] = item.path
        empty(item.config.stash[_POOL].get(line))


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop a fuzz run whose time is up, after the test that is running."""
    if _is_fuzzing(item.config) and time.monotonic() > item.session.stash[_FUZZ_END]:
        item.session.shouldstop = "the time for fuzzing is up"


def _line(item: pytest.Item) -> str | None:
    """Return the release line of Neo4j that a test needs."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    line = params.get("neo4j_server") or params.get("location", "").removeprefix("neo4j-")
    return line if line in LINES else None


def pytest_configure(config: pytest.Config) -> None:
    """Start the pool of servers in the process that distributes or runs the tests."""
    if hasattr(config, "workerinput"):
        config.stash[_POOL] = RemotePool(config.workerinput["neo4j_servers"])
        return
    config.stash[_POOL] = pool = ServerPool()
    config.add_cleanup(pool.close)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of a parallel run the address of the pool of servers."""
    config = node.config
    if _SERVICE not in config.stash:
        config.stash[_SERVICE] = PoolService(config.stash[_POOL])
        config.add_cleanup(config.stash[_SERVICE].close)
    node.workerinput["neo4j_servers"] = config.stash[_SERVICE].address


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run two workers more than there are processors if there are tests on Neo4j.

    Two workers run the tests of a line each, and either they or their servers wait.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or not _wants_neo4j(config):
        return None
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of one Neo4j line on one worker, and the order of collection.

    A run without Neo4j needs neither, and is quicker with pytest-xdist's own scheduler.
    """
    if not _wants_neo4j(config):
        return None
    from tests.scheduling import OneWorkerPerLine

    config.option.loadscopereorder = False
    return OneWorkerPerLine(config, log)


def _wants_neo4j(config: pytest.Config) -> bool:
    return "not neo4j" not in str(config.getoption("markexpr"))


@pytest.fixture(scope="session", autouse=True)
def _servers(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Server]]:
    """Start each Neo4j line that a test needs once per run, in the background, the newest first."""
    pool = request.config.stash[_POOL]
    needed = set(map(_line, request.session.items))
    for line in [line for line in reversed(LINES) if line in needed]:
        pool.begin(line)

    def started(line: str) -> Server:
        server = pool.get(line)
        if isinstance(server, ServerError):
            raise server
        if isinstance(server, Unavailable):
            if os.environ.get("CI"):
                pytest.fail(f"CI needs Neo4j {line}: {server.reason}")
            pytest.skip(f"no Neo4j {line}: {server.reason}")
        return server

    yield started
    pool.close()


@pytest.fixture(scope="session", params=sorted(LINES), ids=lambda line: f"neo4j-{line}")
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


@pytest.fixture
def nothing_waits(location: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """Empty the database first: for a test that works on whatever waits in any space."""
    line = _line(request.node)
    if line is not None:
        empty(request.config.stash[_POOL].get(line))


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands at 2026-05-20 09:00 UTC until a test moves it."""
    return FrozenClock(START)


@pytest.fixture
def extractor() -> ScriptedExtractor:
    """An extractor that finds nothing until a test scripts it."""
    return ScriptedExtractor()


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file without messages. To copy it takes a tenth of the time of making its tables."""
    path = tmp_path_factory.mktemp("empty") / "memory.db"
    with Memory(path, enrich="manual"):
        return path


@pytest.fixture
def open_memory(
    location: dict[str, Any], clock: FrozenClock, extractor: ScriptedExtractor, empty_file: Path
) -> Iterator[OpenMemory]:
    """Open memories on the store under test; they are closed afterwards.

    A file with the usual embedder and settings begins as a copy of an empty one.
    """
    with ExitStack() as stack:

        def open(**options: Any) -> Memory:
            path = location["location"]
            usual = options.keys().isdisjoint({"embedder", "settings"})
            if usual and isinstance(path, Path) and not path.exists():
                shutil.copy(empty_file, path)
            defaults = {"enrich": "manual", "clock": clock, "extractor": extractor}
            return stack.enter_context(Memory(**location, **(defaults | options)))

        yield open


@pytest.fixture(autouse=True)
def log_levels() -> None:
    """Undo what a command has silenced that ran in this process, in a test or in a fixture.

    To set a level makes every logger forget what it has found out: only what differs is set.
    """
    for name, level in _LOG_LEVELS.items():
        logger = logging.getLogger(name)
        if logger.level != level:
            logger.setLevel(level)


@pytest.fixture
def space_name() -> str:
    """A space of its own for each test: Neo4j servers are shared by the whole run."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def later() -> datetime:
    """A moment after everything a test adds."""
    return START + timedelta(days=30)

"""What a space costs does not depend on what other spaces of the file hold."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cognigraph import Memory, Message, Settings, Space, StorageSettings
from cognigraph.stores.sqlite.connection import Pool
from cognigraph.testing import HashEmbedder
from tests.conftest import START

pytestmark = pytest.mark.slow

QUESTION = "Where does Ann3 live?"
VERBS: dict[str, Callable[[Space], object]] = {
    "first search": lambda space: space.search(QUESTION),
    "search": lambda space: space.search(QUESTION),
    "context": lambda space: space.context(QUESTION),
    "add": lambda space: space.add("I like tea.", speaker="Tom", id="new"),
    "enrich": lambda space: space.queue.enrich(),
    "late": lambda space: space.add("I am in Rome.", speaker="Tom", id="late", session="a0",
                                    at=START),
    "enrich again": lambda space: space.queue.enrich(),
    "redo": lambda space: (space.queue.redo(), space.queue.enrich()),
    "get": lambda space: space.get("m3"),
    "stats": lambda space: space.stats(),
    "failures": lambda space: space.queue.failures(),
    "messages": lambda space: space.messages(limit=5),
    "triples": lambda space: space.facts(limit=5),
    "sessions": lambda space: space.overview.sessions(limit=5),
    "entities": lambda space: space.entities(limit=5),
    "suspected duplicates": lambda space: space.review.duplicates(),
    "estimate": lambda space: space.queue.estimate(redo=True),
    "update": lambda space: space.update("m4", "I moved to Paris."),
    "forget": lambda space: space.forget(message="m5"),
}  # fmt: skip


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the instructions of SQLite's machine by statement."""
    counted: Counter[str] = Counter()
    connect = Pool._connect
    current = ""

    def counting(self: Pool) -> sqlite3.Connection:
        connection = connect(self)

        def begin(statement: str) -> None:
            nonlocal current
            current = statement.split()[0].upper()

        def tick() -> int:
            counted[current] += 1
            return 0

        connection.set_trace_callback(begin)
        connection.set_progress_handler(tick, 1)
        return connection

    monkeypatch.setattr(Pool, "_connect", counting)
    return counted


def fill(space: Space) -> None:
    space.add_many(
        Message(
            text=f"I moved to Oslo in May, and my sister Ann{n} lives in Rome{n}.",
            speaker="Tom", id=f"m{n}", session=f"a{n // 5}", at=START + timedelta(days=n),
        )
        for n in range(15)
    )  # fmt: skip


def costs(path: Path, others: int, steps: Counter[str]) -> dict[str, int]:
    """Return the instructions of each verb in a space beside others, half of them enriched."""
    found: dict[str, int] = {}
    with Memory(path, embedder=HashEmbedder(32), enrich="manual") as memory:
        for number in range(others):
            other = memory.space(f"other-{number}")
            fill(other)
            if number % 2:
                other.queue.enrich()
        space = memory.space("mine")
        fill(space)
        for name, verb in VERBS.items():
            steps.clear()
            verb(space)
            del steps["VACUUM"]  # rewrites the whole file, so that nothing deleted stays in it
            found[name] = steps.total()
    return found


def test_no_verb_of_a_space_reads_other_spaces(tmp_path: Path, steps: Counter[str]) -> None:
    few, many = costs(tmp_path / "few.db", 2, steps), costs(tmp_path / "many.db", 22, steps)
    dearer = {verb: (few[verb], many[verb]) for verb in few if many[verb] > 1.1 * few[verb] + 20}
    assert not dearer


def test_the_memory_of_all_indexes_is_bounded(tmp_path: Path) -> None:
    bound = 100_000
    settings = Settings(storage=StorageSettings(index_bytes=bound))
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(32), enrich="manual", settings=settings
    ) as memory:
        names = [f"s{number}" for number in range(30)]
        for name in names:
            fill(memory.space(name))
        indexes = memory._engine.store.search._indexes
        for name in names:
            assert memory.space(name).search(QUESTION, k=3).hits
            assert 0 < indexes.bytes <= bound
            assert name in indexes
        assert 1 < len(indexes) < len(names)
        assert "s0" not in indexes
        assert [hit.id for hit in memory.space("s0").search(QUESTION, k=1)] == ["m3"]

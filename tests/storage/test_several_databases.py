"""A memory whose spaces are in several databases: each verb reaches the right ones."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cognigraph import AsyncMemory, ConfigurationError, Memory, StoreError
from cognigraph.stores import protocols, registry
from cognigraph.testing import FrozenClock, HashEmbedder
from cognigraph.times import system_clock
from tests.conftest import START

Open = Callable[..., Memory]
NOW = START + timedelta(days=1)


def first_letter(space: str) -> str:
    return f"Group-{space[0]}"


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    monkeypatch.setattr(
        registry, "STORES", {**registry.STORES, "files": "tests.storage.divided_files"}
    )
    return {
        "location": f"files://{tmp_path}", "database": first_letter, "enrich": "manual",
        "embedder": HashEmbedder(32), "clock": FrozenClock(START),
    }  # fmt: skip


@pytest.fixture
def opened(options: dict[str, Any]) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(Memory(**{**options, **more}))


def tell(memory: Memory, *spaces: str) -> None:
    for name in spaces:
        memory.space(name).add("I live in Oslo.", id="m1", session="s", speaker=name.title())


def test_every_method_of_a_role_names_its_space_first_or_is_written_out() -> None:
    """The calls are passed on by their first argument, which must therefore be the space."""
    for role in (
        protocols.MessageStore, protocols.SearchIndex, protocols.EntityResolution,
        protocols.StateStore, protocols.GraphReader, protocols.HousekeepingStore,
    ):  # fmt: skip
        methods = {name: var for name, var in vars(role).items() if inspect.isfunction(var)}
        others = {
            name
            for name, method in methods.items()
            if not name.startswith("_")
            and list(inspect.signature(method).parameters)[1:2] != ["space"]
        }
        written_out = {"audit", "backup", "erase"} if role is protocols.HousekeepingStore else set()
        assert others == written_out, role


@pytest.mark.slow
def test_spaces_are_found_searched_and_enriched_where_they_are(
    opened: Open, tmp_path: Path
) -> None:
    memory = opened()
    assert (memory.spaces(), memory.info.details["databases"]) == ([], "")
    tell(memory, "ann", "anton", "ben")
    assert {path.stem for path in tmp_path.glob("*.db")} == {"group-a", "group-b"}
    assert memory.spaces() == ["ann", "anton", "ben"]
    assert memory.info.details["databases"] == "group-a, group-b"
    assert memory.admin.waiting() == 3
    assert 0.0 < memory.admin.longest_wait() < 60.0
    memory.flush()
    assert (memory.admin.waiting(), memory.admin.longest_wait()) == (0, 0.0)
    assert {t.text for t in memory.space("ben").facts()} == {"Ben lives in Oslo"}
    found = memory.search_spaces(["ann", "ben", "bob"], "Who lives in Oslo?", now=NOW)
    assert {(hit.space, hit.hit.id) for hit in found} == {("ann", "m1"), ("ben", "m1")}
    assert memory.space("anton").search("Who lives in Oslo?", now=NOW)[0].speaker == "Anton"
    *names, last = [check.name for check in memory.admin.check()]
    assert last == "worker"
    assert {name.partition(": ")[0] for name in names} == {"group-a", "group-b", "vectors"}
    assert all(check.ok for check in memory.admin.check())


@pytest.mark.slow
def test_another_process_finds_them_again_with_their_work(opened: Open) -> None:
    tell(opened(), "ann", "ben")
    later = opened()
    assert later.spaces() == ["ann", "ben"]
    steps = list(later.space("ben").queue.enrich())
    assert [step.chunks for step in steps] == [1]
    assert later.admin.waiting() == 1
    later.flush()
    assert later.space("ann").stats().done == 1


@pytest.mark.slow
def test_a_background_worker_serves_all_databases(opened: Open) -> None:
    memory = opened(enrich="background", clock=system_clock)
    tell(memory, "ann", "ben", "dan")
    memory.flush()
    for name in ("ann", "ben", "dan"):
        assert memory.space(name).stats().triples == 1


@pytest.mark.slow
def test_a_space_is_copied_to_another_database_exported_and_deleted(
    opened: Open, tmp_path: Path
) -> None:
    memory = opened()
    tell(memory, "ann", "ben")
    memory.flush()
    assert memory.admin.copy_space("ann", "zoe") == 1
    assert memory.spaces() == ["ann", "ben", "zoe"]
    assert (tmp_path / "group-z.db").exists()
    assert [t.text for t in memory.space("zoe").facts()] == ["Ann lives in Oslo"]
    assert replace(memory.space("zoe").stats(), space="ann") == memory.space("ann").stats()
    memory.space("ben").files.export(tmp_path / "ben.jsonl", derived=True)
    memory.admin.delete_space("ann")
    assert memory.spaces() == ["ben", "zoe"]
    assert memory.space("carl").files.load(tmp_path / "ben.jsonl") == 1
    assert [t.text for t in memory.space("carl").facts()] == ["Ben lives in Oslo"]
    assert memory.space("ben").forget(message="m1").messages == 1
    assert memory.spaces() == ["carl", "zoe"]


@pytest.mark.slow
def test_each_database_keeps_the_log_of_its_spaces(opened: Open) -> None:
    memory = opened(clock=system_clock)
    tell(memory, "ann", "ben")
    memory.space("ann", by="root").forget(message="m1")
    memory.space("ben", by="ben").update("m1", "Ben lives in Lima.", session="s")
    memory.admin.delete_space("ben", by="root")
    logged = [
        ("ben", "delete space", "root"),
        ("ben", "update", "ben"),
        ("ann", "forget", "root"),
    ]
    for space, expected in ((None, logged), ("ben", logged[:2]), ("ann", logged[2:])):
        found = memory.admin.audit(space)
        assert [(item.space, item.action, item.by) for item in found] == expected
    assert memory.admin.audit(None, 1, 1) == memory.admin.audit("ben")[1:]
    # Nothing is left in either database, and another memory has opened neither.
    for again in (opened(), opened(database=lambda space: first_letter(space).lower())):
        assert again.spaces() == []
        assert [(item.space, item.action, item.by) for item in again.admin.audit(None)] == logged
    # A database that was shared: only the log of the spaces that are there for this memory.
    other = opened(database=lambda space: "group-a" if space == "ann" else "elsewhere")
    assert {item.space for item in other.admin.audit(None)} == {"ann"}


def test_what_concerns_whole_databases_is_refused_with_advice(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    tell(memory, "ann", "ben")
    with pytest.raises(StoreError, match="export each space"):
        memory.admin.backup(tmp_path / "copy.db")
    with pytest.raises(ConfigurationError, match=r"reindex each by itself.*'group-a', 'group-b'"):
        memory.admin.reindex(HashEmbedder(16))
    with pytest.raises(ConfigurationError, match="does not name a database"):
        memory.admin.catch_up(["FB:kcwQ=="])
    assert memory.admin.bookmarks() == ()
    memory.admin.catch_up(["elsewhere=FB:kcwQ=="])
    with pytest.raises(StoreError, match=r"group-a\.db is a file"):
        memory.admin.catch_up(["group-a=FB:kcwQ=="])
    memory.space("ann").search("Where does Ann live?", now=NOW)


def test_a_function_that_names_no_database_is_refused(opened: Open) -> None:
    memory = opened(database=lambda space: None if space == "odd" else "one")
    tell(memory, "ann")
    with pytest.raises(ConfigurationError, match="returned None for the space 'odd'"):
        memory.space("odd").search("Anything?")
    assert memory.spaces() == ["ann"]


def test_spaces_that_the_function_gives_to_another_database_are_left_alone(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    first = opened(database=lambda space: "one")
    tell(first, "ann", "ben")
    with caplog.at_level(logging.WARNING, "cognigraph"):
        second = opened(database=lambda space: "two" if space == "ben" else "one")
        assert second.spaces() == ["ann"]
    assert "'one' holds 1 spaces, such as 'ben'" in caplog.text
    assert second.admin.waiting() == 1
    second.flush()
    assert first.space("ann").stats().pending == 0
    assert first.space("ben").stats().pending == 1
    assert second.space("ben").stats().chunks == 0


def test_asyncio(options: dict[str, Any]) -> None:
    async def run() -> tuple[list[str], datetime]:
        async with AsyncMemory(**options) as memory:
            await memory.space("ann").add("Ann lives in Oslo.", id="m1", at=START)
            await memory.space("ben").add("Ben lives in Oslo.", id="m1", at=START)
            (hit,) = await memory.space("ben").search("Where does Ben live?", now=NOW)
            return await memory.spaces(), hit.at

    assert asyncio.run(run()) == (["ann", "ben"], START)

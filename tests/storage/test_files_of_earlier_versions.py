"""Files that earlier versions of cognigraph wrote are opened, and hold what they held.

``tests/data/files/stepN.db.gz`` was written by the code whose schema was at step N: four messages
that the rules had read, and from step 8 on what only that version can hold. ``-pairs`` are files of
an early step 5, which kept pairs of similar names in tables of its own.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.testing import FrozenClock, HashEmbedder

FILES = Path(__file__).parents[1] / "data" / "files"
NOW = datetime(2026, 7, 2, 9, tzinfo=UTC)
TEXTS = {
    "m1": "I live in Bergen.",
    "m2": "My sister Klara lives in Hamar.",
    "m3": "I moved to Oslo last week.",
    "m4": "Klara likes jazz.",
}
FACTS = {
    ("Ann lives in Bergen", "superseded", ("m1",)),
    ("Ann moved to Oslo", "current", ("m3",)),
    ("Klara lives in Hamar", "current", ("m2",)),
    ("Klara is Ben's sister", "current", ("m2",)),
}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[str], Memory]:
    def open_file(step: str) -> Memory:
        path = tmp_path / f"{step}.db"
        if not path.exists():
            path.write_bytes(gzip.decompress((FILES / f"step{step}.db.gz").read_bytes()))
        return Memory(path, embedder=HashEmbedder(32), enrich="manual", clock=FrozenClock(NOW))

    return open_file


def facts(memory: Memory) -> set[tuple[str, str, tuple[str, ...]]]:
    return {
        (one.text, one.status, tuple(source.id for source in one.sources))
        for one in memory.triples()
    }


@pytest.mark.parametrize("step", ["2", "4", "5-pairs", "6-pairs", "6", "7"])
def test_a_file_of_an_earlier_version_holds_what_it_held(
    opened: Callable[[str], Memory], step: str
) -> None:
    for _ in range(2):
        with opened(step) as memory:
            found = {message.id: message.text for message in memory.messages()}
            assert found == TEXTS
            assert facts(memory) - FACTS == {("Ben mentioned klara likes jazz", "current", ("m4",))}
            assert facts(memory) > FACTS
            assert (memory.stats().sessions, memory.stats().pending) == (2, 0)
            ann = next(one for one in memory.entities() if one.name == "Ann")
            assert (ann.triples, ann.mentions) == (2, 2)
            homes = memory.search("Where does Ann live?", now=NOW)
            assert next(hit.id for hit in homes) == "m3"
            assert memory.sessions()[0].summary
            assert all(one.ok for one in memory.check())
            memory.suspected_duplicates()  # reads the vectors of names
    with opened(step) as memory:
        memory.add("I moved to Moss.", id="m5", session="s2", speaker="Ann", at=NOW)
        memory.flush()
        status = {one.object: one.status for one in memory.triples("Ann", slot="home")}
        assert status == {"Bergen": "superseded", "Oslo": "superseded", "Moss": "current"}
        memory.forget(session="s1")
        assert {message.id for message in memory.messages()} == {"m3", "m4", "m5"}


def test_a_file_of_step_8_holds_what_it_held(opened: Callable[[str], Memory]) -> None:
    with opened("8") as memory:
        assert facts(memory) == FACTS | {
            ("Ann works at DNB", "current", ("f1",)),
            ("Ben owns kayak", "current", ("m5",)),
        }
        kayak = memory.get("m5")
        assert kayak is not None
        assert (kayak.role, kayak.tags, dict(kayak.metadata)) == ("user", ("boats",), {"n": 1})
        assert [one.text for one in memory.versions("m4")] == [
            "Klara likes jazz.", "Klara likes rock.",
        ]  # fmt: skip
        (stated,) = memory.triples("Ann", slot="work")
        assert (stated.is_stated, stated.sources[0].said_by) == (True, "crm")
        again = memory.add("Ben has a secret.", id="m6", session="s3", speaker="Ben")
        assert again.forgotten == ("m6",)
        (home,) = memory.history("Ann", "home")
        assert [one.object for one in home.triples] == ["Bergen", "Oslo"]
        assert all(one.ok for one in memory.check())

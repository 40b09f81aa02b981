"""The test doubles for users behave as documented."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from cognigraph import ExtractionError, InvalidMessageError
from cognigraph.ingest import Extraction, Fact, Window
from cognigraph.model import Theme
from cognigraph.stores.records import SessionNotes, WorkChunk
from cognigraph.testing import FrozenClock, ScriptedExtractor

NOW = datetime(2026, 5, 20, 9, tzinfo=UTC)


def window(*ids: str, state: str = "") -> Window:
    chunks = tuple(WorkChunk(f"u{n}", id, "s", None, NOW, "text") for n, id in enumerate(ids))
    return Window("space", "s", chunks, (), SessionNotes(state=state))


def test_the_clock_stands_still_until_it_is_advanced():
    clock = FrozenClock("2026-05-20T11:00+02:00")
    assert clock() == clock() == NOW
    assert clock.advance(timedelta(days=1)) == clock() == NOW + timedelta(days=1)
    assert clock.advance(timedelta(days=-2)) == NOW - timedelta(days=1)
    assert FrozenClock()().utcoffset() == timedelta(0)
    with pytest.raises(InvalidMessageError):
        FrozenClock(datetime(2026, 5, 20))


def test_facts_are_evidence_of_their_message_wherever_it_stands():
    lives = Fact("Ann", "person", "lives in", "Oslo", "location", (0,), negated=True)
    extractor = ScriptedExtractor({"m2": [lives, ("Ann", "bought", "kayak", "2026-05")]})
    found = extractor.extract(window("m1", "m2", state="kept"))
    assert [(f.text, f.chunks) for f in map(_Said, found.facts)] == [
        ("Ann lives in Oslo None True", (1,)),
        ("Ann bought kayak 2026-05 False", (1,)),
    ]
    assert (found.keys, found.themes, found.state) == (None, None, "kept")
    assert extractor.extract(window("m3")).facts == ()
    assert (extractor.name, extractor.calls, extractor.read["m1"]) == ("scripted-1", 2, 1)


class _Said:
    def __init__(self, fact: Fact) -> None:
        self.text = f"{fact.subject} {fact.relation} {fact.object} {fact.when} {fact.negated}"
        self.chunks = fact.chunks


def test_a_function_can_answer():
    extractor = ScriptedExtractor(lambda seen: Extraction(keys=((seen.session, 1.0),)))
    assert extractor.extract(window("m1")).keys == (("s", 1.0),)
    extractor.script({"m1": [("Ann", "met", "Ben")]})
    extractor.session = lambda seen: Extraction(themes=(Theme("t", "s"),))
    found = extractor.extract(window("m1"))
    assert (len(found.facts), found.themes) == (1, (Theme("t", "s"),))


def test_failures_by_message_and_by_call():
    extractor = ScriptedExtractor()
    extractor.fail_for("m1", times=2)
    for _ in range(2):
        with pytest.raises(ExtractionError, match="'m1'") as caught:
            extractor.extract(window("m0", "m1"))
        assert caught.value.chunks == ("u0", "u1")
    extractor.extract(window("m1"))
    extractor.fail_at(5, error=ConnectionError("gone"))
    extractor.extract(window("m1"))
    with pytest.raises(ConnectionError, match="gone"):
        extractor.extract(window("m1"))
    assert extractor.calls == 5


def test_counting_is_thread_safe():
    extractor = ScriptedExtractor()
    extractor.fail_for("m1", times=50)

    def ask(_: int) -> bool:
        try:
            extractor.extract(window("m1"))
        except ExtractionError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(200))) == 150
    assert extractor.calls == len(extractor.windows) == 200

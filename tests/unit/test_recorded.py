"""Replaying recorded extractions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.recorded import RecordedExtractor
from cognigraph.ingest.extraction import Fact, Mention, Window
from cognigraph.model import Theme
from cognigraph.stores.records import SessionNotes, WorkChunk

AT = datetime(2023, 5, 10, tzinfo=UTC)


def triple(**changes: Any) -> dict[str, Any]:
    return {
        "subject": "Ann",
        "subject_type": "person",
        "relation": "moved to",
        "object": "Oslo",
        "object_type": "location",
        "when": "2023-05",
        "turns": ["m1", "m2"],
    } | changes


RECORDING: dict[str, Any] = {
    "conversation": "c",
    "sessions": [
        {
            "session": 1,
            "keys": ["Oslo", "moving"],
            "themes": [{"title": "Moving", "summary": "Ann moved to Oslo."}],
            "triples": [
                triple(),
                triple(object="Bergen", when="some day", turns=["m3"], negated=True),
                triple(object="Rome", when=None, turns=["gone"]),
            ],
        },
        {"session": "two", "keys": [], "themes": [], "triples": []},
    ],
}


def window(session: str, *ids: str, state: str = "") -> Window:
    chunks = tuple(WorkChunk(f"u-{id}", id, session, "Ann", AT, "text") for id in ids)
    return Window("x", session, chunks, (), SessionNotes(state=state))


def test_facts_come_with_the_messages_of_the_window() -> None:
    extractor = RecordedExtractor(RECORDING)
    assert extractor.name == "recorded-1"
    found = extractor.extract(window("1", "m0", "m2", state="kept"))
    assert found.facts == (Fact("Ann", "person", "moved to", "Oslo", "location", (1,), "2023-05"),)
    assert found.mentions == (
        Mention("Ann", "person", (1,)),
        Mention("Oslo", "location", (1,)),
    )
    assert found.keys == (("Oslo", 1.0), ("moving", 1.0))
    assert found.themes == (Theme("Moving", "Ann moved to Oslo."),)
    assert found.state == "kept"


def test_a_message_in_parts_is_evidence_in_all_of_them() -> None:
    found = RecordedExtractor(RECORDING).extract(window("1", "m1", "m1", "m2"))
    assert found.facts[0].chunks == (0, 1, 2)


def test_a_time_that_is_no_date_is_left_out_and_negation_kept() -> None:
    (fact,) = RecordedExtractor(RECORDING).extract(window("1", "m3")).facts
    assert (fact.object, fact.when, fact.negated) == ("Bergen", None, True)


def test_an_unknown_session_keeps_what_is_there() -> None:
    found = RecordedExtractor(RECORDING).extract(window("nine", "m1", state="s"))
    assert (found.facts, found.keys, found.themes, found.state) == ((), None, None, "s")


def test_a_recorded_session_without_anything_is_empty_not_unknown() -> None:
    found = RecordedExtractor(RECORDING).extract(window("two", "m1"))
    assert (found.facts, found.keys, found.themes) == ((), (), ())


def test_reading_files(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(RECORDING), encoding="utf-8")
    assert list(RecordedExtractor.from_file(tmp_path / "b.json").sessions) == ["1", "two"]
    (tmp_path / "a.json").write_text('{"sessions": []}', encoding="utf-8")
    assert RecordedExtractor.from_file(tmp_path / "a.json").sessions == {}

"""Very long questions are cut quickly, and the trace says so."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from cognigraph import Memory, SearchSettings, Settings
from cognigraph.retrieve.plan import without_middle
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.testing import HashEmbedder


def test_a_question_within_the_limit_is_left_as_it_is():
    assert without_middle("x" * 100, 100) == ("x" * 100, [])


def test_of_a_longer_one_the_beginning_and_the_end_are_kept():
    text, notes = without_middle("begin " + "x" * 1000 + " end", 101)
    assert len(text) == 101
    assert text.startswith("begin x")
    assert text.endswith("x end")
    assert notes == ["the question has 1010 characters: its first and last 49 were read"]


@pytest.mark.slow
def test_a_question_of_a_million_characters_is_cut_quickly_with_a_note(tmp_path):
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(16), enrich="manual") as memory:
        memory.add("The kayak is in Bergen.", id="m1")
        memory.add("The piano is in Oslo.", id="m2")
        memory.search("warm")
        distinct = " ".join(f"word{number}" for number in range(120_000))
        for question in ("Where is the kayak? " + distinct, distinct + " Where is the kayak?"):
            started = time.monotonic()
            result = memory.search(question)
            assert time.monotonic() - started < 10  # 28 s before, and 0.05 s now
            assert sorted(hit.id for hit in result) == ["m1", "m2"]
            assert result.question == question
            assert any("were read" in note for note in result.trace.notes)


@pytest.mark.slow
def test_words_at_both_ends_of_a_long_question_are_looked_up():
    distinct = " ".join(f"word{number}" for number in range(900))
    for question in (f"Where is the kayak? {distinct}", f"{distinct} Where is the kayak?"):
        analysis = analyse(question, datetime(2026, 5, 20, tzinfo=UTC))
        assert len(analysis.terms) == 64
        assert "kayak" in analysis.terms
        assert "kayak" in analysis.anchors


def test_the_limit_is_a_setting(tmp_path):
    settings = Settings(search=SearchSettings(max_question_chars=100))
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(16), enrich="manual", settings=settings
    ) as memory:
        memory.add("The kayak is in Bergen.", id="m1")
        result = memory.search("kayak " + "x" * 100)
        assert [note for note in result.trace.notes if "were read" in note] == [
            "the question has 106 characters: its first and last 48 were read"
        ]

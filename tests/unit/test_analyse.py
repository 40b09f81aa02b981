"""Analysing a question by rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.retrieve.question.analyse import analyse

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What books has Ann read?", True),
        ("Which outdoor activities does Ben like?", True),
        ("How many dogs does Ann have?", True),
        ("In what ways does Ben help?", True),
        ("What have Ann and Ben both painted?", True),
        ("What are Ann's hobbies?", True),
        ("What book did Ann read?", False),
        ("What is this?", False),
        ("Which boss does Ben like?", False),
        ("What did Ann say about her books?", False),
        ("When did Ann move?", False),
        ("Who is Ben?", False),
        ("", False),
    ],
)
def test_a_question_that_asks_for_a_list(question, expected):
    assert analyse(question, NOW).enumerates is expected


def test_each_term_stands_for_a_word():
    found = analyse("What paintings did Ann paint in Oslo?", NOW)
    assert found.terms == ("paint", "ann", "oslo")
    assert found.words == ("paintings", "ann", "oslo")

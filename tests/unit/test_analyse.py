"""Analysing a question by rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.retrieve.question.analyse import Aim, analyse
from cognigraph.retrieve.question.temporal import NamedDate
from tests.cases import each

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@each(
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, that worked. I booked the ferry for the whole family. What is next?", True),
        ("Back again. The dentist called and moved it, so let us look at the whole plan.", True),
        ("你好。昨天的会议很顺利，我们决定了下一步的计划。接下来我应该做什么？", True),
        ("I'm back in Oslo with the whole family. Where did we eat last time?", False),
        ("Which ferry did I book? And when does it leave? Was there a cabin left for us?", False),
        ("Hi. Thanks. Where do I live?", False),  # too short to tell anything
    ],
)
def test_a_text_that_tells_more_than_it_asks_is_a_message(text, expected):
    assert analyse(text, NOW).is_message is expected


def test_the_time_and_the_aim_of_a_message_are_those_of_its_questions():
    told = "In May we moved to Oslo. You should write it down now. The flat is small."
    assert analyse(told, NOW).times == ()
    assert analyse(told, NOW).aim == Aim()
    assert analyse(told, NOW).terms[:3] == ("may", "move", "oslo")
    asked = analyse(f"{told} What did you suggest in June?", NOW)
    assert asked.times == (NamedDate(None, 6, None),)
    assert asked.aim == Aim(assistant=True)
    enumerated = analyse(f"{told} Which rooms are cold?", NOW)
    assert (asked.enumerates, enumerated.enumerates) == (False, True)

"""A user's message and the assistant's answer: each says something about the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cognigraph import SearchSettings
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.profiles import chunk_features
from cognigraph.retrieve.rank.ranking import PLAIN
from cognigraph.retrieve.rank.signals import counterparts
from tests.cases import each
from tests.unit.pools import candidates, chunk_pool, session_pool, triple_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TALK = ("user", "assistant", "user", "assistant")


def signals(found, **settings):
    return chunk_features(found, analyse("oslo", NOW), SearchSettings(decay=False, **settings))


@each(
    ("speakers", "session", "expected"),
    [
        (TALK, [0, 0, 0, 0], [1, 0, 3, 2]),
        (TALK, [0, 0, 0, 1], [1, 0, -1, -1]),
        (("user", "assistant", "assistant", "user"), [0] * 4, [1, 0, -1, -1]),
        (("assistant", "user", "user", "assistant"), [0] * 4, [-1, -1, 3, 2]),
        (("user", "tool", "assistant", "Ann"), [0] * 4, [-1, -1, -1, -1]),
    ],
)
def test_the_counterpart_is_the_answer_or_what_it_answers(speakers, session, expected):
    pool = chunk_pool([0.0] * 4, speakers=speakers, session=session)
    assert counterparts(pool).tolist() == expected


def test_a_counterpart_that_is_no_candidate_counts_as_none():
    pool = chunk_pool([0.5, 0.1], speakers=("user", "assistant"), session=[0, 1],
                      following=[-2, -1], previous=[-1, -2])  # fmt: skip
    found = signals(candidates(pool, sessions=session_pool([0.1, 0.1])))
    assert found["counterpart vector"].tolist() == [0.0, 0.0]


def test_a_single_candidate_between_others_has_no_counterpart():
    pool = chunk_pool([0.5], speakers=("assistant",), following=[-2], previous=[-2])
    found = signals(candidates(pool, sessions=session_pool([0.1])))
    assert found["counterpart vector"].tolist() == [0.0]


def test_each_message_of_an_exchange_profits_from_the_other():
    found = signals(candidates(chunk_pool([0.1, 0.9, 0.1, 0.5], speakers=TALK)))
    assert found["counterpart vector"].tolist() == pytest.approx([1.0, 0.0, 0.5, 0.0])


def test_a_fact_counts_for_the_counterpart_of_its_evidence():
    pool = chunk_pool([0.1, 0.9, 0.1, 0.5], speakers=TALK)
    triples = triple_pool([0.9, 0.1], evidence=[[0], [3]])
    found = signals(candidates(pool, triples, session_pool([0.2])))
    assert found["triple"][0] > 0
    assert found["counterpart triple"].tolist() == [0.0, found["triple"][0], 0.0, 0.0]


@pytest.mark.parametrize("speakers", [("user", "Ann", "user", "Ann"), ("Ann", "Ben", None, "Ann")])
def test_people_have_no_counterparts(speakers):
    found = signals(candidates(chunk_pool([0.1, 0.9, 0.1, 0.5], speakers=speakers)))
    assert not {"counterpart vector", "counterpart triple"} & set(found)


def test_windows_and_cues_switch_the_signals_off():
    found = candidates(chunk_pool([0.1, 0.9, 0.1, 0.5], speakers=TALK))
    assert "counterpart vector" in signals(found)
    assert "counterpart vector" not in signals(found, windows=False)
    assert "counterpart vector" not in signals(found, cues=False)


def in_german(question, speakers=TALK):
    pool = chunk_pool([0.1] * len(speakers), speakers=speakers, matches=[[0], [2], [0], [1]])
    asked = analyse(question, NOW)
    asked = replace(asked, terms=("zahnarzt",), words=("zahnarzt",), parts=())
    assert asked.is_english is False
    return chunk_features(candidates(pool), asked, SearchSettings(decay=False))


def test_in_other_languages_the_user_counts_and_the_words_of_the_answer():
    found = in_german("Wann habe ich den Termin beim Zahnarzt?")
    assert found["user"].tolist() == [1.0, 0.0, 1.0, 0.0]
    first, _, third, _ = found["counterpart words"].tolist()
    assert first == 1.0
    assert 0.0 < third < 1.0
    assert found["counterpart words"][[1, 3]].tolist() == [0.0, 0.0]
    weights = PLAIN.relative(in_english=False)
    assert not weights.keys() & {"similar words", "window similar words"}  # of English vectors


def test_in_other_languages_a_question_about_the_assistant_is_read():
    found = in_german("Welchen Zahnarzt hast du mir empfohlen?")
    assert found["assistant asked"].tolist() == [0.0, 1.0, 0.0, 1.0]
    assert "user" not in found


def test_with_others_in_the_talk_nobody_is_taken_for_the_subject():
    found = in_german("Wann habe ich den Termin?", ("user", "assistant", "Ann", "assistant"))
    assert not found.keys() & {"user", "assistant asked", "counterpart words"}

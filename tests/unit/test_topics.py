"""Lines of sessions and episodes: what is left of a summary that is too long."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cognigraph import SearchResult, Session, Theme, Trace
from cognigraph.retrieve.block import spread
from cognigraph.retrieve.block_lines import session_line, session_topics, shortened
from tests.unit.test_assemble import NOW, block, hit, result, session

SUMMARY = Session(
    "s1", NOW, NOW, 9, 9, keys=("boat", "harbour", "sails"),
    themes=(
        Theme("Boat", "Ann sold the boat, which leaked. Ben bought it in May. Clara laughed."),
        Theme("Sails", "The sails are torn."),
    ),
)  # fmt: skip


def rate(*words: str):
    return lambda texts: [sum(word in text for word in words) for text in texts]


def up_to(length: int):
    return lambda session: len(session_line(session, UTC)) <= length


def summary(session: Session | None) -> str | None:
    return None if session is None else session.summary


def test_the_sentences_that_match_best_stay_in_their_order():
    assert summary(shortened(SUMMARY, up_to(999), rate())) == SUMMARY.summary
    assert summary(shortened(SUMMARY, up_to(62), rate("Ben", "torn"))) == (
        "Boat: … Ben bought it in May. …"
    )
    assert summary(shortened(SUMMARY, up_to(85), rate("Ben", "torn"))) == (
        "Boat: … Ben bought it in May.\nSails: … The sails are torn."
    )


def test_a_sentence_that_does_not_fit_gives_way_to_one_that_does():
    assert summary(shortened(SUMMARY, up_to(41), rate("leaked"))) == "Boat: … Clara laughed. …"


def test_a_sentence_that_does_not_fit_is_cut_after_a_clause_or_a_word():
    boat = replace(SUMMARY, themes=(Theme("Boat", "Ann sold the boat, which leaked badly."),))
    assert summary(shortened(boat, up_to(48), rate())) == "Boat: Ann sold the boat…"
    assert summary(shortened(boat, up_to(40), rate())) == "Boat: Ann sold the…"
    assert shortened(boat, up_to(30), rate()) is None


def test_without_a_summary_the_first_keys_stay():
    keys = replace(SUMMARY, themes=())
    assert shortened(keys, up_to(36), rate()).keys == ("boat", "harbour", "…")
    assert shortened(keys, up_to(20), rate()) is None


def test_the_day_of_the_session_is_not_repeated_before_who_speaks():
    said = "2026-05-20 Ann: Hello.\n2026-05-21 Ben: Bye. On 2026-05-20 we sailed."
    line = session_line(replace(SUMMARY, themes=(Theme("Boat", said),)), UTC)
    assert line == (
        "s1 (2026-05-20): Boat: Ann: Hello. 2026-05-21 Ben: Bye. On 2026-05-20 we sailed."
    )


def test_sessions_of_the_best_messages_come_first():
    sessions = tuple(session(n) for n in (1, 2, 3))
    hits = (hit(0, session="s3"), hit(1, session="s2"), hit(2, session="s3"))
    found = SearchResult("q", hits, (), sessions, Trace("default", NOW, {}, {}))
    assert [topic.id for topic in session_topics(found)] == ["s3", "s2", "s1"]


@pytest.mark.slow
def test_the_best_session_has_a_line_in_a_block_of_600_tokens_and_in_one_of_1300():
    long = " ".join(
        f"Ann told Ben about the {n}th day of the journey to the lake." for n in range(60)
    )
    sessions = (
        session(1, themes=(Theme("Journey", long),)),
        session(2, themes=(Theme("J", long),)),
    )
    found = result(tuple(hit(n, "word " * 30) for n in range(60)), (), sessions)
    for size, lines in ((600, 1), (1300, 1), (2600, 2)):
        shown = block(found, size)
        cited = [citation.id for citation in shown.citations if citation.kind == "session"]
        assert cited == ["s1", "s2"][:lines]
        assert "[S1] s1 (2026-05-20): Journey: Ann told Ben about" in shown
        assert shown.tokens <= size


def test_a_further_message_of_a_session_counts_less():
    hits = [hit(n, session="s1") for n in range(4)] + [hit(9, session="s2")]
    assert spread(hits, 3) == [0, 1, 4]  # 1, .9 / 1.1, 1 / 1.4 and not .81 / 1.2
    assert spread(hits, 9) == [0, 1, 4, 2, 3]


def test_messages_of_one_speaker_that_contradict_each_other_show_when_each_was_said():
    told = (hit(48, "I live in Oslo."), hit(0, "I live in Bergen."))
    shown = block(result(told))
    assert shown.splitlines()[2:4] == [
        "[C1] 2026-05-20 09:00 s1 Ann: I live in Bergen.",
        "[C2] 2026-05-22 09:00 s1 Ann: I live in Oslo.",
    ]
    assert shown.hits[0].at + timedelta(days=2) == shown.hits[1].at
    assert isinstance(shown.hits[0].at, datetime)

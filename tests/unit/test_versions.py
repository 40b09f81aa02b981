"""Later versions of what somebody said come before earlier ones."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cognigraph.retrieve.standing import (
    BETWEEN,
    COMPARED,
    FEW,
    LEAD,
    VERSION_DEPTH,
    VERSION_WEIGHTS,
    ComparedMessage,
    later_versions_first,
    messages_between,
    version_features,
)
from tests.cases import each

DAY = timedelta(days=1)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
OTHERS = (
    "The cat hid behind the washing machine.",
    "We planted beans and two rows of carrots.",
    "My sister paints boats in the harbour.",
    "The concert was sold out within an hour.",
    "He forgot his umbrella on the tram.",
    "Snow closed the road over the pass.",
    "I burnt the rice again.",
    "The library has a new reading room.",
    "Our chess evening was cancelled.",
    "They repaired the church clock.",
    "A heron sat on the neighbour's roof.",
    "The printer is out of blue ink.",
    "Her thesis is about medieval bridges.",
    "The bakery bakes rye bread at night.",
    "I lost a glove near the stadium.",
    "The museum shows old maps of Iceland.",
    "Somebody painted the fence green.",
    "The river froze in February.",
    "Two of the hens stopped laying.",
    "Nobody answered the doorbell.",
    "The train to Basel left early.",
    "He carved a spoon from walnut.",
    "We saw a comet above the hill.",
    "Her violin needs another string.",
    "The lift smells of fresh varnish.",
    "Someone left a kettle boiling.",
    "A parcel from Norway arrived.",
    "The goats ate the hedge.",
)
PLANS = {
    "en": ("I pay 23 pounds a month for my phone plan.", "My phone plan is eleven pounds now."),
    "de": ("Mein Handyvertrag kostet 23 Euro im Monat.", "Mein Handyvertrag kostet nur noch 11."),
    "zh": ("我的手机套餐每月二十三块。", "我的手机套餐现在十一块。"),
}
OLD, NEW = PLANS["en"]


def said(text, day, *, speaker="Teo", session=None, score=1.0):
    return ComparedMessage(text, FIRST + day * DAY, session or f"day {day}", speaker, score)


def result(old_at, new_at, *, old=OLD, new=NEW, **of_new):
    """Twenty messages of one speaker, of which two are versions of one another.

    Of the others, those that rank lower are older, so that none of them moves.
    """
    texts = list(OTHERS)
    texts.insert(old_at, old)
    texts.insert(new_at, new)
    found = [said(text, 100 - row) for row, text in enumerate(texts)]
    found[old_at] = said(old, 200)
    found[new_at] = said(new, 300, **of_new)
    assert len(found) == COMPARED
    return found


@pytest.mark.parametrize("language", PLANS)
def test_the_later_version_stands_directly_before_the_earlier_one(language):
    old, new = PLANS[language]
    order = later_versions_first(result(1, 7, old=old, new=new))
    assert order == [0, 7, 1, 2, 3, 4, 5, 6, *range(8, COMPARED)]


def test_two_versions_are_nearest_to_each_other_in_meaning_and_in_rare_words():
    between = messages_between(result(1, 7))
    assert between[1, 7] == between[7, 1] == 0
    assert (between == between.T).all()
    assert between[1, 2] > BETWEEN, "of the others none is near"


def test_an_update_need_not_match_the_question():
    old = "For the wedding we've picked the barn near Hexham."
    new = "The barn went bust, so it's the boat house, with dancing."
    order = later_versions_first(result(0, 12, old=old, new=new, score=0.05))
    assert order[:2] == [12, 0]


def test_what_nobody_said_as_a_person_stands_between_nothing():
    def between(speaker):
        found = [said(OLD, 1), said(NEW, 2), said("My phone plan.", 3, speaker=speaker)]
        return messages_between(found)[0, 1]

    assert (between("Teo"), between(None)) == (2, 0)


def test_an_earlier_version_and_one_of_the_same_time_stay():
    found = result(1, 7)
    found[7] = said(NEW, 199)
    assert later_versions_first(found) == list(range(COMPARED))
    found[7] = said(NEW, 200, session="another")
    assert later_versions_first(found) == list(range(COMPARED))


@pytest.mark.parametrize(
    "other", [{"speaker": "Maud"}, {"speaker": None}, {"session": "day 200"}], ids=str
)
def test_another_speaker_or_the_same_session_makes_no_version(other):
    assert later_versions_first(result(1, 7, **other)) == list(range(COMPARED))


def test_no_speaker_that_counts_on_either_side_makes_no_version():
    found = [said(item.text, day, speaker=None) for day, item in enumerate(result(1, 7))]
    assert later_versions_first(found) == list(range(COMPARED))


def test_only_the_first_are_preceded_and_only_the_best_move():
    assert later_versions_first(result(LEAD, 7)) == list(range(COMPARED))
    assert later_versions_first(result(LEAD - 1, 7))[LEAD - 1] == 7
    assert later_versions_first(result(1, VERSION_DEPTH)) == list(range(COMPARED))
    assert later_versions_first(result(1, VERSION_DEPTH - 1))[1] == VERSION_DEPTH - 1


def test_a_chain_of_versions_ends_with_the_newest_first():
    found = result(1, 7)
    found[4] = said("My phone plan is nine pounds a month since May.", 400)
    assert later_versions_first(found)[:4] == [0, 4, 7, 1]


def test_of_few_a_later_one_need_share_a_rare_word_only():
    old, other = said("I read on a Kindle, the one with the crack.", 1), said(OTHERS[0], -1)
    new = said("The crack won. I've gone over to a Kobo.", 60)
    assert later_versions_first([old, other, new]) == [2, 0, 1]
    assert later_versions_first([old, other, replace(new, score=0.4)]) == [2, 0, 1]
    weak = [old, other, replace(new, score=0.4)]
    assert later_versions_first(weak, asks_state=False) == [0, 1, 2], "of few, half as well"
    assert later_versions_first([old, other, replace(new, speaker="Maud")]) == [0, 1, 2]
    assert later_versions_first([old, other, replace(new, at=old.at - DAY)]) == [0, 1, 2]
    assert later_versions_first([old, other, said(OTHERS[1], 60)]) == [0, 1, 2]
    assert later_versions_first([]) == []


def test_where_a_question_only_may_ask_for_a_state_a_later_one_must_be_likely():
    old = said("Ich lese auf einem Kindle, dem mit dem Sprung.", 0)
    new = said("Der Kindle ist hin, ich lese jetzt auf einem Kobo.", 120, score=0.2)
    other = said("Gestern hat es den ganzen Tag geregnet.", 110, score=0.3)
    assert later_versions_first([old, other, new], asks_state=False) == [2, 0, 1]
    assert later_versions_first([old, replace(other, score=0.2)], asks_state=False) == [0, 1]
    soon = replace(new, at=old.at + DAY)
    assert later_versions_first([old, other, soon], asks_state=False) == [0, 1, 2]
    by_another = replace(new, speaker="Maud")
    assert later_versions_first([old, other, by_another], asks_state=False) == [0, 1, 2]


def test_among_many_a_later_one_must_be_like_the_earlier():
    found = result(1, 7, new="Day one as an analyst at the credit union.")
    assert later_versions_first(found) == list(range(COMPARED))


def test_what_tells_a_later_version():
    found = [said(OLD, 0), said(NEW, 10, score=0.5), said(OTHERS[0], 40)]
    between, shared = np.zeros((3, 3), np.int64), np.zeros((3, 3))
    between[0, 1], shared[0, 1] = 3, 0.6
    told = dict(zip(VERSION_WEIGHTS, version_features(found, between, shared)[0, 1], strict=True))
    assert told == pytest.approx(
        {
            "bias": 1.0, "messages": math.log(3) / 4, "few": 1.0, "shared words": 0.6,
            "between": 1.0, "score": 0.5, "days": math.log(11) / 5, "rank": math.log(2) / 4,
            "length of the earlier": math.log(11) / 4,
        }
    )  # fmt: skip


@each(
    ("repeated", "compared", "position"),
    [(1, COMPARED, 0), (2, COMPARED, 0), (1, 12, 0), (2, 12, 3)],
)
def test_of_fewer_messages_fewer_may_be_nearer(repeated, compared, position):
    """Each repetition is nearer by vectors and by words: four may be of thirty, two of twelve."""
    found = [*[said(OLD, 1)] * (1 + repeated), said(NEW, 2)]
    found += [said(text, -row) for row, text in enumerate(OTHERS[: compared - len(found)])]
    assert messages_between(found)[0, 1 + repeated] == 2 * repeated
    assert len(found) >= FEW
    assert later_versions_first(found).index(1 + repeated) == position


def test_it_must_have_the_names_and_figures_of_the_question_that_the_earlier_one_has():
    old, new = said(OLD, 1), said(NEW, 2)
    asked = frozenset({"lemon"})
    assert later_versions_first([replace(old, named=asked), new]) == [0, 1]
    assert later_versions_first([old, replace(new, named=asked)]) == [1, 0]
    assert later_versions_first([replace(each, named=asked) for each in (old, new)]) == [1, 0]


def test_texts_without_words_are_near_nothing():
    found = [said("", 1), said("", 2), said(OLD, 3)]
    assert messages_between(found).tolist() == [[0] * 3] * 3, "equally far"

"""Questions made from stored messages, and what follows from comparing settings on them."""

from __future__ import annotations

from dataclasses import replace

from cognigraph.evaluate.known_item import KnownItem, OwnMessage, known_items
from cognigraph.evaluate.own_data import DEFAULT, Compared, advice
from cognigraph.text.terms import STOP_WORDS, words
from tests.cases import each

TEXTS = [
    "The old harbour crane lifts heavy blue boats every summer.",
    "My new garden needs blue flowers and heavy stones every spring.",
    "We painted the old boat blue before the long summer trip.",
]
SAID = [OwnMessage("s", f"m{n}", "Ann", None, text) for n, text in enumerate(TEXTS)]


def test_a_question_has_words_of_one_sentence_of_its_message():
    items = known_items(SAID, 10, seed=1)
    assert {item.id for item in items} == {"m0", "m1", "m2"}
    for item in items:
        assert item.question.startswith("What did Ann say about ")
        asked = words(item.question.removeprefix("What did Ann say about "))
        own = words(TEXTS[int(item.id[1])])
        assert len(asked) >= 2
        assert [word for word in own if word in asked] == asked
        assert not STOP_WORDS.intersection(asked)


def test_the_rarest_words_are_left_out():
    (item,) = (item for item in known_items(SAID, 10, seed=1) if item.id == "m0")
    # Of nine words, those in other messages too come first, then the others by the alphabet.
    assert not {"harbour", "lifts"}.intersection(words(item.question))


def test_the_same_seed_makes_the_same_questions_in_any_order_of_messages():
    first = known_items(SAID, 2, seed=7)
    assert first == known_items(SAID[::-1], 2, seed=7)
    assert len(first) == 2
    assert any(known_items(SAID, 2, seed=seed) != first for seed in range(10))


@each(
    ("speaker", "role", "opening"),
    [
        ("user", "user", "What did I say about "),
        ("Ann", "user", "What did I say about "),
        (None, None, "What did I say about "),
        ("Helper", "assistant", "What did you say about "),
        ("Ben", None, "What did Ben say about "),
    ],
)
def test_who_speaks_opens_the_question(speaker, role, opening):
    (item,) = known_items([OwnMessage("s", "m", speaker, role, TEXTS[0])], 1, seed=0)
    assert item.question.startswith(opening)


@each(
    "text",
    [
        "",
        "Too short.",
        "Where does the old harbour crane lift its heavy boats?",
        "```\ntotal = sum(price for price in prices if price)\n```",
        " ".join(f"word{n}" for n in range(60)),
    ],
)
def test_no_question_is_made_of(text):
    assert known_items([OwnMessage("s", "m", "user", "user", text)], 1, seed=0) == []


def test_no_question_is_made_of_copies_or_of_what_nobody_said():
    copies = [
        OwnMessage("s", "a", "Ann", None, TEXTS[0]),
        OwnMessage("t", "b", "Ann", None, TEXTS[0]),
    ]
    assert known_items(copies, 5, seed=0) == []
    for role in ("system", "tool"):
        assert known_items([OwnMessage("s", "a", role, role, TEXTS[0])], 5, seed=0) == []


def test_a_message_is_asked_for_once():
    parts = [
        OwnMessage("s", "a", "Ann", None, TEXTS[0]),
        OwnMessage("s", "a", "Ann", None, TEXTS[1]),
    ]
    assert len(known_items(parts, 5, seed=0)) == 1
    assert isinstance(known_items(parts, 5, seed=0)[0], KnownItem)


SAME = Compared(DEFAULT, 0.8, 0.6, 0.0, 0.0, 0.0)


@each(
    ("other", "said"),
    [
        (Compared("without windows", 0.82, 0.6, 0.02, -0.01, 0.05), "Keep the default."),
        (Compared("without windows", 0.9, 0.6, 0.1, 0.05, 0.15), "SearchSettings(windows=False)"),
        (Compared("cosine", 0.9, 0.6, 0.1, 0.05, 0.15), "please report it"),
        (Compared("licomemory", 0.2, 0.1, -0.6, -0.7, -0.5), "Keep the default."),
    ],
)
def test_advice(other, said):
    assert said in advice([SAME, other], 100)
    assert "only" not in advice([SAME, other], 100)
    assert "These are only 12 questions." in advice([SAME, other], 12)


def test_the_setting_that_is_surely_best_is_advised():
    sure = Compared("without cues", 0.9, 0.6, 0.1, 0.05, 0.15)
    larger = replace(sure, name="without windows", difference=0.12, low=0.01, high=0.23)
    assert "cues=False" in advice([SAME, larger, sure], 100)

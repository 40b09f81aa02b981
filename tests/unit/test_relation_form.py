"""Normalisation of relations: equivalent phrases get one form, negation becomes a flag."""

from __future__ import annotations

from cognigraph.ingest.model.parse_lines import normalise_relation
from tests.cases import each


@each(
    ("given", "form"),
    [
        ("lives in", "lives in"),
        ("LIVES_IN", "lives in"),
        ("livesIn", "lives in"),
        ("  Lives   in. ", "lives in"),
        ("live in", "lives in"),
        ("is living in", "lives in"),
        ("has lived in", "lives in"),
        ("is currently living in", "lives in"),
        ("to buy", "buys"),
        ("bought", "buys"),
        ("has bought", "buys"),
        ("did buy", "buys"),
        ("was buying", "buys"),
        ("are part of", "is part of"),
        ("is going to move to", "will move to"),
        ("plans to visit", "plans to visit"),
        ("is afraid of", "is afraid of"),
        ("was born in", "was born in"),
        ("sister of", "sister of"),
        ("plan of", "plan of"),
        ("喜欢", "喜欢"),
        ("wohnt in", "wohnt in"),
    ],
)
def test_equivalent_relations_have_one_form(given, form):
    assert normalise_relation(given) == (form, False)


@each("past", ["lived in", "used to live in", "worked at", "was a member of"])
def test_the_past_is_a_different_fact(past):
    assert normalise_relation(past) == (past, False)


@each(
    ("given", "form"),
    [
        ("does not eat", "eats"),
        ("doesn't eat", "eats"),
        ("doesn’t eat", "eats"),
        ("never eats", "eats"),
        ("no longer works at", "works at"),
        ("is not", "is"),
        ("isn't allergic to", "is allergic to"),
        ("cannot climb", "can climb"),
        ("can't climb", "can climb"),
        ("won't move to", "will move to"),
        ("did not like", "liked"),
        ("has never been to", "has been to"),
    ],
)
def test_a_negation_is_separated_from_the_relation(given, form):
    assert normalise_relation(given) == (form, True)


@each("nothing", ["", "  ", "...", "_", "\x00", "not", "never"])
def test_an_empty_relation(nothing):
    assert normalise_relation(nothing).text == ""

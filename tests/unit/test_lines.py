"""Parsing the lines of an answer."""

from __future__ import annotations

from cognigraph.ingest.model.parse_lines import FactLine, entity_line, entity_type, fact_line
from cognigraph.ingest.model.transcript import WindowName
from tests.cases import each


@each(
    ("line", "entity"),
    [
        ("Vera | person | my aunt; Vee;", WindowName("Vera", "person", ("my aunt", "Vee"))),
        ("  Vera|Person|", WindowName("Vera", "person")),
        ("Vera", WindowName("Vera", "concept")),
        ('"C++" | programming language', WindowName("C++", "concept")),
        ("Pickle | cat", WindowName("Pickle", "cat")),
        ("| person", None),
        ("", None),
        ("a | b | c | d", None),
    ],
)
def test_entities(line, entity):
    assert entity_line(line) == entity


@each(
    ("line", "fact"),
    [
        ("1 | Ann | buys | tea", FactLine((1,), "Ann", "buys", "tea")),
        ("1|Ann|buys|tea||", FactLine((1,), "Ann", "buys", "tea")),
        ("1 | Ann | buys | tea | last week = 2026-05-11/2026-05-17 | Ben",
         FactLine((1,), "Ann", "buys", "tea", "last week", "2026-05-11/2026-05-17", "Ben")),
        ("1 | Ann | buys | tea | 2026-05", FactLine((1,), "Ann", "buys", "tea", "", "2026-05")),
        ("1 | Ann | buys | tea | yesterday", FactLine((1,), "Ann", "buys", "tea", "yesterday")),
        ("1 | Ann | buys | tea | = 2026", FactLine((1,), "Ann", "buys", "tea", "", "2026")),
        ("1 | Ann | buys | tea | | Ben", FactLine((1,), "Ann", "buys", "tea", source="Ben")),
        ("1 |  | buys | ", FactLine((1,), "", "buys", "")),
        ("1 | Ann | retires", FactLine((1,), "Ann", "retires", "")),
        ("1 | Ann | retires | | in May = 2026-05",
         FactLine((1,), "Ann", "retires", "", "in May", "2026-05")),
        ("Ann | buys | tea", None),
        ("1 | Ann | buys | tea | a | b | c", None),
        ("Ann buys tea.", None),
    ],
)  # fmt: skip
def test_facts(line, fact):
    assert fact_line(line) == fact


@each(
    ("written", "turns"),
    [
        ("3", (3,)),
        ("1, 4", (1, 4)),
        ("1,4;5", (1, 4, 5)),
        ("[2] [3]", (2, 3)),
        ("#2", (2,)),
        ("2-4", (2, 3, 4)),
        ("2 – 4, 7", (2, 3, 4, 7)),
        ("4-2", ()),
        ("1-100000", ()),
        ("-1", ()),
        ("m1, x, 1.5", ()),
        ("turns 1 and 2", (1, 2)),
        ("1, x", ()),
        ("1, 1.5", ()),
        ("1, 4-2", ()),
        ("1 3-500", ()),
        ("1, -2", ()),
    ],
)
def test_turn_numbers(written, turns):
    assert fact_line(f"{written} | Ann | buys | tea").turns == turns


def test_types_are_few():
    assert [entity_type(item) for item in ("Person", "city", "ORG", "thing", "animal")] == [
        "person", "location", "organization", "object", "animal",
    ]  # fmt: skip
    assert [entity_type(item) for item in ("", "a b", "x" * 25, "c3")] == ["concept"] * 4


def test_a_fact_may_replace_earlier_ones():
    assert fact_line("4 | Vera | works at | Fiat | | | replaces").replaces
    assert not fact_line("4 | Vera | works at | Fiat").replaces
    assert fact_line("4 | Vera | works at | Fiat | | | maybe") is None

"""The tolerant reader: exact on valid JSON, complete items only, and never an exception."""

from __future__ import annotations

import json
import math
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pydantic")

from pydantic import BaseModel, Field

from cognigraph.llm.parse_answer import documents, read
from tests.examples import examples
from tests.property.alphabets import STORABLE_TEXT

NASTY = st.one_of(
    STORABLE_TEXT,
    st.text(st.sampled_from('"\'`{}[]:,\\/#*\n\t ae1“”‘’<>')),
    st.sampled_from(['}{', '"}, {"', "```json", "</think>", "it's", '\\"', "// no", "null"]),
)  # fmt: skip
SCALAR = st.one_of(
    NASTY, st.integers(-(10**20), 10**20), st.booleans(), st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
JSON = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NASTY, inner, max_size=4)),
    max_leaves=12,
)
DOCUMENT = st.one_of(st.lists(JSON, max_size=5), st.dictionaries(NASTY, JSON, max_size=5))
LAYOUT = st.sampled_from(
    [{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": "\t"}]
)
PROSE = st.text(st.sampled_from("Here is it: `*_.,;!?\n-—\"'“”abc 0123()#/\\"), max_size=60)
FENCE = st.sampled_from(
    ["{}", "```json\n{}\n```", "```\n{}```", "<think>Well.</think>{}", "~~~\n{}\n~~~", "**{}**"]
)


@pytest.mark.slow
@given(DOCUMENT, LAYOUT)
def test_valid_json_is_read_exactly(value, layout):
    text = json.dumps(value, **layout)
    (document,) = documents(text)
    assert document.value == value
    assert document.complete and document.left_out == 0


@pytest.mark.slow
@given(DOCUMENT, LAYOUT, PROSE, PROSE, FENCE)
def test_prose_and_fences_change_nothing(value, layout, before, after, fence):
    text = before + fence.replace("{}", "\0").replace("\0", json.dumps(value, **layout)) + after
    assert [document.value for document in documents(text)] == [value]


@given(DOCUMENT, LAYOUT)
def test_the_tolerant_parser_agrees_with_the_exact_one(value, layout):
    """An error at the very end makes the tolerant parser read the whole text."""
    text = json.dumps({"valid": value, "last": [1]}, **layout)
    broken = text.rstrip("}] \t\n") + ",]}"
    (document,) = documents(broken)
    assert document.value == {"valid": value, "last": [1]}
    assert document.complete and document.left_out == 0


class Fact(BaseModel):
    subject: str
    object: str
    tags: list[str] = []
    weight: float = 1.0


class Facts(BaseModel):
    facts: list[Fact]


FACT = st.builds(
    lambda subject, object, tags, weight: {
        "subject": subject, "object": object, "tags": tags, "weight": weight
    },
    NASTY, NASTY, st.lists(NASTY, max_size=3), st.integers(0, 99),
)  # fmt: skip


@given(st.lists(FACT, min_size=1, max_size=5), LAYOUT, st.floats(0, 1, exclude_max=True))
def test_a_prefix_keeps_exactly_its_complete_items(facts, layout, share):
    text = json.dumps({"facts": facts}, **layout)
    head = text[: int(share * len(text))]
    complete = 0
    position = text.index("[") + 1
    for _ in facts:
        position = text.index("{", position)
        _, position = json.JSONDecoder().raw_decode(text, position)
        complete += position <= len(head)
    reading = read(head, Facts, cut_off=True)
    if complete:
        assert [fact.model_dump() for fact in reading.value.facts] == facts[:complete]
        assert reading.salvaged == complete and reading.cut_off
    else:
        assert reading.value is None and reading.problem


@given(st.lists(FACT, max_size=5), st.lists(st.integers(0, 4), max_size=2, unique=True))
def test_invalid_items_are_dropped_and_the_others_stay(facts, wrong):
    items = [
        {"subject": [1], "object": fact["object"]} if position in wrong else fact
        for position, fact in enumerate(facts)
    ]
    kept = [fact for position, fact in enumerate(facts) if position not in wrong]
    reading = read(json.dumps({"facts": items}), Facts)
    if kept or not facts:
        assert [fact.model_dump() for fact in reading.value.facts] == kept
        assert len(reading.dropped) == len(facts) - len(kept)
        assert reading.salvaged == (len(kept) if reading.dropped else 0)
    else:
        assert reading.value is None


@given(STORABLE_TEXT)
def test_no_text_makes_it_fail(text):
    for document in documents(text):
        assert isinstance(document.value, dict | list)
        assert 0 <= document.start < document.end <= len(text) or document.end >= document.start
    read(text, Facts)


@pytest.mark.slow
@given(st.lists(st.sampled_from([*"{}[]:,\"'\\ \n", "ab", "12", "null", "//", "/*", "\\u"])))
@settings(max_examples=examples(500))
def test_no_heap_of_punctuation_makes_it_fail(pieces):
    documents("".join(pieces))


SEEDS = [
    {"facts": [{"subject": "Ann", "object": 'the "Blue" café', "tags": ["a", "b{c}"]}]},
    {"facts": [{"subject": "Ann's", "object": "x\\y\n`z`", "weight": -1.5e3}] * 3},
    {"facts": []},
    {"facts": [{"subject": str(n), "object": "Oslo", "tags": []} for n in range(5)]},
]
TEXTS = [json.dumps(seed, indent=indent) for seed in SEEDS for indent in (None, 1)]
PIECES = [*"{}[]:,\"'`\\\n /#", "null", "True", "```", "\\u12", "\ud800", "\0", "//", "/*"]


def mutated(chance: random.Random) -> str:
    text = chance.choice(TEXTS)
    for _ in range(chance.randint(1, 6)):
        position, other = sorted(chance.randint(0, len(text)) for _ in range(2))
        match chance.randint(0, 5):
            case 0:
                text = text[:position] + chance.choice(PIECES) + text[position:]
            case 1:
                text = text[:position] + text[position + 1 :]
            case 2:
                text = text[:other]
            case 3:
                text = text[:position] + text[other:]
            case 4:
                text = text[:position] + text[position:other] * 2 + text[other:]
            case _:
                text = text.replace('"', chance.choice("'`“"), chance.randint(1, 4))
    return text


@pytest.mark.slow
def test_broken_answers():
    chance = random.Random(20260520)
    usable = salvaged = 0
    number = examples(100_000)
    for _ in range(number):
        text = mutated(chance)
        reading = read(text, Facts)
        if reading.value is None:
            assert reading.problem, text
            continue
        usable += 1
        salvaged += bool(reading.salvaged)
        if not reading.value.facts:  # nothing found is only what says so
            assert any(
                found.complete
                and not found.left_out
                and isinstance(found.value, dict)
                and found.value.get("facts") == []
                for found in documents(text)
            ), text
            assert reading.dropped == () and reading.salvaged == 0
    assert usable > number // 4 and salvaged > number // 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    ["[" * 60_000, '{"a":' * 15_000, "{" * 60_000, '["' * 30_000, '{"facts":[' * 6_000,
     '[{"a":1,' * 9_000, '"' * 60_000, "[1," * 30_000, '{"facts":[{"subject":"' + "\\" * 90_000,
     '{"facts":["' + '" ' * 30_000, "/*" * 30_000 + "{" + "/*" * 30_000, "9" * 60_000,
     "[" + "9" * 10_000 + ",]", '{"facts":[' + "{'a b'}," * 9_000],
)  # fmt: skip
def test_hostile_texts_are_parsed_quickly(hostile):
    start = time.process_time()
    assert read(hostile, Facts).value is None
    assert time.process_time() - start < 1.5  # quadratic would be many seconds


class Odd(BaseModel):
    n: int
    x: float = Field(ge=0)
    names: set[str] = set()


@pytest.mark.parametrize(
    "text", ['{"n": 1e999, "x": 1}', '{"n": 1, "x": NaN}', '{"n":1,"x":1' + "0" * 400 + "}"]
)
def test_numbers_out_of_range_raise_no_error(text):
    reading = read(text, Odd)
    assert reading.value is None or not math.isnan(reading.value.x)

"""Parsing the imperfect answers of small models."""

from __future__ import annotations

from typing import Annotated

import pytest

pytest.importorskip("pydantic")

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, model_validator

from cognigraph import ConfigurationError
from cognigraph.llm.parse_answer import documents, json_schema, read
from tests.cases import each


class Fact(BaseModel):
    subject: str
    object: str


class Entity(BaseModel):
    name: str


class Extraction(BaseModel):
    entities: list[Entity]
    facts: list[Fact]
    note: str = ""


class Summary(BaseModel):
    title: str
    text: str


ANN = {"subject": "Ann", "object": "Oslo"}
BEN = {"subject": "Ben", "object": "Bonn"}


@each(
    "text",
    [
        '{"subject": "Ann", "object": "Oslo"}',
        "{'subject': 'Ann', 'object': 'Oslo'}",
        '{"subject": "Ann", "object": "Oslo",}',
        '{subject: "Ann", object: "Oslo"}',
        '{"subject": "Ann" "object": "Oslo"}',
        '{"subject": "Ann"\n "object": "Oslo"}',
        '{"subject": "Ann",, "object": "Oslo"}',
        "{“subject”: “Ann”, “object”: “Oslo”}",
        '{"subject": Ann, "object": Oslo}',
        '{"subject": "Ann", // she\n "object": /* where */ "Oslo" # there\n}',
        "```json\n{'subject': 'Ann', 'object': 'Oslo'}\n```",
        'Sure! {"subject": "Ann", "object": "Oslo",} Anything else?',
        '"{\\"subject\\": \\"Ann\\", \\"object\\": \\"Oslo\\"}"',
        '\ufeff{"subject": "Ann", "object": "Oslo"}',
        'The {format} is [1]: {"subject": "Ann", "object": "Oslo"}',
        'Use { as asked: {"subject": "Ann", "object": "Oslo"',
    ],
)
def test_usual_faults_of_an_object(text):
    assert documents(text)[-1].value == ANN


@each(
    ("text", "value"),
    [
        ('["He said "hi" to her", "b"]', ['He said "hi" to her', "b"]),
        ('["He said "hi", then left", "b"]', ['He said "hi", then left', "b"]),
        ("['Ann's cat', 'b']", ["Ann's cat", "b"]),
        ('["two\nlines",]', ["two\nlines"]),
        ("[True, False, None, NaN,]"[:-6] + "]", [True, False, None]),
        ("[1, -2.5, 3e2, +4, .5,]", [1, -2.5, 300.0, 4, 0.5]),
        (r"['\_', '\'', '\q', '\u00e9', '\ud83d\ude42',]", ["_", "'", "q", "é", "🙂"]),
        ('[{"when": 2023-05}]', [{"when": "2023-05"}]),
        ('[{"a": "x // y"},]', [{"a": "x // y"}]),
        ('["a" "b"]', ['a" "b']),
        ('["a"\n"b"]', ["a", "b"]),
        ("[1 // one\n, 2 # two\n, a b /* c */]", [1, 2, "a b"]),
        ("['it's', 'a': 1]", ["it's"]),
        ("[12", []),
        ('["a", "b', ["a"]),
        ('["a", "b\\', ["a"]),
        ('["a", "b\\u12', ["a"]),
        ('[{"a": 1}, {"a": 2', [{"a": 1}]),
        ('[{"a": 1}, {"a" 2}, {"a": 3}]', [{"a": 1}, {"a": 3}]),
        ('["\\ud800"]', ["\ufffd"]),
    ],
)
def test_usual_faults_of_an_array(text, value):
    assert documents(text)[-1].value == value


def extraction(facts, entities=(), note=""):
    return {
        "entities": [{"name": name} for name in entities], "facts": list(facts), "note": note
    }  # fmt: skip


@each(
    ("text", "facts"),
    [
        ('{"entities": [], "facts": []}', []),
        ('{"entities": [], "facts": [], "note": null}', None),
        ('{"result": {"entities": [], "facts": []}}', []),
        ('[{"entities": [], "facts": []}]', []),
        ('{"type": "object", "properties": {"entities": [], "facts": []}}', []),
        ("{}", None),
        ("[]", None),
        ("", None),
        ("   ", None),
        ("null", None),
        ("I found nothing.", None),
        ('{"answer": "nothing"}', None),
        ('{"note": "nothing"}', None),
        ('{"facts": []}', None),
        ('{"entities": null, "facts": null}', None),
        ('{"entities": [], "facts": "none"}', None),
        ('{"entities": [], "facts": [', None),
        ('{"entities": [], "facts": []', None),
        ('{"entities": [], "facts": [{"subject": "Ann"}]}', None),
        ('<think>{"entities": [], "facts": []}', None),
        ('<think>Is it {"facts": [1]}?</think>{"entities": [], "facts": []}', []),
        ('{"facts": [{"subject": "Ann", "object": "Oslo"}]}', [ANN]),
        ('{"entities": null, "facts": [{"subject": "Ann", "object": "Oslo"}]}', [ANN]),
        ('{"entities": [], "facts": {"subject": "Ann", "object": "Oslo"}}', [ANN]),
        ('[{"subject": "Ann", "object": "Oslo"}]', [ANN]),
        ('{"subject": "Ann", "object": "Oslo"}\n{"subject": "Ben", "object": "Bonn"}', [ANN, BEN]),
        ('{"facts": [{"subject": "Ann", "object": "Oslo", "id": 7, "session": "x"}]}', [ANN]),
        (
            '{"entities": [], "facts": [{"subject": "Ann", "object": "Oslo"}]}\n'
            '{"entities": [], "facts": [{"subject": "Ben", "object": "Bonn"}]}',
            [ANN, BEN],
        ),
        (
            'Draft: {"entities": [], "facts": [{"subject": "Ann", "object": "Oslo"}]}. '
            'Better: {"entities": [], "facts": [{"subject": "Ben", "object": "Bonn"}]}',
            [BEN],
        ),
    ],
)
def test_only_an_explicit_empty_answer_counts_as_nothing_found(text, facts):
    reading = read(text, Extraction)
    if facts is None:
        assert reading.value is None and reading.problem
    else:
        assert reading.value.model_dump() == extraction(facts)


def test_broken_items_are_left_out_with_reasons():
    text = (
        '{"entities": [{"name": "Ann"}, {"nom": "Ben"}], '
        '"facts": [{"subject": "Ann", "object": "Oslo"}, {"subject": 1}, "x"], "note": ["a"]}'
    )
    reading = read(text, Extraction)
    assert reading.value.model_dump() == extraction([ANN], ["Ann"])
    assert reading.salvaged == 2
    assert reading.dropped == (
        "entities[1].name: Field required",
        "facts[1].subject: Input should be a valid string",
        "facts[2]: Input should be a valid dictionary or instance of Fact",
        "note: Input should be a valid string",
    )
    assert not reading.cut_off


def test_a_cut_off_answer_keeps_what_is_whole():
    text = '{"entities": [{"name": "Ann"}], "facts": [{"subject": "Ann", "object": "Oslo"}, {"sub'
    reading = read(text, Extraction, cut_off=True)
    assert reading.value.model_dump() == extraction([ANN], ["Ann"])
    assert (reading.salvaged, reading.cut_off) == (2, True)
    assert reading.dropped == ("an item could not be read, or had no end",)
    assert read(text, Extraction).cut_off  # seen from the text, too


def test_the_problem_is_described_in_words():
    assert read("Sorry.", Extraction).problem == "there is no JSON object in it"
    assert read('{"a": 1}', Extraction).problem == (
        "there is no JSON object with entities, facts in it"
    )
    assert read('{"facts": [{"subject": "Ann"}]}', Extraction).problem == (
        "facts[0].object: Field required; entities is missing"
    )


def test_a_schema_without_lists_is_whole_or_not_at_all():
    assert read('{"title": "Oslo", "text": "Ann moved."}', Summary).value == Summary(
        title="Oslo", text="Ann moved."
    )
    assert read("{'title': 'Oslo', 'text': 'Ann moved.',}", Summary).value is not None
    for text in ('{"title": "Oslo"}', '{"title": "Oslo", "text": "Ann mo', "{}", '{"title": 1}'):
        reading = read(text, Summary)
        assert reading.value is None and reading.problem


class Optional(BaseModel):
    title: str = "none"
    score: float | None = None


def test_defaults_do_not_count_as_an_answer():
    for text in ("{}", "[]", '{"other": 1}', '{"title": "a'):
        assert read(text, Optional).value is None
    assert read('{"title": "a", "score": "high"}', Optional).value == Optional(title="a")


class Aliased(BaseModel):
    model_config = ConfigDict(extra="ignore")
    items: Annotated[list[int], Field(validation_alias=AliasChoices("Items", "items"))] = []
    at: tuple[int, ...] | None = None


def test_aliases_optional_lists_and_numbers_as_words():
    assert read('{"Items": ["1", "x", 3], "at": [4]}', Aliased).value.model_dump() == {
        "items": [1, 3], "at": (4,)
    }  # fmt: skip


class Even(BaseModel):
    numbers: list[int]

    @model_validator(mode="after")
    def _even(self) -> Even:
        if len(self.numbers) % 2:
            raise ValueError("odd")
        return self


def test_a_violated_rule_of_the_whole_answer_is_not_repaired_by_dropping_items():
    assert read('{"numbers": [1, 2]}', Even).value == Even(numbers=[1, 2])
    reading = read('{"numbers": [1]}', Even)
    assert reading.value is None and "odd" in reading.problem


class Node(BaseModel):
    """A tree."""

    name: str = Field(max_length=10, description="its name")
    children: list[Node] = []


def test_schemas_are_strict_and_plain():
    assert json_schema(Node) == {
        "$defs": {
            "Node": {
                "type": "object",
                "description": "A tree.",
                "properties": {
                    "name": {"type": "string", "description": "its name"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name", "children"],
                "additionalProperties": False,
            }
        },
        "type": "object",
        "description": "A tree.",
        "properties": {
            "name": {"type": "string", "description": "its name"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        },
        "required": ["name", "children"],
        "additionalProperties": False,
    }


class Titled(BaseModel):
    title: str
    default: int = 3
    pattern: list[str] = []


def test_fields_may_be_called_like_words_of_the_schema_language():
    form = json_schema(Titled)
    assert form["required"] == ["title", "default", "pattern"]
    assert form["properties"]["default"] == {"type": "integer"}


class Empty(BaseModel):
    pass


def test_a_schema_must_be_an_object_with_fields():
    for schema in (Empty, RootModel[list[int]]):
        with pytest.raises(ConfigurationError, match="has no fields"):
            json_schema(schema)

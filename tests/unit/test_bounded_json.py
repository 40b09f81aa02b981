"""JSON of untrusted origin: its depth, its size, and the time it takes to read."""

from __future__ import annotations

import json
import time

import pytest

from cognigraph.llm.parse_answer import MAX_DEPTH, MAX_VALUES, documents, is_bounded, parse


def nested(depth: int, inside: str = "1") -> str:
    return '{"a":[' * (depth // 2) + inside + "]}" * (depth // 2)


@pytest.mark.slow
def test_depth_and_size_are_bounded():
    assert parse(nested(MAX_DEPTH)) == json.loads(nested(MAX_DEPTH))
    assert len(parse(json.dumps([0] * (MAX_VALUES - 1)))) == MAX_VALUES - 1
    for text in (
        nested(MAX_DEPTH + 2),
        nested(1_000_000),
        json.dumps([0] * MAX_VALUES),
        json.dumps([[0] * 400] * 400),
        json.dumps({str(n): n for n in range(MAX_VALUES)}),
        "[" * 1_000_000,
        "{" * 1_000_000,
        "[" + "1" * 10_000 + "]",
        "nothing",
    ):
        with pytest.raises(ValueError):
            parse(text)


@pytest.mark.parametrize("text", [nested(600, '"\\ud800"'), nested(600, '"\\ud800') + "]"])
def test_nothing_that_is_found_is_nested_too_deeply(text):
    assert all(is_bounded(document.value) for document in documents(text))


def test_what_follows_something_too_deep_is_still_found():
    (found,) = (
        document for document in documents("[" * 5000 + ' {"facts": ["x"]}') if document.value
    )
    assert found.value == {"facts": ["x"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "{" * 400_000,
        "[" * 400_000,
        '{"a": "' + 'x",‘' * 100_000,
        "[" * 150 + "1," * 200_000 + "]" * 149 + "}",
        '[{"a" 1},' * 45_000,
        '["' + '" ' * 200_000,
        '{"a":' * 75_000,
        '["a"' + " " * 400_000 + "x",
        "[/* " * 100_000,
        "{" * 20_000_000,
    ],
    ids=range(10),
)
def test_reading_takes_linear_time(text):
    started = time.process_time()
    documents(text)
    assert time.process_time() - started < 8

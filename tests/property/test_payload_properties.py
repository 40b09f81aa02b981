"""Whatever a message carries: it is kept as it was given, or refused with the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cognigraph import InvalidMessageError, Message
from cognigraph.operations.adding import message_data
from cognigraph.text.terms import replace_surrogates

NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=20)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON, max_size=5)
ODD = JSON | st.binary(max_size=3) | st.sets(st.integers(), max_size=2) | st.floats()
FIELDS = st.sampled_from(
    "text content role name tool_calls metadata tags raw session id at speaker refusal x Y".split()
)


@pytest.mark.slow
@given(OBJECTS, JSON, st.lists(st.text("abc é🙂", min_size=1, max_size=5), max_size=5))
@example({"a": "\ud800"}, {"a": "\ud800", "b": [1.0, 10**20]}, ["a", "a"])
def test_json_comes_back_as_it_was(metadata: dict[str, Any], raw: Any, tags: list[str]) -> None:
    tags = [tag for tag in tags if tag.strip()]
    data = message_data(Message(text="x", metadata=metadata, raw=raw, tags=tags), 0)
    if data is None:
        assert (metadata, raw, tags) == ({}, None, [])
        return
    assert (None if data.raw is None else json.loads(data.raw)) == raw
    assert data.tags == tuple(sorted(set(tags)))
    stored = json.loads(data.metadata) if data.metadata else {}
    assert json.dumps(stored) == json.dumps(_without_surrogates(metadata))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)[0]
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_surrogates(k)[0]: _without_surrogates(v) for k, v in value.items()}
    return value


@given(st.dictionaries(FIELDS, ODD, max_size=6))
def test_any_mapping_is_a_message_or_refused(given: dict[str, Any]) -> None:
    try:
        message = Message.of(given, index=4)
        message_data(message, 4)
    except InvalidMessageError as error:
        assert str(error).startswith("message 4")
        assert error.index == 4
    else:
        # Nothing that was given is lost: it is in a field, in the raw payload or in the metadata.
        kept = {*(message.metadata or {}), *(message.raw if isinstance(message.raw, dict) else {})}
        own = "text content role name session id at speaker metadata tags raw".split()
        assert {name for name, item in given.items() if item is not None} <= {*kept, *own}

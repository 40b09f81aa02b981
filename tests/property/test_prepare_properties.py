"""Any message is stored exactly, except for lone surrogates, or refused with its index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cognigraph import (
    ConfigurationError,
    InsertSettings,
    InvalidMessageError,
    Memory,
    Message,
    Settings,
)
from cognigraph.operations.adding import clean_message
from cognigraph.testing import FrozenClock, HashEmbedder
from tests.examples import examples
from tests.property.alphabets import ANY_TEXT

NOW = datetime(2026, 5, 20, 9, tzinfo=UTC)
ODD = st.one_of(st.none(), st.integers(), st.binary(max_size=3), ANY_TEXT)
ANYTHING = st.fixed_dictionaries(
    {"text": st.one_of(ANY_TEXT, ODD)},
    optional={"session": ODD, "speaker": ODD, "at": ODD, "id": ODD},
)


@given(ANYTHING, st.integers(0, 9))
@settings(max_examples=examples(300))
def test_any_message_is_clean_or_refused_with_its_index(fields, index):
    options: dict[str, Any] = {"space": "s", "now": NOW, "zone": None, "limit": 50, "index": index}
    try:
        message = Message.of(fields, index=index)
        found = clean_message(message, seen=Counter(), **options)
    except InvalidMessageError as error:
        assert error.index == index
        assert f"message {index}" in str(error)
        return
    for text in (found.text, found.session, found.speaker or "", found.id):
        text.encode("utf-8")
    assert found.text.strip()
    assert len(found.text) <= 50
    assert found.at.utcoffset() is not None
    assert found == clean_message(message, seen=Counter(), **options)
    assert found.text == "".join(
        "\ufffd" if "\ud800" <= c <= "\udfff" else c for c in fields["text"]
    )


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("any") / "m.db"
    small = Settings(insert=InsertSettings(max_chunk_chars=100))
    with Memory(
        path, embedder=HashEmbedder(16), enrich="manual", clock=FrozenClock(NOW), settings=small
    ) as opened:
        opened.add("something to look for")
        yield opened


@given(st.one_of(ANY_TEXT, st.lists(ANY_TEXT, max_size=8).map(" ".join)), st.none() | ANY_TEXT)
@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_as_it_went_in(memory, text, speaker):
    try:
        result = memory.add(text, speaker=speaker)
    except InvalidMessageError as error:
        assert error.index == 0
        return
    stored = memory.get(result.id)
    assert stored is not None
    expected = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert (stored.text, stored.speaker) == (expected, speaker)
    assert bool(result.notes) == (expected != text)
    again = memory.add(text, speaker=speaker)
    assert (again.new, again.ids) == ((), result.ids)


@pytest.mark.slow
@given(ANY_TEXT)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_question_can_be_asked(memory, question):
    result = memory.search(question, k=3)
    assert len(result) <= 3
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert memory.context(question, 200).tokens <= 200


@given(ANY_TEXT)
@example("\ud800")
@example("\0")
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_name_can_be_looked_up(memory, name):
    """Inspection accepts any text without NUL, and finds nothing in an empty space."""
    if "\0" in name:
        with pytest.raises(ConfigurationError, match="must not contain the character NUL"):
            memory.get(name)
        return
    memory.get(name)
    memory.get("x", session=name)
    memory.entities(match=name)
    assert memory.facts(entity=name) == []

"""A user and an assistant: exchanges and chat messages, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import InvalidMessageError
from cognigraph.ingest import RulesExtractor
from tests.conftest import START

pytestmark = pytest.mark.above_stores

NOW = START + timedelta(days=1)
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
TALK = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "Oslo: sunny, 21 degrees"},
    {"role": "assistant", "content": "It is sunny in Oslo."},
]


def exchange(**user):
    """A user's message and the assistant's answer, in one session and at one time."""
    both = {"session": "s", "at": START, "metadata": {"turn": 1}, "tags": ["moving"]}
    return [
        {"role": "user", "content": "I moved to Oslo.", "id": "x1", **both, **user},
        {"role": "assistant", "content": "Congratulations on the move!", "id": "x2", **both},
    ]


def test_an_exchange_is_two_messages_in_order(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    for _ in range(2):
        result = space.add_many(exchange(speaker="Ann"))
    assert result.ids == ("x1", "x2")
    assert result.duplicates == 2
    user, assistant = (space.get(id) for id in result.ids)
    assert (user.speaker, user.role, user.at) == ("Ann", "user", START)
    assert (assistant.speaker, assistant.role, assistant.at) == ("assistant", "assistant", START)
    assert user.metadata == assistant.metadata == {"turn": 1}
    assert user.tags == assistant.tags == ("moving",)
    rows = space.cypher("MATCH (a:Chunk)-[:NEXT]->(b:Chunk) RETURN a.role AS a, b.role AS b")
    assert [dict(row) for row in rows] == [{"a": "user", "b": "assistant"}]
    space.flush()
    assert {t.subject for t in space.facts()} >= {"Ann"}


def test_an_exchange_without_a_name_is_the_user_s(open_memory, space_name):
    space = open_memory().space(space_name)
    result = space.add_many(exchange())
    assert [space.get(id).speaker for id in result.ids] == ["user", "assistant"]
    with pytest.raises(InvalidMessageError, match="message 1 has an empty text"):
        space.add_many([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": ""}])


def test_a_chat_is_stored_without_conversion(open_memory, space_name):
    space = open_memory().space(space_name)
    talk = [m | {"id": f"m{n}", "at": START + timedelta(seconds=n)} for n, m in enumerate(TALK)]
    assert len(space.add_many(talk).new) == 5
    stored = [space.get(f"m{n}") for n in range(5)]
    assert [message.role for message in stored] == [
        "system", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [message.text for message in stored] == [m["content"] or "" for m in TALK]
    assert stored[2].raw == {"role": "assistant", "tool_calls": [CALL]}
    assert stored[3].raw == TALK[3]
    assert {hit.id for hit in space.search("weather in Oslo", 5, NOW)} == {"m1", "m4"}

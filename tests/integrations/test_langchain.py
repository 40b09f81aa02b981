"""LangChain's message history: messages come back as they were."""

from __future__ import annotations

import pytest

from cognigraph import Memory

pytest.importorskip("langchain_core")
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from cognigraph.integrations.langchain import CogniGraphChatMessageHistory

pytestmark = pytest.mark.slow

MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage("I moved to Oslo.", name="Ann", id="h1"),
    AIMessage("", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1"}]),
    ToolMessage("sunny", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "It is sunny."}], response_metadata={"model": "m"}),
    HumanMessage("I moved to Oslo.", name="Ann", id="h1"),
    ChatMessage("Hello.", role="moderator"),
]


def test_messages_come_back_as_they_were(memory: Memory) -> None:
    history = CogniGraphChatMessageHistory("s1", memory)
    assert history.messages == []
    history.add_messages(MESSAGES[:-1])
    assert history.messages == MESSAGES[:-1]
    history.add_user_message("Bye.")
    assert history.messages[-1] == HumanMessage("Bye.")
    memory.add("Said by hand.", session="s1", role="assistant")
    assert history.messages[-1] == AIMessage("Said by hand.")
    assert [hit.speaker for hit in memory.search("Where did Ann move to?", 1).hits] == ["Ann"]
    assert CogniGraphChatMessageHistory("s2", memory).messages == []
    history.clear()
    history.clear()
    assert history.messages == []


def test_a_role_of_its_own_is_kept(memory: Memory) -> None:
    history = CogniGraphChatMessageHistory("s1", memory)
    history.add_messages(MESSAGES[-1:])
    assert history.messages == MESSAGES[-1:]
    assert [message.speaker for message in memory.messages()] == ["moderator"]

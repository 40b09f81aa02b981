"""The memory service of Google's ADK."""

from __future__ import annotations

import asyncio

import pytest

from cognigraph import Memory

pytest.importorskip("google.adk.memory.base_memory_service")
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from cognigraph.integrations.google_adk import CogniGraphMemoryService

pytestmark = pytest.mark.slow

BOB = "Bob has a dog."


def said(author: str, text: str, at: float) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, content=content, timestamp=at)


def test_sessions_are_stored_once_and_searched_by_user(memory: Memory) -> None:
    service = CogniGraphMemoryService(memory)
    call = types.Part(function_call=types.FunctionCall(name="f", args={"x": 1}))
    events = [
        said("user", "I moved to Oslo.", 1716000000),
        Event(
            author="helper", content=types.Content(role="model", parts=[call]), timestamp=1716000001
        ),
        said("helper", "Congratulations!", 1716000002),
        Event(author="helper", timestamp=1716000003),
    ]
    session = Session(id="s1", app_name="app", user_id="ann", events=events)

    async def run() -> None:
        await service.add_session_to_memory(session)
        session.events.append(said("user", "And I got a cat.", 1716000004))
        await service.add_session_to_memory(session)
        await service.add_events_to_memory(
            app_name="app", user_id="ann", events=events[:1], session_id="s1"
        )
        await service.add_memory(
            app_name="app", user_id="bob",
            memories=[MemoryEntry(content=types.Content(parts=[types.Part(text=BOB)]))],
        )  # fmt: skip
        found = await service.search_memory(
            app_name="app", user_id="ann", query="Where did I move?"
        )
        first = found.memories[0]
        assert first.content.parts is not None and first.content.parts[0].text == "I moved to Oslo."
        assert (first.author, first.timestamp) == ("user", "2024-05-18T02:40:00+00:00")
        other = await service.search_memory(
            app_name="app", user_id="bob", query="Where did I move?"
        )
        assert [memory.content.parts[0].text for memory in other.memories] == ["Bob has a dog."]  # type: ignore[index]
        empty = await service.search_memory(app_name="app/ann", user_id="", query="Oslo")
        assert empty.memories == []
        await service.delete_memory(app_name="app", user_id="ann", memory_id=first.id)
        left = await service.search_memory(app_name="app", user_id="ann", query="Oslo")
        assert "I moved to Oslo." not in str(left)

    asyncio.run(run())
    stored = memory.space("app/ann").messages()
    assert [message.text for message in stored] == ["", "Congratulations!", "And I got a cat."]
    assert stored[0].raw["parts"][0]["function_call"]["args"] == {"x": 1}
    asyncio.run(service.delete_memory(app_name="app", user_id="ann"))
    assert memory.spaces() == ["app/bob"]

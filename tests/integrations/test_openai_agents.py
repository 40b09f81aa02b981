"""The session of the OpenAI Agents SDK: lossless items, and an agent that uses it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cognigraph import Memory

pytest.importorskip("agents")
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from cognigraph.integrations.openai_agents import CogniGraphSession

pytestmark = pytest.mark.slow

ITEMS: list[Any] = [
    {"role": "user", "content": "I moved to Oslo."},
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
     "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}]},
    {"role": "user", "content": "I moved to Oslo."},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:..."}]},
]  # fmt: skip


def test_items_come_back_as_they_were(memory: Memory) -> None:
    session = CogniGraphSession("s1", memory)
    assert isinstance(session, Session)

    async def run() -> None:
        await session.add_items(ITEMS[:3])
        await session.add_items(ITEMS[3:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        assert await session.pop_item() == ITEMS[-1]
        assert await session.get_items() == ITEMS[:-1]
        other = CogniGraphSession("s2", memory, SessionSettings(limit=1))
        assert await other.pop_item() is None
        await other.add_items(ITEMS[:2])
        assert await other.get_items() == [ITEMS[1]]
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == []
        assert len(await other.get_items(limit=5)) == 2

    asyncio.run(run())


def test_what_was_said_is_searched_and_payloads_are_not(memory: Memory) -> None:
    session = CogniGraphSession("s1", memory)
    asyncio.run(session.add_items(ITEMS))
    memory.add("Said by hand.", session="s1", role="assistant")
    hits = memory.search("Where did I move to, and is it sunny?").hits
    assert {hit.text for hit in hits} == {"I moved to Oslo.", "It is sunny.", "Said by hand."}
    assert asyncio.run(session.get_items(1)) == [{"role": "assistant", "content": "Said by hand."}]
    memory.flush()
    assert ("user", "Oslo") in {(fact.subject, fact.object) for fact in memory.facts()}


class Scripted(Model):
    """A model that calls a tool, and then answers."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **more: Any
    ) -> Any:
        self.seen.append(input)
        output: Any
        if len(self.seen) == 1:
            output = ResponseFunctionToolCall(
                arguments='{"city": "Oslo"}', call_id="c1", name="weather", type="function_call"
            )
        else:
            text = ResponseOutputText(text="Take a coat.", type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **more: Any) -> Any:
        raise NotImplementedError


@function_tool
def weather(city: str) -> str:
    """Tell the weather."""
    return f"snow in {city}"


def test_an_agent_remembers_across_runs(memory: Memory) -> None:
    set_tracing_disabled(True)
    model = Scripted()
    agent = Agent(name="helper", model=model, tools=[weather])
    session = CogniGraphSession("trip", memory)

    async def run() -> None:
        first = await Runner.run(agent, "I fly to Oslo. What shall I wear?", session=session)
        assert first.final_output == "Take a coat."
        await Runner.run(agent, "Thanks. And where do I fly to?", session=session)

    asyncio.run(run())
    kinds = [item.get("type", "message") for item in model.seen[-1]]
    assert kinds == ["message", "function_call", "function_call_output", "message", "message"]
    assert model.seen[-1][2]["output"] == "snow in Oslo"

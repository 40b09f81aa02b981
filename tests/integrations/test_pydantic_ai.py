"""Pydantic AI's toolset, used by an agent with a scripted model."""

from __future__ import annotations

from typing import Any

import pytest

from cognigraph import Memory

pytest.importorskip("pydantic_ai")
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cognigraph.integrations.pydantic_ai import memory_toolset

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("event_loop")
def test_an_agent_remembers_and_recalls(memory: Memory) -> None:
    calls = [
        ("remember", {"text": "I moved to Oslo."}),
        ("recall", {"question": "Where do I live?"}),
    ]
    seen: list[Any] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen[:] = [info, *messages]
        if calls:
            return ModelResponse(parts=[ToolCallPart(*calls.pop(0))])
        return ModelResponse(parts=[TextPart("Done.")])

    agent = Agent(FunctionModel(model), toolsets=[memory_toolset(memory, session="s")])
    assert agent.run_sync("Remember where I live.").output == "Done."
    tools = {tool.name: tool for tool in seen[0].function_tools}
    assert tools["recall"].description.startswith("Look up what is known")
    assert tools["remember"].parameters_json_schema["required"] == ["text"]
    returned = [part for part in seen[-1].parts if part.part_kind == "tool-return"]
    assert "I moved to Oslo." in returned[0].content
    (stored,) = memory.messages()
    assert (stored.text, stored.role, stored.session) == ("I moved to Oslo.", "user", "s")

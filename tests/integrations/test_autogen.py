"""AutoGen's memory protocol."""

from __future__ import annotations

import asyncio

import pytest

from cognigraph import InvalidMessageError, Memory

pytest.importorskip("autogen_core.memory")
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext
from autogen_core.models import SystemMessage, UserMessage

from cognigraph.integrations.autogen import CogniGraphMemory

pytestmark = pytest.mark.slow


def test_contents_are_added_queried_and_put_into_a_context(memory: Memory) -> None:
    ours = CogniGraphMemory(memory, session="prefs")

    async def run() -> None:
        context = BufferedChatCompletionContext(buffer_size=10)
        assert (await ours.update_context(context)).memories.results == []
        for text in ("Ann prefers metric units.", "The deploy failed on Friday."):
            await ours.add(
                MemoryContent(content=text, mime_type=MemoryMimeType.TEXT, metadata={"n": 1})
            )
        await ours.add(MemoryContent(content={"city": "Oslo"}, mime_type=MemoryMimeType.JSON))
        found = (await ours.query("Which units does Ann prefer?", k=1)).results
        assert [item.content for item in found] == ["Ann prefers metric units."]
        assert found[0].metadata is not None and found[0].metadata["n"] == 1
        await context.add_message(UserMessage(content="Which units does Ann prefer?", source="Ann"))
        (block,) = (await ours.update_context(context)).memories.results
        assert "Ann prefers metric units." in str(block.content)
        last = (await context.get_messages())[-1]
        assert isinstance(last, SystemMessage) and last.content == block.content
        with pytest.raises(InvalidMessageError, match="cannot be stored; give a text or JSON"):
            await ours.add(MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY))
        memory.add("Stays.", session="other")
        await ours.clear()
        await ours.clear()
        await ours.close()

    asyncio.run(run())
    assert [message.text for message in memory.messages()] == ["Stays."]

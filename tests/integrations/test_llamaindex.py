"""LlamaIndex's memory block, in its own Memory."""

from __future__ import annotations

import asyncio

import pytest

from cognigraph import Memory

pytest.importorskip("llama_index.core")
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.memory import Memory as LlamaMemory

from cognigraph.integrations.llamaindex import CogniGraphMemoryBlock

pytestmark = pytest.mark.slow


def test_what_leaves_the_short_term_memory_is_found_again(memory: Memory) -> None:
    block = CogniGraphMemoryBlock(space=memory)
    short = LlamaMemory.from_defaults(
        session_id="s7", token_limit=60, token_flush_size=20, memory_blocks=[block],
        chat_history_token_ratio=0.5, tokenizer_fn=str.split,
    )  # fmt: skip

    async def run() -> list[ChatMessage]:
        await short.aput(
            ChatMessage(role=MessageRole.USER, content="My sister Klara lives in Bergen.")
        )
        for number in range(12):
            await short.aput(
                ChatMessage(role=MessageRole.ASSISTANT, content=f"Some other talk {number} " * 3)
            )
            await short.aput(ChatMessage(role=MessageRole.USER, content="Go on. " * 4))
        await short.aput(ChatMessage(role=MessageRole.USER, content="Where does Klara live?"))
        found = await short.aget()
        engine, _ = await short.sql_store._setup_connections()  # which has no public way to close
        await engine.dispose()
        return found

    messages = asyncio.run(run())
    stored = memory.messages(limit=1).messages[0]
    assert (stored.text, stored.session, stored.role) == (
        "My sister Klara lives in Bergen.", "s7", "user",
    )  # fmt: skip
    assert any("Klara lives in Bergen" in (message.content or "") for message in messages)


def test_a_block_takes_tool_calls_and_is_truncated(memory: Memory) -> None:
    block = CogniGraphMemoryBlock(space=memory, max_tokens=200)
    call = ToolCallBlock(tool_name="f", tool_kwargs={"x": 1}, tool_call_id="c1")

    async def run() -> None:
        await block.aput(
            [
                ChatMessage(role="assistant", blocks=[call]),
                ChatMessage(role="assistant", content=""),
                ChatMessage(role="user", blocks=[TextBlock(text="I moved to Oslo.")]),
            ]
        )
        assert await block.aget([]) == ""
        text = await block.aget([ChatMessage(role="user", content="Where did I move to?")])
        assert "I moved to Oslo." in text
        assert await block.atruncate(text, 10_000) is None
        shorter = await block.atruncate(text, 5)
        assert shorter is not None and text.startswith(shorter) and len(shorter) < len(text)

    asyncio.run(run())
    tool, _said = memory.messages()
    assert tool.text == "" and tool.raw["blocks"][0]["tool_kwargs"] == {"x": 1}

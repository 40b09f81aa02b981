"""A memory block of LlamaIndex: what left the short-term memory is stored, and found again."""

from __future__ import annotations

import asyncio
from typing import Any

from cognigraph.integrations import requirement
from cognigraph.model import Message
from cognigraph.model.messages import as_role
from cognigraph.space import Space

with requirement("llamaindex"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from pydantic import Field

_SESSION = "default"


class CogniGraphMemoryBlock(BaseMemoryBlock[str]):
    """A block whose content is a prompt block about the last message of the user.

    Args:
        space: a memory, or one of its spaces.
        max_tokens: largest size of the content.
    """

    name: str = Field(default="long_term_memory")
    description: str | None = Field(
        default="What was said earlier, in this conversation and in others"
    )
    priority: int = Field(default=1)
    space: Space
    max_tokens: int = Field(default=1300)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """What is known about the last message of the user; nothing without one."""
        asked = [
            message.content
            for message in messages or ()
            if message.role.value == "user" and message.content
        ]
        if not asked:
            return ""
        return str(await asyncio.to_thread(self.space.context, asked[-1], self.max_tokens))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store messages that left the short-term memory."""
        converted = (_message(message) for message in messages)
        new = [message for message in converted if message is not None]
        await asyncio.to_thread(self.space.add_many, new)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the last lines, until about as many tokens are gone."""
        lines, gone = content.split("\n"), 0
        while lines and gone < tokens_to_truncate:
            gone += max(1, len(lines.pop()) // 4)
        return "\n".join(lines) or None


def _message(given: ChatMessage) -> Message | None:
    """The message; ``None`` for one without content. Blocks that are no text stay in ``raw``."""
    text = given.content or ""
    payload = given.model_dump(mode="json")
    is_plain = all(block.block_type == "text" for block in given.blocks)
    extra = {name: kwarg for name, kwarg in given.additional_kwargs.items() if name != "session_id"}
    if not text.strip() and is_plain and not extra:
        return None
    return Message(
        text=text,
        role=as_role(given.role.value),
        session=str(given.additional_kwargs.get("session_id") or _SESSION),
        raw=None if is_plain and not extra else payload,
    )

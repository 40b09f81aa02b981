"""A ``Session`` of the OpenAI Agents SDK: the items of a conversation, kept as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cognigraph.integrations import requirement
from cognigraph.integrations.transcript import Transcript
from cognigraph.model import Message, Role, StoredMessage
from cognigraph.model.chat import text_of
from cognigraph.model.messages import as_role
from cognigraph.space import Space

with requirement("openai-agents"):
    from agents.memory.session_settings import SessionSettings

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

_RESULTS = frozenset({"function_call_output", "computer_call_output", "local_shell_call_output"})


class CogniGraphSession:
    """The history of one conversation, in a space of a memory.

    What users and the agent say can be searched with ``space.search`` and ``space.context``, also
    from other sessions. Tool calls, their results and the model's reasoning are kept as they are
    and not searched.

    Args:
        session_id: the conversation.
        space: a memory, or one of its spaces.
        session_settings: how many items are read by default.
    """

    def __init__(
        self, session_id: str, space: Space, session_settings: SessionSettings | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings or SessionSettings()
        self._transcript = Transcript(space, session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, the oldest first; with ``limit`` the last ones."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        messages = await asyncio.to_thread(self._transcript.read, limit)
        return [_as_given(message) for message in messages]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end."""
        await asyncio.to_thread(self._transcript.append, [_to_store(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item off, and return it."""
        message = await asyncio.to_thread(self._transcript.pop)
        return None if message is None else _as_given(message)

    async def clear_session(self) -> None:
        """Forget all items."""
        await asyncio.to_thread(self._transcript.clear)


def _to_store(item: Any) -> Message:
    """The message, with the whole item as payload, so that nothing is lost."""
    fields: Mapping[str, Any] = item if isinstance(item, Mapping) else item.model_dump()
    role: Role | None = as_role(str(fields.get("role", "")))
    kind = fields.get("type", "message")
    if kind == "message" and role is not None:
        text, _ = text_of(fields.get("content", ""), 0)
    else:
        text, role = "", "tool" if kind in _RESULTS else "assistant"
    return Message(text=text, role=role, raw=dict(fields))


def _as_given(message: StoredMessage) -> Any:
    """The item as it was given; of a message that was added otherwise, one that says the same."""
    if isinstance(message.raw, Mapping):
        return message.raw
    return {"role": message.role or "user", "content": message.text}

"""A chat message history of LangChain: the messages of one session, kept as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph.importers.chat_messages import message_of
from cognigraph.importers.record import Bad
from cognigraph.integrations import requirement
from cognigraph.integrations.transcript import Transcript
from cognigraph.model import Message, StoredMessage
from cognigraph.space import Space

with requirement("langchain"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        message_to_dict,
        messages_from_dict,
    )

_CLASSES: dict[str | None, type[BaseMessage]] = {"assistant": AIMessage, "system": SystemMessage}


class CogniGraphChatMessageHistory(BaseChatMessageHistory):
    """The history of one conversation, in a space of a memory.

    Args:
        session_id: the conversation.
        space: a memory, or one of its spaces.
    """

    def __init__(self, session_id: str, space: Space) -> None:
        self.session_id = session_id
        self._transcript = Transcript(space, session_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, the oldest first."""
        return [_as_given(stored) for stored in self._transcript.read()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end, in one transaction."""
        self._transcript.append([_to_store(message) for message in messages])

    def clear(self) -> None:
        """Forget all messages of the session."""
        self._transcript.clear()


def _to_store(message: BaseMessage) -> Message:
    """The message with the whole of what LangChain has as payload, so that nothing is lost."""
    item = message_to_dict(message)
    fields = message_of(item)
    if isinstance(fields, Bad):  # a type of its own: kept, and not searched
        return Message(text="", role="assistant", raw=item)
    return Message(text=fields["text"], role=fields["role"], speaker=fields["speaker"], raw=item)


def _as_given(stored: StoredMessage) -> BaseMessage:
    """The message as it was given; of one that was added otherwise, one that says the same."""
    raw: Any = stored.raw
    if isinstance(raw, Mapping) and isinstance(raw.get("data"), Mapping):
        return messages_from_dict([dict(raw)])[0]
    return _CLASSES.get(stored.role, HumanMessage)(content=stored.text)

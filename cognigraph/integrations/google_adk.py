"""A memory service of Google's Agent Development Kit: each user of an app has a space."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote
from uuid import uuid4

from cognigraph.integrations import requirement
from cognigraph.memory import Memory
from cognigraph.model import Message
from cognigraph.space import Space

with requirement("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

_USER = "user"


class CogniGraphMemoryService(BaseMemoryService):
    """Long-term memory for ADK, in a memory with a space for each user of each app.

    Args:
        memory: the memory.
        k: how many messages a search returns.
    """

    def __init__(self, memory: Memory, *, k: int = 10) -> None:
        self._memory = memory
        self._k = k

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session; those that are stored already are skipped."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store some events of a session."""
        messages = (_message(event, session_id or "default", custom_metadata) for event in events)
        said = [message for message in messages if message is not None]
        if said:
            await asyncio.to_thread(self._space(app_name, user_id).add_many, said)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories that the program has made itself."""
        messages = [
            Message(
                text=_text(memory.content),
                speaker=memory.author,
                at=memory.timestamp,
                id=getattr(memory, "id", None) or uuid4().hex,
                metadata=dict(getattr(memory, "custom_metadata", None) or {})
                | dict(custom_metadata or {}),
            )
            for memory in memories
        ]
        await asyncio.to_thread(self._space(app_name, user_id).add_many, messages)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Find messages of a user, best first."""
        space = self._space(app_name, user_id)
        answer = await asyncio.to_thread(space.search, query, self._k)
        entries = [
            MemoryEntry(
                id=f"{quote(hit.session, '')}/{quote(hit.id, '')}",
                content=types.Content(parts=[types.Part(text=hit.text)], role=hit.role or _USER),
                author=hit.speaker,
                timestamp=hit.at.isoformat(),
            )
            for hit in answer.hits
        ]
        return SearchMemoryResponse(memories=entries)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget one message, or all of a user."""
        space = self._space(app_name, user_id)
        if memory_id is None:
            await asyncio.to_thread(self._memory.admin.delete_space, space.name)
            return
        session, _, id = map(unquote, memory_id.rpartition("/"))
        await asyncio.to_thread(space.forget, message=id, session=session or None)

    def _space(self, app_name: str, user_id: str) -> Space:
        return self._memory.space("/".join(quote(name, "") for name in (app_name, user_id)))


def _message(event: Event, session: str, metadata: Mapping[str, object] | None) -> Message | None:
    """The message; ``None`` for an event in which nothing was said and no tool took part."""
    content = event.content
    if content is None or not content.parts or getattr(event, "partial", False):
        return None
    text = _text(content)
    others = [part for part in content.parts if not part.text]
    if not text.strip() and not others:
        return None
    results = [part for part in others if part.function_response is not None]
    is_user = event.author == _USER
    raw: Any = content.model_dump(mode="json", exclude_none=True) if others else None
    return Message(
        text=text,
        role="tool" if results else "user" if is_user else "assistant",
        speaker=None if is_user else event.author,
        session=session,
        id=event.id or None,
        at=datetime.fromtimestamp(event.timestamp, UTC),
        metadata=dict(metadata) if metadata else None,
        raw=raw,
    )


def _text(content: types.Content) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)

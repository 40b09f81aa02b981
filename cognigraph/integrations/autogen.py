"""A ``Memory`` of AutoGen: its contents are messages, and a model's context gets what fits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from cognigraph.errors import InvalidMessageError
from cognigraph.integrations import requirement
from cognigraph.integrations.transcript import Transcript
from cognigraph.model import Filter
from cognigraph.space import Space

with requirement("autogen"):
    from autogen_core import CancellationToken
    from autogen_core.memory import (
        Memory,
        MemoryContent,
        MemoryMimeType,
        MemoryQueryResult,
        UpdateContextResult,
    )
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import SystemMessage, UserMessage


class CogniGraphMemory(Memory):
    """Long-term memory for AutoGen agents.

    Args:
        space: a memory, or one of its spaces.
        session: the session to which ``add`` adds; queries search all sessions.
        k: how many messages a query returns.
        max_tokens: largest size of what ``update_context`` adds.
    """

    component_provider_override = "cognigraph.integrations.autogen.CogniGraphMemory"

    def __init__(
        self, space: Space, *, session: str = "default", k: int = 5, max_tokens: int = 1300
    ) -> None:
        self._space = space
        self._session = session
        self._k = k
        self._max_tokens = max_tokens

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add what is known about the last message to the context, as a system message."""
        messages = await model_context.get_messages()
        asked = [message.content for message in messages if isinstance(message, UserMessage)]
        texts = [item for item in asked if isinstance(item, str)]
        results = []
        if texts and (
            block := await asyncio.to_thread(self._space.context, texts[-1], self._max_tokens)
        ):
            await model_context.add_message(SystemMessage(content=str(block)))
            results = [MemoryContent(content=str(block), mime_type=MemoryMimeType.TEXT)]
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Find contents, best first; ``k`` may be given, and ``where``, a :class:`Filter`."""
        text = query if isinstance(query, str) else str(query.content)
        where = kwargs.get("where") or Filter()
        k = kwargs.get("k", self._k)
        answer = await asyncio.to_thread(self._space.search, text, k, where=where)
        results = [
            MemoryContent(
                content=hit.text,
                mime_type=MemoryMimeType.TEXT,
                metadata=dict(hit.metadata)
                | {"id": hit.id, "score": hit.score, "at": hit.at.isoformat()},
            )
            for hit in answer.hits
        ]
        return MemoryQueryResult(results=results)

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Store a text, or a JSON object, whose texts are then what is searched."""
        value = content.content
        if isinstance(value, str):
            text, raw = value, None
        elif isinstance(value, Mapping):
            text, raw = "\n".join(f"{name}: {item}" for name, item in value.items()), dict(value)
        else:
            raise InvalidMessageError(
                f"a memory of type {content.mime_type} cannot be stored; give a text or JSON"
            )
        await asyncio.to_thread(
            self._space.add,
            text,
            session=self._session,
            id=uuid4().hex,
            raw=raw,
            metadata=content.metadata,
        )

    async def clear(self) -> None:
        """Forget the session."""
        await asyncio.to_thread(Transcript(self._space, self._session).clear)

    async def close(self) -> None:
        """Do nothing: whoever opened the memory closes it."""

"""``AsyncWriting``: the operations of a space that store messages, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

from cognigraph.argument_names import refuse_unknown
from cognigraph.errors import StoreError
from cognigraph.model import DEFAULT_SESSION, AddResult, Message, Role, StatedFact
from cognigraph.operations.batches import Progress
from cognigraph.operations.stating import FACTS
from cognigraph.space import Space

_P = ParamSpec("_P")
_R = TypeVar("_R")

_THREADS = 8


class Threads:
    """The threads in which the operations of one memory and all its spaces run."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="cognigraph")
        self.closed = False

    async def run(self, call: Callable[[], _R]) -> _R:
        """Run a call in one of the threads."""
        if self.closed:
            raise StoreError("this memory is closed; open it again")
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def close(self) -> None:
        """Let the running calls finish, without waiting for them, and refuse others."""
        self.closed = True
        self._executor.shutdown(wait=False)


class InThreads:
    """Operations that run in the threads of a memory."""

    _threads: Threads

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if isfunction(member) and (name == "__init__" or not name.startswith("_")):
                setattr(cls, name, refuse_unknown(member))

    async def _run(
        self, verb: Callable[_P, _R], /, *arguments: _P.args, **options: _P.kwargs
    ) -> _R:
        return await self._threads.run(partial(verb, *arguments, **options))


class AsyncWriting(InThreads):
    """One tenant of a memory, as far as messages are added to it."""

    def __init__(self, space: Space, threads: Threads) -> None:
        self._space = space
        self._threads = threads

    @property
    def name(self) -> str:
        """The tenant's name."""
        return self._space.name

    async def add(
        self,
        text: str,
        *,
        session: str = DEFAULT_SESSION,
        speaker: str | None = None,
        at: datetime | str | None = None,
        id: str | None = None,
        role: Role | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        raw: Any = None,
        expires: datetime | str | None = None,
        facts: Iterable[StatedFact] | None = None,
        extract: bool | None = None,
        session_summary: str | None = None,
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add`."""
        return await self._run(
            self._space.add,
            text,
            session=session,
            speaker=speaker,
            at=at,
            id=id,
            role=role,
            metadata=metadata,
            tags=tags,
            raw=raw,
            expires=expires,
            facts=facts,
            extract=extract,
            session_summary=session_summary,
        )

    async def add_fact(
        self,
        subject: str,
        relation: str,
        object: str,
        *,
        when: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        negated: bool = False,
        replaces: bool = False,
        source: str | None = None,
        subject_type: str | None = None,
        object_type: str | None = None,
        session: str = FACTS,
        at: datetime | str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        expires: datetime | str | None = None,
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add_fact`."""
        return await self._run(
            self._space.add_fact,
            subject,
            relation,
            object,
            when=when,
            valid_from=valid_from,
            valid_to=valid_to,
            negated=negated,
            replaces=replaces,
            source=source,
            subject_type=subject_type,
            object_type=object_type,
            session=session,
            at=at,
            id=id,
            metadata=metadata,
            tags=tags,
            expires=expires,
        )

    async def add_exchange(
        self,
        user: str,
        assistant: str,
        *,
        session: str = DEFAULT_SESSION,
        speaker: str | None = None,
        at: datetime | str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        facts: Iterable[StatedFact] | None = None,
        session_summary: str | None = None,
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add_exchange`."""
        return await self._run(
            self._space.add_exchange,
            user,
            assistant,
            session=session,
            speaker=speaker,
            at=at,
            id=id,
            metadata=metadata,
            tags=tags,
            facts=facts,
            session_summary=session_summary,
        )

    async def add_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]]
        | AsyncIterable[Message | Mapping[str, Any]],
        *,
        on_progress: Progress | None = None,
        skip_invalid: bool = False,
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add_many`; ``on_progress`` is called in a worker thread."""
        if isinstance(messages, AsyncIterable):
            messages = [message async for message in messages]
        return await self._run(
            self._space.add_many, messages, on_progress=on_progress, skip_invalid=skip_invalid
        )

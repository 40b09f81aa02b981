"""``AsyncMemory``: the operations of a memory for asyncio, run in a small pool of threads.

Each operation is that of the synchronous class, awaited: its arguments, their types and its
documentation are written there once. Callbacks are called in a worker thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from cognigraph.errors import StoreError
from cognigraph.memory import Admin, Memory
from cognigraph.model import AddResult, Message
from cognigraph.model.storage import StoreInfo, WorkerState
from cognigraph.operations.adding import Progress
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from cognigraph.settings import Settings
from cognigraph.space import Space

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Owner = TypeVar("_Owner")

_THREADS = 8


class Threads:
    """The threads in which the operations of one memory and all its spaces run."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="cognigraph")
        self.closed = False

    async def run(self, call: Callable[[], _R]) -> _R:
        """Run a call in one of the threads.

        Raises:
            StoreError: the memory is closed.
        """
        if self.closed:
            raise StoreError("this memory is closed; open it again")
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def close(self) -> None:
        """Let the running calls finish, without waiting for them, and refuse others."""
        self.closed = True
        self._executor.shutdown(wait=False)


class _Async:
    """An object whose operations run in the threads of a memory."""

    def __init__(self, inner: Any, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads


def _awaited(
    operation: Callable[Concatenate[_Owner, _P], _R],
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _R]]:
    """Make the asynchronous twin of an operation, with its arguments and documentation."""

    @wraps(operation)
    async def run(self: _Async, /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        verb = getattr(self._inner, operation.__name__)
        return await self._threads.run(partial(verb, *arguments, **options))

    return run


class AsyncQueue(_Async):
    """:class:`Queue <cognigraph.operations.queue.Queue>`, awaited."""

    enrich = _awaited(Queue.enrich)
    estimate = _awaited(Queue.estimate)
    redo = _awaited(Queue.redo)
    failures = _awaited(Queue.failures)
    retry = _awaited(Queue.retry)


class AsyncReview(_Async):
    """:class:`Review <cognigraph.operations.review.Review>`, awaited."""

    conflicts = _awaited(Review.conflicts)
    supersede = _awaited(Review.supersede)
    retract = _awaited(Review.retract)
    restore = _awaited(Review.restore)
    duplicates = _awaited(Review.duplicates)
    merge = _awaited(Review.merge)
    split = _awaited(Review.split)
    merges = _awaited(Review.merges)


class AsyncOverview(_Async):
    """:class:`Overview <cognigraph.operations.overview.Overview>`, awaited."""

    sessions = _awaited(Overview.sessions)
    summaries = _awaited(Overview.summaries)
    episodes = _awaited(Overview.episodes)
    profile = _awaited(Overview.profile)
    core_profile = _awaited(Overview.core_profile)
    procedures = _awaited(Overview.procedures)
    versions = _awaited(Overview.versions)


class AsyncFiles(_Async):
    """:class:`Files <cognigraph.operations.files.Files>`, awaited."""

    import_file = _awaited(Files.import_file)
    export = _awaited(Files.export)
    load = _awaited(Files.load)


class AsyncAdmin(_Async):
    """:class:`Admin <cognigraph.memory.Admin>`, awaited."""

    reindex = _awaited(Admin.reindex)
    check = _awaited(Admin.check)
    backup = _awaited(Admin.backup)
    import_spaces = _awaited(Admin.import_spaces)
    copy_space = _awaited(Admin.copy_space)
    delete_space = _awaited(Admin.delete_space)
    waiting = _awaited(Admin.waiting)
    longest_wait = _awaited(Admin.longest_wait)
    audit = _awaited(Admin.audit)
    bookmarks = _awaited(Admin.bookmarks)
    catch_up = _awaited(Admin.catch_up)
    _inner: Admin

    @property
    def worker_state(self) -> WorkerState | None:
        """How the background worker is doing, without asking the store; ``None`` if none is."""
        return self._inner.worker_state


class AsyncSpace(_Async):
    """:class:`~cognigraph.Space`, awaited."""

    add = _awaited(Space.add)
    add_fact = _awaited(Space.add_fact)
    search = _awaited(Space.search)
    context = _awaited(Space.context)
    ask = _awaited(Space.ask)
    why = _awaited(Space.why)
    get = _awaited(Space.get)
    messages = _awaited(Space.messages)
    update = _awaited(Space.update)
    forget = _awaited(Space.forget)
    facts = _awaited(Space.facts)
    history = _awaited(Space.history)
    entities = _awaited(Space.entities)
    stats = _awaited(Space.stats)
    cypher = _awaited(Space.cypher)
    flush = _awaited(Space.flush)
    _inner: Space

    async def add_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]]
        | AsyncIterable[Message | Mapping[str, Any]],
        *,
        on_progress: Progress | None = None,
        skip_invalid: bool = False,
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add_many`; the messages may also come asynchronously."""
        if isinstance(messages, AsyncIterable):
            messages = [message async for message in messages]
        return await self._threads.run(
            partial(
                self._inner.add_many, messages, on_progress=on_progress, skip_invalid=skip_invalid
            )
        )

    @property
    def name(self) -> str:
        """The tenant's name."""
        return self._inner.name

    @property
    def queue(self) -> AsyncQueue:
        """What waits to be enriched, and what failed."""
        return AsyncQueue(self._inner.queue, self._threads)

    @property
    def review(self) -> AsyncReview:
        """What is in doubt, and what people decide about facts and entities."""
        return AsyncReview(self._inner.review, self._threads)

    @property
    def overview(self) -> AsyncOverview:
        """What is known at large: sessions, episodes, profiles and procedures."""
        return AsyncOverview(self._inner.overview, self._threads)

    @property
    def files(self) -> AsyncFiles:
        """Files that are read into the space, and its export."""
        return AsyncFiles(self._inner.files, self._threads)


def _with_arguments_of(
    memory: Callable[_P, Memory],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, _P], None]]:
    """Give a constructor the arguments of :class:`Memory`, for editors and type checkers too."""
    return wraps(Memory.__init__)


class AsyncMemory(AsyncSpace):
    """An open memory for asyncio programs, with the arguments of :class:`~cognigraph.Memory`.

    Use ``async with AsyncMemory("ann.db") as memory``, or call ``await memory.close()`` at the end.
    Opening the store blocks the event loop for a moment; every operation after it runs in a thread.
    """

    _inner: Memory

    @_with_arguments_of(Memory)
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(Memory(*arguments, **options), Threads())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish the batch that is being enriched and close the store; the rest stays queued.

        Closing it again does nothing; other operations then raise :class:`StoreError`.
        """
        if not self._threads.closed:
            await self._threads.run(self._inner.close)
            self._threads.close()

    flush = _awaited(Memory.flush)
    spaces = _awaited(Memory.spaces)
    search_spaces = _awaited(Memory.search_spaces)

    def space(self, name: str, *, by: str | None = None) -> AsyncSpace:
        """Get one tenant by its name; see :meth:`Memory.space <cognigraph.Memory.space>`."""
        return AsyncSpace(self._inner.space(name, by=by), self._threads)

    @property
    def admin(self) -> AsyncAdmin:
        """What an operator does with the whole store."""
        return AsyncAdmin(self._inner.admin, self._threads)

    @property
    def settings(self) -> Settings:
        """The settings with which the memory was opened."""
        return self._inner.settings

    @property
    def info(self) -> StoreInfo:
        """Where the data is stored, and with which schema and embedder."""
        return self._inner.info

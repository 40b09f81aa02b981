"""``AsyncMemory``: the operations of a memory for asyncio, run in a small pool of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cognigraph.aio.answering import AsyncAnswering
from cognigraph.aio.facts import AsyncFacts
from cognigraph.aio.housekeeping import AsyncSpaces
from cognigraph.aio.importing import AsyncImporting
from cognigraph.aio.writing import Threads
from cognigraph.embed import Embedder, EmbedFunction
from cognigraph.engine import EnrichMode
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import DEFAULT_EXTRACTOR
from cognigraph.ingest.queue.estimate import Estimate
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.ingest.queue.step import Step
from cognigraph.ingest.reindex import OnVectors, Reindexed
from cognigraph.llm import Model
from cognigraph.loop.run import OnRound
from cognigraph.loop.strategy import Strategy
from cognigraph.memory import Memory
from cognigraph.model import (
    Context,
    CoreProfile,
    Episode,
    Explanation,
    Filter,
    Layer,
    Merge,
    Procedure,
    SearchResult,
    Seen,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
)
from cognigraph.model.storage import Check, StoreInfo, WorkerState
from cognigraph.retrieve.question.question_readers import QuestionReader
from cognigraph.retrieve.rank.rerank import Reranker
from cognigraph.settings import SearchSettings, Settings
from cognigraph.stores.groups import DatabaseOf
from cognigraph.stores.records import Failure
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, system_clock


class AsyncSpace(AsyncFacts, AsyncImporting, AsyncAnswering):
    """One tenant. Each operation is that of :class:`~cognigraph.Space`, awaited."""

    async def flush(self, timeout: float = 30.0) -> None:
        """See :meth:`cognigraph.Space.flush`."""
        await self._run(self._space.flush, timeout)

    async def enrich(
        self, on_step: Callable[[Step], None] | None = None, *, limits: Limits | None = None
    ) -> list[Step]:
        """See :meth:`cognigraph.Space.enrich`; ``on_step`` is called in a worker thread."""
        return await self._run(self._space.enrich, on_step, limits=limits)

    async def estimate(
        self, *, redo: bool = False, older_than: str | int | None = None
    ) -> Estimate:
        """See :meth:`cognigraph.Space.estimate`."""
        return await self._run(self._space.estimate, redo=redo, older_than=older_than)

    async def redo(self, older_than: str | int | None = None) -> int:
        """See :meth:`cognigraph.Space.redo`."""
        return await self._run(self._space.redo, older_than)

    async def failures(self) -> list[Failure]:
        """See :meth:`cognigraph.Space.failures`."""
        return await self._run(self._space.failures)

    async def retry_failed(self) -> int:
        """See :meth:`cognigraph.Space.retry_failed`."""
        return await self._run(self._space.retry_failed)

    async def search(
        self,
        question: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        also: Iterable[str] = (),
        without: Iterable[Seen] | Context = (),
        per_session: int | None = None,
        min_confidence: float | None = None,
        explain: bool = False,
        settings: SearchSettings | None = None,
        layer: Layer = "messages",
    ) -> SearchResult:
        """See :meth:`cognigraph.Space.search`."""
        return await self._run(
            self._space.search,
            question,
            k,
            now,
            as_of=as_of,
            valid_at=valid_at,
            where=where,
            also=also,
            without=without,
            per_session=per_session,
            min_confidence=min_confidence,
            explain=explain,
            settings=settings,
            layer=layer,
        )

    async def why(
        self,
        question: str,
        expect: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        session: str | None = None,
        as_of: datetime | str | None = None,
        where: Filter | None = None,
        settings: SearchSettings | None = None,
    ) -> Explanation:
        """See :meth:`cognigraph.Space.why`."""
        return await self._run(
            self._space.why,
            question,
            expect,
            k,
            now,
            session=session,
            as_of=as_of,
            where=where,
            settings=settings,
        )

    async def context(
        self,
        question: str,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        also: Iterable[str] = (),
        without: Iterable[Seen] | Context = (),
        per_session: int | None = None,
        min_confidence: float | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
        strategy: str | Strategy | None = None,
        history: Sequence[str] = (),
        limits: Limits | None = None,
        on_round: OnRound | None = None,
    ) -> Context:
        """See :meth:`cognigraph.Space.context`."""
        return await self._run(
            self._space.context,
            question,
            max_tokens,
            now,
            k=k,
            as_of=as_of,
            valid_at=valid_at,
            where=where,
            also=also,
            without=without,
            per_session=per_session,
            min_confidence=min_confidence,
            timezone=timezone,
            settings=settings,
            strategy=strategy,
            history=history,
            limits=limits,
            on_round=on_round,
        )

    async def get(self, id: str, session: str | None = None) -> StoredMessage | None:
        """See :meth:`cognigraph.Space.get`."""
        return await self._run(self._space.get, id, session)

    async def summaries(self, session: str) -> list[Summary]:
        """See :meth:`cognigraph.Space.summaries`."""
        return await self._run(self._space.summaries, session)

    async def episodes(
        self, session: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[Episode]:
        """See :meth:`cognigraph.Space.episodes`."""
        return await self._run(self._space.episodes, session, limit, offset)

    async def core_profile(self, version: int | None = None) -> CoreProfile | None:
        """See :meth:`cognigraph.Space.core_profile`."""
        return await self._run(self._space.core_profile, version)

    async def procedures(self, *, versions: bool = False) -> list[Procedure]:
        """See :meth:`cognigraph.Space.procedures`."""
        return await self._run(self._space.procedures, versions=versions)

    async def merge(
        self, a: str, into: str, *, type: str | None = None, into_type: str | None = None
    ) -> None:
        """See :meth:`cognigraph.Space.merge`."""
        await self._run(self._space.merge, a, into, type=type, into_type=into_type)

    async def split(
        self,
        name: str,
        *,
        apart_from: str | None = None,
        type: str | None = None,
        other_type: str | None = None,
    ) -> None:
        """See :meth:`cognigraph.Space.split`."""
        await self._run(
            self._space.split, name, apart_from=apart_from, type=type, other_type=other_type
        )

    async def suspected_duplicates(
        self, limit: int = 100, offset: int = 0
    ) -> list[SuspectedDuplicate]:
        """See :meth:`cognigraph.Space.suspected_duplicates`."""
        return await self._run(self._space.suspected_duplicates, limit, offset)

    async def merges(self, limit: int = 100, offset: int = 0) -> list[Merge]:
        """See :meth:`cognigraph.Space.merges`."""
        return await self._run(self._space.merges, limit, offset)

    async def cypher(
        self,
        query: str | None = None,
        /,
        *,
        name: str | None = None,
        limit: int = 1000,
        timeout: float = 30.0,
        parameters: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """See :meth:`cognigraph.Space.cypher`."""
        return await self._run(
            partial(
                self._space.cypher,
                query,
                name=name,
                limit=limit,
                timeout=timeout,
                parameters=parameters,
                **more,
            )
        )


class AsyncMemory(AsyncSpace, AsyncSpaces):
    """An open memory for asyncio programs, with the arguments of :class:`~cognigraph.Memory`.

    Use ``async with AsyncMemory("ann.db") as memory``, or call ``await memory.close()`` at the end.
    Opening the store blocks the event loop for a moment; every operation after it runs in a thread.
    """

    def __init__(
        self,
        location: str | Path,
        *,
        auth: tuple[str, str] | None = None,
        database: str | DatabaseOf | None = None,
        embedder: str | Embedder | EmbedFunction = "wordllama",
        extractor: str | Extractor = DEFAULT_EXTRACTOR,
        reader: QuestionReader | None = None,
        enrich: EnrichMode = "background",
        timezone: str | tzinfo | None = None,
        clock: Clock = system_clock,
        settings: Settings | None = None,
        reranker: str | Reranker | None = None,
        model: str | Model | None = None,
    ) -> None:
        self._memory = Memory(
            location,
            auth=auth,
            database=database,
            embedder=embedder,
            extractor=extractor,
            reader=reader,
            enrich=enrich,
            timezone=timezone,
            clock=clock,
            settings=settings,
            reranker=reranker,
            model=model,
        )
        super().__init__(self._memory, Threads())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish the batch that is being enriched and close the store; the rest stays queued.

        Closing it again does nothing; other operations then raise :class:`StoreError`.
        """
        if not self._threads.closed:
            await self._run(self._memory.close)
            self._threads.close()

    def space(self, name: str) -> AsyncSpace:
        """Get one tenant by its name. Its first message creates it."""
        return AsyncSpace(self._memory.space(name), self._threads)

    async def flush(self, timeout: float = 30.0) -> None:
        """See :meth:`cognigraph.Memory.flush`."""
        await self._run(self._memory.flush, timeout)

    async def waiting(self) -> int:
        """See :meth:`cognigraph.Memory.waiting`."""
        return await self._run(self._memory.waiting)

    async def longest_wait(self) -> float:
        """See :meth:`cognigraph.Memory.longest_wait`."""
        return await self._run(self._memory.longest_wait)

    async def spaces(self) -> list[str]:
        """See :meth:`cognigraph.Memory.spaces`."""
        return await self._run(self._memory.spaces)

    async def bookmarks(self) -> tuple[str, ...]:
        """See :meth:`cognigraph.Memory.bookmarks`."""
        return await self._run(self._memory.bookmarks)

    async def catch_up(self, bookmarks: Sequence[str]) -> None:
        """See :meth:`cognigraph.Memory.catch_up`."""
        await self._run(self._memory.catch_up, bookmarks)

    @property
    def settings(self) -> Settings:
        """The settings with which the memory was opened."""
        return self._memory.settings

    @property
    def info(self) -> StoreInfo:
        """Where the data is stored, and with which schema and embedder."""
        return self._memory.info

    async def reindex(
        self,
        embedder: str | Embedder | EmbedFunction | None = None,
        *,
        vectors: Precision | None = None,
        on_progress: OnVectors | None = None,
    ) -> Reindexed:
        """See :meth:`cognigraph.Memory.reindex`; ``on_progress`` is called in a worker thread."""
        return await self._run(
            self._memory.reindex, embedder, vectors=vectors, on_progress=on_progress
        )

    @property
    def worker_state(self) -> WorkerState | None:
        """How the background worker is doing, without asking the store; ``None`` if none is."""
        return self._memory.worker_state

    async def check(self) -> list[Check]:
        """See :meth:`cognigraph.Memory.check`."""
        return await self._run(self._memory.check)

"""``Engine``: the store, embedder, extractor, worker, clock and settings of one memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Literal, TypeVar

from cognigraph.embed import CheckedEmbedder, Embedder, EmbedFunction, resolve
from cognigraph.errors import ConfigurationError, EmbedderMismatchError, FlushTimeout
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.ingest.queue.enricher import Enricher
from cognigraph.ingest.queue.lease import longest_silence
from cognigraph.ingest.queue.step import Step
from cognigraph.ingest.queue.worker import BackgroundWorker, Chore
from cognigraph.ingest.reindex import OnVectors, Reindexed, reindex
from cognigraph.llm import Model
from cognigraph.llm.protocols import forget_answers
from cognigraph.model.storage import Check
from cognigraph.retrieve.question.question_readers import QuestionReader
from cognigraph.retrieve.rank.rerank import Reranker, resolve_reranker
from cognigraph.retrieve.rank.separation import VectorWorth
from cognigraph.settings import Settings
from cognigraph.stores.divided import DatabaseOf
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Waiting
from cognigraph.stores.registry import StoreRequest, open_store
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, zone

EnrichMode = Literal["background", "manual"]
EmbedMode = Literal["at once", "background"]
_T = TypeVar("_T")

_FLUSH_POLL = 0.02


class Engine:
    """One open store with everything that works on it; all spaces of a memory share it."""

    def __init__(
        self,
        location: str | Path,
        *,
        embedder: str | Embedder | EmbedFunction,
        extractor: str | Extractor,
        reader: QuestionReader | None,
        enrich: EnrichMode,
        embed: EmbedMode,
        timezone: str | tzinfo | None,
        clock: Clock,
        settings: Settings,
        auth: tuple[str, str] | None,
        database: str | DatabaseOf | None,
        reranker: str | Reranker | None = None,
        model: str | Model | None = None,
        sweep: Callable[[Engine], None] | None = None,
    ) -> None:
        self.embeds_later = embed == "background"
        self.settings = settings
        self.clock = clock
        self.zone = zone(timezone)
        self.embedder = CheckedEmbedder(resolve(embedder))
        self._reranker = reranker
        self.reranker = resolve_reranker(reranker, self.embedder.inner)
        self.reader = reader
        self.extractor = resolve_extractor(extractor, timezone=self.zone)
        self.model = resolve_model(model) or self.extractor.model
        _allow(self.extractor.model, settings.enrich.calls)
        self._request = StoreRequest(
            location=str(location),
            embedder=self.embedder.identity,
            auth=auth,
            database=database,
            clock=clock,
            storage=settings.storage,
        )
        self._switching = RLock()
        self._retired: list[Store] = []
        self._in_background = enrich == "background"
        self._chore: Chore | None = None
        if sweep is not None and settings.retention.sweep is not None:
            self._chore = Chore(partial(sweep, self), settings.retention.sweep)
        self.worker: BackgroundWorker | None = None
        self._begin(self.embedder, open_store(self._request))

    def _begin(self, embedder: CheckedEmbedder, store: Store) -> None:
        self.embedder = embedder
        self.store = store
        self.vector_worth = VectorWorth()
        self.enricher = Enricher(store, embedder, self.extractor, self.settings.enrich, self.clock)
        if self._in_background and not store.info.is_read_only:
            self._start_worker()

    def _start_worker(self) -> None:
        self.worker = BackgroundWorker(
            self.enricher, self.settings.enrich, self.extractor, self._chore
        )
        self.worker.start()

    def close(self) -> None:
        """Stop the worker, return its unfinished batch, and close the store. Idempotent."""
        if self.worker is not None:
            self.worker.stop()
        self.enricher.release_all()
        for store in (self.store, *self._retired):
            store.close()

    def use(self, work: Callable[[Store, CheckedEmbedder], _T]) -> _T:
        """Run work that embeds; repeat it if another thread changed the embedder meanwhile."""
        while True:
            store = self.store  # read the store before the embedder: reindex() sets it last
            try:
                return work(store, self.embedder)
            except EmbedderMismatchError:
                with self._switching:
                    if store is self.store:
                        raise

    def reindex(
        self,
        embedder: str | Embedder | EmbedFunction | None,
        vectors: Precision | None,
        on_progress: OnVectors | None,
    ) -> Reindexed:
        """Change the embedder of the store and of this engine."""
        fresh = self.embedder if embedder is None else CheckedEmbedder(resolve(embedder))
        with self._switching:
            return reindex(
                self.store,
                fresh,
                vectors=vectors,
                on_progress=on_progress,
                switching=self._changing_to(fresh),
            )

    @contextmanager
    def _changing_to(self, fresh: CheckedEmbedder) -> Iterator[None]:
        """Stop enrichment during the change; afterwards, use the new embedder everywhere."""
        if self.worker is not None:
            self.worker.stop()
        embedder, store = self.embedder, self.store
        try:
            yield
            if self._reranker == "embedder":
                self.reranker = resolve_reranker("embedder", fresh.inner)
            request = replace(self._request, embedder=fresh.identity)
            embedder, store = fresh, open_store(request)
            self._retired.append(self.store)  # another thread may be reading from it
        finally:
            self._begin(embedder, store)

    @contextmanager
    def without_worker(self) -> Iterator[None]:
        """Keep this memory's worker from the queue for a while."""
        if self.worker is None:
            yield
            return
        self.worker.stop()
        try:
            yield
        finally:
            self._start_worker()

    def forget_answers(self) -> int:
        """Delete the answers that models have given, as they may quote messages."""
        other = None if self.model is self.extractor.model else self.model
        return self.extractor.forget_answers() + forget_answers(other)

    def wake_worker(self) -> None:
        """Tell the worker that there is something to enrich."""
        if self.worker is not None:
            self.worker.notify(vectors=self.embeds_later)

    def check_worker(self) -> Check:
        """Check that messages do not wait for ever: the worker of this memory, and the queue."""
        wait = self.store.queue.longest_wait()
        limit = longest_silence(self.settings.enrich, self.extractor)
        found, problem, idle = "none in this process", None, limit
        if self.worker is not None:
            state = self.worker.state
            problem, idle = state.problem, state.last_step
            found = f"{state.restarts} restarts; last batch, or start, {idle:,.0f} s ago"
        if problem is None and idle >= limit and not self.store.info.is_read_only:
            problem = self.enricher.forsaken(limit)
        return Check(
            "worker",
            problem is None,
            (problem or found) + (f"; the first message waits for {wait:,.0f} s" if wait else ""),
            "look at the log of the program that has the memory open, and at the failures of its "
            "spaces; without such a program: cognigraph enrich",
        )

    def flush(self, space: str | None, timeout: float) -> None:
        """Wait until a space, or with ``None`` every space, is enriched; in manual mode, enrich it.

        Vectors that are made in the background are waited for, too.

        Raises:
            FlushTimeout: work is left after ``timeout`` seconds, or a budget is used up.
        """
        deadline = time.monotonic() + timeout
        where = "" if space is None else f" of space {space!r}"
        while any(waiting := self.enricher.waiting(space)):
            step: Step | None = None
            if self.worker is None:
                step = self.enricher.step(space)
            else:
                self.worker.hurry(space)
            halted = self.enricher.halted
            if halted is not None:
                raise FlushTimeout(
                    f"{_counted(waiting)}{where} are not enriched: {halted}",
                    pending=sum(waiting),
                    halted=True,
                )
            if time.monotonic() >= deadline:
                state = None if self.worker is None else self.worker.state
                problem = f"; {state.problem}" if state is not None and state.problem else ""
                raise FlushTimeout(
                    f"{_counted(waiting)}{where} are not enriched in time"
                    f"{problem}{self._last_failure(space)}; they stay queued, flush again or "
                    "raise the timeout",
                    pending=sum(waiting),
                )
            if step is None:
                time.sleep(_FLUSH_POLL)

    def _last_failure(self, space: str | None) -> str:
        if self.enricher.unembedded_problem:
            return f"; last failure: {self.enricher.unembedded_problem}"
        for name in self.store.spaces() if space is None else [space]:
            if reasons := sorted({failure.reason for failure in self.store.queue.failures(name)}):
                return f"; last failure: {reasons[-1]}"
        return ""


def resolve_model(model: str | Model | None) -> Model | None:
    """Return the model for a name; ``None`` and a :class:`Model` are returned unchanged.

    ``"openai"`` is the model of the environment (:meth:`ChatModel.from_environment`), and
    ``"openai:NAME"`` another model of the same endpoint.

    Raises:
        ConfigurationError: the name is unknown, or the object is not a model.
    """
    if model is None:
        return None
    if isinstance(model, str):
        kind, _, name = model.partition(":")
        if kind != "openai":
            raise ConfigurationError(
                f"unknown model {model!r}; use 'openai', 'openai:NAME', or pass a Model"
            )
        from cognigraph.llm.client import ChatModel

        environ = {**os.environ, "COGNIGRAPH_MODEL": name} if name else os.environ
        return ChatModel.from_environment(environ)
    if isinstance(getattr(model, "name", None), str) and callable(getattr(model, "ask", None)):
        return model
    raise ConfigurationError(
        f"{type(model).__name__} is not a model: it needs a name (text) and ask(prompt, schema)"
    )


def _allow(model: Model | None, calls: int) -> None:
    """Let a model that limits its calls have room for those of enrichment beside all others."""
    if calls > 1 and (allow := getattr(model, "allow", None)) is not None:
        allow(calls)


def _counted(waiting: Waiting) -> str:
    counts = zip(waiting, ("chunks", "summaries", "vectors"), strict=True)
    return " and ".join(f"{count} {what}" for count, what in counts if count)

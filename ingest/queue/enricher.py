"""``Enricher``: claims pending chunks, extracts facts, derives rows, and writes them.

All state is in the store. A worker that crashes leaves a lease that expires; an extractor that
fails leaves its chunks, or the session's summary, pending with a reason. A restart continues from
there.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from threading import Event
from typing import NamedTuple
from uuid import uuid4

from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder
from cognigraph.errors import CogniGraphError, EmbeddingError, ExtractionError, StoreError
from cognigraph.ingest.derive import derive
from cognigraph.ingest.extraction import (
    BY_MODEL,
    Extraction,
    Extractor,
)
from cognigraph.ingest.queue.lease import (
    Heartbeat,
    decide_on_failure,
    has_crashed,
    is_suspect,
    outage_wait,
    worker_name,
)
from cognigraph.ingest.queue.side_by_side import side_by_side
from cognigraph.ingest.queue.step import (
    Estimate,
    Limits,
    Step,
    context_of,
    estimate,
    window_of,
)
from cognigraph.ingest.stated import with_stated
from cognigraph.model import Episode, Triple, Usage
from cognigraph.model.filters import TripleQuery
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import SETTLING, lease_token
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Backlog, Derivation, Lease, Waiting
from cognigraph.text.redaction import redacted
from cognigraph.text.terms import query_terms
from cognigraph.times import Clock
from cognigraph.tracing import outcome, span

logger = logging.getLogger("cognigraph.enrich")

_MOST_PAUSE_DOUBLINGS = 5
_VECTORS_AT_ONCE = 32
"""Chunks whose vectors are made between two steps, if they wait for them."""
_MOST_SIMILAR = 20
"""Episodes of other sessions that an extractor is shown: MemBuilder, section 4.2."""
_MOST_NEAR = 100
"""Episodes among which those are, with the session's own and those that no model has written."""
_MOST_COMPARED = 4000
"""Characters of a batch that are compared with facts and episodes."""
_BETWEEN_BATCHES = 0.2
"""Seconds after which a worker that has just returned a lease surely has the next one."""
_MOST_FAILURES = 12
"""The run stops after this many failed batches in a row: the fault is not that of single chunks."""


class Enricher:
    """Processes the queue, one lease at a time. Safe to run in many threads and processes."""

    def __init__(
        self,
        store: Store,
        embedder: CheckedEmbedder,
        extractor: Extractor,
        settings: EnrichSettings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._extractor = extractor
        self._settings = settings
        self._clock = clock
        self._id = uuid4().hex[:8]
        self._held: dict[str, Lease] = {}
        self._hurried = deque[str]()  # spaces for which somebody waits
        self._has_hurried = False  # whether the last batch was of such a space
        self._failures = 0
        self._is_sound = False  # whether this process has completed any work
        self._after_outage = False
        self._rests_until: datetime | None = None
        self.halted: str | None = None
        self._embeds_from: datetime | None = None
        self.unembedded_problem: str | None = None
        """Why vectors that wait could not be made."""

    def step(self, space: str | None = None) -> Step | None:
        """Enrich one batch of chunks, or the summary, of one session, after vectors that wait.

        None if nothing is ready, or during an outage. Afterwards, ``halted`` is the reason if a
        budget ended the work.
        """
        lease = self._take(space)
        return None if lease is None else self._do(lease)

    def hurry(self, space: str) -> None:
        """Serve a space before others, because a caller waits for it.

        It gets one batch for each call of this, and of the batches every second one at most: the
        others have their turn in between.
        """
        if space not in self._hurried:
            self._hurried.append(space)

    def _take(self, space: str | None) -> Lease | None:
        """Make vectors that wait, and lease what is next: of a space, or of whichever is due."""
        hurried = None
        if space is None and not self._has_hurried:
            with suppress(IndexError):
                hurried = self._hurried.popleft()
        self._has_hurried = hurried is not None
        self.embed_waiting(hurried or space)
        if self._rests_until is not None and self._clock() < self._rests_until:
            return None
        self._end_leases_of_crashed_workers()
        lease = None if hurried is None else self._claim(hurried)
        return lease or self._claim(space)

    def _claim(self, space: str | None) -> Lease | None:
        settings = self._settings
        now = self._clock()
        until = now + settings.lease
        lease = self._store.queue.claim(
            worker=lease_token(worker_name(self._id), until, sound=self._is_sound),
            limit=settings.batch,
            lease_for=settings.lease,
            now=now,
            space=space,
            context=context_of(self._extractor, settings),
            summaries=self._extractor.summarises,
        )
        if lease is not None:
            self._held[lease.token] = lease
        return lease

    def _do(self, lease: Lease) -> Step:
        """Work on a lease, and return it if that is interrupted."""
        try:
            with span("cognigraph.enrich.batch", lease.space) as current:
                step = self._work(lease)
                failed = step.error is not None
                outcome(current, failed, chunks=step.chunks, triples=step.triples)
                return step
        except BaseException as error:
            self._put_back(lease, error)
            raise
        finally:
            self._held.pop(lease.token, None)

    def embed_waiting(self, space: str | None = None) -> bool:
        """Make the next vectors that wait to be made; False if there are none, or it failed."""
        if self._embeds_from is not None and self._clock() < self._embeds_from:
            return False
        batch = self._store.queue.unembedded(_VECTORS_AT_ONCE, space)
        if batch is None:
            self._embeds_from = self.unembedded_problem = None
            return False
        try:
            vectors = self._embedder.embed([chunk.text for chunk in batch.chunks])
        except EmbeddingError as error:  # they wait on, as during an outage of a model
            self.unembedded_problem = str(error)
            self._embeds_from = self._clock() + self._settings.retry_after
            logger.warning("vectors of %d chunks wait: %s", len(batch.chunks), error)
            return False
        self._store.queue.write_vectors(batch.space, batch.chunks, vectors)
        return True

    def release_all(self) -> None:
        """Release the leases that other threads of this process hold, because the process ends."""
        for lease in tuple(self._held.values()):
            if lease.token.startswith(worker_name(self._id)):  # after a fork they are the parent's
                self._release(lease)

    def _put_back(self, lease: Lease, error: BaseException) -> None:
        """Return the work of a step that was interrupted, so that the next worker need not wait.

        After a fault of the program (any exception but our own errors) it waits as after an outage:
        the fault may be due to this work, and must not keep all other work waiting.
        """
        if not isinstance(error, Exception) or isinstance(error, CogniGraphError):
            self._release(lease)
            return
        tried = lease.chunks or (lease.notes.backlog or Backlog(),)
        wait = outage_wait(max(chunk.outages for chunk in tried), self._settings)
        reason, retry_at = f"{type(error).__name__}: {error}", self._clock() + wait
        with suppress(StoreError):
            self._store.queue.fail(lease, reason, park_after=None, retry_at=retry_at, outage=True)

    def _release(self, lease: Lease) -> None:
        with suppress(StoreError):
            self._store.queue.release(lease)

    def waiting(self, space: str | None = None) -> Waiting:
        """The work that waits for this extractor in a space, or with ``None`` in all spaces."""
        waiting = self._store.queue.waiting(space)
        return waiting if self._extractor.summarises else waiting._replace(summaries=0)

    def forsaken(self, limit: float) -> str | None:
        """A sentence if a chunk has waited for ``limit`` seconds and no worker has any work."""
        queue = self._store.queue
        for pause in (_BETWEEN_BATCHES, 0.0):
            if queue.longest_wait() < limit or any(
                until > self._clock() and not has_crashed(token)
                for token, until in queue.leases().items()
            ):
                return None
            time.sleep(pause)
        return (
            f"messages have been waiting for more than {limit:,.0f} s to be enriched, and no "
            "worker has work in hand"
        )

    def _end_leases_of_crashed_workers(self) -> None:
        """End the leases of crashed workers; on this machine without waiting for them to expire.

        A lease that expired although its worker is alive, for example because the machine was
        asleep, does not count as a crash.
        """
        for token, until in self._store.queue.leases().items():
            crashed = has_crashed(token)
            if crashed or (crashed is None and until <= self._clock()):
                self._store.queue.expire(token, until)

    def _wait_if_suspect(self, lease: Lease) -> None:
        """Wait before this process, if it has completed nothing yet, extracts a suspect chunk.

        If the process is killed for another reason soon after its start, that does not count. A
        later crash is evidence against the chunk, because the lease has been extended.
        """
        if not self._is_sound and is_suspect(lease):
            time.sleep(SETTLING.total_seconds())
            self._store.queue.extend(lease, self._clock() + self._settings.lease + SETTLING)

    def _work(self, lease: Lease) -> Step:
        try:
            with Heartbeat(self._store, lease, self._settings.lease, self._clock):
                self._wait_if_suspect(lease)
                derived = self._derive(lease)
        except StoreError:
            raise
        except CogniGraphError as error:
            return self._fail(lease, error, error.usage)
        if derived is None:  # the chunks precede others of their session that are done
            return Step(lease.space, lease.session, 0, lost=not self._store.queue.start_over(lease))
        if lease.chunks or derived.error is None:
            self._failures, self._after_outage = 0, False
            self._rests_until = self.halted = None
        step = Step(
            lease.space,
            lease.session,
            len(lease.chunks),
            triples=len(derived.derivation.triples),
            rejected=derived.rejected,
            usage=derived.usage,
        )
        if not self._store.queue.complete(lease, derived.derivation):
            return replace(step, lost=True)
        self._is_sound = True
        for reason in derived.rejected:
            logger.info("left out of session %r: %s", lease.session, reason)
        if derived.error is None:
            return step
        failed = self._fail(replace(lease, chunks=()), derived.error, Usage())
        unwritten = None if lease.chunks else failed.error
        return replace(step, error=unwritten, summary_due=True, stopped=failed.stopped)

    def _derive(self, lease: Lease) -> _Derived | None:
        """Extract and derive, leaving out chunks that only repeat recalled text.

        ``None`` if the session must be read again from its beginning.

        Raises:
            CogniGraphError: nothing may be stored; its ``usage``, if any, was spent nevertheless.
        """
        name, keep = self._extractor.name, self._settings.keep_revisions
        chunks = tuple(chunk for chunk in lease.chunks if chunk.text.strip() or chunk.stated)
        if lease.chunks and not chunks:
            return _Derived(Derivation(name, keep_revisions=keep))
        lease = replace(lease, chunks=chunks)
        try:
            lease = self._informed(lease)
            window = window_of(lease, self._extractor)
            if chunks and not window.chunks:
                extraction = Extraction()
            elif chunks:
                extraction = self._extractor.extract(window)
            else:
                extraction = self._extractor.summarise(window)
            if not isinstance(extraction, Extraction):
                raise TypeError(f"returned a {type(extraction).__name__}, not an Extraction")
            if not extraction.starts_over:
                also, themes = self._extractor.also_reads, lease.notes.themes
                extraction = with_stated(extraction, chunks, also, themes)
        except CogniGraphError:
            raise
        except Exception as error:  # an extractor may be a plug-in that raises anything
            raise _failed(name, error, lease) from error
        if extraction.starts_over:
            return None
        if extraction.provisional and lease.notes.version:  # keep the last summary
            extraction = replace(extraction, keys=None, themes=None)
        try:
            derivation, rejected = derive(extraction, lease, name, self._embedder)
        except Exception as error:  # a plug-in may also return anything
            ours = error if isinstance(error, CogniGraphError) else None
            failure = ours or _failed(name, error, lease)
            failure.usage = extraction.usage
            raise failure from error
        unwritten = extraction.error
        if unwritten is None and extraction.summary_due and not chunks:
            unwritten = ExtractionError(
                f"{name} did not finish the summary of session {lease.session!r}"
            )
        derivation = replace(
            derivation,
            keep_revisions=keep,
            provisional=extraction.provisional,
            summary_due=extraction.summary_due or unwritten is not None,
            held=unwritten is not None,
        )
        return _Derived(derivation, rejected, extraction.usage, unwritten)

    def _informed(self, lease: Lease) -> Lease:
        """The lease with what is known, if the extractor asks for it."""
        if not self._extractor.recalls:
            return lease
        graph, limit = self._store.graph, self._extractor.recalls
        speakers = dict.fromkeys(chunk.speaker for chunk in lease.chunks if chunk.speaker)
        each = max(1, limit // max(1, len(speakers)))
        facts = {
            fact.uid: fact
            for speaker in speakers
            for fact in graph.triples(lease.space, TripleQuery(entity=speaker, limit=each))
        }
        text = "\n".join(chunk.text for chunk in lease.chunks)[:_MOST_COMPARED]
        episodes: tuple[Episode, ...] = ()
        if text.strip():
            vector = self._embedder.embed([text])[0]
            facts |= self._similar_facts(lease.space, text, vector, limit // 2)
            episodes = self._similar_episodes(lease, vector)
        notes = replace(
            lease.notes,
            written=tuple(graph.written(lease.space)),
            facts=tuple(fact for fact in facts.values() if fact.status == "current"),
            episodes=episodes,
        )
        return replace(lease, notes=notes)

    def _similar_facts(
        self, space: str, text: str, vector: Vector, limit: int
    ) -> dict[str, Triple]:
        """The facts nearest to what is said, about whomever, by uid; the nearest first.

        Half of them are found by vector and half by words: names matter here.
        """
        search, half = self._store.search, max(1, limit // 2)
        query = CandidateQuery(
            vector, query_terms(text), triples_by_vector=half, triples_by_terms=half
        )
        found = search.candidates(space, query).triples
        nearest = sorted(zip(-found.cosine.round(6), found.uids, strict=True))[:limit]
        known = search.triples_by_uid(space, [uid for _, uid in nearest])
        return {uid: known[uid] for _, uid in nearest if uid in known}

    def _similar_episodes(self, lease: Lease, vector: Vector) -> tuple[Episode, ...]:
        """Episodes of other sessions that a model wrote, the most similar to the chunks first."""
        near = self._store.search.episodes(lease.space, vector, [], _MOST_NEAR)
        others = [
            item
            for item in near
            if item.episode.session != lease.session and item.episode.reason == BY_MODEL
        ]
        others.sort(key=lambda other: (-round(other.cosine, 6), other.episode.uid))
        return tuple(other.episode for other in others[:_MOST_SIMILAR])

    def _fail(self, lease: Lease, error: CogniGraphError, usage: Usage) -> Step:
        """Return the chunks, or the summary of a lease without chunks, to the queue."""
        tried = lease.chunks or (lease.notes.backlog or Backlog(),)
        decision = decide_on_failure(
            error,
            chunks=len(lease.chunks),
            attempts=max(chunk.attempts for chunk in tried),
            outages=max(chunk.outages for chunk in tried),
            after_outage=self._after_outage,
            settings=self._settings,
        )
        what = f"{len(lease.chunks)} chunks" if lease.chunks else "the summary"
        logger.warning(
            "enrichment of %s of session %r failed (%s): %s",
            what, lease.session, decision.fault, error,
        )  # fmt: skip
        now = self._clock()
        if decision.fault == "stop":
            self.halted = str(error)
            self._store.queue.release(lease)
        else:
            self._store.queue.fail(
                lease,
                str(error),
                park_after=decision.park_after,
                retry_at=now + decision.wait,
                outage=decision.fault == "outage",
            )
        self._failures += 1
        self._after_outage = decision.fault == "outage"
        stopped = str(error) if decision.ends_run else None
        if stopped is None and self._failures % _MOST_FAILURES == 0:
            # The fault is not that of a single chunk, and each batch may cost a call.
            stopped = f"{_MOST_FAILURES} batches in a row failed, the last with: {error}"
        if stopped is not None:
            doublings = min(self._failures - 1, _MOST_PAUSE_DOUBLINGS)
            self._rests_until = now + self._settings.retry_after * 2**doublings
        return Step(
            lease.space,
            lease.session,
            len(lease.chunks),
            usage=usage,
            error=str(error),
            stopped=stopped,
        )

    def drain(
        self,
        space: str | None = None,
        on_step: Callable[[Step], None] | None = None,
        limits: Limits | None = None,
    ) -> list[Step]:
        """Work until nothing is ready, or the run must stop; chunks waiting for a retry stay.

        ``stopped`` of the last step says which outage, budget or limit ended the run.
        """
        self._after_outage = False
        steps: list[Step] = []
        spent, started, over = Usage(), time.monotonic(), Event()
        for step in self.steps(space, over.is_set):
            spent += step.usage
            if limits is not None and step.stopped is None:
                reached = limits.reached(spent, time.monotonic() - started, len(steps) + 1)
                step = replace(step, stopped=reached)
            steps.append(step)
            if on_step is not None:
                on_step(step)
            if step.stopped is not None:
                over.set()
        return sorted(steps, key=lambda step: step.stopped is not None)

    def steps(self, space: str | None, is_over: Callable[[], bool]) -> Iterator[Step]:
        """Yield what is done until nothing is ready, or ``is_over`` says so.

        Steps that have begun are then finished. As many sessions are enriched side by side as
        ``EnrichSettings.calls`` says.
        """
        while not (is_over() or self._hurried) and self.embed_waiting(space):
            pass
        if self._settings.calls > 1:
            take = partial(self._take, space)
            yield from side_by_side(take, self._do, self._settings.calls, is_over)
            return
        while not is_over() and (done := self.step(space)) is not None:
            yield done

    def estimate(self, space: str, redo: Sequence[str] = ()) -> Estimate:
        """Estimate the cost of enriching all pending work, without a call."""
        return estimate(self._store, self._extractor, space, self._settings, redo)


class _Derived(NamedTuple):
    """The result of an extraction; ``error`` is the reason if the summary could not be written."""

    derivation: Derivation
    rejected: tuple[str, ...] = ()
    usage: Usage = Usage()
    error: CogniGraphError | None = None


def _failed(name: str, error: Exception, lease: Lease) -> ExtractionError:
    return ExtractionError(
        f"{name}: {type(error).__name__}: {redacted(str(error))}",
        chunks=tuple(chunk.uid for chunk in lease.chunks),
    )

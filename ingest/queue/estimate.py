"""Estimates the cost of enriching the queue, without a model call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from cognigraph.ingest.extraction import Contextual, Estimating, Extractor, Summarising, Window
from cognigraph.ingest.stated import read_by
from cognigraph.model import Usage
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import batch_size, failures_of
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Lease


@dataclass(frozen=True, slots=True)
class Estimate:
    """The pending work, and the estimated usage for it.

    ``usage`` is ``None`` if the extractor gives no estimate, and zero if it calls no model.
    ``again`` counts the chunks that were extracted before; ``summaries`` counts due summaries,
    which need calls of their own.
    """

    extractor: str
    sessions: int
    turns: int
    chunks: int
    windows: int
    again: int = 0
    summaries: int = 0
    usage: Usage | None = field(default_factory=Usage)


def window_of(lease: Lease, extractor: Extractor) -> Window:
    """The window of a lease that an extractor gets, with only those chunks that it reads."""
    chunks = tuple(lease.chunks[index] for index in read_by(extractor, lease.chunks))
    return Window(lease.space, lease.session, chunks, lease.before, lease.notes)


def context_of(extractor: Extractor, settings: EnrichSettings) -> int:
    """The number of earlier chunks that an extractor gets as context."""
    wanted = extractor.context if isinstance(extractor, Contextual) else 0
    return max(settings.context, wanted)


def estimate(
    store: Store,
    extractor: Extractor,
    space: str,
    settings: EnrichSettings,
    redo: Sequence[str] = (),
) -> Estimate:
    """Add up all pending windows of a space; nothing is leased, called or written.

    With ``redo``, windows are included that would be pending if the chunks of these extractors were
    requeued. An :class:`~cognigraph.ingest.extraction.Estimating` extractor estimates each window.
    It sees the session's current notes, so later windows of a session may cost a little more. Due
    summaries count as windows without chunks if the extractor is ``Summarising``.
    """
    ask = extractor.estimate if isinstance(extractor, Estimating) else None
    usage: Usage | None = None if ask is None else Usage()
    summarises = isinstance(extractor, Summarising)
    sessions = turns = chunks = windows = again = summaries = 0
    context = context_of(extractor, settings)
    renewed = dict.fromkeys(store.queue.read_by(space, redo) if redo else ())
    for uid in dict.fromkeys((*store.queue.queued(space), *renewed)):
        lease = store.queue.peek(uid, context=context, again=uid in renewed)
        if lease is None:
            continue
        if uid in renewed:  # requeueing resets the counts of failures
            fresh = (replace(chunk, attempts=0, outages=0, crashes=0) for chunk in lease.chunks)
            lease = replace(lease, chunks=tuple(fresh))
        summary_due = lease.notes.backlog is not None and not lease.notes.backlog.parked
        if summary_due and summarises:
            summaries += 1
            if ask is not None and usage is not None:
                usage += ask(window_of(replace(lease, chunks=()), extractor))
        sessions += bool(lease.chunks)
        turns += len({chunk.message_id for chunk in lease.chunks})
        chunks += len(lease.chunks)
        again += sum(chunk.extractor is not None for chunk in lease.chunks)
        for part in batches(lease, settings, context):
            window = window_of(part, extractor)
            windows += bool(window.chunks or not part.chunks)
            if ask is not None and window.chunks and usage is not None:
                usage += ask(window)
    return Estimate(extractor.name, sessions, turns, chunks, windows, again, summaries, usage)


def batches(lease: Lease, settings: EnrichSettings, context: int) -> Iterator[Lease]:
    """The leases in which a session's pending chunks would be extracted, without recalled text."""
    chunks, before = lease.chunks, lease.before
    while chunks:
        size = batch_size(
            [failures_of(chunk.attempts, chunk.outages, chunk.crashes) for chunk in chunks],
            settings.batch,
        )
        batch = chunks[:size]
        read = tuple(chunk for chunk in batch if chunk.text.strip() or chunk.stated)
        yield replace(lease, chunks=read, before=before)
        if context:
            said = (chunk for chunk in read if chunk.text.strip() and chunk.role != "tool")
            before = (*before, *said)[-context:]
        chunks = chunks[size:]

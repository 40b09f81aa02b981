"""Limits of one run, what became of one lease, what is left to do, and what it would cost.

In an enrichment the limits are checked between its steps and apply to any extractor that reports
its usage. A loop makes a ``cognigraph.llm.Budget`` of them, which is checked before each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from cognigraph.ingest.extraction import Extractor, Window
from cognigraph.ingest.stated import read_by
from cognigraph.model import Usage
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import batch_size, failures_of
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Lease
from cognigraph.validation import check_fields


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one lease; with ``chunks`` 0 the lease was for the session's summary alone.

    ``rejected`` lists what was left out and why (``reason: what``). ``usage`` is what the extractor
    used, also if it failed. ``error`` is the reason if nothing was written. ``lost`` says that
    another worker took over, ``summary_due`` that the session's summary could not be written and is
    queued. ``stopped`` is the reason if the run ends here although work may be left.
    """

    space: str
    session: str
    chunks: int
    triples: int = 0
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    lost: bool = False
    summary_due: bool = False
    stopped: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a run; ``None`` is no limit.

    The step of an enrichment that reaches a limit is the last one. ``rounds`` limits the rounds of
    a loop, or the steps of an enrichment.
    """

    rounds: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    time: timedelta | None = None

    def __post_init__(self) -> None:
        check_fields(self, "limits")

    def reached(self, usage: Usage, seconds: float, rounds: int = 0) -> str | None:
        """A sentence that names the limit that is reached; ``None`` if none is."""
        tokens = usage.input_tokens + usage.output_tokens
        time = None if self.time is None else self.time.total_seconds()
        for used, limit, what in (
            (rounds, self.rounds, "{:,} rounds"),
            (usage.calls, self.calls, "{:,} calls"),
            (tokens, self.tokens, "{:,} tokens"),
            (usage.cost, self.cost, "cost {:g}"),
            (seconds, time, "{:g} seconds"),
        ):
            if limit is not None and used >= limit:
                return f"the limit of {what.format(limit)} is reached"
        return None


# Estimates the cost of enriching the queue, without a model call.


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
    chunks = tuple(lease.chunks[index] for index in read_by(extractor.also_reads, lease.chunks))
    return Window(lease.space, lease.session, chunks, lease.before, lease.notes)


def context_of(extractor: Extractor, settings: EnrichSettings) -> int:
    """The number of earlier chunks that an extractor gets as context."""
    return max(settings.context, extractor.context)


def estimate(
    store: Store,
    extractor: Extractor,
    space: str,
    settings: EnrichSettings,
    redo: Sequence[str] = (),
) -> Estimate:
    """Add up all pending windows of a space; nothing is leased, called or written.

    With ``redo``, windows are included that would be pending if the chunks of these extractors were
    requeued. The extractor estimates each window. It sees the session's current notes, so later
    windows of a session may cost a little more. Due summaries count as windows without chunks if it
    summarises.
    """
    usages: list[Usage | None] = []
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
        if summary_due and extractor.summarises:
            summaries += 1
            usages.append(extractor.estimate(window_of(replace(lease, chunks=()), extractor)))
        sessions += bool(lease.chunks)
        turns += len({chunk.message_id for chunk in lease.chunks})
        chunks += len(lease.chunks)
        again += sum(chunk.extractor is not None for chunk in lease.chunks)
        for part in batches(lease, settings, context):
            window = window_of(part, extractor)
            windows += bool(window.chunks or not part.chunks)
            if window.chunks:
                usages.append(extractor.estimate(window))
    known = [usage for usage in usages if usage is not None]
    usage = sum(known, Usage()) if len(known) == len(usages) else None
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

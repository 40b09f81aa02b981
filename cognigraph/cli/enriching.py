"""Enriches a space with a progress bar and limits, and estimates the work beforehand."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC

from cognigraph.cli import render
from cognigraph.cli.render import plural, spent
from cognigraph.cli.terminal import Bar, Terminal
from cognigraph.ingest.derive import by_reason
from cognigraph.ingest.queue.step import Estimate, Limits, Step
from cognigraph.llm import Budget, Prices
from cognigraph.model import Usage
from cognigraph.space import Space
from cognigraph.stores.records import Failure

_STEPS_A_LINE = 20
"""Without a progress bar, a line is printed for each of this many batches."""


@dataclass(frozen=True, slots=True)
class Enriched:
    """The result of one run: chunks read, changes to the graph, usage, and what is left.

    ``summaries`` is the number of summaries written without reading chunks, ``summary_due`` the
    number of summaries still due. ``rejected`` has the reason for each rejected item, and
    ``rejections`` counts the reasons.
    """

    chunks: int
    triples: int
    entities: int
    pending: int
    failed: int
    seconds: float
    summaries: int = 0
    summary_due: int = 0
    failures: tuple[Failure, ...] = ()
    usage: Usage = field(default_factory=Usage)
    rejections: Mapping[str, int] = field(default_factory=dict)
    rejected: tuple[Mapping[str, str], ...] = ()
    stopped: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing failed and the run was not stopped with work left."""
        return not self.failures and not (self.stopped and self.is_left)

    @property
    def is_left(self) -> bool:
        """Whether work is left."""
        return bool(self.pending or self.summary_due)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        text = (
            f"enriched {plural(self.chunks, 'chunk')} in {self.seconds:.1f} s: "
            f"{_change(self.triples, 'triple')}, {_change(self.entities, 'entity')}"
        )
        if self.usage != Usage():
            text += f"; {spent(self.usage)}"
        if self.rejected:
            text += f"; {len(self.rejected):,} left out"
        if self.summaries:
            text += f"; {plural(self.summaries, 'summary')} updated"
        if self.pending:
            text += f"; {self.pending:,} still waiting"
        return text + (f"; {_due(self.summary_due)}" if self.summary_due else "")


def _due(count: int) -> str:
    return f"{plural(count, 'summary')} due"


def _change(count: int, noun: str) -> str:
    """The change in a count, such as ``3 new triples``; it is negative if a redo removed some."""
    if count >= 0:
        return plural(count, f"new {noun}")
    return f"{plural(-count, noun)} fewer"


def budget_of(limits: Limits | None) -> Budget | None:
    """The limits of a run as a budget that is checked at each model call."""
    if limits is None:
        return None
    return Budget(calls=limits.calls, tokens=limits.tokens, cost=limits.cost, time=limits.time)


def enrich(space: Space, terminal: Terminal, limits: Limits | None = None) -> Enriched:
    """Enrich what is pending in a space, and return the result."""
    started, before = time.perf_counter(), space.stats()
    waiting = before.pending + before.leased
    steps: list[Step] = []
    if waiting or before.summaries_pending:
        with terminal.progress("enriching", waiting) as bar:
            steps = space.queue.enrich(_reporter(terminal, bar, waiting), limits=limits)
    after = space.stats()
    rejected = [(step.session, reason) for step in steps for reason in step.rejected]
    return Enriched(
        chunks=sum(step.chunks for step in steps if step.error is None and not step.lost),
        triples=after.triples - before.triples,
        entities=after.entities - before.entities,
        pending=after.pending + after.leased,
        failed=after.failed,
        seconds=round(time.perf_counter() - started, 3),
        summaries=sum(not step.chunks and not step.summary_due and not step.lost for step in steps),
        summary_due=after.summaries_pending + after.summaries_failed,
        failures=tuple(space.queue.failures()),
        usage=_usage(steps),
        rejections=dict(by_reason(reason for _, reason in rejected)),
        rejected=tuple({"session": session, "reason": reason} for session, reason in rejected),
        stopped=steps[-1].stopped if steps else None,
    )


def together(runs: Sequence[Enriched]) -> Enriched:
    """The result of runs over several spaces."""
    first, *others = runs
    for other in others:
        first = replace(
            first,
            **{name: getattr(first, name) + getattr(other, name) for name in _ADDED},
            rejections=dict(Counter(first.rejections) + Counter(other.rejections)),
            stopped=first.stopped or other.stopped,
        )
    return first


_ADDED = (
    "chunks", "triples", "entities", "pending", "failed", "seconds", "summaries", "summary_due",
    "failures", "usage", "rejected",
)  # fmt: skip


def _usage(steps: Sequence[Step]) -> Usage:
    return sum((step.usage for step in steps), Usage())


def _reporter(terminal: Terminal, bar: Bar, waiting: int) -> Callable[[Step], None]:
    done = count = 0
    usage = Usage()

    def report(step: Step) -> None:
        nonlocal done, count, usage
        count += 1
        usage += step.usage
        if step.error is None:
            done += step.chunks
        note = f"{done:,} of {max(waiting, done):,} chunks"
        if usage != Usage():
            note += f", {spent(usage)}"
        bar.at(done, note)
        if count % _STEPS_A_LINE == 0 and not terminal.draws and not terminal.json:
            terminal.note(note)

    return report


def show(done: Enriched, terminal: Terminal) -> None:
    """Print the result, and failures with their reasons."""
    terminal.show(render.text(done.sentence))
    for reason, count in sorted(done.rejections.items(), key=lambda item: (-item[1], item[0])):
        terminal.note(f"left out: {count:,} x {reason}")
    if done.stopped and done.is_left:
        terminal.note(f"stopped: {done.stopped}")
        terminal.note("the rest stays queued; continue with: cognigraph enrich")
    if done.failures:
        terminal.show(render.listing(done.failures[:20], UTC, *render.FAILURES))
        if any(failure.parked for failure in done.failures):
            terminal.note("retry parked work with: cognigraph enrich --retry-failed")
        if any(not failure.parked for failure in done.failures):
            terminal.note("retry failed work, after a pause, with: cognigraph enrich")


def dry_run(
    space: Space, terminal: Terminal, *, redo: bool, older_than: str | None, prices: str | None
) -> int:
    """Print the waiting work and its estimated cost, without a model call or any change."""
    found = space.queue.estimate(redo=redo, older_than=older_than)
    if found.usage is not None and prices:
        cost = Prices.parse(prices).cost(found.usage.input_tokens, found.usage.output_tokens)
        found = replace(found, usage=replace(found.usage, cost=round(cost, 6)))
    terminal.document({"estimate": found})
    terminal.show(render.text(estimated(found)))
    return 0


def estimated(found: Estimate) -> str:
    """An estimate in words."""
    if not found.chunks and not found.summaries:
        return "nothing to enrich"
    parts = []
    if found.chunks:
        again = f" ({found.again:,} again)" if found.again else ""
        parts.append(
            f"{plural(found.turns, 'turn')} in {plural(found.chunks, 'chunk')} of "
            f"{plural(found.sessions, 'session')} to read{again}"
        )
    if found.summaries:
        parts.append(_due(found.summaries))
    text = ", ".join(parts)
    if found.usage is None:
        return f"{text}; {found.extractor} gives no estimate of its cost"
    return f"{text}; estimate for {found.extractor}: {spent(found.usage)}"

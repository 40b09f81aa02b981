"""Work off the queue of a space, with progress."""

from __future__ import annotations

import time
from dataclasses import dataclass

from cognigraph.cli import render
from cognigraph.cli.terminal import Terminal
from cognigraph.cli.words import plural
from cognigraph.ingest.enrich import Step
from cognigraph.memory import Space
from cognigraph.stores.base import Failure


@dataclass(frozen=True, slots=True)
class Enriched:
    """What became of the queue: chunks read, what the space gained, and what is left."""

    chunks: int
    triples: int
    entities: int
    pending: int
    failed: int
    seconds: float
    failures: tuple[Failure, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        text = (
            f"enriched {plural(self.chunks, 'chunk')} in {self.seconds:.1f} s: "
            f"{plural(self.triples, 'new triple')}, {plural(self.entities, 'new entity')}"
        )
        return text + (f"; {self.pending:,} still waiting" if self.pending else "")


def enrich(space: Space, terminal: Terminal) -> Enriched:
    """Enrich what is pending in a space."""
    started, before = time.perf_counter(), space.stats()
    waiting = before.pending + before.leased
    if waiting:
        with terminal.progress("enriching", waiting) as bar:
            done = 0

            def on_step(step: Step) -> None:
                nonlocal done
                done += step.chunks
                bar.at(done, f"{done:,} of {waiting:,} chunks")

            space.enrich(on_step)
    after = space.stats()
    return Enriched(
        chunks=after.done - before.done,
        triples=after.triples - before.triples,
        entities=after.entities - before.entities,
        pending=after.pending + after.leased,
        failed=after.failed,
        seconds=round(time.perf_counter() - started, 3),
        failures=tuple(space.failures()),
    )


def show(done: Enriched, terminal: Terminal) -> None:
    """The outcome for a reader, failures with their reasons."""
    terminal.show(render.text(done.sentence))
    if done.failures:
        terminal.show(render.failures(done.failures[:20]))
        if any(failure.parked for failure in done.failures):
            terminal.note("what was given up is tried again by: cognigraph enrich --retry-failed")
        if any(not failure.parked for failure in done.failures):
            terminal.note("what failed is tried again, after a pause, by: cognigraph enrich")

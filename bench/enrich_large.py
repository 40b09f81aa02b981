"""Measure enrichment of a large space by the rules: speed, whether it falls, and what it costs.

python -m bench.enrich_large --data DIR --messages 100000 --json FILE

DIR has the layout that bench/said.py describes. Its conversations are repeated with other names
of people until there are enough messages, all of one space. All are added first, then enriched;
merging of names, states of facts and themes are part of that, and so is the first page of suspected
duplicates after it. ``by_part`` says what each tenth took. ``cpu_ms`` are milliseconds of a
processor for each message.
"""

from __future__ import annotations

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from bench.measure import machine, resident_mb, write
from bench.said import talks
from bench.synthetic import World
from cognigraph import Memory, Message
from cognigraph.english.words import FIRST_NAMES
from cognigraph.ingest.queue.step import Step

NAMES = sorted(FIRST_NAMES)
WORD = re.compile(r"\b[A-Z][a-z]+\b")
PARTS = 10


def renamed(text: str, copy: int) -> str:
    """Return a text with another first name in the place of each one."""

    def other(found: re.Match[str]) -> str:
        low = found[0].lower()
        if low not in FIRST_NAMES:
            return found[0]
        return NAMES[(NAMES.index(low) + 7 * copy) % len(NAMES)].capitalize()

    return WORD.sub(other, text) if copy else text


def messages(data: Path) -> Iterator[Message]:
    """Yield the messages of all conversations, and again and again with other names."""
    said = {talk.name: talk.messages for talk in talks(data)}
    surnames = [name.capitalize() for name in World(size=12_000).words[2000:]]
    for copy in count():
        for number, (stem, talk) in enumerate(said.items()):
            surname = surnames[(copy * len(said) + number) % len(surnames)]
            for turn in talk:
                speaker = turn["speaker"] and f"{renamed(turn['speaker'], copy)} {surname}"
                yield Message(
                    **{
                        **turn,
                        "text": renamed(turn["text"], copy),
                        "speaker": speaker,
                        "id": f"{copy}-{stem}-{turn['id']}",
                        "session": f"{copy}-{stem}-{turn['session']}",
                    }
                )


def cpu() -> float:
    """Return the seconds of a processor that this process has taken."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Clock:
    """Notes when each tenth of the messages is done."""

    def __init__(self, total: int) -> None:
        self._each = total / PARTS
        self._done = 0
        self.marks = [(time.perf_counter(), cpu())]

    def step(self, step: Step) -> None:
        """Count a batch."""
        self._done += step.chunks
        if self._done >= self._each * len(self.marks):
            self.marks.append((time.perf_counter(), cpu()))

    def by_part(self) -> list[tuple[int, float]]:
        """Return messages per second, and the milliseconds of CPU, of each part."""
        pairs = zip(self.marks, self.marks[1:], strict=False)
        return [
            (round(self._each / (end - start)), round(1000 * (used - before) / self._each, 3))
            for (start, before), (end, used) in pairs
        ]


def measure(data: Path, total: int, embedder: str) -> dict[str, Any]:
    """Enrich a new space."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(f"{folder}/m.db", embedder=embedder, enrich="manual") as memory,
    ):
        space = memory.space("large")
        space.add_many(islice(messages(data), total))
        clock = Clock(space.stats().chunks)
        used = cpu()
        started = time.perf_counter()
        space.queue.enrich(clock.step)
        enriched = time.perf_counter() - started
        used = cpu() - used
        started = time.perf_counter()
        space.review.duplicates()
        suspected = time.perf_counter() - started
        stats = space.stats()
        assert (stats.pending, stats.failed) == (0, 0)
        parts = clock.by_part()
        return {
            "messages_per_second": round(total / (enriched + suspected), 1),
            "enrich_seconds": round(enriched, 1),
            "suspected_duplicates_seconds": round(suspected, 2),
            "messages_per_second_by_part": [rate for rate, _ in parts],
            "cpu_ms": round(1000 * used / total, 3),
            "cpu_ms_by_part": [used for _, used in parts],
            "triples": stats.triples,
            "entities": stats.entities,
            "resident_mb": resident_mb(),
        }  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    run = measure(arguments.data, arguments.messages, arguments.embedder)
    result = {"messages": arguments.messages, "embedder": arguments.embedder, **run}
    write({**result, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()

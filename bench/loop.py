"""Evidence found by a search and the follow-up queries of a reader, without a model.

python -m bench.loop --data DIR --extraction none|rules|recorded
    --embedder wordllama|fastembed:FOLDER --json FILE

``DIR/loops/`` holds, for each question, what a strong model decided after reading the block of a
first search: a verdict, follow-up queries, and an answer. The queries are replayed in several ways;
each counts the share of a question's evidence among the messages that were returned, and how many
messages that took. "By verdict" asks nothing more when the verdict was "enough". DIR is laid out as
``bench/said.py`` describes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import write
from bench.said import Question, filled_space, talks
from cognigraph import Hit, Space
from cognigraph.evaluate.metrics import mean

FIRST, MORE, FOLLOWED = 15, 6, 3
"""Messages of the first search, new messages of each follow-up query, and how many are asked."""

TOKENS = 1300
PER_SESSION = 3

Way = Callable[[Space, datetime, str, Sequence[str]], Sequence[Hit]]


def one_search(space: Space, now: datetime, question: str, _: Sequence[str], k: int) -> list[Hit]:
    """No follow-up query."""
    return list(space.search(question, k, now))


def union(space: Space, now: datetime, question: str, queries: Sequence[str]) -> list[Hit]:
    """Every search by itself; what was found again is found once."""
    hits = list(space.search(question, FIRST, now))
    for query in queries:
        hits += space.search(query, MORE, now)
    return hits


def new_ones(space: Space, now: datetime, question: str, queries: Sequence[str]) -> list[Hit]:
    """Each follow-up query finds messages that were not seen yet, few of each session."""
    hits = list(space.search(question, FIRST, now))
    for query in queries:
        hits += space.search(query, MORE, now, without=hits, per_session=PER_SESSION)
    return hits


def together(space: Space, now: datetime, question: str, queries: Sequence[str]) -> list[Hit]:
    """All queries in one search, with as many messages as one after the other."""
    return list(space.search(question, FIRST + MORE * len(queries), now, also=queries))


def block(space: Space, now: datetime, question: str, queries: Sequence[str]) -> tuple[Hit, ...]:
    """What is in a prompt block that all queries share."""
    return space.context(question, TOKENS, now, also=queries).hits


def block_alone(space: Space, now: datetime, question: str, _: Sequence[str]) -> tuple[Hit, ...]:
    """What is in the prompt block of the question."""
    return space.context(question, TOKENS, now).hits


WAYS: Mapping[str, Way] = {
    "one search": partial(one_search, k=FIRST),
    "one larger search": partial(one_search, k=FIRST + MORE * FOLLOWED),
    "union": union,
    "new messages": new_ones,
    "together": together,
    "block": block_alone,
    "block, together": block,
}


@dataclass
class Found:
    """Shares of the evidence, numbers of messages, by kind of question."""

    shares: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    messages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def count(self, kind: str, evidence: frozenset[str], hits: Sequence[Hit]) -> None:
        """Count one question."""
        ids = {hit.id for hit in hits}
        for name in ("all", kind):
            self.shares[name].append(len(evidence & ids) / len(evidence))
            self.messages[name].append(len({(hit.session, hit.id) for hit in hits}))

    def report(self) -> dict[str, Any]:
        """Means over the questions of each kind."""
        return {
            kind: {
                "share": mean(shares),
                "whole": mean([float(share == 1) for share in shares]),
                "messages": round(mean(self.messages[kind]), 1),
                "questions": len(shares),
            }
            for kind, shares in sorted(self.shares.items())
        }


def replay(
    space: Space,
    question: Question,
    decided: Mapping[str, Any],
    found: Mapping[str, Mapping[str, Found]],
) -> None:
    """Ask one question in all ways."""
    queries = decided["queries"][:FOLLOWED]
    for way, ask in WAYS.items():
        hits = ask(space, question.now, question.text, queries)
        found["always"][way].count(question.category, question.evidence, hits)
        if decided["verdict"] == "enough":
            hits = ask(space, question.now, question.text, [])
        found["by verdict"][way].count(question.category, question.evidence, hits)


def run(arguments: argparse.Namespace) -> dict[str, dict[str, Found]]:
    """Fill a memory with each conversation, and replay what was decided on its questions."""
    found = {kind: {way: Found() for way in WAYS} for kind in ("always", "by verdict")}
    for talk in talks(Path(arguments.data)):
        loops = talk.recorded("loops")
        with filled_space(talk, arguments.extraction, arguments.embedder) as space:
            for question in talk.answerable:
                if str(question.number) in loops:
                    replay(space, question, loops[str(question.number)], found)
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extraction", default="rules", choices=["none", "rules", "recorded"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    found = run(arguments)
    write(
        {
            "extraction": arguments.extraction,
            "embedder": arguments.embedder.split("/")[-1],
            "first": FIRST,
            "more": MORE,
            "followed": FOLLOWED,
            **{
                when: {way: item.report() for way, item in ways.items()}
                for when, ways in found.items()
            },
        },
        arguments.json,
    )


if __name__ == "__main__":
    main()

"""Evidence in the block of ``ask`` before and after a second look, without a model.

python -m bench.looking_again --data DIR [--conversations PATTERN]
    [--extraction none|rules|recorded] [--embedder wordllama|fastembed:FOLDER] [--json FILE]

Only questions that ask for a list, a number or a sum are looked at again. Of these and of the
others, for the first search of ``licomemory`` with and without the second look: the share of a
question's evidence in the block, and that of the evidence which a fact of the block states as well
(``told``), how often all of either is there, how often a line of a summary is, messages, facts,
tokens and the median of the milliseconds; beside the block of ``context``. DIR is laid out as
``bench/said.py`` describes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.measure import write
from bench.said import ADVERSARIAL, Question, filled_space, talks
from cognigraph import Context, Space, Strategy
from cognigraph.evaluate.metrics import mean
from cognigraph.loop import AskAsItIs
from cognigraph.loop.state import asks_for_many

TOKENS = 2600
_SHARES = ("share", "whole", "told", "all_told", "summary")
ONCE = Strategy(name="once", route=AskAsItIs(many=15, again=0), max_tokens=TOKENS)
AGAIN = Strategy(name="again", route=AskAsItIs(), max_tokens=TOKENS)

Way = Callable[[Space, Question], Context]
WAYS: Mapping[str, Way] = {
    "context, 1300": lambda space, asked: space.context(asked.text, 1300, asked.now),
    "one look": lambda space, asked: space.context(asked.text, now=asked.now, strategy=ONCE),
    "two looks": lambda space, asked: space.context(asked.text, now=asked.now, strategy=AGAIN),
}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--conversations", default="*")
    parser.add_argument("--extraction", default="rules", choices=["none", "rules", "recorded"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--many", action="store_true", help="leave out the other questions")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for talk in talks(Path(arguments.data), arguments.conversations):
        with filled_space(talk, arguments.extraction, arguments.embedder) as space:
            stated = {
                fact.uid: {source.id for source in fact.sources}
                for fact in space.facts(limit=1_000_000)
            }
            for asked in talk.answerable:
                if asked.category == ADVERSARIAL:
                    continue
                kind = "many" if asks_for_many(asked.text, asked.now) else "others"
                if kind == "others" and arguments.many:
                    continue
                for way, block_of in WAYS.items():
                    measure(space, asked, block_of, stated, figures[kind][way])
    report = {
        kind: {
            way: {
                "questions": len(lists["share"]),
                **{n: round(mean(lists[n]), 3) for n in _SHARES},
                **{name: round(mean(lists[name]), 1) for name in ("messages", "facts", "tokens")},
                "p50_ms": round(median(lists["ms"]), 1),
            }
            for way, lists in ways.items()
        }
        for kind, ways in figures.items()
    }
    write({"embedder": arguments.embedder, "extraction": arguments.extraction, **report},
          arguments.json)  # fmt: skip


def measure(
    space: Space,
    asked: Question,
    block_of: Way,
    stated: Mapping[str, set[str]],
    lists: Mapping[str, list[float]],
) -> None:
    """Ask one question in one way; ``stated`` are the messages behind each fact."""
    started = perf_counter()
    block = block_of(space, asked)
    shown = {hit.id for hit in block.hits}
    lists["ms"].append(1000 * (perf_counter() - started))
    lists["share"].append(len(asked.evidence & shown) / len(asked.evidence))
    lists["whole"].append(float(asked.evidence <= shown))
    facts = [citation.id for citation in block.citations if citation.kind == "triple"]
    told = shown.union(*(stated.get(uid, set()) for uid in facts))
    lists["told"].append(len(asked.evidence & told) / len(asked.evidence))
    lists["all_told"].append(float(asked.evidence <= told))
    lists["facts"].append(len(facts))
    lists["summary"].append(
        any(citation.kind in ("session", "episode") for citation in block.citations)
    )
    lists["messages"].append(len(shown))
    lists["tokens"].append(block.tokens)


if __name__ == "__main__":
    main()

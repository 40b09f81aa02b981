"""Overviews: how much of what a summary or a timeline needs is in the prompt block.

python -m bench.overviews [--shape answer|overview] [--split dev|test] [--tokens 1300]
    [--extraction none|rules] [--embedder wordllama|fastembed:FOLDER] [--json FILE] [--show]

``bench/labels/overviews`` names for each question the turns that an answer must cover. ``shown``
is the share of them that is in the block as a message, at least in part; ``covered`` counts those
as well that an episode line of the block covers. Without ``--shape`` the words of the question
decide how the block is built.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.kept_vectors import embedder_for
from bench.measure import write
from bench.said import Question, Talk, filled_space, talks
from cognigraph import Context, Space
from cognigraph.evaluate.metrics import mean

LABELS = Path(__file__).with_name("labels")
ASKED = LABELS / "overviews" / "qa"


def conversations() -> Iterator[Talk]:
    """The conversations with their questions."""
    yield from talks(LABELS / "team", asked_in=ASKED)
    yield from talks(LABELS / "overviews")


def questions(talk: Talk, split: str | None) -> list[Question]:
    """The questions of one part of the labels; all of them without a ``split``."""
    rows = json.loads((ASKED / f"{talk.name}.qa.json").read_text("utf-8"))["qa"]
    return [
        question for question in talk.questions if split in (None, rows[question.number]["split"])
    ]


def shares(space: Space, block: Context, needed: frozenset[str]) -> tuple[float, float]:
    """The shares of the needed turns that are shown, and that are shown or in an episode."""
    shown = {cited.id for cited in block.citations if cited.kind == "message"}
    told = {cited.id for cited in block.citations if cited.kind == "episode"}
    of_episodes = {
        id for episode in space.overview.episodes(limit=10_000) if episode.uid in told
        for id in episode.messages
    }  # fmt: skip
    return len(needed & shown) / len(needed), len(needed & (shown | of_episodes)) / len(needed)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Ask all questions."""
    embedder = embedder_for(arguments.embedder, None)
    shown: list[float] = []
    covered: list[float] = []
    tokens: list[float] = []
    for talk in conversations():
        with filled_space(talk, arguments.extraction, embedder) as space:
            for question in questions(talk, arguments.split):
                block = space.context(
                    question.text, arguments.tokens, question.now, shape=arguments.shape
                )
                own = shares(space, block, question.evidence)
                shown.append(own[0])
                covered.append(own[1])
                tokens.append(block.tokens)
                if arguments.show:
                    print(talk.name, question.text, *(round(share, 2) for share in own))
                    print(block)
    return {"questions": len(shown), "shown": mean(shown), "covered": mean(covered),
            "tokens": mean(tokens)}  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=["answer", "overview"])
    parser.add_argument("--split", choices=["dev", "test"])
    parser.add_argument("--tokens", type=int, default=1300)
    parser.add_argument("--extraction", default="rules", choices=["none", "rules"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--show", action="store_true", help="print the blocks")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures = {
        name: getattr(arguments, name)
        for name in ("shape", "split", "tokens", "extraction", "embedder")
    }
    write({**figures, **run(arguments)}, arguments.json)


if __name__ == "__main__":
    main()

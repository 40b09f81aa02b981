"""What lines of sessions cost a prompt block: the evidence in it with and without them.

python -m bench.session_lines --data DIR [--sets friends,German] [--embedder wordllama|...]
    [--extractor rules|recorded] [--tokens 1300] [--keep FILE] [--largest N] [--out FILE]

DIR and the sets are those of ``bench/kinds.py``. ``shown`` is the share of a question's evidence
that is in the block, at least in part; ``whole`` the share that is shown whole. Both are means over
the questions that have evidence. ``has_line`` is the share of blocks with a line of a session, and
``worse`` and ``better`` are the numbers of questions whose block shows less or more of the evidence
than without such lines. FILE keeps the kinds that were measured before under the same conditions.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.kept_vectors import embedder_for
from bench.kinds import chosen_kinds
from bench.measure import machine, write
from bench.said import Question, empty_space, fill, talks
from cognigraph import Context, Settings, Space
from cognigraph.evaluate.metrics import mean


@dataclass(frozen=True)
class Shares:
    """What a block shows of the evidence, and whether it has a line of a session."""

    shown: float
    whole: float
    has_line: bool
    tokens: int


def shares(block: Context, question: Question) -> Shares:
    """Return what a block shows of a question's evidence."""
    cited = [each for each in block.citations if each.kind == "message"]
    shown = {each.id for each in cited}
    whole = {each.id for each in cited if not each.spans and each.part is None}
    return Shares(
        len(question.evidence & shown) / len(question.evidence),
        len(question.evidence & whole) / len(question.evidence),
        any(each.kind in ("session", "episode") for each in block.citations),
        block.tokens,
    )


def asked(space: Space, question: Question, tokens: int) -> tuple[Shares, Shares]:
    """Return what the block shows with lines of sessions, and without."""
    usual = Settings()
    without = replace(usual, context=replace(usual.context, sessions=False))
    blocks = (
        space.context(question.text, tokens, question.now, settings=settings)
        for settings in (usual, without)
    )
    with_lines, without_lines = (shares(block, question) for block in blocks)
    return with_lines, without_lines


def report(pairs: list[tuple[Shares, Shares]]) -> dict[str, Any]:
    """Return the means over the questions."""
    with_lines, without = zip(*pairs, strict=True)
    return {
        "questions": len(pairs),
        "has_line": mean([each.has_line for each in with_lines]),
        "shown": mean([each.shown for each in with_lines]),
        "shown_without": mean([each.shown for each in without]),
        "difference": round(mean([one.shown - other.shown for one, other in pairs]), 4),
        "whole": mean([each.whole for each in with_lines]),
        "whole_without": mean([each.whole for each in without]),
        "worse": sum(one.shown < other.shown for one, other in pairs),
        "better": sum(one.shown > other.shown for one, other in pairs),
        "tokens": mean([each.tokens for each in with_lines]),
        "tokens_without": mean([each.tokens for each in without]),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--extractor", default="rules", choices=["rules", "recorded"])
    parser.add_argument("--tokens", type=int, default=1300)
    parser.add_argument("--keep", help="a file for vectors of messages, for the next run")
    parser.add_argument("--largest", type=int, help="leave out larger conversations")
    parser.add_argument("--out")
    given = parser.parse_args()
    embedder = embedder_for(given.embedder, given.keep)
    kinds: dict[str, Any] = {}
    for kind in chosen_kinds(Path(given.data), given.sets):
        pairs = []
        for talk in talks(Path(given.data) / kind.folder, kind.conversations):
            if given.largest and len(talk.messages) > given.largest:
                continue
            if (
                given.extractor == "recorded"
                and not (talk.folder / "extractions" / f"{talk.name}.json").exists()
            ):
                continue
            with empty_space(talk, given.extractor, embedder) as space:
                inserted = 0
                for question in talk.answerable:
                    if inserted < question.sees:
                        fill(space, talk.messages[inserted : question.sees], given.extractor)
                        inserted = question.sees
                    pairs.append(asked(space, question, given.tokens))
        if pairs:
            kinds[kind.name] = report(pairs)
            print(kind.name, json.dumps(kinds[kind.name]), file=sys.stderr, flush=True)
    conditions = {
        "extractor": given.extractor,
        "embedder": given.embedder.split("/")[-1],
        "budget": given.tokens,
        "machine": machine(),
    }
    write({**conditions, "kinds": {**before(given.out, conditions), **kinds}}, given.out)


def before(path: str | None, conditions: dict[str, Any]) -> dict[str, Any]:
    """Return the kinds in a file that were measured under the same conditions."""
    if path is None or not Path(path).exists():
        return {}
    known = json.loads(Path(path).read_text("utf-8"))
    kinds: dict[str, Any] = known.pop("kinds")
    return kinds if known == conditions else {}


if __name__ == "__main__":
    main()

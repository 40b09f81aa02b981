"""Evidence in the prompt block: how much of it a block of a given size carries, before and after.

python -m bench.context --data DIR [--labels bench/labels/answers.jsonl]
    --extraction none|rules|recorded --embedder wordllama|fastembed:FOLDER --tokens 1300
    --keep FILE --json FILE

A turn counts as carried when the sentences that answer are shown (``--labels``), or without labels
when the turn is shown whole. "Before" is a block of whole messages in the order of their rank, the
first 15 of them as far as they fit, with an item for every session found, which is how blocks were
built formerly. DIR is laid out as ``bench/said.py`` describes.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

from bench.kept_vectors import embedder_for
from bench.measure import write
from bench.said import Talk, filled_space, talks
from cognigraph import Context, SearchResult, Space
from cognigraph.evaluate.metrics import mean, percentiles
from cognigraph.retrieve.block_lines import message_head, session_line, triple_line
from cognigraph.text.marks import FOOTER, HEADER, estimate_tokens, one_line

Labels = Mapping[tuple[str, int, str], list[list[str]]]
"""By conversation, question and turn: alternatives, each a list of sentences that are needed."""

_ITEM = re.compile(r"^\[(C\d+)\] (.*(?:\n(?:  .*)?$)*)", re.MULTILINE)


@dataclass
class Blocks:
    """What the blocks of all questions carry."""

    carried: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    by_conversation: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    near: list[float] = field(default_factory=list)
    messages: list[float] = field(default_factory=list)
    sessions: list[float] = field(default_factory=list)
    right_sessions: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """Means over the questions."""
        return {
            "carried": mean(self.carried),
            "all_carried": mean([float(share == 1) for share in self.carried]),
            "turns_shown": mean(self.shown),
            "by_kind": {name: mean(shares) for name, shares in sorted(self.by_kind.items())},
            "by_conversation": {name: mean(own) for name, own in self.by_conversation.items()},
            "share_of_characters_near_evidence": mean(self.near),
            "messages": mean(self.messages),
            "blocks_with_session_line": mean(self.sessions),
            "first_session_line_is_of_evidence": mean(self.right_sessions),
            "tokens": mean(self.tokens),
            "carried_per_1000_tokens": round(1000 * mean(self.carried) / mean(self.tokens), 4),
            "ms": percentiles(self.milliseconds),
        }


@dataclass(frozen=True)
class Turn:
    """A turn in a block: its text there, and whether that is all of it."""

    text: str
    whole: bool


def whole_messages(result: SearchResult, budget: int) -> tuple[dict[str, Turn], int]:
    """The messages of a block in the former way, and its tokens."""
    lines = [HEADER, FOOTER]
    if result.trace.asks is not None:
        lines.append("Now: 2025-01-01")
    left = budget - estimate_tokens("\n".join(lines))
    shown: dict[str, Turn] = {}

    def take(line: str, share: int) -> int:
        cost = estimate_tokens("\n" + line)
        fits = cost <= min(left, share)
        return cost if fits else 0

    sections = [
        ("Sessions:",
         [("", session_line(hit.session, UTC)) for hit in result.sessions], budget // 10),
        (
            "Facts:",
            [("", triple_line(triple, UTC)) for triple in result.triples],
            int(budget * 0.15),
        ),
        ("Messages:",
         [(hit.id, one_line(message_head(hit, UTC) + hit.text)) for hit in result.hits], budget),
    ]  # fmt: skip
    for heading, items, share in sections:
        paid = False
        for number, (id, line) in enumerate(items, 1):
            extra = "" if paid else f"{heading}\n"
            cost = take(f"{extra}[C{number}] {line}", share)
            if cost:
                left, share, paid = left - cost, share - cost, True
                if id:
                    shown[id] = Turn(line, whole=True)
    return shown, budget - left


def excerpts(block: Context) -> dict[str, Turn]:
    """The messages of a block as it is built now."""
    items = {label: text for label, text in _ITEM.findall(str(block))}
    parts = {hit.id: hit.parts for hit in block.hits}
    return {
        cited.id: Turn(items[cited.label], not cited.spans and (cited.part is None or
                       parts[cited.id] == 1))
        for cited in block.citations if cited.kind == "message"
    }  # fmt: skip


def carries(turn: Turn | None, needed: Sequence[Sequence[str]] | None) -> bool:
    """Whether a turn is shown with the sentences that answer; without labels whole."""
    if turn is None:
        return False
    if needed is None:
        return turn.whole
    text = " ".join(turn.text.split())
    return any(all(one_line(said) in text for said in sentences) for sentences in needed)


def count(
    blocks: Blocks,
    shown: Mapping[str, Turn],
    evidence: Sequence[str],
    needed: Mapping[str, list[list[str]]] | None,
    kind: str,
    conversation: str,
) -> None:
    """Count what a block carries of one question's evidence."""
    carried = [carries(shown.get(id), needed[id] if needed else None) for id in evidence]
    blocks.carried.append(mean([float(item) for item in carried]))
    blocks.shown.append(mean([float(id in shown) for id in evidence]))
    blocks.by_kind[kind].append(blocks.carried[-1])
    blocks.by_conversation[conversation].append(blocks.carried[-1])
    near = {neighbour for id in evidence for neighbour in around(id)}
    lengths = {id: len(turn.text) for id, turn in shown.items()}
    close = sum(length for id, length in lengths.items() if id in near)
    blocks.near.append(close / max(sum(lengths.values()), 1))
    blocks.messages.append(len(shown))


def session_lines(block: Context) -> list[str]:
    """The sessions of which a block has a line, best first."""
    return [cited.id for cited in block.citations if cited.kind == "session"]


def count_sessions(blocks: Blocks, shown: Sequence[str], evidence: Collection[str]) -> None:
    """Count whether a block has a session line, and if so, whether the first is of the evidence."""
    blocks.sessions.append(float(bool(shown)))
    if shown:
        blocks.right_sessions.append(float(shown[0] in evidence))


def around(id: str) -> tuple[str, str, str]:
    """A turn with the one before and the one after it."""
    session, turn = id.split(":")
    return f"{session}:{int(turn) - 1}", id, f"{session}:{int(turn) + 1}"


def read_labels(path: str | None) -> Labels | None:
    """The labelled sentences."""
    if path is None:
        return None
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    return {(row["conversation"], row["question"], row["turn"]): row["answers"] for row in rows}


def run(arguments: argparse.Namespace) -> dict[str, Blocks]:
    """Ask all questions of the data folder; blocks by the way they are built."""
    labels = read_labels(arguments.labels)
    embedder = embedder_for(arguments.embedder, arguments.keep)
    found = {"before": Blocks(), "after": Blocks()}
    for talk in talks(Path(arguments.data)):
        with filled_space(talk, arguments.extraction, embedder) as space:
            ask(space, talk, labels, arguments.tokens, found)
    return found


def ask(
    space: Space, talk: Talk, labels: Labels | None, tokens: int, found: Mapping[str, Blocks]
) -> None:
    """Ask the questions of one conversation."""
    session_of = {message["id"]: message["session"] for message in talk.messages}
    for question in talk.answerable:
        evidence, number = sorted(question.evidence), question.number
        needed = {id: labels[talk.name, number, id] for id in evidence} if labels else None
        started = time.perf_counter()
        result = space.search(question.text, k=15, now=question.now)
        searched = time.perf_counter()
        block = space.context(question.text, tokens, question.now)
        ended = time.perf_counter()
        before, used = whole_messages(result, tokens)
        for way, shown, sessions, size, spent in (
            ("before", before, [], used, searched - started),
            ("after", excerpts(block), session_lines(block), block.tokens, ended - searched),
        ):
            count(found[way], shown, evidence, needed, question.category, talk.name)
            count_sessions(found[way], sessions, {session_of[id] for id in evidence})
            found[way].tokens.append(size)
            found[way].milliseconds.append(1000 * spent)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--labels", help="the sentences that answer, as JSON lines")
    parser.add_argument("--extraction", default="none", choices=["none", "rules", "recorded"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--tokens", type=int, default=1300)
    parser.add_argument("--keep", help="a file for vectors of messages, for the next run")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    found = run(arguments)
    write(
        {
            "extraction": arguments.extraction,
            "embedder": arguments.embedder.split("/")[-1],
            "budget": arguments.tokens,
            "counted": "labelled sentences" if arguments.labels else "whole turns",
            "questions": len(found["after"].carried),
            **{way: blocks.report() for way, blocks in found.items()},
        },
        arguments.json,
    )


if __name__ == "__main__":
    main()

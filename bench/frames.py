"""Each frame of the rules on each kind of text: what it writes, and how much of it is right.

python -m bench.frames KIND=PLACE[,PLACE] ... --json FILE    --show unjudged|useful|trivial|false

A kind is a name and the folders of its conversations (layout: ``said.py``), or files of short ones
(``labels/updates.jsonl``). Every fact that the rules read is compared with a verdict made by hand
(``labels/frames.jsonl``): ``useful``, ``trivial`` (right, but of no use to anybody) or ``false``.
Verdicts are kept by a hash of the conversation, the message and the fact, so that text that may not
be copied stays out.

A frame stays if at least 97 of 100 of its facts are right on every choice of kinds that leaves one
out: ``least_right`` is the smallest share over those choices.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bench.measure import write
from bench.said import turns
from cognigraph.ingest.extraction import Fact
from cognigraph.ingest.rules.statements import FRAMES
from cognigraph.ingest.rules.turns import CONTEXT, ChunkInContext
from cognigraph.model.messages import role_of
from cognigraph.stores.records import WorkChunk

VERDICTS = Path(__file__).parent / "labels" / "frames.jsonl"
NAMES = (*(frame.name for frame in FRAMES), "apposition", "order")


def facts(place: Path, cost: Counter[str]) -> Iterator[tuple[str, str, str, Fact, str]]:
    """Yield conversation, message, frame, fact and text of all that the rules read in a place.

    ``cost`` counts the messages, and the processor time of reading them in microseconds.
    """
    talks = _chains(place) if place.suffix == ".jsonl" else _talks(place)
    for name, messages in talks:
        near: deque[ChunkInContext] = deque(maxlen=CONTEXT)
        session = None
        for message in messages:
            if message["session"] != session:
                near.clear()
                session = message["session"]
            chunk = WorkChunk(
                message["id"], message["id"], message["session"], message["speaker"], message["at"],
                message["text"], role=role_of(message["speaker"]),
            )  # fmt: skip
            started = time.process_time()
            turn = ChunkInContext(chunk, near)
            framed = turn.framed
            cost["messages"] += 1
            cost["us"] += round(1e6 * (time.process_time() - started))
            for fact, frame in framed.items():
                yield name, message["id"], frame, fact, message["text"]
            near.append(turn)


def _talks(folder: Path) -> Iterator[tuple[str, Iterable[dict[str, Any]]]]:
    for file in sorted((folder / "conversations").glob("*.json")):
        yield file.stem, turns(json.loads(file.read_text("utf-8")))


def _chains(file: Path) -> Iterator[tuple[str, Iterable[dict[str, Any]]]]:
    """Read short conversations: ``turns`` (day, speaker, text) or ``messages`` with these keys."""
    for chain in map(json.loads, file.read_text("utf-8").splitlines()):
        said = chain.get("turns") or [
            (message["time"], message["speaker"], message["text"]) for message in chain["messages"]
        ]
        yield f"{file.stem}/{chain['id']}", [
            {"id": str(number), "session": day, "speaker": speaker, "text": text,
             "at": datetime.fromisoformat(f"{day[:10]}T09:00+00:00")}
            for number, (day, speaker, text) in enumerate(said)
        ]  # fmt: skip


def digest(conversation: str, message: str, fact: Fact) -> str:
    """Identify a fact without its text."""
    said = (conversation, message, fact.subject, fact.relation, fact.object, str(fact.when or ""))
    return blake2b("\x00".join((*said, str(fact.negated))).encode(), digest_size=8).hexdigest()


def measure(kinds: dict[str, list[Path]], show: str | None) -> dict[str, Any]:
    """Count the verdicts of each frame on each kind."""
    judged = {
        row["fact"]: row["verdict"]
        for row in map(json.loads, VERDICTS.read_text("utf-8").splitlines())
    }
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    costs: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, places in kinds.items():
        for place in places:
            for conversation, message, frame, fact, text in facts(place, costs[kind]):
                key = digest(conversation, message, fact)
                verdict = judged.get(key, "unjudged")
                counts[frame][kind][verdict] += 1
                if show in (verdict, "all"):
                    relation = f"{'NOT ' * fact.negated}{fact.relation}"
                    told = f"{fact.subject} | {relation} | {fact.object} | {fact.when or ''}"
                    print(json.dumps([key, kind, frame, told, text[:600]], ensure_ascii=False))
    rows = {name: _row(counts[name]) for name in NAMES}
    by_kind = {kind: sum((by[kind] for by in counts.values()), Counter()) for kind in kinds}
    return {
        "total": dict(sum(by_kind.values(), Counter())),
        "kinds": {kind: _of_kind(count, costs[kind]) for kind, count in by_kind.items()},
        "frames": rows,
    }


def _of_kind(count: Counter[str], cost: Counter[str]) -> dict[str, Any]:
    known = sum(count.values()) - count["unjudged"]
    return {
        "messages": cost["messages"],
        "ms_per_message": round(cost["us"] / 1000 / cost["messages"], 2),
        "facts": sum(count.values()),
        "judged": known,
        "useful_share": round(count["useful"] / max(known, 1), 4),
        "false_share": round(count["false"] / max(known, 1), 4),
    }


def _row(by_kind: dict[str, Counter[str]]) -> dict[str, Any]:
    kinds = {kind: dict(count) for kind, count in by_kind.items() if count}
    shares = [
        _right(sum((count for kind, count in by_kind.items() if kind != left), Counter()))
        for left in kinds
    ]
    known = [share for share in shares if share is not None]
    return {
        "facts": sum(sum(count.values()) for count in by_kind.values()),
        "right": _right(sum(by_kind.values(), Counter())),
        "least_right": min(known, default=None),
        "kinds": kinds,
    }


def _right(count: Counter[str]) -> float | None:
    known = sum(count.values()) - count["unjudged"]
    return round(1 - count["false"] / known, 4) if known else None


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="+", metavar="KIND=PLACE[,PLACE]")
    parser.add_argument("--show", choices=["unjudged", "useful", "trivial", "false", "all"])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    named = (kind.split("=", 1) for kind in arguments.kinds)
    kinds = {name: [Path(folder) for folder in folders.split(",")] for name, folders in named}
    result = measure(kinds, arguments.show)
    if not arguments.show:
        write(result, arguments.json)


if __name__ == "__main__":
    main()

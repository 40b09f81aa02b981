"""How good the facts in a store are: triples as they are after derivation and resolution.

python bench/derived.py --data DIR --conversations dev-family,... --json FILE
    --show unjudged|useful|trivial|false

Each conversation is read into a store of its own. A sample of its triples, chosen by hash, is
compared with verdicts made by hand: ``useful`` (right, and somebody would look for it), ``trivial``
(vague, broken or of no use, but not false) or ``false``. A triple without a verdict counts as
unjudged, never as useful. Verdicts are kept by a hash of the conversation, message and triple, so
that text that may not be copied stays out (``labels/derived.jsonl``, see labels/README.md).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

from measure import write
from reach import all_triples
from recall import turns

from cognigraph import Memory, Space, Triple

VERDICTS = Path(__file__).parent / "labels" / "derived.jsonl"


def digest(conversation: str, triple: Triple) -> str:
    """Identify a triple without its text."""
    said = "\x00".join((conversation, triple.sources[0].id, triple.text, str(triple.when or "")))
    return blake2b(said.encode(), digest_size=8).hexdigest()


def read(space: Space, messages: list[dict[str, Any]]) -> list[Triple]:
    """Read a conversation into a space and return its triples."""
    space.add_many(messages)
    space.flush(timeout=600)
    return all_triples(space)


def entity_count(space: Space) -> int:
    """Number of entities of a space."""
    return space.stats().entities


def measure(data: Path, names: list[str], sample: int, show: str | None) -> dict[str, Any]:
    """Figures over some conversations; prints the triples with the verdict to show."""
    judged = dict(map(_verdict, VERDICTS.read_text("utf-8").splitlines()))
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    chosen: list[tuple[str, str, Triple, str]] = []
    for name in names:
        conversation = json.loads((data / "conversations" / f"{name}.json").read_text("utf-8"))
        messages = list(turns(conversation))
        texts = {message["id"]: message["text"] for message in messages}
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory(f"{folder}/x.db", extractor="rules", enrich="manual") as memory,
        ):
            space = memory.space(name)
            triples = read(space, messages)
            totals.update(messages=len(messages), facts=len(triples), entities=entity_count(space))
        for triple in triples:
            chosen.append((digest(name, triple), name, triple, texts[triple.sources[0].id]))
    for key, name, triple, text in sorted(chosen, key=lambda one: one[0])[:sample]:
        verdict = judged.get(key, "unjudged")
        counts[verdict] += 1
        if show == verdict:
            print(json.dumps([key, name, triple.text, str(triple.when or ""), text[:900]]))
    known = sum(counts.values()) - counts["unjudged"]
    return {
        "conversations": names,
        "facts_per_100_messages": round(100 * totals["facts"] / totals["messages"], 1),
        "entities_per_100_messages": round(100 * totals["entities"] / totals["messages"], 1),
        "sampled": sum(counts.values()),
        "judged": known,
        **dict(sorted(counts.items())),
        "useful_share": round(counts["useful"] / max(known, 1), 4),
        "false_share": round(counts["false"] / max(known, 1), 4),
    }


def _verdict(line: str) -> tuple[str, str]:
    row = json.loads(line)
    return row["triple"], row["verdict"]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--conversations", required=True, help="names, separated by commas")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--show", choices=["unjudged", "useful", "trivial", "false"])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    names = arguments.conversations.split(",")
    result = measure(Path(arguments.data), names, arguments.sample, arguments.show)
    if not arguments.show:
        write(result, arguments.json)


if __name__ == "__main__":
    main()

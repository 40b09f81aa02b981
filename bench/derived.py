"""How good the facts in a store are: triples as they are after derivation and resolution.

python bench/derived.py --data DIR --conversations dev-family,... --json FILE
    --show unjudged|useful|trivial|false

Each conversation is read into a store of its own. A sample of its triples, chosen by hash, is
compared with verdicts made by hand: ``useful`` (right, and somebody would look for it), ``trivial``
(vague, broken or of no use, but not false) or ``false``. A triple without a verdict counts as
unjudged, never as useful. Verdicts are kept by a hash of the conversation, message and triple, so
that text that may not be copied stays out (``labels/derived.jsonl``, see labels/README.md).
``ms_per_message`` is processor time of storing and enriching, of all threads.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

from measure import write
from reach import all_triples
from said import filled_space, talks

from cognigraph import Triple

VERDICTS = Path(__file__).parent / "labels" / "derived.jsonl"


def digest(conversation: str, triple: Triple) -> str:
    """Identify a triple without its text."""
    said = "\x00".join((conversation, triple.sources[0].id, triple.text, str(triple.when or "")))
    return blake2b(said.encode(), digest_size=8).hexdigest()


def measure(data: Path, names: list[str], sample: int, show: str | None) -> dict[str, Any]:
    """Figures over some conversations; prints the triples with the verdict to show."""
    judged = dict(map(_verdict, VERDICTS.read_text("utf-8").splitlines()))
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    chosen: list[tuple[str, str, Triple, str]] = []
    for talk in (talk for talk in talks(data) if talk.name in names):
        texts = {message["id"]: message["text"] for message in talk.messages}
        started = time.process_time()
        with filled_space(talk, "rules", "wordllama") as space:
            totals["ms"] += round(1000 * (time.process_time() - started))
            triples = all_triples(space)
            totals["messages"] += len(texts)
            totals["facts"] += len(triples)
            totals["entities"] += space.stats().entities
        for triple in triples:
            text = texts[triple.sources[0].id]
            chosen.append((digest(talk.name, triple), talk.name, triple, text))
    for key, name, triple, text in sorted(chosen, key=lambda item: item[0])[:sample]:
        verdict = judged.get(key, "unjudged")
        counts[verdict] += 1
        if show == verdict:
            print(json.dumps([key, name, triple.text, str(triple.when or ""), text[:900]]))
    known = sum(counts.values()) - counts["unjudged"]
    return {
        "conversations": names,
        "facts_per_100_messages": round(100 * totals["facts"] / totals["messages"], 1),
        "entities_per_100_messages": round(100 * totals["entities"] / totals["messages"], 1),
        "ms_per_message": round(totals["ms"] / totals["messages"], 2),
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

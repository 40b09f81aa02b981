"""Facts that change: short conversations, half of them traps in which nothing has changed.

python -m bench.updates --labels updates|updates-second|... --extractor rules --json FILE
    --show wrong|all

There are two sets of sixty, and sets of twenty, forty, thirty and fifteen. The first was written
together with the rules. The others were written later and before any of them had been run; what the
rules made of them at first contact is kept in ``results/updates-*-first-contact.json``. The rules
were then worked on with all but the sixth: only a first contact estimates how they read other text.

A chain tells something and changes it later. It is *right* if the prompt block for its question
shows the new state, and the old one not at all or marked as over: a fact with its end or that tells
the end ("left DNB"), a message that ends with ``[no longer true...]``. A trap is right if its facts
stay current; it has *sprung* if anything was superseded in it, except for what was over before.
*Precision* and *recall* are those of superseding: of all facts that were superseded, those that
should be; of the chains, those whose old fact was. *Newest first* counts the chains in which the
question finds the newest message before the first one.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cognigraph import Memory, Space, Triple
from cognigraph.states.slots import claim_about

LABELS = Path(__file__).parent / "labels"
SETS = tuple(
    f"updates{which}" for which in ("", "-second", "-third", "-fourth", "-fifth", "-sixth")
)
NOW = "2026-12-01T09:00:00Z"
_OVER = re.compile(r"\buntil \d{4}|\[no longer true")


@dataclass
class Outcome:
    """What became of one chain; ``superseded`` are facts in words."""

    id: str
    kind: str
    right: bool
    expected: int
    found: int
    superseded: list[str] = field(default_factory=list)
    newest_first: bool | None = None
    block: str = ""


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure, print and return the figures."""
    options = _options(arguments)
    with TemporaryDirectory() as folder:
        outcomes = list(_outcomes(Path(folder), options.extractor, options.labels))
    for outcome in outcomes:
        if options.show == "all" or (options.show == "wrong" and not outcome.right):
            print(f"{outcome.kind} {outcome.id}: {outcome.superseded}\n{outcome.block}\n")
    figures = {"labels": options.labels, "extractor": options.extractor, **summary(outcomes)}
    print(json.dumps(figures, indent=2))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return figures


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Count the chains that are right, the traps that sprang, and what was superseded."""
    changes = [outcome for outcome in outcomes if outcome.kind == "change"]
    traps = [outcome for outcome in outcomes if outcome.kind == "trap"]
    superseded = sum(len(outcome.superseded) for outcome in outcomes)
    found = sum(outcome.found for outcome in outcomes)
    wanted = sum(change.expected for change in changes)
    reached = sum(min(change.found, change.expected) for change in changes)
    return {
        "chains": len(changes),
        "right": sum(change.right for change in changes),
        "traps": len(traps),
        "traps right": sum(trap.right for trap in traps),
        "traps sprung": sum(bool(trap.superseded) for trap in traps),
        "precision": round(found / superseded, 3) if superseded else None,
        "recall": round(reached / wanted, 3) if wanted else None,
        "newest first": sum(bool(change.newest_first) for change in changes),
    }


def _outcomes(folder: Path, extractor: str, labels: str) -> Iterator[Outcome]:
    for line in (LABELS / f"{labels}.jsonl").read_text("utf-8").splitlines():
        chain = json.loads(line)
        with Memory(folder / f"{chain['id']}.db", extractor=extractor, enrich="manual") as memory:
            yield _outcome(chain, memory)


def _outcome(chain: dict[str, Any], space: Space) -> Outcome:
    turns = chain["turns"]
    for number, (day, speaker, text) in enumerate(turns):
        at = f"{day}T09:{number:02}:00Z"
        space.add(text, session=day, speaker=speaker, at=at, id=f"m{number}")
    space.flush()
    over = [triple for triple in space.facts() if triple.status == "superseded"]
    block = str(space.context(chain["question"], 800, now=NOW))
    words = [_words(triple) for triple in over]
    outcome = Outcome(chain["id"], chain["kind"], False, 0, 0, words, None, block)
    if chain["kind"] == "trap":
        past = chain.get("over", [])
        over = [triple for triple in over if not any(_names(triple, word) for word in past)]
        outcome.superseded = [_words(triple) for triple in over]
        outcome.right = not over and all(_shows(block, word) for word in chain["keep"])
        return outcome
    outcome.expected = 1
    outcome.found = sum(_names(triple, chain["old"]) for triple in over)
    ends = [fact.text for fact in space.facts() if _tells_end(fact)]
    outcome.right = _is_right(chain, block, ends)
    last = max(number for number, turn in enumerate(turns) if turn[1] == turns[0][1])
    hits = [hit.id for hit in space.search(chain["question"], now=NOW)]
    outcome.newest_first = hits.index(f"m{last}") < hits.index("m0")
    return outcome


def _tells_end(triple: Triple) -> bool:
    """Whether a fact tells that something is over: "left DNB", "broke up with Elias"."""
    claim = claim_about(triple)
    if claim is None:
        return False
    return claim.says == "ends" or (claim.slot == "relationship" and claim.value[:7] == "single ")


def _is_right(chain: dict[str, Any], block: str, ends: Sequence[str]) -> bool:
    """Whether the block shows the new state as current, and the old one marked or not at all.

    ``ends`` are the facts that say that something is over.
    """
    first = chain["turns"][0][2]
    stale = [
        line
        for line in block.splitlines()
        if not (_OVER.search(line) or any(f"] {end} (" in line for end in ends))
        and ((line.startswith("[C") and first in line) or _is_fact_about(line, chain))
    ]
    return _shows(block, chain["new"]) and not stale


def _is_fact_about(line: str, chain: dict[str, Any]) -> bool:
    return line.startswith("[T") and chain["old"] in line and chain["new"] not in line


def _shows(block: str, word: str) -> bool:
    """Whether a current line has the word, or one of several wordings ("not drink|don't drink")."""
    lines = [line for line in block.splitlines() if line.startswith(("[T", "[C"))]
    current = [line for line in lines if not _OVER.search(line)]
    return any(item in line for item in word.split("|") for line in current)


def _words(triple: Triple) -> str:
    return f"{triple.text} ({triple.when})" if triple.when else triple.text


def _names(triple: Triple, old: str) -> bool:
    return old.split()[-1] in _words(triple)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", choices=SETS, default=SETS[0])
    parser.add_argument("--extractor", default="rules")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--show", choices=("wrong", "all"))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()

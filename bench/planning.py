"""Queries that rules add to a question, without a model: does the evidence come first more often?

python bench/planning.py --data DIR --extraction none|rules|recorded
    --embedder wordllama|fastembed:FOLDER --json FILE

Two ways to plan, each measured on the questions that it changes, among 15 messages and in a prompt
block of 1,300 tokens: a question about two people is also asked about each of them ("per person"),
and a question for a list is also asked with the memory's own entities that are most similar to the
noun asked for ("kinds": "what pets" with "dog, cat, Luna"). ``anchors`` counts questions that name
an event ("after the move"), with and without looking the event up first. By conversation, so that
a gain that comes from one of them shows. Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import write
from recall import category_of, fill, turns

from cognigraph import Memory, Space
from cognigraph.evaluate.metrics import mean
from cognigraph.ingest import RecordedExtractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.retrieve.question.analyse import analyse

K, TOKENS, MOST_KINDS = 15, 1300, 6
NEAR = 0.3
"""Least cosine of an entity's name with the noun asked for."""

_NOUN = re.compile(r"\b(?:what|which)\s+(?:(?:kinds?|types?|sorts?)\s+of\s+)?([a-z]+(?:\s[a-z]+)?)")
_VERBS = re.compile(r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|would|will)\b.*")

Queries = Callable[[str], Sequence[str]]
Shares = dict[str, dict[str, list[tuple[float, float]]]]
"""By way and conversation: shares of the evidence without and with the plan."""


def per_person(question: str, people: Sequence[str]) -> list[str]:
    """The question asked about each of two people that it names."""
    named = [name for name in people if re.search(rf"\b{re.escape(name)}\b", question)]
    if len(named) != 2:
        return []
    one, other = named
    both = rf"(?:both\s+)?(?:{one}\s+and\s+{other}|{other}\s+and\s+{one})(?:\s+both)?"
    if re.search(both, question):
        return [re.sub(both, name, question) for name in named]
    return [re.sub(rf"\b{gone}\b(?:'s)?\s*", "", question) for gone in (other, one)]


def kinds(question: str, now: datetime, nearest: Callable[[str], list[str]],
          people: Sequence[str]) -> list[str]:  # fmt: skip
    """A question for a list, asked with entities that are of the kind it asks for."""
    found = _NOUN.search(question.lower())
    if not analyse(question, now).enumerates or found is None:
        return []
    noun = _VERBS.sub("", found.group(1)).strip()
    named = [name for name in people if re.search(rf"\b{re.escape(name)}\b", question)]
    items = nearest(noun) if noun else []
    return [f"{' '.join(named)} {', '.join(items)}".strip()] if items else []


def nearest_entities(memory: Memory, space: str) -> Callable[[str], list[str]]:
    """A function from a noun to the names of the entities that are most similar to it."""
    entities = memory.space(space).entities(limit=5000)
    names = [one.name for one in entities if one.type not in ("person", "time")]
    vectors = np.array(memory._engine.embedder.embed(names)) if names else np.zeros((0, 1))

    def nearest(noun: str) -> list[str]:
        if not names:
            return []
        cosine = vectors @ np.array(memory._engine.embedder.embed([noun])[0])
        best = [row for row in np.argsort(-cosine)[:MOST_KINDS].tolist() if cosine[row] >= NEAR]
        return [names[row] for row in best]

    return nearest


def asked(data: Path, name: str, known: set[str]) -> Iterator[tuple[str, str, set[str]]]:
    """The questions with evidence: their kind, their text, and the ids of the evidence."""
    for item in json.loads((data / "qa" / f"{name}.qa.json").read_text("utf-8"))["qa"]:
        evidence = set(re.findall(r"D\d+:\d+", " ".join(item.get("evidence", [])))) & known
        if evidence:
            yield category_of(item), item["question"], evidence


def share(hits: Sequence[Any], evidence: set[str]) -> float:
    """The share of the evidence among the hits."""
    return len({hit.id for hit in hits} & evidence) / len(evidence)


def compare(space: Space, now: datetime, question: str, evidence: set[str],
            also: Sequence[str]) -> Iterator[tuple[str, tuple[float, float]]]:  # fmt: skip
    """Shares without and with further queries, among the messages and in the block."""
    yield (
        "messages",
        (
            share(space.search(question, K, now), evidence),
            share(space.search(question, K, now, also=also), evidence),
        ),
    )
    yield (
        "block",
        (
            share(space.context(question, TOKENS, now).hits, evidence),
            share(space.context(question, TOKENS, now, also=also).hits, evidence),
        ),
    )


def measure(memory: Memory, data: Path, name: str, messages: list[dict[str, Any]],
            found: Mapping[str, Shares]) -> None:  # fmt: skip
    """Ask the questions of one conversation that a plan changes."""
    space, now = memory.space(name), messages[-1]["at"] + timedelta(days=1)
    people = sorted({str(message["speaker"]) for message in messages})
    plans: dict[str, Queries] = {
        "per person": partial(per_person, people=people),
        "kinds": partial(kinds, now=now, nearest=nearest_entities(memory, name), people=people),
    }
    plain = replace(memory._engine.settings.search, time_anchor=False)
    for kind, question, evidence in asked(data, name, {message["id"] for message in messages}):
        for way, plan in plans.items():
            also = plan(question)
            if also:
                for where, pair in compare(space, now, question, evidence, also):
                    for part in ("all", kind):
                        found[f"{way}, {where}"][part][name].append(pair)
        if analyse(question, now).time.anchor:
            without = space.search(question, K, now, settings=plain)
            pair = share(without, evidence), share(space.search(question, K, now), evidence)
            found["anchors, messages"]["all"][name].append(pair)


def report(by_kind: Shares) -> dict[str, Any]:
    """Means without and with the plan, and the gain in each conversation."""
    result = {}
    for kind, by_conversation in sorted(by_kind.items()):
        pairs = [pair for own in by_conversation.values() for pair in own]
        result[kind] = {
            "questions": len(pairs),
            "without": mean([pair[0] for pair in pairs]),
            "with": mean([pair[1] for pair in pairs]),
            "gains": {
                name: mean([pair[1] - pair[0] for pair in own])
                for name, own in sorted(by_conversation.items())
            },
        }
    return result


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all conversations of the data folder."""
    data = Path(arguments.data)
    found: dict[str, Shares] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted((data / "conversations").glob("*.json")):
            messages = list(turns(json.loads(file.read_text("utf-8"))))
            recorded = arguments.extraction == "recorded"
            extractor = (
                RecordedExtractor.from_file(data / "extractions" / file.name)
                if recorded
                else resolve_extractor("rules")
            )
            with Memory(f"{folder}/{file.stem}.db", embedder=arguments.embedder,
                        extractor=extractor, enrich="manual") as memory:  # fmt: skip
                fill(memory, file.stem, messages, arguments.extraction)
                measure(memory, data, file.stem, messages, found)
    return {way: report(by_kind) for way, by_kind in sorted(found.items())}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extraction", default="rules", choices=["none", "rules", "recorded"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    write(
        {"extraction": arguments.extraction, "embedder": arguments.embedder.split("/")[-1],
         "data": Path(arguments.data).name, **run(arguments)},
        arguments.json,
    )  # fmt: skip


if __name__ == "__main__":
    main()

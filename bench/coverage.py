"""How many of the turns that answer questions an extractor gets a fact out of, and how fast.

python bench/coverage.py --data DIR --extractor rules|recorded --json FILE

DIR as for bench/recall.py. A turn counts as told of if some triple cites it; ``facts`` leaves out
"X mentioned Y" and "X shared photo of Y", which say only what a turn is about. Sessions are read
as enrichment reads them: up to 64 turns at once, two turns before as context, notes handed on.
Times are processor times.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from recall import turns

from cognigraph.ingest import RecordedExtractor
from cognigraph.ingest.extraction import Extraction, Extractor, Window
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.settings import EnrichSettings
from cognigraph.stores.records import SessionNotes, WorkChunk


def windows(messages: list[dict[str, Any]]) -> Iterator[tuple[str, list[tuple[WorkChunk, ...]]]]:
    """Sessions with their batches of chunks."""
    settings = EnrichSettings()
    for session, group in groupby(messages, key=lambda message: str(message["session"])):
        chunks = [
            WorkChunk(m["id"], m["id"], session, m["speaker"], m["at"], m["text"]) for m in group
        ]
        size = settings.batch
        yield session, [tuple(chunks[n : n + size]) for n in range(0, len(chunks), size)]


def read(extractor: Extractor, messages: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(turn, relation) for every triple and each turn it cites."""
    context = EnrichSettings().context
    for session, batches in windows(messages):
        notes, before = SessionNotes(), ()
        for batch in batches:
            found: Extraction = extractor.extract(Window("bench", session, batch, before, notes))
            for fact in found.facts:
                yield from ((batch[index].message_id, fact.relation) for index in fact.chunks)
            keys, themes = found.keys or notes.keys, found.themes or notes.themes
            notes = SessionNotes(notes.version + 1, keys, themes, found.state)
            before = batch[-context:]


def evidence(data: Path, name: str, known: set[str]) -> set[str]:
    """Turns that answer some question."""
    questions = json.loads((data / "qa" / f"{name}.qa.json").read_text("utf-8"))["qa"]
    found = re.findall(r"D\d+:\d+", " ".join(" ".join(q.get("evidence", [])) for q in questions))
    return set(found) & known


def measure(data: Path, extractor_name: str) -> dict[str, Any]:
    """Figures over all conversations of the folder."""
    totals = dict.fromkeys(("turns", "triples", "wanted", "cited", "told"), 0)
    seconds, name = 0.0, extractor_name
    shared = None if extractor_name == "recorded" else resolve_extractor(extractor_name)
    for file in sorted((data / "conversations").glob("*.json")):
        messages = list(turns(json.loads(file.read_text("utf-8"))))
        extractor = shared or RecordedExtractor.from_file(data / "extractions" / file.name)
        name = extractor.name
        started = time.process_time()
        pairs = list(read(extractor, messages))
        seconds += time.process_time() - started
        wanted = evidence(data, file.stem, {message["id"] for message in messages})
        mere = ("mentioned", "shared photo of", "shared picture of", "shared image of")
        totals["turns"] += len(messages)
        totals["triples"] += len(pairs)
        totals["wanted"] += len(wanted)
        totals["cited"] += len(wanted & {turn for turn, _ in pairs})
        totals["told"] += len(wanted & {turn for turn, relation in pairs if relation not in mere})
    return {
        "extractor": name,
        "turns": totals["turns"],
        "triples_per_turn": round(totals["triples"] / totals["turns"], 3),
        "evidence_turns": totals["wanted"],
        "with_a_triple": round(totals["cited"] / totals["wanted"], 4),
        "with_a_fact": round(totals["told"] / totals["wanted"], 4),
        "ms_per_turn": round(1000 * seconds / totals["turns"], 3),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extractor", default="rules")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    text = json.dumps(measure(Path(arguments.data), arguments.extractor), indent=2)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()

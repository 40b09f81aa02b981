"""How often the newest value of something comes before the outdated ones.

python -m bench.outdated --data DIR --extraction none|rules|recorded [--embedder wordllama]
    --json FILE

DIR is laid out as ``bench/said.py`` says; questions whose ``outdated`` names turns with earlier
values are counted. The newest comes first if a turn that answers the question ranks before every
outdated turn that does not answer it as well. Where questions name ``others``, turns of other
people or only about the same thing, it also counts how often an answer ranks before them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.recorded import RecordedExtractor
from cognigraph import Memory, SearchSettings
from cognigraph.ingest.extraction import Extractor

K = 50
UNORDERED = SearchSettings(time_order=False)


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure, print and return the figures."""
    options = _options(arguments)
    found = Counter[str]()
    for path in sorted((Path(options.data) / "conversations").glob("*.json")):
        conversation = json.loads(path.read_text("utf-8"))
        found += _conversation(Path(options.data), path.stem, conversation, options)
    figures = {
        "extraction": options.extraction, "embedder": options.embedder.split("/")[-1],
        "questions": found["outdated"], "newest first": found["outdated first"],
        "share": _share(found, "outdated first"), "without": _share(found, "outdated without"),
    }  # fmt: skip
    if found["others"]:
        figures |= {
            "others": found["others"], "before others": _share(found, "others first"),
            "before others without": _share(found, "others without"),
        }  # fmt: skip
    print(json.dumps(figures, indent=2))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return figures


def _share(found: Counter[str], what: str) -> float | None:
    asked = found[what.split()[0]]
    return round(found[what] / asked, 3) if asked else None


def _conversation(
    data: Path, name: str, conversation: dict[str, Any], options: argparse.Namespace
) -> Counter[str]:
    """Count the questions with outdated turns or others, and whose answers come before them."""
    questions = json.loads((data / "qa" / f"{name}.qa.json").read_text("utf-8"))["qa"]
    extractor: str | Extractor = "rules"
    if options.extraction == "recorded":
        extractor = RecordedExtractor.from_file(data / "extractions" / f"{name}.json")
    with TemporaryDirectory() as folder, Memory(
        Path(folder) / "x.db", embedder=options.embedder, extractor=extractor, enrich="manual",
        timezone="UTC",
    ) as memory:  # fmt: skip
        last = _insert(memory, conversation, enrich=options.extraction != "none")
        found = Counter[str]()
        for what in ("outdated", "others"):
            asked = [
                question
                for question in questions
                if set(question.get(what, ())) - set(question["evidence"])
            ]
            found[what] = len(asked)
            found[f"{what} first"] = sum(
                _is_first(memory, item, what, last, options.show) for item in asked
            )
            found[f"{what} without"] = sum(
                _is_first(memory, item, what, last, False, UNORDERED) for item in asked
            )
        return found


def _insert(memory: Memory, conversation: dict[str, Any], *, enrich: bool) -> datetime:
    for session in conversation["sessions"]:
        at = datetime.fromisoformat(session["time"])
        for number, turn in enumerate(session["turns"]):
            memory.add(
                turn["text"], session=str(session["session"]), speaker=turn["speaker"],
                at=at + timedelta(seconds=30 * number), id=turn["id"],
            )  # fmt: skip
    if enrich:
        memory.flush(600)
    return at + timedelta(days=1)


def _is_first(
    memory: Memory,
    question: dict[str, Any],
    what: str,
    now: datetime,
    show: bool,
    settings: SearchSettings | None = None,
) -> bool:
    found = memory.search(question["question"], K, now=now, settings=settings)
    ids = [hit.id for hit in found]
    outdated = set(question[what]) - set(question["evidence"])
    newest = min((ids.index(id) for id in question["evidence"] if id in ids), default=K)
    old = min((ids.index(id) for id in outdated if id in ids), default=K)
    if show and newest >= old:
        print(f"{newest} after {old}: {question['question']}")
    return newest < old


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, metavar="DIR")
    parser.add_argument("--extraction", choices=("none", "rules", "recorded"), default="rules")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--show", action="store_true", help="print the questions that fail")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()

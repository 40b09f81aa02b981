"""Precision and coverage of cognigraph and dateparser at the dates that sentences state.

python -m bench.dates --json FILE                          (pip install dateparser to compare)

The labels are in bench/labels/dates.jsonl: a text, the time of saying and the dates that the text
states, with open ends as in ISO 8601 ("2019/..", "../2026-05-01"). Alternatives are joined by
"or"; what ends in "?" may be written or left out. ``precision`` is the share of the written dates
that are right, ``coverage`` the share of the expected ones that are written. The first texts are
split in two halves by a hash: the rules were written with the first half at hand. The others were
written later (``part``: third, fourth). All parts but the first were measured once before anybody
looked at them (``..._at_first_contact``); the rules have seen them since.

dateparser gets the text and finds the expressions itself. It is told whether to prefer the past
or the future where it has a choice, and a date counts as right without its open end.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cognigraph.english.sentences import sentences
from cognigraph.english.times.find import read_times

LABELS = Path(__file__).parent / "labels" / "dates.jsonl"
PARTS = ("first", "second", "third", "fourth")
FIRST_CONTACT = {
    "second": {"sentences": 136, "written": 91, "precision": 0.9451, "coverage": 0.9651},
    "third": {"sentences": 164, "written": 92, "precision": 0.8913, "coverage": 0.8049},
    "fourth": {"sentences": 109, "written": 66, "precision": 0.9242, "coverage": 0.8525},
}
"""What a part gave when it was measured for the first time."""


@dataclass(frozen=True)
class Example:
    """A text, when it was said, and for each date that it states all right ways to write it."""

    text: str
    at: datetime
    required: tuple[frozenset[str], ...]
    allowed: frozenset[str]
    part: str
    """One of :data:`PARTS`."""


Reader = Callable[[Example], list[str]]


def load() -> list[Example]:
    """Read the labelled texts."""
    examples = []
    for line in LABELS.read_text("utf-8").splitlines():
        row = json.loads(line)
        dates = [(frozenset(item.rstrip("?").split(" or ")), item) for item in row["dates"]]
        required = tuple(ways for ways, one in dates if not one.endswith("?"))
        allowed = frozenset[str]().union(*(ways for ways, _ in dates))
        half = ("first", "second")[hashlib.sha256(row["text"].encode()).digest()[0] % 2]
        at, part = datetime.fromisoformat(row["at"]), row.get("part", half)
        examples.append(Example(row["text"], at, required, allowed, part))
    return examples


def ours(example: Example) -> list[str]:
    """Return every date that cognigraph writes."""
    read = read_times(list(sentences(example.text)), example.at)
    return [span.interval for item in read for span in item if span.when]


def dateparser(prefer: str) -> Reader:
    """Return a reader with what dateparser finds, at the precision that it reports."""

    def read(example: Example) -> list[str]:
        from dateparser.date import DateDataParser
        from dateparser.search import search_dates

        settings: Any = {
            "RELATIVE_BASE": example.at.replace(tzinfo=None),
            "PREFER_DATES_FROM": prefer,
            "RETURN_TIME_AS_PERIOD": False,
        }
        parser = DateDataParser(languages=["en"], settings=settings)
        found = []
        for phrase, _ in search_dates(example.text, languages=["en"], settings=settings) or ():
            data = parser.get_date_data(phrase)
            if data.date_obj is not None:
                shown = {"year": "%Y", "month": "%Y-%m"}.get(data.period, "%Y-%m-%d")
                found.append(data.date_obj.strftime(shown))
        return found

    return read


def _without_open_ends(dates: frozenset[str]) -> frozenset[str]:
    return frozenset(date.removeprefix("../").removesuffix("/..") for date in dates)


def measure(read: Reader, examples: Sequence[Example], *, bare: bool = False) -> dict[str, Any]:
    """Measure precision, coverage and speed of a reader; ``bare``: open ends do not count."""
    form = _without_open_ends if bare else frozenset[str]
    read(examples[0])  # libraries load their tables when first used
    started = time.process_time()
    answers = [read(example) for example in examples]
    seconds = time.process_time() - started
    pairs = list(zip(answers, examples, strict=True))
    written = sum(len(found) for found in answers)
    right = sum(date in form(one.allowed) for found, one in pairs for date in found)
    expected = sum(len(item.required) for item in examples)
    got = sum(bool(form(ways) & set(found)) for found, one in pairs for ways in one.required)
    return {
        "sentences": len(examples),
        "written": written,
        "precision": round(right / max(written, 1), 4),
        "coverage": round(got / max(expected, 1), 4),
        "ms_each": round(seconds * 1000 / len(examples), 4),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    examples = load()
    parts = {part: [example for example in examples if example.part == part] for part in PARTS}
    contacts = {f"{part}_at_first_contact": figures for part, figures in FIRST_CONTACT.items()}
    own = {part: measure(ours, texts) for part, texts in parts.items()}
    result: dict[str, Any] = {"cognigraph": own | contacts}
    if importlib.util.find_spec("dateparser") is None:
        print("dateparser is not installed")
    else:
        for prefer in ("past", "current_period", "future"):
            result[f"dateparser, {prefer}"] = {
                part: measure(dateparser(prefer), texts, bare=True) for part, texts in parts.items()
            }
    text = json.dumps(result, indent=2, ensure_ascii=False)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()

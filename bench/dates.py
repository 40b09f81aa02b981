"""Accuracy of cognigraph and two well-known libraries at parsing time expressions.

python bench/dates.py --json FILE          (pip install dateparser parsedatetime to compare)

The labels are in bench/labels/dates.jsonl. cognigraph has to find the expression in its sentence;
the libraries get the exact expression, and whether the sentence speaks of the past or the future.
``exact`` requires the right day, month or span at the right precision (dateparser returns a period;
the moment that parsedatetime returns counts as a day). ``inside`` accepts any day within the right
span. An expression that is not a date must give no date. A library that is not installed is left
out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cognigraph.english.sentences import sentences
from cognigraph.english.times.find import find_times
from cognigraph.times import parse_when

LABELS = Path(__file__).parent / "labels" / "dates.jsonl"
LEADING = ("on ", "in ", "at ", "by ", "until ", "since ", "about ", "from ", "over ", "back in ")


@dataclass(frozen=True)
class Example:
    """A sentence, its time expression, and all answers that are correct."""

    text: str
    phrase: str
    at: datetime
    when: tuple[str | None, ...]

    @property
    def future(self) -> bool:
        """Whether the sentence is about the future."""
        return " will " in f" {self.text} " or " are leaving " in self.text


def load() -> list[Example]:
    """Read the labelled expressions."""
    rows = (json.loads(line) for line in LABELS.read_text("utf-8").splitlines())
    return [
        Example(row["text"], row["phrase"], datetime.fromisoformat(row["at"]), tuple(row["when"]))
        for row in rows
    ]


def ours(example: Example) -> list[str]:
    """Return every date that cognigraph finds in the sentence."""
    return [
        span.when
        for sentence in sentences(example.text)
        for span in find_times(sentence.tokens, example.at)
        if span.when
    ]


def dateparser(example: Example) -> list[str]:
    """Return what dateparser reads, with the period that it reports as precision."""
    from dateparser.date import DateDataParser

    settings: Any = {
        "RELATIVE_BASE": example.at.replace(tzinfo=None),
        "PREFER_DATES_FROM": "future" if example.future else "past",
        "RETURN_TIME_AS_PERIOD": False,
    }
    data = DateDataParser(languages=["en"], settings=settings).get_date_data(_bare(example.phrase))
    if data.date_obj is None:
        return []
    shown = {"year": "%Y", "month": "%Y-%m"}.get(data.period, "%Y-%m-%d")
    return [data.date_obj.strftime(shown)]


def parsedatetime(example: Example) -> list[str]:
    """Return what parsedatetime reads, as a day."""
    import parsedatetime as library

    moment, status = library.Calendar().parseDT(
        _bare(example.phrase), example.at.replace(tzinfo=None)
    )
    return [moment.strftime("%Y-%m-%d")] if status else []


def _bare(phrase: str) -> str:
    for leading in LEADING:
        phrase = phrase.removeprefix(leading)
    return phrase


def exact(found: list[str], example: Example) -> bool:
    """Whether the answer is correct at the right precision."""
    if not found:
        return None in example.when
    return len(found) == 1 and found[0] in example.when


def inside(found: list[str], example: Example) -> bool:
    """Whether the answer is within a correct span."""
    if len(found) != 1:
        return exact(found, example)
    got = parse_when(found[0])
    spans = [span for when in example.when if (span := parse_when(when))]
    return got is not None and any(s.start <= got.start and got.end <= s.end for s in spans)


def measure(read: Callable[[Example], list[str]], examples: list[Example]) -> dict[str, Any]:
    """Measure accuracy and speed of one parser."""
    read(examples[0])  # libraries load their tables when first used
    started = time.process_time()
    answers = [read(example) for example in examples]
    seconds = time.process_time() - started
    dated = [pair for pair in zip(answers, examples, strict=True) if None not in pair[1].when]
    none = [pair for pair in zip(answers, examples, strict=True) if None in pair[1].when]
    return {
        "exact": round(sum(exact(*p) for p in (*dated, *none)) / len(examples), 4),
        "inside": round(sum(inside(*p) for p in (*dated, *none)) / len(examples), 4),
        "dated_exact": round(sum(exact(*p) for p in dated) / len(dated), 4),
        "undated_left_alone": round(sum(exact(*p) for p in none) / len(none), 4),
        "ms_each": round(seconds * 1000 / len(examples), 4),
        "wrong": [f"{e.phrase}: {', '.join(a) or 'none'}" for a, e in dated if not inside(a, e)],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    examples = load()
    result: dict[str, Any] = {"expressions": len(examples), "timewords": measure(ours, examples)}
    for name, read in (("dateparser", dateparser), ("parsedatetime", parsedatetime)):
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
            continue
        result[name] = measure(read, examples)
        # What combining the two would gain: correct there and wrong here.
        result[name]["right_where_ours_is_not"] = [
            e.phrase for e in examples if inside(read(e), e) and not inside(ours(e), e)
        ]
    text = json.dumps(result, indent=2, ensure_ascii=False)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()

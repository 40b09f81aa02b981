"""Time expressions: all labelled expressions are resolved exactly."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cognigraph.english.sentences import sentences
from cognigraph.english.times.calendar import easter
from cognigraph.english.times.find import find_times
from cognigraph.times import parse_when

LABELS = Path(__file__).resolve().parents[2] / "bench" / "labels" / "dates.jsonl"
EXPRESSIONS = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


def dates(text: str, at: datetime) -> list[str]:
    return [
        span.when
        for sentence in sentences(text)
        for span in find_times(sentence.tokens, at)
        if span.when
    ]


@pytest.mark.parametrize("row", EXPRESSIONS, ids=[row["text"] for row in EXPRESSIONS])
def test_a_labelled_expression_is_read_exactly(row: dict[str, object]) -> None:
    found = dates(str(row["text"]), datetime.fromisoformat(str(row["at"])))
    accepted = row["when"]
    assert isinstance(accepted, list)
    if None in accepted:
        assert found == [] or found[0] in accepted
    else:
        assert len(found) == 1 and found[0] in accepted
    assert all(parse_when(when) is not None for when in found)


@pytest.mark.parametrize(
    ("year", "day"),
    [(1818, date(1818, 3, 22)), (1961, date(1961, 4, 2)), (2024, date(2024, 3, 31)),
     (2038, date(2038, 4, 25)), (2285, date(2285, 3, 22))],
)  # fmt: skip
def test_easter(year: int, day: date) -> None:
    assert easter(year) == day


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("I signed up for the race on June 29.", "2025-06-29"),
        ("My holidays start on October 6.", "2025-10-06"),
        ("She needs drops until Friday.", "2025-02-14"),
        ("I have been here since Monday.", "2025-02-03"),
    ],
)
def test_the_nearest_verb_decides_past_or_future(text: str, when: str) -> None:
    assert dates(text, datetime(2025, 2, 8, 19, tzinfo=UTC)) == [when]

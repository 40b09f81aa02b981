"""Frames: what many wordings say of one slot is stated in one wording."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.frames import match
from cognigraph.ingest.rules.frames.plain import plain
from cognigraph.ingest.rules.frames.table import frames
from cognigraph.ingest.rules.turns import ChunkInContext
from cognigraph.states.kinds import kind_of
from cognigraph.stores.records import WorkChunk

LABELS = Path(__file__).parents[2] / "bench" / "labels"
AT = datetime(2026, 6, 1, 9, tzinfo=UTC)


def turn(text: str) -> ChunkInContext:
    return ChunkInContext(WorkChunk("u", "m", "s", "Ann", AT, text), [])


def told(text: str) -> set[str]:
    found = turn(text).state(Discourse())
    return {f"{one.subject} | {'not ' * one.negated}{one.relation} | {one.object}" for one in found}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Lima has been home for me since 2019.", {"Ann | lives in | Lima"}),
        ("Still slaving away at Bosch.", {"Ann | works at | Bosch"}),
        ("It took a while, but Bosch poached me in May.", {"Ann | started at | Bosch"}),
        ("They made me head of sales.", {"Ann | became | head of sales"}),
        ("Ida and I called it quits.", {"Ann | broke up with | Ida"}),
        ("Maria took over the billing service from Sam.", {"billing service's owner | is | Maria"}),
        ("We moved our database to Postgres.", {"Ann | uses | Postgres as database"}),
        (
            "My sister Klara swapped her Golf for a Kia.",
            {"Klara | switched from | Golf", "Klara | switched to | Kia"},
        ),
        ("We're no longer on Slack.", {"Ann | not uses | Slack"}),
        ("My train leaves at 7:40.", {"Ann's train | is | 7:40"}),
        ("Legal pushed the launch to June 17.", {"launch | is | 2026-06-17"}),
        ("I'm on the Pro plan of Zapier.", {"Ann's Zapier plan | is | Pro"}),
        ("The ticket got merged.", {"ticket | is | merged"}),
        ("I quit smoking.", {"Ann | stopped | smoking"}),
        ("I've gone vegan.", {"Ann | became | vegan"}),
    ],
)
def test_wordings_of_a_slot(text: str, facts: set[str]) -> None:
    assert facts <= told(text)


@pytest.mark.parametrize(
    "text",
    [
        "I wish I had swapped my Golf for a Kia.",
        "If we moved our database to Postgres, what would it cost?",
        "We might push the launch to June 17.",
        "He said that he moved to Lima.",
        "In the novel Rotterdam is home now.",
        "The meeting was not moved to June 17.",
        "I tried switching from Vim to Emacs.",
        "The concert was cancelled by the city.",
    ],
)
def test_what_is_not_so_fits_no_frame(text: str) -> None:
    one = turn(text).read[0].reading
    voices = turn(text).voices
    assert match.with_frames([], one, voices, Discourse()) == []


def test_no_frame_is_passed_over_for_its_triggers() -> None:
    for path in sorted(LABELS.glob("updates*.jsonl")):
        texts = [
            t
            for line in path.read_text("utf-8").splitlines()
            for _, _, t in json.loads(line)["turns"]
        ]
        for one in turn(" ".join(texts)).read:
            form = plain(one.reading.tokens, one.reading.names, one.reading.times)
            possible = match.possible(match.beginnings(form.text))
            for frame in set(frames()).difference(possible):
                found = match._compiled(frame.pattern).search(form.text)
                assert found is None, (frame.pattern, form.text)


def test_kinds_are_told_by_names_with_and_without_a_version() -> None:
    names = ("Postgres 14", "the VS Code", "iPhone 15", "Zapier", "GitHub Actions")
    assert [kind_of(name) for name in names] == ["database", "editor", "phone", None, "ci"]

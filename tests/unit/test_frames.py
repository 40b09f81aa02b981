"""Frames: what many wordings say of one slot is stated in one wording."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.frames import candidates, match
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
        ("I've gone vegan.", {"Ann | became | vegan", "Ann | not eats | meat"}),
        ("Our retro starts at 3:30 pm every Friday.", {"retro | is | 3:30 pm"}),
        ("Standup moved to 10:15.", {"standup | is | 10:15"}),
        ("Zoe's number is 0471 22 33 44.", {"Zoe's phone number | is | 0471 22 33 44"}),
        ("You can reach Zoe at 0471 22 33 55.", {"Zoe's phone number | is | 0471 22 33 55"}),
        ("They raised my rent to 900 euros.", {"Ann's rent | is | 900 euros"}),
        ("I'm paying 850 a month for my room.", {"Ann's rent | is | 850 a month"}),
        ("Our company is on the Team plan.", {"Ann's plan | is | Team"}),
        ("They moved us to the Business plan.", {"Ann's plan | is | Business"}),
        ("My project uses MariaDB.", {"Ann | uses | MariaDB"}),
        ("I've cut out alcohol.", {"Ann | stopped drinking | alcohol"}),
        ("I cycle on Sundays with Bob.", {"Ann | cycles on | Sundays"}),
        ("I go swimming twice a week.", {"Ann | swims | twice a week"}),
        ("I'm up to swimming four times a week.", {"Ann | swims | four times a week"}),
        ("My essay is due on May 3.", {"Ann's essay deadline | is | 2027-05-03"}),
        ("The essay is due on May 9.", {"Ann's essay deadline | is | 2027-05-09"}),
        (
            "My physio moved my appointment to June 9.",
            {"Ann's physio appointment | is | 2026-06-09"},
        ),
        (
            "Maja dumped Tobias, she's with Henrik now.",
            {"Maja | broke up with | Tobias", "Maja | is together with | Henrik"},
        ),
    ],
)
def test_wordings_of_a_slot(text: str, facts: set[str]) -> None:
    assert facts <= told(text)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I upgraded to Notion's Plus plan.", {"Ann's Notion plan | is | Plus"}),
        ("I'm up to swimming four times a week.", {"Ann | swims | four times a week"}),
        ("I'm up to page 40.", set()),
        ("I quit coffee.", {"Ann | stopped drinking | coffee"}),
    ],
)
def test_no_half_of_a_wording_is_stated(text: str, facts: set[str]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(
    ("order", "facts"),
    [
        ("From now on please answer in German.", {"always wants to answer in | German"}),
        (
            "Drop the list and reply in plain prose from now on.",
            {"always wants to answer in | plain prose"},
        ),
        ("Please answer in bullet points.", {"wants to answer in | bullet points"}),
        ("Keep your answers short.", {"always wants | short answers"}),
        ("Answer in German: what is love?", set()),
        ("Please answer in German. What is love?", set()),
        ("From now on I will get up at 6.", set()),
        ("Write me a poem in German.", set()),
    ],
)
def test_how_an_assistant_is_to_answer(order: str, facts: set[str]) -> None:
    found = ChunkInContext(WorkChunk("u", "m", "s", None, AT, order), []).state(Discourse())
    assert {f"{one.relation} | {one.object}" for one in found} == facts


@pytest.mark.parametrize(
    ("earlier", "later", "current"),
    [
        ("Our standup is at 9:30.", "The standup has been moved to 10:15.", ["10:15"]),
        ("The demo is on June 9.", "The demo is at 9:30.", ["2026-06-09", "9:30"]),
        ("The project uses MySQL 8.", "We migrated from MySQL to Postgres.", ["Postgres"]),
        ("I use Java 17.", "I use Java 21.", ["Java 17", "Java 21"]),
        ("I eat meat twice a week.", "I've been vegetarian since May.", ["vegetarian"]),
        ("I drink four coffees a day.", "I quit coffee.", []),
        ("I drink four coffees a day.", "I'm down to one coffee a day.", ["one coffee a day"]),
        ("I go running once a week.", "I run three times a week now.", ["three times a week"]),
        (
            "I go running once a week.",
            "I swim three times a week.",
            ["once a week", "three times a week"],
        ),
        ("Please always answer in English.", "From now on answer in German.", ["German"]),
        ("Always answer in English.", "Answer in bullet points.", ["English", "bullet points"]),
    ],
)
def test_what_a_later_sentence_ends(
    tmp_path: Path, earlier: str, later: str, current: list[str]
) -> None:
    with Memory(tmp_path / "chain.db", enrich="manual") as memory:
        memory.add(earlier, at="2026-06-01T09:00:00Z")
        memory.add(later, at="2026-06-03T09:00:00Z", session="later")
        memory.flush()
        facts = memory.triples(status="current")
        ends = ("stopped", "switched from")
        held = [one for one in facts if not (one.negated or one.relation.startswith(ends))]
        assert sorted(one.object for one in held) == sorted(current)


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
        "I gave up coffee for Lent.",
        "The city raised the rent to 1,400 euros.",
        "My old company uses Jira.",
        "The product is on Amazon.",
        "The score was 9:30.",
        "I'm up to my ears in work.",
    ],
)
def test_what_is_not_so_fits_no_frame(text: str) -> None:
    one = turn(text).read[0].reading
    voices = turn(text).voices
    assert match.with_frames([], one, voices, Discourse()) == []


@pytest.mark.slow
def test_no_frame_is_passed_over_for_its_triggers() -> None:
    for path in sorted(LABELS.glob("updates*.jsonl")):
        texts = [
            t
            for line in path.read_text("utf-8").splitlines()
            for _, _, t in json.loads(line)["turns"]
        ]
        for one in turn(" ".join(texts)).read:
            form = plain(one.reading.tokens, one.reading.names, one.reading.times)
            possible = candidates.possible(form.text)
            starts = candidates.clause_starts(form.text)
            for frame in set(frames()).difference(possible):
                found = list(candidates.matches(frame.pattern, form.text, starts))
                assert not found, (frame.pattern, form.text)


def test_kinds_are_told_by_names_with_and_without_a_version() -> None:
    names = ("Postgres 14", "the VS Code", "iPhone 15", "Zapier", "GitHub Actions")
    assert [kind_of(name) for name in names] == ["database", "editor", "phone", None, "ci"]

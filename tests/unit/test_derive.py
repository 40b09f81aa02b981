"""From extractions to rows, with checks that apply to all extractors."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from cognigraph import ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.derive import (
    NO_ENTITY,
    NO_EVIDENCE,
    NO_KEY,
    NO_MENTION,
    NO_OBJECT,
    NO_RELATION,
    NO_SUBJECT,
    NO_THEME,
    by_reason,
    derive,
)
from cognigraph.ingest.extraction import NO_DATE
from cognigraph.model import Theme
from cognigraph.stores.records import Derivation, Lease, SessionNotes, WorkChunk
from cognigraph.testing import HashEmbedder
from cognigraph.text.terms import term_counts
from tests.cases import each

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
CHUNKS = tuple(WorkChunk(f"u{n}", f"m{n}", "s", "Ann", NOW, f"text {n}") for n in range(3))
LEASE = Lease("t", "space", "s", "su", CHUNKS, (), SessionNotes(), NOW + timedelta(minutes=1))
LIVES = Fact("Ann", "person", "lives in", "Oslo", "location", (0,))
EMBEDDER = CheckedEmbedder(HashEmbedder(64))


def run(*facts: Fact, **rest: Any) -> tuple[Derivation, tuple[str, ...]]:
    return derive(Extraction(facts=facts, **rest), LEASE, "x-1", EMBEDDER)


def test_a_fact_becomes_a_triple_between_two_entities():
    found, rejected = run(replace(LIVES, when="2023-05"))
    (triple,) = found.triples
    assert rejected == ()
    assert triple.text == "Ann lives in Oslo (2023-05)"
    assert triple.evidence == ("u0",)
    assert str(triple.when) == "2023-05"
    assert triple.terms == term_counts(triple.text)
    assert np.array_equal(triple.vector, EMBEDDER.embed([triple.text])[0])
    assert {(entity.name, entity.type, entity.key) for entity in found.entities} == {
        ("Ann", "person", "ann"),
        ("Oslo", "location", "oslo"),
    }
    assert {triple.subject_uid, triple.object_uid} == {entity.uid for entity in found.entities}
    assert found.extractor == "x-1"


def test_equal_facts_are_one_triple_with_all_evidence():
    again = replace(LIVES, subject=" ANN ", relation="Lives  In", object="oslo.", chunks=(2, 1))
    found, _ = run(LIVES, again, LIVES)
    (triple,) = found.triples
    assert triple.evidence == ("u0", "u2", "u1")
    assert (triple.subject, triple.relation, triple.object) == ("Ann", "lives in", "Oslo")
    assert len(found.entities) == 2


@each(
    "other",
    [
        replace(LIVES, negated=True),
        replace(LIVES, when="2023"),
        replace(LIVES, object_type="organization"),
        replace(LIVES, relation="moved to"),
        replace(LIVES, object="Oslo 2"),
        replace(LIVES, subject="Anne"),
    ],
)
def test_different_facts_are_two(other):
    found, _ = run(LIVES, other)
    assert len(found.triples) == 2


def test_negation_is_in_the_text_that_is_searched():
    (triple,) = run(replace(LIVES, negated=True))[0].triples
    assert triple.text == "Ann does not live in Oslo"
    assert triple.negated


@each(
    ("wrong", "why"),
    [
        (replace(LIVES, subject=""), f"{NO_SUBJECT}: '' lives in Oslo"),
        (replace(LIVES, object=" \n "), f"{NO_OBJECT}: Ann lives in ''"),
        (replace(LIVES, relation="\0"), f"{NO_RELATION}: Ann '' Oslo"),
        (replace(LIVES, object="x" * 301), f"{NO_OBJECT}: Ann lives in {'x' * 120}..."),
        (replace(LIVES, chunks=()), f"{NO_EVIDENCE}: Ann lives in Oslo"),
        (replace(LIVES, chunks=(3,)), f"{NO_EVIDENCE}: Ann lives in Oslo"),
        (replace(LIVES, chunks=(-1,)), f"{NO_EVIDENCE}: Ann lives in Oslo"),
    ],
)
def test_invalid_facts_are_rejected_with_a_reason(wrong, why):
    found, rejected = run(wrong, LIVES)
    assert (len(found.triples), rejected) == (1, (why,))
    assert run(wrong)[0].entities == ()


def test_rejections_by_the_extractor_come_first():
    _, rejected = run(replace(LIVES, chunks=()), rejected=("too vague: Ann likes it",))
    assert rejected == ("too vague: Ann likes it", f"{NO_EVIDENCE}: Ann lives in Oslo")
    assert by_reason((*rejected, "too vague: that")) == {"too vague": 2, NO_EVIDENCE: 1}


@each(
    "extraction",
    [
        Extraction(facts=(replace(LIVES, subject=None),)),  # type: ignore[arg-type]
        Extraction(facts=(replace(LIVES, object_type=None),)),  # type: ignore[arg-type]
        Extraction(facts=(replace(LIVES, relation=7),)),  # type: ignore[arg-type]
        Extraction(facts=(replace(LIVES, chunks=("0",)),)),  # type: ignore[arg-type]
        Extraction(facts=(replace(LIVES, when=2023),)),  # type: ignore[arg-type]
        Extraction(mentions=(Mention(None, "person", (0,)),)),  # type: ignore[arg-type]
        Extraction(keys=(("oslo", float("nan")),)),
        Extraction(keys=((None, 1.0),)),  # type: ignore[arg-type]
        Extraction(themes=(Theme("t", None),)),  # type: ignore[arg-type]
        Extraction(state="\ud800"),
    ],
)
def test_a_badly_typed_extraction_is_never_a_crash(extraction):
    """Extractors are other people's code: what they return is checked, whatever it is."""
    found, _ = derive(extraction, LEASE, "x-1", EMBEDDER)
    assert all(np.isfinite(key.weight) for key in found.keys or ())
    assert found.state.encode("utf-8") is not None


def test_evidence_outside_the_window_is_dropped_from_a_good_fact():
    (triple,) = run(replace(LIVES, chunks=(1, 9, -1)))[0].triples
    assert triple.evidence == ("u1",)


def test_a_time_that_is_no_date_is_left_out():
    found, rejected = run(replace(LIVES, when="last summer"))
    assert rejected == (f"{NO_DATE}: last summer of Ann lives in Oslo",)
    (triple,) = found.triples
    assert (triple.when, triple.text) == (None, "Ann lives in Oslo")


def test_names_are_made_storable():
    (triple,) = run(replace(LIVES, object="Os\0lo\ud800  city\n"))[0].triples
    assert triple.object == "Os lo\ufffd city"


def test_an_empty_type_is_a_concept():
    found, _ = run(replace(LIVES, object_type=" "))
    assert {entity.type for entity in found.entities} == {"person", "concept"}


def test_mentions_point_into_the_window():
    found, rejected = run(
        LIVES,
        mentions=(
            Mention("oslo", "location", (1, 2, 5)),
            Mention("", "person", (0,)),
            Mention("Bergen", "location", (8,)),
        ),
    )
    oslo = ids.entity_uid("space", "Oslo", "location")
    assert found.mentions == (("u1", oslo), ("u2", oslo))
    assert rejected == (f"{NO_ENTITY}: ''", f"{NO_MENTION}: Bergen")
    assert len(found.entities) == 2


def test_keys_and_themes_replace_or_stay():
    kept, _ = run()
    assert (kept.keys, kept.themes) == (None, None)
    emptied, _ = run(keys=(), themes=())
    assert (emptied.keys, emptied.themes) == ((), ())


def test_keys_are_unique_by_normal_form():
    found, rejected = run(keys=(("Oslo", 2.0), ("oslo ", 1.0), ("", 3.0), ("fjord", 1)))
    assert rejected == (f"{NO_KEY}: '' 3.0",)
    assert [(key.name, key.weight) for key in found.keys] == [("Oslo", 2.0), ("fjord", 1.0)]


def test_themes_keep_their_order_and_belong_to_their_session():
    themes = (Theme("Moving", "Ann moves."), Theme("", "Untitled."), Theme("None", "  "))
    found, rejected = run(themes=themes)
    assert rejected == (f"{NO_THEME}: None",)
    assert [(row.title, row.summary) for row in found.themes] == [
        ("Moving", "Ann moves."),
        ("", "Untitled."),
    ]
    other = derive(Extraction(themes=themes), replace(LEASE, session="other"), "x-1", EMBEDDER)[0]
    assert {row.uid for row in found.themes}.isdisjoint(row.uid for row in other.themes)


def test_each_row_gets_its_own_vector():
    found, _ = run(
        LIVES,
        replace(LIVES, object="Bergen"),
        keys=(("fjord", 1.0), ("rain", 1.0)),
        themes=(Theme("Moving", "Ann moves."), Theme("Weather", "It rains.")),
    )
    for row in found.triples:
        assert np.array_equal(row.vector, EMBEDDER.embed([row.text])[0])
    for key in found.keys:
        assert np.array_equal(key.vector, EMBEDDER.embed([key.name])[0])
    for theme in found.themes:
        text = f"{theme.title}. {theme.summary}"
        assert np.array_equal(theme.vector, EMBEDDER.embed([text])[0])
        assert theme.terms == term_counts(text)


def test_rows_are_sorted_so_that_writers_lock_in_one_order():
    facts = [replace(LIVES, object=f"city {n}") for n in range(20)]
    forwards, backwards = run(*facts)[0], run(*facts[::-1])[0]
    assert [row.uid for row in forwards.triples] == [row.uid for row in backwards.triples]
    assert [row.uid for row in forwards.entities] == sorted(row.uid for row in forwards.entities)


def test_another_space_has_other_uids():
    other = derive(Extraction(facts=(LIVES,)), replace(LEASE, space="t"), "x-1", EMBEDDER)[0]
    mine = run(LIVES)[0]
    assert {row.uid for row in mine.entities}.isdisjoint(row.uid for row in other.entities)
    assert mine.triples[0].uid != other.triples[0].uid

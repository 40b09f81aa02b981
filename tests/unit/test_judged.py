"""What a block leaves out of a result, because nothing supports it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from cognigraph import Hit, SearchResult, Source, Trace, Triple, Why
from cognigraph.retrieve.confidence import without_less_confident, without_unsupported
from tests.cases import each

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def hit(id: str, **signals: float) -> Hit:
    named = {name.replace("_", " "): value for name, value in signals.items()}
    why = Why(named, {}, None, None, None, 0.5, None, 1.0, 0.5)
    return Hit(id, "text", 0.5, "s", "Ann", NOW, (), why)


def fact(source: str) -> Triple:
    return Triple(
        source, "Ann", "person", "likes", "tea", "object", None, False, NOW, NOW,
        (Source(source, "s", NOW),),
    )  # fmt: skip


def result(confidence: float | None, *hits: Hit) -> SearchResult:
    facts = (fact("m1"), fact("m2"))
    found = SearchResult("q", hits, facts, (), Trace("default", NOW, {}, {}))
    return replace(found, confidence=confidence)


NEAR, FAR = hit("m1", window_similar_words=0.2), hit("m2", window_similar_words=0.05)
WORD, NAMED = hit("m1", words=0.3), hit("m1", speaker_named=1.0)


@each(
    ("confidence", "hits", "few", "shown"),
    [
        (0.05, (WORD, FAR), True, ["m1"]),
        (0.05, (NAMED, FAR), True, ["m1"]),
        (0.05, (NEAR, FAR), True, []),  # below the floor, similar words are noise
        (0.05, (WORD, FAR), False, []),
        (0.1, (NEAR, FAR), True, ["m1", "m2"]),
        (0.1, (FAR,), True, []),
        (0.1, (FAR,), False, ["m2"]),
        (0.5, (FAR,), True, ["m2"]),
        (None, (FAR,), True, ["m2"]),
    ],
)
def test_what_is_shown(confidence, hits, few, shown):
    judgement = without_unsupported(result(confidence, *hits), 0.08, few=few)
    assert [hit.id for hit in judgement.hits] == shown


def test_what_is_rescued_comes_with_its_own_facts_alone():
    rescued = without_unsupported(result(0.05, WORD, FAR), 0.08, few=True)
    assert [triple.uid for triple in rescued.triples] == ["m1"]
    nothing = without_unsupported(result(0.1, FAR), 0.08, few=True)
    assert nothing.triples == ()
    assert nothing.trace.notes[-1].startswith("nothing found: no message has a word")
    below = without_unsupported(result(0.05, FAR), 0.08, few=True)
    assert below.trace.notes == ("nothing found: the confidence is 0.05, below 0.08",)


@each(
    ("confidence", "of_hits", "least", "note"),
    [
        (0.6, (0.28, 0.1), 0.3,
         "the best message has a confidence of 0.28, below 0.3 (the result as a whole: 0.60)"),
        (0.6, (0.298,), 0.3,
         "the best message has a confidence of 0.29, below 0.3 (the result as a whole: 0.60)"),
        (0.298, (0.1,), 0.3, "the confidence is 0.29, below 0.3"),
        (0.29, (0.1,), 0.3, "the confidence is 0.29, below 0.3"),
    ],
)  # fmt: skip
def test_the_note_compares_what_was_compared(confidence, of_hits, least, note):
    hits = [replace(hit("m1"), confidence=item) for item in of_hits]
    nothing = without_less_confident(result(confidence, *hits), least)
    assert (nothing.hits, nothing.triples) == ((), ())
    assert nothing.trace.notes == (f"nothing found: {note}",)

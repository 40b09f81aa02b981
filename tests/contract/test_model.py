"""Extraction and summaries by a model, on every store: its state is kept between leases."""

from __future__ import annotations

from datetime import timedelta

from cognigraph.ingest.extractors import with_model
from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.testing import ScriptedModel
from tests.conftest import START

READ = {
    "entities": ["Pia | person | my sister", "Bergen | location"],
    "facts": ["1 | my sister | moved_to | Bergen | last Tuesday"],
}
NOTHING = {"entities": [], "facts": []}
SUMMARY = {"keys": ["Bergen"], "themes": [{"title": "Move", "summary": "Pia moved to Bergen."}]}
REFINED = {"keys": ["flat"], "themes": [{"n": 1, "summary": "Pia has a flat in Bergen."}]}


def test_a_failed_summary_is_written_later(open_memory, space_name):
    model = ScriptedModel([READ, SUMMARY, NOTHING, "no", NOTHING, REFINED])
    space = open_memory(extractor=ModelExtractor(model)).space(space_name)
    seen = []
    for number, text in enumerate(("My sister moved.", "She has a flat.", "A small one.")):
        at = START + timedelta(minutes=number)
        space.add(text, id=f"m{number}", session="s", speaker="Ann", at=at)
        (step,) = space.queue.enrich()
        assert step.error is None
        (session,) = space.overview.sessions()
        seen.append((session.summary, session.keys, session.version))
    assert seen == [
        ("Move: Pia moved to Bergen.", ("Bergen",), 1),
        ("Move: Pia moved to Bergen.", ("Bergen",), 1),
        ("Move: Pia has a flat in Bergen.", ("Bergen", "flat"), 2),
    ]
    last = model.asked[-1].prompt.user
    assert "She has a flat." in last and "A small one." in last
    assert "My sister moved." not in last
    (triple,) = space.facts()
    assert (triple.text, triple.when.text) == ("Pia moves to Bergen", "2026-05-19")
    assert (triple.subject_type, triple.object_type) == ("person", "location")


def test_a_fact_may_have_no_object_or_a_place_as_its_object(open_memory, space_name):
    read = {
        "entities": ["Olle | person", "Turin | location"],
        "facts": ["1 | I | retires | | in May = 2026-05", "1 | I | meets Olle in | Turin",
                  "2 | I | not smokes"],
        **SUMMARY,
    }  # fmt: skip
    space = open_memory(extractor=ModelExtractor(ScriptedModel([read]))).space(space_name)
    for number, text in enumerate(("I retired in May and met Olle in Turin.", "I do not smoke.")):
        space.add(text, id=f"m{number}", session="s", speaker="Vera", at=START)
    space.flush()
    facts = {fact.text: fact for fact in space.facts()}
    assert set(facts) == {"Vera retires", "Vera meets olle in Turin", "Vera does not smoke"}
    retired = facts["Vera retires"]
    assert (retired.object, retired.object_type, retired.when.text) == (
        "retires",
        "event",
        "2026-05",
    )
    assert facts["Vera meets olle in Turin"].object_type == "location"
    found = space.search("Who retires?", 1, layer="facts").triples[0]
    assert (found.text, found.uid) == ("Vera retires", retired.uid)


def test_notes_that_keep_everything_have_a_prompt_and_a_call_of_their_own(open_memory, space_name):
    notes = {
        "keys": ["flat"],
        "themes": [{"title": "Flat", "summary": "850 euros a month, 60 m2."}],
    }
    model = ScriptedModel(
        lambda prompt: {"extract": READ, "notes": notes}[prompt.name], name="test"
    )
    extractor = with_model("hymem", model)
    assert extractor.name == "hymem-5.1:test"
    space = open_memory(extractor=extractor).space(space_name)
    space.add("My sister moved into a flat.", id="m1", session="s", speaker="Ann", at=START)
    cost = space.queue.estimate()
    space.flush()
    assert [call.prompt.name for call in model.asked] == ["extract", "notes"]
    assert cost.usage.calls == 2
    (episode,) = space.overview.episodes()
    assert (episode.summary, episode.messages) == ("850 euros a month, 60 m2.", ("m1",))
    assert [fact.text for fact in space.facts()] == ["Pia moves to Bergen"]

"""Facts and summaries that an agent gives with the messages that it stores, on every store."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bench.recorded import RecordedExtractor
from cognigraph import Filter, InvalidMessageError
from cognigraph.ingest import Extraction, RulesExtractor
from cognigraph.model import Theme
from tests.cases import each
from tests.contract.test_states import at, home, statuses

LEEDS = {"subject": "user", "relation": "lives in", "object": "Leeds", "types": ["", "place"]}
EDINBURGH = {"subject": "I", "relation": "is living in", "object": "Edinburgh",
             "valid_from": "2026-05-20", "replaces": "Leeds"}  # fmt: skip
USES = {"subject": "user", "relation": "uses", "object": "Spotify"}


@pytest.fixture
def space(open_memory, extractor, space_name):
    return open_memory().space(space_name)


def read_ids(extractor):
    """Have the extractor note the messages that it reads."""
    read: list[str] = []

    def note(window):
        read.extend(chunk.message_id for chunk in window.chunks)
        return Extraction()

    extractor.session = note
    return read


@pytest.mark.slow
def test_facts_of_a_message_are_stored_with_it_as_their_source(space, extractor):
    read = read_ids(extractor)
    extractor.script({"m1": [home("Paris")], "m3": [home("Rome")]})
    space.add("I live in Leeds.", id="m1", role="user", facts=[LEEDS], at=at("05-18"))
    space.add("Nice.", id="m2", role="assistant", at=at("05-18"))
    moved = "I moved to Edinburgh last week. " + "So much to tell. " * 80  # several chunks
    space.add(moved, id="m3", role="user", facts=(item for item in [EDINBURGH]), at=at("05-22"))
    space.flush()
    assert read == ["m2"]
    edinburgh, leeds = sorted(space.facts(), key=lambda fact: fact.text)
    assert (leeds.text, leeds.subject_type, leeds.object_type) == (
        "user lives in Leeds", "person", "location",
    )  # fmt: skip
    assert (leeds.status, leeds.superseded_by) == ("superseded", edinburgh.uid)
    assert leeds.valid_to == edinburgh.valid_from == datetime(2026, 5, 20, tzinfo=UTC)
    (source,) = edinburgh.sources
    assert (source.id, source.provenance, edinburgh.is_stated) == ("m3", "user", True)
    assert [triple.object for triple in space.history("user", "home")[0].triples] == [
        "Leeds",
        "Edinburgh",
    ]
    assert [fact.object for fact in space.facts(valid_at=at("05-19"))] == ["Leeds"]
    assert space.search("Where do I live now?", now=at("06-01"))[0].id == "m3"

    before = space.facts()
    again = space.add("I live in Leeds.", id="m1", role="user", facts=[USES], at=at("05-18"))
    assert again.duplicates == 1
    space.queue.redo()
    space.flush()
    assert space.facts() == before
    assert read == ["m2", "m2"]
    space.forget(message="m3")
    assert statuses(space) == {"user lives in Leeds": "current"}


def test_what_is_replaced_is_named(space):
    tidal = {**USES, "object": "Tidal"}
    space.add("Spotify and Obsidian.", id="m1", role="user", at=at("05-01"),
              facts=[USES, {**USES, "object": "Obsidian"}, {**USES, "object": "Vim"}])  # fmt: skip
    space.add("Tidal for Spotify.", id="m2", role="user", at=at("05-02"),
              facts=[{**tidal, "replaces": "Spotify", "valid_from": "2026-05"}])  # fmt: skip
    space.add("No Vim.", id="m3", role="user", at=at("05-03"),
              facts=[{**USES, "object": "Vim", "negated": True}])  # fmt: skip
    space.flush()
    found = statuses(space)
    names = ("Spotify", "Obsidian", "Tidal", "Vim")
    assert [found[f"user uses {name}"] for name in names] == [
        "superseded", "current", "current", "superseded",
    ]  # fmt: skip
    space.add("Spotify again.", id="m5", role="user", at=at("05-05"), facts=[USES])
    space.flush()
    assert statuses(space)["user uses Spotify"] == "current"  # said later, so it wins


@pytest.mark.above_stores
def test_what_is_replaced_in_another_language(space):
    first, second = "Anna hört Musik mit Spotify.", "Jetzt mit Tidal."
    fact = {"subject": "Anna", "relation": "hört Musik mit", "object": "Spotify"}
    now = {**fact, "object": "Tidal", "replaces": "Spotify"}
    space.add(second, id="m2", speaker="Anna", at=at("05-02"), facts=[now])
    space.flush()
    space.add(first, id="m1", speaker="Anna", at=at("05-01"), facts=[fact])
    space.flush()
    found = {item.object: item.status for item in space.facts() if not item.negated}
    assert found == {"Spotify": "superseded", "Tidal": "current"}


def test_the_extractor_reads_what_it_is_asked_to_read(space, extractor):
    read = read_ids(extractor)
    extractor.script({"m1": [home("Bergen")], "m2": [home("Oslo")], "m3": [home("Hamar")]})
    space.add("text", id="m1", session="a", facts=[USES], extract=True, at=at("05-01"))
    space.add("text", id="m2", session="b", extract=False, at=at("05-01"))
    space.add("text", id="m3", session="c", facts=[], at=at("05-01"))
    space.add("", id="m4", session="d", raw={"n": 1}, facts=[LEEDS], at=at("05-01"))
    space.add("text", id="m5", session="e", role="system", facts=[
        {**USES, "object": "Vim"}], at=at("05-01"))  # fmt: skip
    space.flush()
    assert read == ["m1"]
    assert sorted(fact.text for fact in space.facts()) == [
        "Ann lives in Bergen", "user lives in Leeds", "user uses Spotify", "user uses Vim",
    ]  # fmt: skip
    assert space.stats().pending == 0


def test_the_rules_take_names_and_keys_but_no_facts(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    said = "I work at Equinor in Stavanger. Vera Lund plays chess with me."
    space.add(said, id="m1", speaker="Kim", facts=[{**USES, "subject": "me"}], at=at("05-01"))
    space.flush()
    assert [fact.text for fact in space.facts()] == ["Kim uses Spotify"]
    assert {"Vera Lund", "Kim", "Spotify"} <= {entity.name for entity in space.entities()}
    assert space.overview.sessions()[0].keys


@pytest.mark.slow
def test_a_summary_that_was_given_stands_until_the_next(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)

    def summaries():
        space.flush()
        return [session.summary for session in space.overview.sessions()]

    space.add("I booked the ferry to Turku.", id="m1", speaker="Kim", at=at("05-01"))
    space.add("It leaves at nine.", id="m2", speaker="Kim", at=at("05-02"),
              session_summary="Kim goes to Turku by ferry.")  # fmt: skip
    assert summaries() == ["Kim goes to Turku by ferry."]
    space.add("My cat Miro is ill, the vet comes.", id="m3", speaker="Kim", at=at("05-03"))
    assert summaries() == ["Kim goes to Turku by ferry."]
    space.queue.redo()
    assert summaries() == ["Kim goes to Turku by ferry."]
    space.add(
        "Miro is well.", id="m4", speaker="Kim", at=at("05-04"), session_summary="Turku, Miro."
    )
    assert summaries() == ["Turku, Miro."]
    # It may quote what is forgotten, whether or not that was read.
    space.add("Delete this: 4711.", id="m5", speaker="Kim", at=at("05-05"))
    space.forget(message="m5")
    assert "Turku, Miro." not in summaries()[0]
    assert [
        summary.text
        for summary in space.overview.summaries("default")
        if "Turku, Miro." in summary.text
    ] == []


@pytest.mark.above_stores
def test_a_chat_and_many_messages(space, extractor):
    read = read_ids(extractor)
    said = {"role": "user", "content": "I use Spotify.", "id": "x", "at": at("05-01")}
    answered = {"role": "assistant", "content": "Noted.", "at": at("05-01"), "extract": False}
    space.add_many([{**said, "facts": [USES]}, {**answered, "session_summary": "Music."}])
    bad = {"text": "bad", "facts": [{"subject": "Ann"}]}
    many = space.add_many(
        [{"text": "Leeds.", "facts": [LEEDS], "at": at("05-02").isoformat()}, bad],
        skip_invalid=True,
    )
    assert [item.index for item in many.rejected] == [1]
    space.flush()
    assert (read, len(space.facts())) == ([], 2)
    assert [source.id for source in space.facts("Spotify")[0].sources] == ["x"]
    assert space.overview.sessions()[0].themes == (Theme("", "Music."),)


@pytest.mark.above_stores
def test_facts_in_a_file_of_messages(space, extractor, tmp_path):
    read = read_ids(extractor)
    rows = [{"id": "m1", "text": "I use Spotify.", "role": "user", "facts": [USES]},
            {"id": "m2", "text": "Hello.", "facts": [{**USES, "object": ""}]}]  # fmt: skip
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps({**row, "at": "2026-05-01T09:00Z"}) + "\n" for row in rows))
    report = space.files.import_file(file, skip_invalid=True)
    assert [str(item) for item in report.rejected] == [
        "line 2 facts[0].object must have 1 to 300 characters"
    ]
    space.flush()
    assert ([fact.text for fact in space.facts()], read) == (["user uses Spotify"], [])


def test_what_tools_returned_is_read_by_recordings(open_memory, space_name):
    """The rules read nothing of it (test_message_fields.py)."""
    fact = {"subject": "build 7", "subject_type": "object", "relation": "failed with",
            "object": "E042", "object_type": "object", "turns": ["m2"]}  # fmt: skip
    session = {"session": "s", "keys": [], "themes": [], "triples": [fact]}
    memory = open_memory(extractor=RecordedExtractor({"sessions": [session]}))
    space = memory.space(space_name)
    space.add("Run the build.", id="m1", session="s", role="user", at=at("05-01"))
    space.add("error E042\n" * 200, id="m2", session="s", role="tool", at=at("05-02"))
    space.flush()
    (triple,) = space.facts()
    assert (triple.text, [source.id for source in triple.sources]) == (
        "build 7 failed with E042",
        ["m2"],
    )
    shown = space.search("What failed?", now=at("06-01"), where=Filter(roles=["tool", "user"]))
    assert [item.text for item in shown.triples] == ["build 7 failed with E042"]


@each(
    ("facts", "said"),
    [
        ("Ann", "message 0: facts must be a list of objects, not 'Ann'"),
        ([{**USES}, "x"], r"facts\[1\] must be an object with subject, relation and object"),
        ([{"subject": "Ann", "relation": "uses"}], r"facts\[0\].object is missing"),
        ([{**USES, "subject": " "}], r"facts\[0\].subject must have 1 to 300 characters"),
        ([{**USES, "object": "!?"}], r"facts\[0\].object must have a letter or a digit"),
        ([{**USES, "subject": "she"}], r"facts\[0\].subject is 'she'; give the name"),
        ([{**USES, "relation": 7}], r"facts\[0\].relation must be a text, not 7"),
        ([{**USES, "relation": "not"}], r"facts\[0\].relation says nothing: 'not'"),
        ([{**USES, "object": "The user"}], r"facts\[0\] relates 'user' to itself"),
        ([{**USES, "since": "2026"}], r"facts\[0\] has the unknown field 'since'; there are"),
        ([{**USES, "valid_from": "May"}], r"facts\[0\].valid_from must be a date such as 2026"),
        ([{**USES, "valid_to": "2020"}], r"facts\[0\].valid_to \(2020\) must be later than at"),
        ([{**USES, "replaces": "spotify"}], r"facts\[0\].replaces is the new object itself"),
        ([{**USES, "replaces": True}], r"facts\[0\].replaces must be the object that was true"),
        ([{**USES, "negated": "no"}], r"facts\[0\].negated must be true or false, not 'no'"),
        ([{**USES, "types": "person"}], r"facts\[0\].types must be the type of the subject and"),
        ([USES] * 201, "201 facts; the limit of a message is 200"),
    ],
)  # fmt: skip
@pytest.mark.above_stores
def test_a_bad_fact_is_refused_before_anything_is_stored(space, facts, said):
    with pytest.raises(InvalidMessageError, match=said):
        space.add("I use Spotify.", role="user", facts=facts, at=at("05-01"))
    assert space.stats().messages == 0


@pytest.mark.slow
def test_the_round_trip_through_an_export(open_memory, space_name, tmp_path):
    memory = open_memory(extractor=RulesExtractor())
    space = memory.space(space_name)
    space.add(
        "I live in Leeds, said Vera Lund.", id="m1", role="user", facts=[LEEDS], at=at("05-01")
    )
    space.add("I work at Equinor.", id="m2", speaker="Kim", facts=[USES], extract=True,
              session_summary="Kim and music.", at=at("05-02"))  # fmt: skip
    space.add("The ferry costs 20 euros.", id="m3", role="tool", at=at("05-03"))
    space.flush()

    def shown(one):
        facts = sorted((fact.text, fact.status, fact.is_stated) for fact in one.facts())
        names = sorted((entity.name, entity.type, entity.mentions) for entity in one.entities())
        return facts, names, [(s.summary, s.keys) for s in one.overview.sessions()]

    assert [text for text, *_ in shown(space)[0]] == [
        "Kim works at Equinor", "user lives in Leeds", "user uses Spotify",
    ]  # fmt: skip
    assert space.overview.sessions()[0].summary == "Kim and music."
    for derived in (True, False):
        file = tmp_path / f"{derived}.jsonl"
        space.files.export(file, derived=derived)
        copy = memory.space(f"{space_name}-{derived}")
        copy.files.load(file)
        copy.flush()
        assert shown(copy) == shown(space)

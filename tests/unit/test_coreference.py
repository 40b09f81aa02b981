"""Resolving the names that a model writes to entities."""

from __future__ import annotations

from datetime import UTC, datetime

from cognigraph.ingest.model.transcript import Turn, WindowName, WindowNames, lasting_aliases

AT = datetime(2025, 2, 8, 18, 0, tzinfo=UTC)
TURNS = (
    Turn("Jonas", AT, "My sister Pia is expecting a baby."),
    Turn("Mira", AT, "I'll call her. My boss says hello to Dr. Okafor."),
)
PIA = WindowName("Pia", "person", ("my sister",))


def names(*entities: WindowName, turns=TURNS, known=()) -> WindowNames:
    found = WindowNames(turns, (), known)
    for entity in entities:
        found.add(entity)
    return found


def find(found: WindowNames, name: str, index: int = 0) -> str | None:
    entity = found.find(name, [index])
    return entity.name if entity else None


def test_an_alias_is_its_entity():
    found = names(PIA, WindowName("Harbour Museum", "organization", ("the museum", "HM")))
    assert find(found, "my sister") == "Pia"
    assert find(found, "PIA") == "Pia"
    assert find(found, "The Museum") == "Harbour Museum"
    assert find(found, "museum") == "Harbour Museum"
    assert find(found, "the Harbour Museum") == "Harbour Museum"
    assert found.find("hm", [0]) == WindowName(
        "Harbour Museum", "organization", ("the museum", "HM")
    )


def test_pronouns_are_speakers_or_nobody():
    found = names(PIA)
    assert [find(found, word, 0) for word in ("I", "me", "User", "the user")] == ["Jonas"] * 4
    assert find(found, "I", 1) == "Mira"
    assert find(found, "you", 0) == "Mira"
    assert [find(found, word) for word in ("she", "they", "we", "this", "")] == [None] * 5
    three = names(turns=(*TURNS, Turn("Pia", AT, "Hello.")))
    assert find(three, "you") is None


def test_a_message_without_a_speaker_is_the_users():
    found = names(turns=(Turn("user", AT, "I moved to Oslo."), Turn("assistant", AT, "Noted.")))
    assert find(found, "I") == "user"
    assert find(found, "the user", 1) == "assistant"  # said of oneself
    assert find(found, "user", 1) == "user"


def test_a_speakers_name_is_never_changed():
    found = names(
        WindowName("Mira Sommer", "person", ("Mira", "my friend")),
        WindowName("user", "person", ("Jonas",)),
        WindowName("the runner", "animal", ("Jonas", "Mira")),
    )
    assert find(found, "Mira Sommer") == "Mira"
    assert find(found, "my friend") == "Mira"
    assert (find(found, "mira"), find(found, "JONAS")) == ("Mira", "Jonas")
    assert find(found, "the runner") == "the runner"
    assert {entity.name: entity.type for entity in found.entities}["Jonas"] == "person"


def test_an_alias_shared_by_two_entities_belongs_to_neither():
    found = names(PIA, WindowName("Lea", "person", ("my sister",)))
    assert find(found, "my sister", 0) == "Jonas's sister"
    assert find(found, "my sister", 1) == "Mira's sister"


def test_a_name_beats_a_description():
    found = names(WindowName("my sister", "person", ("Pia",)))
    assert [entity.name for entity in found.entities] == ["Jonas", "Mira", "Pia"]
    assert find(found, "my sister") == "Pia"


def test_what_was_known_before_keeps_name_and_type():
    known = (WindowName("Pickle", "animal", ("Mira's cat",)),)
    found = names(WindowName("Mira's cat", "person", ("Pickle",)), known=known)
    assert found.find("my cat", [1]) == WindowName("Pickle", "animal", ("Mira's cat",))
    assert find(found, "my cat", 0) == "Jonas's cat"


def test_an_unknown_description_is_attributed_to_its_speaker():
    found = names()
    assert find(found, "my left knee") == "Jonas's left knee"
    assert find(found, "our flat", 1) == "Mira's flat"
    assert find(found, "mystery novel") == "mystery novel"


def test_only_aliases_that_are_valid_beyond_the_window_are_kept():
    entity = WindowName(
        "Pia", "person", ("my sister", "Pipi", "the sister", "her friend", "our boss")
    )
    assert lasting_aliases(entity, TURNS) == ("Jonas's sister", "Pipi")
    cat = WindowName("Pickle", "animal", ("cat", "Mr. P", "皮克"))
    assert lasting_aliases(cat, TURNS) == ("Mr. P", "皮克")
    both = (*TURNS, Turn("Mira", AT, "My sister too."))
    assert lasting_aliases(entity, both) == ("Pipi",)
    nobody = (Turn("user", AT, "My sister Pia."),)
    assert lasting_aliases(entity, nobody) == ("Pipi",)

"""People who are called by their first names: one entity each, and the user stays the user."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.above_stores


@pytest.fixture
def told(open_memory, space_name):
    space = open_memory(extractor="rules", enrich="manual").space(space_name)
    for number, (said, answered) in enumerate(
        [
            (
                "Hi! My name is Anna. My son Nils and my daughter Elsa are here.",
                "Nice to meet you, Anna!",
            ),
            ("Nils turned five yesterday. Elsa gave Nils a red bike.", "Happy birthday to Nils!"),
            ("I work at Lund University Hospital.", "Noted, Anna."),
        ]
    ):
        at = f"2026-01-{number + 1:02}T09:00:00Z"
        same = {"session": f"s{number}", "at": at}
        space.add_many(
            [
                {"role": "user", "content": said, **same},
                {"role": "assistant", "content": answered, **same},
            ]
        )
    space.flush()
    return space


def test_a_name_is_one_person_wherever_it_stands_in_a_sentence(told):
    entities = {(entity.name, entity.type) for entity in told.entities()}
    assert {item for item in entities if item[0] in ("Nils", "Elsa")} == {
        ("Nils", "person"),
        ("Elsa", "person"),
    }


@pytest.mark.slow
def test_a_user_who_says_their_name_stays_the_user_of_the_messages(told):
    facts = {triple.text for triple in told.facts("user")}
    assert {"user works at Lund University Hospital", "user is called Anna"} <= facts
    assert told.overview.profile("Anna")["work"].facts[0].object == "Lund University Hospital"
    [user] = [entity for entity in told.entities() if entity.name == "user"]
    assert "Anna" in user.aliases

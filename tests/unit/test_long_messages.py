"""Conversations with an assistant: roles, and weights of their own where messages are long."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cognigraph import SearchSettings
from cognigraph.model.messages import role_of
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.profiles import PROFILES, chunk_features
from cognigraph.retrieve.rank.ranking import PLAIN, WEIGHT_SETS, share_of_long
from cognigraph.stores.candidates import Candidates
from cognigraph.text.word_book import Lexicon
from tests.cases import each
from tests.unit.pools import candidates, chunk_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CHAT = ("user", "assistant", "user")
NO_DECAY = SearchSettings(decay=False)


def signals(found: Candidates, settings: SearchSettings = NO_DECAY):
    return chunk_features(found, analyse("oslo", NOW), settings)


def ranked(found: Candidates, mean_length: float, question: str = "oslo"):
    found = replace(found, lexicon=Lexicon(3, mean_length, {}))
    return PROFILES["default"].rank(
        found, analyse(question, NOW), NO_DECAY, now=0.0, weight_set="plain"
    )


@each(
    ("speaker", "role"),
    [
        ("user", "user"),
        (" Assistant ", "assistant"),
        ("USER", "user"),
        ("Userby", None),
        ("Ann", None),
        ("", None),
        (None, None),
    ],
)
def test_a_speaker_called_by_a_role_has_it(speaker, role):
    assert role_of(speaker) == role


def test_what_the_user_says_is_a_signal_alone_and_times_its_cosine():
    found = signals(candidates(chunk_pool([0.9, 0.5, 0.1, 0.7], speakers=(*CHAT, "user"))))
    assert found["user"].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert found["user vector"].tolist() == pytest.approx([1.0, 0.0, 0.0, 0.75])


@pytest.mark.parametrize("speakers", [("user", "Ann", None), ("Ann", "Ben", "Ann")])
def test_without_an_assistant_there_is_no_signal_of_roles(speakers):
    found = signals(candidates(chunk_pool([0.9, 0.5, 0.1], speakers=speakers)))
    assert not {"user", "user vector"} & set(found)


def test_roles_are_cues():
    found = candidates(chunk_pool([0.9, 0.5, 0.1], speakers=CHAT))
    assert "user" not in signals(found, replace(NO_DECAY, cues=False))


@each(("mean_length", "share"), [(0, 0), (28, 0), (35, 0), (45, 0.25), (75, 1), (400, 1)])
def test_how_long_messages_are_is_a_share(mean_length, share):
    assert share_of_long(mean_length) == pytest.approx(share)


def test_short_messages_keep_their_weights():
    assert PLAIN.relative(long=0.0) == PLAIN.relative()
    unit = sum(weight for weight in PLAIN.weights.values() if weight > 0)
    own = PLAIN.relative()
    assert {name: own[name] for name in PLAIN.weights} == pytest.approx(
        {name: weight / unit for name, weight in PLAIN.weights.items()}
    )
    assert not own.get("user")


@pytest.mark.parametrize("name", WEIGHT_SETS)
def test_a_contextual_vector_weighs_as_much_where_messages_are_short(name):
    chosen = WEIGHT_SETS[name]
    learned = chosen.long_changes["contextual vector"]
    for long in (0.0, 0.5, 1.0):
        own = chosen.relative(long=long, contextual=True)
        vector = chosen.weights["vector"] + long * chosen.long_changes["vector"]
        assert own["contextual vector"] / own["vector"] == pytest.approx(learned / vector)
        assert not chosen.relative(long=long).get("contextual vector")


@pytest.mark.parametrize("name", WEIGHT_SETS)
def test_long_messages_change_the_weights_in_proportion(name):
    chosen = WEIGHT_SETS[name]
    long, half = chosen.relative(long=1.0), chosen.relative(long=0.5)

    def ratio(weights, share):
        return (
            weights["window words"] / weights["vector"],
            (chosen.weights["window words"] + share * chosen.long_changes["window words"])
            / (chosen.weights["vector"] + share * chosen.long_changes["vector"]),
        )

    for weights, share in ((long, 1.0), (half, 0.5)):
        found, expected = ratio(weights, share)
        assert found == pytest.approx(expected)
    assert sum(weight for weight in long.values() if weight > 0) == pytest.approx(1.0)
    assert long["vector"] > chosen.relative()["vector"]
    assert long["window words"] < chosen.relative()["window words"]


def test_a_list_changes_nothing_where_messages_are_long():
    assert PLAIN.relative(enumerates=True, long=1.0) == PLAIN.relative(long=1.0)
    assert PLAIN.relative(enumerates=True) != PLAIN.relative()


def test_the_length_of_the_messages_of_a_space_chooses_the_weights():
    found = candidates(chunk_pool([0.9, 0.5, 0.1], speakers=CHAT))
    short, half, long = ranked(found, 25.0), ranked(found, 55.0), ranked(found, 80.0)
    shares = (short.weighted, 0.25), (half.weighted, 0.5), (long.weighted, 1.0)
    for weighted, share in shares:
        weights = PLAIN.relative(long=share)
        assert weighted["vector"][0] == pytest.approx(weights["vector"])
        assert weighted["user"].tolist() == pytest.approx([weights["user"], 0.0, weights["user"]])
    friends = ranked(candidates(chunk_pool([0.9, 0.5, 0.1])), 25.0)
    assert friends.weighted["vector"][0] == pytest.approx(PLAIN.relative()["vector"])
    assert "user" not in friends.weighted


def test_every_changed_weight_belongs_to_a_signal():
    for name, weight_set in WEIGHT_SETS.items():
        only_long = {"user", "user vector", "assistant asked", "wish", "contextual vector"}
        only_long |= {"counterpart vector", "counterpart triple"}
        known = {*weight_set.weights, *only_long, "session rank"}
        assert set(weight_set.long_changes) <= known, name
        assert {"user", "vector"} <= set(weight_set.long_changes), name
        long = weight_set.relative(long=1.0)
        assert long["asks"] == long["answers"] == 0.0, "roles tell more than who takes turns"
        assert weight_set.relative(long=0.5)["asks"] < 0 < weight_set.relative(long=0.5)["answers"]

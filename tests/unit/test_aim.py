"""What a question to an assistant aims at, and which messages sound like wishes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cognigraph import SearchSettings
from cognigraph.embed import CheckedEmbedder
from cognigraph.embed.word_vectors import WordLlamaEmbedder, word_vectors
from cognigraph.retrieve.question.analyse import Aim, aim_of, analyse
from cognigraph.retrieve.rank.profiles import PROFILES, chunk_features, session_ranks
from cognigraph.retrieve.rank.ranking import PLAIN
from cognigraph.retrieve.rank.signals import changes, wishes
from cognigraph.text.word_book import Lexicon
from tests.cases import each
from tests.unit.pools import NAN, candidates, chunk_pool, session_pool, triple_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NO_DECAY = SearchSettings(decay=False)
SAID = Aim(assistant=True)
REQUEST = Aim(request=True)


@each(
    ("question", "aim"),
    [
        ("What did you suggest for the pay talk?", SAID),
        ("What was the third name on your list?", SAID),
        ("In the stew you gave me, how many carrots were there?", SAID),
        ("You offered five names. Which was the last?", SAID),
        ("Which wine had you already recommended for fish?", SAID),
        ("What did the assistant say about the boiler?", SAID),
        ("What did the trips I told you about cost?", Aim()),
        ("What have I asked you about my knee?", Aim()),
        ("Where do I live?", Aim()),
        ("Can you tell me where I live?", Aim()),
        ("Give me a list of everyone at my wedding.", Aim()),
        ("Do you know my sister's name?", Aim()),
        ("How many cups of coffee do I drink?", Aim()),
        ("Write me a letter to the landlord.", REQUEST),
        ("Please, could you plan our dinners?", REQUEST),
        ("What should I cook on Friday?", REQUEST),
        ("My sister turns forty. What could I get her?", REQUEST),
        ("How do I get to Valencia?", REQUEST),
        ("I need a message for Callum.", REQUEST),
        ("Hamish is coming. Suggest a pudding.", REQUEST),
        ("", Aim()),
        ("???", Aim()),
    ],
)
def test_the_aim_of_a_question(question, aim):
    assert aim_of(question) == aim
    assert analyse(question, NOW).aim == aim


@each(
    ("text", "kinds"),
    [
        ("From now on, no meat please.", 3),
        ("I can't stand coriander.", 1),
        ("We never fly, I prefer trains.", 2),
        ("I’m allergic to nuts and I don’t eat fish, at most £20 a head", 3),
        ("The cat slept in the sun.", 0),
        ("", 0),
    ],
)
def test_a_wish_is_known_by_its_words(text, kinds):
    assert wishes(word_vectors().read([text])).tolist() == pytest.approx([kinds / 3])


def test_the_pairs_of_a_wish_do_not_cross_texts():
    assert wishes(word_vectors().read(["we", "use it", "cant", "stand"])).tolist() == [0.0] * 4


FLYING = ("We fly on Monday.", "Never fly, please.", "No planes please, never.")


def signals(
    question: str, speakers: tuple[str, ...], texts: tuple[str, ...] = FLYING
) -> dict[str, np.ndarray]:
    asked = analyse(question, NOW)
    found = candidates(
        chunk_pool(
            [0.9, 0.5, 0.1],
            speakers=speakers,
            texts=texts,
            matches=np.zeros((3, len(asked.terms))),
        )
    )
    return chunk_features(found, asked, NO_DECAY)


CHAT = ("user", "assistant", "user")


@pytest.mark.slow
def test_what_the_assistant_said_is_looked_for_in_its_messages():
    assert signals("What did you say?", CHAT)["assistant asked"].tolist() == [0.0, 1.0, 0.0]
    assert "assistant asked" not in signals("Where did I fly?", CHAT)


@each(
    ("text", "kinds"),
    [
        ("We pay 52 a month.", 0),
        ("Swimming has been moved to Saturdays.", 1),
        ("It is 41 now, down to half, so we stopped.", 3),
        ("The date was brought forward.", 1),
        ("Forward it, he brought tea.", 0),
    ],
)
def test_what_sounds_like_a_change(text, kinds):
    assert changes(word_vectors().read([text])).tolist() == pytest.approx([kinds / 3])


@pytest.mark.slow
def test_a_question_about_how_things_are_looks_for_what_the_user_changed():
    asked = "Where do I live?"
    said = ("I live here.", "You moved, you say.", "We moved, it is new.")
    assert signals(asked, CHAT, said)["change"].tolist() == pytest.approx([0, 0, 2 / 3])
    assert "change" not in signals("Where did I live?", CHAT, said)
    assert "change" not in signals("Where should I live?", CHAT, said)
    assert "change" not in signals(asked, ("user", "Ann", "user"), said)


def test_a_request_looks_for_the_wishes_of_the_user():
    assert signals("Plan my trip.", CHAT)["wish"].tolist() == pytest.approx([0.0, 0.0, 1.0])
    assert "wish" not in signals("Where did I fly?", CHAT)


@pytest.mark.parametrize("question", ["What did you say?", "Plan my trip."])
def test_without_an_assistant_the_aim_changes_nothing(question):
    found = signals(question, ("user", "Ann", "user"))
    assert not {"assistant asked", "wish"} & set(found)


def test_the_rank_of_a_chunk_in_its_session():
    scores = np.array([0.1, 0.9, 0.5, 0.7, 0.2])
    assert session_ranks(scores, np.array([0, 1, 0, 0, 1])).tolist() == [0.4, 0.0, 0.2, 0.0, 0.2]
    assert session_ranks(np.arange(9.0), np.zeros(9, int)).tolist()[:4] == [1.0, 1.0, 1.0, 1.0]
    assert session_ranks(np.zeros(0), np.zeros(0, int)).tolist() == []


def ranked(question: str, *, mean_length: float = 80.0, contextual: bool = False):
    asked = analyse(question, NOW)
    chunks = chunk_pool([0.9, 0.8, 0.7], session=[0, 0, 1], matches=np.zeros((3, len(asked.terms))))
    n = len(asked.terms)
    found = candidates(chunks, triple_pool(terms=n), session_pool([NAN, NAN], terms=n))
    found = replace(found, lexicon=Lexicon(3, mean_length, {}))
    return PROFILES["default"].rank(
        found,
        asked,
        NO_DECAY,
        now=0.0,
        weight_set="plain",
        contextual=contextual,
    )


def test_a_list_takes_from_every_session_where_messages_are_long():
    listed = ranked("Which cities have I seen?")
    assert listed.raw["session rank"].tolist() == [0.0, 0.2, 0.0]
    assert listed.weighted["session rank"][1] < 0
    assert listed.semantic == pytest.approx(np.sum(list(listed.weighted.values()), axis=0))
    for other in (ranked("Where do I live?"), ranked("Which cities have I seen?", mean_length=25)):
        assert "session rank" not in other.raw


@pytest.mark.parametrize(("mean_length", "long"), [(25, 0.0), (80, 1.0)])
def test_the_cosine_of_a_contextual_embedder_counts_more(mean_length, long):
    contextual, static = (
        ranked("oslo", contextual=each, mean_length=mean_length) for each in (True, False)
    )
    expected = PLAIN.relative(long=long, contextual=True)["contextual vector"]
    assert contextual.weighted["contextual vector"][0] == pytest.approx(expected)
    assert expected > 0.05
    assert "contextual vector" not in static.weighted


def test_an_embedder_is_contextual_unless_it_declares_static_vectors():
    class Contextual:
        name, dimension = "contextual", 2

        def embed(self, texts):
            return np.ones((len(texts), 2))

    assert CheckedEmbedder(WordLlamaEmbedder()).static
    assert not CheckedEmbedder(Contextual()).static

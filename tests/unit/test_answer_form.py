"""The form of an answer, and which texts have it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import word_vectors
from cognigraph.retrieve.question.analyse import AnswerForm, analyse, form_features
from tests.cases import each

NOW = datetime(2024, 3, 1, tzinfo=UTC)


def features(
    texts: list[str], speakers: set[str | None], form: AnswerForm | None = None
) -> dict[str, Floats]:
    return form_features(texts, word_vectors().read(texts), speakers, form)


@each(
    ("question", "form"),
    [
        ("How many cats does Ann have?", "number"),
        ("How much did the tent cost?", "money"),
        ("How much flour goes into it?", "number"),
        ("How many shops gave us a price?", "number"),
        ("How often does Ann swim?", "number"),
        ("What's the code of the door?", "number"),
        ("At what dose, and how often?", "number"),
        ("What are Ann and Bob's ages?", "number"),
        ("What did the new curtains come to in total?", "money"),
        ("What do we pay for the hall every month?", "money"),
        ("What was the deposit on the flat?", "money"),
        ("By how much did my rent go up?", "money"),
        ("What have I spent on the dog so far?", "money"),
        ("What did the three trips add up to?", "money"),
        ("How much did you get for the bike?", "money"),
        ("After all that, how much do I still owe them?", "money"),
        ("Where did I pay the deposit?", "name"),
        ("When did I pay the deposit?", "time"),
        ("How do I pay the deposit?", None),
        ("What did we spend the weekend doing?", None),
        ("How much of my time did I spend there?", "number"),
        ("What should I pay attention to?", None),
        ("Which weekdays does Ann work?", "time"),
        ("What is Ann's date of birth?", "time"),
        ("What came first, the move or the wedding?", "time"),
        ("Did Ann leave before or after the talk?", "time"),
        ("Which was her first book?", None),
        ("What is the number one goal of Ann?", None),
        ("When did Ann move?", "time"),
        ("How many weeks did she stay?", "time"),
        ("How much money did the flat cost when we moved?", "money"),
        ("In which month was the wedding?", "time"),
        ("Who bakes the bread?", "name"),
        ("Where does Ann live?", "name"),
        ("Which cities has Ann been to?", "name"),
        ("What did Ann paint?", None),
        ("Why is Ann sad?", None),
        ("", None),
    ],
)
def test_form_that_a_question_expects(question: str, form: str | None) -> None:
    assert analyse(question, NOW).form == form


@each(
    ("text", "names"),
    [
        ("I saw Oslo and Bergen last year", 2),
        ("We read “Dune” (Herbert wrote it), then Dune again", 2),
        ("Oslo is where I live", 0),  # every sentence begins with a capital
        ("Wow! Great idea. Really", 0),
        ("I think I saw I, Claudius", 1),
        ("See you on Monday or in July", 0),  # times are no names
        ("Thanks, Ann Lee!", 0),  # she is one of the speakers
        ("a trip to Ålesund, then Москва", 2),
        ("ABC of it", 0),
        ("It is by Kim", 1),
        ("", 0),
    ],
)
def test_names_in_a_text(text: str, names: int) -> None:
    found = features([text], {"Ann Lee", None})
    assert found["names"].tolist() == [names / 3]
    assert set(found) == {"names"}  # nothing expected, nothing said about it


def test_many_names_count_no_more_than_three() -> None:
    (value,) = features(["by Kim, Lou, Max, Ned and Oda"], set())["names"]
    assert value == 1.0


@each(
    ("form", "texts", "held"),
    [
        (
            "number",
            ["I have 3", "two of them", "a Couple more", "none at all", ""],
            [1, 1, 1, 0, 0],
        ),
        (
            "time",
            ["we met yesterday", "in May", "in 2019", "two weeks back", "the 3rd", "3 of us"],
            [1, 1, 1, 1, 1, 0],
        ),
        (
            "money",
            ["£5 each", "it was 5 €", "at $ 1,200", "fifty quid", "on 61k", "5 each", "$HOME", ""],
            [1, 1, 1, 1, 1, 0, 0, 0],
        ),
        ("name", ["it was in Oslo", "it was far", "with Ann"], [1, 0, 0]),
    ],
)
def test_texts_with_the_expected_form(form: str, texts: list[str], held: list[int]) -> None:
    assert features(texts, {"Ann"}, form)["answer form"].tolist() == held


def test_a_speaker_called_may_is_not_a_month() -> None:
    texts = ["May says so", "in June"]
    assert features(texts, {"May"}, "time")["answer form"].tolist() == [0, 1]
    assert features(texts, {"Ann"}, "time")["answer form"].tolist() == [1, 1]


@pytest.mark.slow
@given(
    st.lists(st.text(max_size=60), min_size=1, max_size=8),
    st.sets(st.none() | st.text(max_size=10), max_size=3),
    st.sampled_from(["number", "money", "time", "name", None]),
)
def test_signals_are_shares_and_do_not_depend_on_the_other_texts(texts, speakers, form) -> None:
    found = features(texts, speakers, form)
    for name, values in found.items():
        assert values.shape == (len(texts),)
        assert ((values >= 0) & (values <= 1)).all()
        alone = [features([text], speakers, form)[name][0] for text in texts]
        assert values.tolist() == alone

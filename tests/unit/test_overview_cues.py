"""Which questions ask for an overview, and of what."""

from __future__ import annotations

import pytest

from cognigraph.retrieve.question.analyse import overview_subject, subject_of
from tests.cases import each


@each(
    ("question", "subject"),
    [
        ("Summarize the trouble with the boat.", "the trouble with the boat."),
        ("Can you summarise our plans?", "Can our plans?"),
        ("In which order did I sell the cars?", "did I sell the cars?"),
        ("How did the plan for the harbour develop?", "did the plan for the harbour ?"),
        ("Walk me through the move.", "the move."),
        ("Fasse zusammen, wie es mit dem Boot weiterging.", ", wie es mit dem Boot weiterging."),
        ("Wie hat sich die Lage im Hafen entwickelt?", "hat sich die Lage im Hafen ?"),
        ("Dans quel ordre ai-je vendu les bateaux ?", "ai-je vendu les bateaux ?"),
        ("¿En qué orden vendí los barcos?", "¿ vendí los barcos?"),
        ("Faça um resumo da viagem.", "Faça um da viagem."),
        ("In che ordine ho venduto le barche?", "ho venduto le barche?"),
        ("Geef een overzicht van de verhuizing.", "Geef een van de verhuizing."),
        ("总结一下我和房东的纠纷", "我和房东的纠纷"),
        ("引っ越しの経緯を教えて", "引っ越しの を教えて"),
        ("이사 과정을 요약해 줘", "이사 과정을 해 줘"),
    ],
)
def test_the_subject_of_an_overview(question, subject):
    assert overview_subject(question) == subject


@pytest.mark.parametrize(
    "question",
    ["What have we talked about so far?", "Worüber haben wir bisher gesprochen?", "Summarize all"],
)
def test_an_overview_of_everything(question):
    assert overview_subject(question) == ""


@each(
    "question",
    [
        "Where is the boat?",
        "What did Ann put on her resume?",
        "On which day did Feng write the monthly summary?",
        "In order to sail, what do I need?",
        "他总结了什么？",
        "Che cosa fa nel tempo libero?",
        "Summarize this: " + "the boat is in the harbour, " * 10,
        "",
    ],
)
def test_other_questions_have_no_subject(question):
    assert overview_subject(question) is None


def test_the_caller_decides():
    assert subject_of("Where is the boat?", "overview") == "Where is the boat?"
    assert subject_of("Summarize the trip.", "overview") == "the trip."
    assert subject_of("Summarize the trip.", "answer") is None
    assert subject_of("Where is the boat?", None) is None

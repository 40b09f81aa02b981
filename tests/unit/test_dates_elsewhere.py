"""Dates of questions in other languages than English."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.question.languages import read_question
from cognigraph.retrieve.question.temporal import NamedDate, TimeWindow
from tests.cases import each

NOW = datetime(2025, 7, 1, 18, tzinfo=UTC)


def window(start: str, end: str) -> TimeWindow:
    return TimeWindow(*(datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (start, end)))


@each(
    ("question", "found"),
    [
        ("Was haben wir im März 2025 gesagt?", NamedDate(2025, 3)),
        ("Wann war ich am 5. Mai beim Arzt?", NamedDate(None, 5, 5)),
        ("Was war im Jänner mit der Heizung?", NamedDate(None, 1)),
        ("Was habe ich vor 3 Tagen gekauft?", window("2025-06-28", "2025-06-29")),
        ("Was war letzte Woche los?", window("2025-06-23", "2025-06-30")),
        ("Wo war ich vor 2 Jahren?", NamedDate(2023)),
        ("¿Qué compré el 5 de mayo de 2024?", NamedDate(2024, 5, 5)),
        ("¿Qué hice el mes pasado?", NamedDate(2025, 6)),
        ("Qu'est-ce que j'ai acheté le 12 mars ?", NamedDate(None, 3, 12)),
        ("O que eu disse em março?", NamedDate(None, 3)),
        ("Cosa ho detto il 3 gennaio della macchina?", NamedDate(None, 1, 3)),
        ("Wat zei ik gisteren over de fiets?", window("2025-06-30", "2025-07-01")),
        ("Что я купил 5 мая 2024?", NamedDate(2024, 5, 5)),
        ("2025年3月我说了什么？", NamedDate(2025, 3)),
        ("2025年3月8日我去了哪里？", NamedDate(2025, 3, 8)),
        ("十二月三十一号我们吃了什么？", NamedDate(None, 12, 31)),
        ("三月中旬我的腰怎么了？", window("2025-03-11", "2025-03-21")),
        ("去年十月底我在哪里？", window("2024-10-21", "2024-11-01")),
        ("昨天我吃了什么？", window("2025-06-30", "2025-07-01")),
        ("2月3日に何を買いましたか？", NamedDate(None, 2, 3)),
        ("先月何を買いましたか？", NamedDate(2025, 6)),
        ("3월 5일에 뭐 샀지?", NamedDate(None, 3, 5)),
        ("Was war 2024 mit dem Dach?", NamedDate(2024)),
    ],
)
def test_what_a_question_names(question, found):
    assert found in read_question(question, NOW).time.times


@each(
    "question",
    [
        "Wie geht es dem Hund?",
        "我一个月花多少钱？",
        "今天天气怎么样？",
        "¿Dónde vive mi hermana?",
        "Was sagte er vor 100000 Jahren?",
    ],
)
def test_nothing_is_guessed(question):
    assert read_question(question, NOW).time.times == ()


def test_the_analysis_of_a_question_reads_them():
    analysis = analyse("Was haben wir im März 2025 über die Heizung gesagt?", NOW)
    assert analysis.times == (NamedDate(2025, 3),)
    assert analysis.is_english is False
    assert {"+heiz", "+zung"} <= set(analysis.parts)
    assert analyse("What did we say in March 2025?", NOW).parts == ()


@given(st.text(alphabet="0123456789年月日号上中下旬一二十é .maipdez", max_size=30))
def test_no_text_is_an_error_and_no_window_is_reversed(text):
    for time in read_question(text, NOW).time.times:
        for start, end in time.intervals([2025]):
            assert start < end

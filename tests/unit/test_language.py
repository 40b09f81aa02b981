"""Telling English from other languages, and what the rules make of the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import Memory
from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.stores.records import WorkChunk
from cognigraph.testing import HashEmbedder
from cognigraph.text.terms import is_english
from tests.cases import each

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def extract(*texts: str) -> Extraction:
    chunks = tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", "Anna", AT + timedelta(minutes=n), text)
        for n, text in enumerate(texts)
    )
    return RulesExtractor().extract(Window("x", "s", chunks))


@each(
    ("text", "expected"),
    [
        ("I moved to Oslo.", True),
        ("Lost my job.", True),
        ("Call me Sam.", True),
        ("I met José and Zoë at the café.", True),
        ("I love the Gemütlichkeit of the bar", True),
        ("We flew to Los Angeles and then to Las Vegas.", True),
        ("ich habe die Stelle im Museum bekommen", False),
        ("J'ai déménagé à Oslo hier", False),
        ("Me mudé a Oslo ayer", False),
        ("Ho comprato una macchina", False),
        ("Ik woon in Utrecht", False),
        ("我昨天搬到奥斯陆", False),
        ("昨日、東京へ行きました。", False),
        ("Teo现在住在哪里？", False),
        ("das ist so nice lol", False),
        ("ok", None),
        ("lol", None),
        ("Oslo!", None),
        ("😀 123", None),
        ("", None),
    ],
)
def test_a_text_is_told_by_its_words_and_script(text: str, expected: bool | None) -> None:
    assert is_english(text) is expected


OTHERS = {
    "de": ("Meine Schwester Klara wohnt jetzt in Wien.", "Ich habe die Stelle im Museum bekommen."),
    "fr": ("Ma sœur Claire habite maintenant à Lyon.", "J'ai obtenu le poste au musée."),
    "es": ("Mi hermana Clara vive ahora en Sevilla.", "Conseguí el puesto en el museo."),
    "zh": ("我妹妹现在住在上海。", "我得到了博物馆的工作。"),
    "ja": ("妹は今大阪に住んでいます。", "博物館の仕事が決まりました。"),
}
ASKED = {
    "de": "Wer hat die Stelle im Museum bekommen?",
    "fr": "Qui a obtenu le poste au musée ?",
    "es": "¿Quién consiguió el puesto en el museo?",
    "zh": "谁得到了博物馆的工作？",
    "ja": "博物館の仕事はどうなりましたか？",
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_found_and_give_no_facts(tmp_path: Path, language: str) -> None:
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(4096), enrich="manual") as memory:
        for number, text in enumerate(OTHERS[language]):
            memory.add(text, id=f"m{number}", speaker="Anna", at=AT + timedelta(minutes=number))
        memory.add("The lighthouse keeper sold the boat.", speaker="Anna", at=AT)
        memory.flush()
        found = memory.search(ASKED[language], now=AT + timedelta(days=1))
        assert found[0].id == "m1"
        said = {source.id for triple in memory.facts() for source in triple.sources}
        assert not said & {"m0", "m1"}
        names = {entity.name for entity in memory.entities()}
        assert names <= {"Anna", "boat", "lighthouse keeper"}


def test_a_short_text_is_english_by_habit_only() -> None:
    short = "Klara is my boss."
    told = extract("I live in Oslo and I love it there.", short).facts
    assert [(fact.subject, fact.relation) for fact in told][-1] == ("Klara", "is boss of")
    assert extract("Ich wohne jetzt in Oslo.", "Dana Boss.").facts == ()


def test_an_english_sentence_in_another_language_is_read() -> None:
    found = extract("Ich habe heute keine Zeit. I moved to Oslo last week.").facts
    assert [(fact.relation, fact.object) for fact in found] == [("moved to", "Oslo")]


FOREIGN = st.lists(
    st.sampled_from([text for texts in OTHERS.values() for text in texts]), min_size=1, max_size=6
)


@given(FOREIGN)
def test_no_foreign_conversation_gives_a_fact(texts: list[str]) -> None:
    assert extract(*texts).facts == ()


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert is_english(text) in (True, False, None)

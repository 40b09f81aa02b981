"""Other languages than English, on every store: words, dates, and vectors that know nothing."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from cognigraph import Message
from cognigraph.ingest import Fact
from cognigraph.retrieve.rank.separation import worth_of
from tests.cases import each, first_on_neo4j
from tests.conftest import START, OpenMemory

GERMAN = [
    "Die Ölheizung im Keller ist schon wieder ausgefallen.",
    "Ich habe gestern mit meiner Schwester telefoniert.",
    "Der Zahnarzttermin ist auf nächste Woche verschoben.",
    "Wir waren am Wochenende mit den Kindern am See.",
    "Meine Tochter hat die Prüfung bestanden.",
]
CHINESE = [
    "我昨天买了一双新的跑步鞋。",
    "我妈妈下周要来看我们。",
    "老板说项目要延期了。",
    "今天的会议很长。",
]


@pytest.fixture
def space(open_memory: OpenMemory, space_name):
    # The vectors of hashes know no language at all.
    memory = open_memory(enrich="manual")
    space = memory.space(space_name)
    for language, texts in (("de", GERMAN), ("zh", CHINESE)):
        space.add_many(
            Message(
                text=text, id=f"{language}{row}", session=f"{language}{row // 2}", speaker="user",
                at=START + timedelta(days=40 * row),
            )
            for row, text in enumerate(texts)
        )  # fmt: skip
    return space


@each(
    ("question", "first"),
    [
        ("Was ist mit der Heizung los?", "de0"),
        ("Wann habe ich meine Schwestern angerufen?", "de1"),
        ("Wann muss ich zum Zahnärzten gehen, weil mir etwas weh tut?", "de2"),
        ("我什么时候买了鞋？", "zh0"),
        ("谁要来看我们？", "zh1"),
    ],
)
def test_inflected_words_compounds_and_characters_are_found(space, question, first):
    assert next(hit.id for hit in space.search(question, k=3)) == first


def test_a_date_in_the_question_counts(space):
    later = START + timedelta(days=80)
    question = f"{later.year}年{later.month}月我们说了什么？"
    assert next(hit.id for hit in space.search(question, k=3)) in {"de2", "zh2"}


@pytest.mark.slow
def test_the_newest_chunks_come_with_their_vectors_and_sessions(open_memory, space_name):
    memory = open_memory(enrich="manual")
    space = memory.space(space_name)
    firsts = "Haus Garten Auto Hunde Katzen Baum".split()
    lasts = "tür dach schlüssel futter rand wand licht boden farbe preis".split()
    texts = [f"Das ist wegen der Sache {first} und {last}." for first in firsts for last in lasts]
    space.add_many(
        Message(text=text, session=f"s{row // 6}", at=START + timedelta(hours=row))
        for row, text in enumerate(texts)
    )
    found = memory._engine.store.search.consecutive(space_name, 50)
    assert found.vectors.shape == (50, 256)
    assert len(set(found.sessions.tolist())) == 9
    # Of one batch, a store may take the sessions in another order, but not the messages of one.
    expected = np.array(memory._engine.embedder.embed(texts))
    unit = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    cosines = unit @ (expected / np.linalg.norm(expected, axis=1, keepdims=True)).T
    assert cosines.max(axis=1) == pytest.approx(1.0, abs=1e-3)
    rows = cosines.argmax(axis=1)
    same = found.sessions[1:] == found.sessions[:-1]
    assert (np.diff(rows)[same] == 1).all()
    assert len(set(rows.tolist())) == 50
    assert worth_of(found) is not None
    assert len(memory._engine.store.search.consecutive("nowhere", 50).sessions) == 0


@pytest.mark.parametrize(
    ("relation", "old", "new", "hobby", "question"),
    first_on_neo4j([
        ("wohnt in", "Bergen", "Köln", ("spielt", "Klarinette"), "Wo wohnt Anna?"),
        ("vive en", "Gijón", "Cádiz", ("toca", "el clarinete"), "¿Dónde vive Anna?"),
        ("住在", "杭州", "苏州", ("吹", "单簧管"), "Anna住在哪里？"),
    ]),
)  # fmt: skip
@pytest.mark.slow
def test_facts_in_other_languages_are_merged_and_replaced(
    open_memory, extractor, space_name, relation, old, new, hobby, question
):
    def fact(relation, object, **more):
        return Fact("Anna", "person", relation, object, "concept", (0,), **more)

    extractor.script({
        "a": [fact(relation, old), fact(*hobby)],
        "b": [fact(*hobby)],
        "c": [fact(relation, new, replaces=True)],
    })  # fmt: skip
    space = open_memory().space(space_name)
    for number, id in enumerate("abc"):
        space.add(f"{relation} {id}", id=id, session=id, speaker="Anna",
                  at=START + timedelta(days=number))  # fmt: skip
        space.flush()
    facts = {triple.text: triple for triple in space.facts()}
    assert {text: triple.status for text, triple in facts.items()} == {
        f"Anna {relation} {old}": "superseded",
        f"Anna {relation} {new}": "current",
        f"Anna {' '.join(hobby)}": "current",
    }
    sources = facts[f"Anna {' '.join(hobby)}"].sources
    assert {source.id for source in sources} == {"a", "b"}
    found = space.search(question, k=3)
    assert found.triples[0].text == f"Anna {relation} {new}"

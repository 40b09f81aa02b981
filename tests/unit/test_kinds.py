"""bench/kinds.py and what it is made of: data folders, plain rankings, figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.kinds import Answer, Asked, Changed, Conditions, ask_all, chosen_kinds, measured, report
from bench.plain import BOTH, COSINE, WORDS, Plain, fused, tokens
from bench.said import Talk, talks
from cognigraph.testing import HashEmbedder

TURNS = [
    {"id": "push:0", "speaker": "mall", "text": "A sale of looms", "time": "2025-03-01T08:00:00"},
    {"id": "D1:2", "speaker": "ann", "text": "I bought a loom.", "photo": "a red loom"},
    {"id": "D1:3", "speaker": "ann", "text": "   "},
    {"id": "D1:4", "speaker": "ann", "text": "Which loom did I buy?"},
    {"id": "D1:5", "speaker": "bo", "text": "The red loom, a loom of oak."},
]
ASKED = [
    {"question": "Whose loom is it?", "category": 1, "evidence": ["D1:2;  D1:5 D9:9"]},
    {"question": "Which loom did I buy?", "category": 4, "kind": "recall",
     "evidence": ["push:0", "D1:5"], "asked_turn": "D1:4", "asked_at": "2025-03-01T09:00:00"},
    {"question": "What changed?", "category": 5, "evidence": [], "asked_at": "2025-12",
     "outdated": ["D1:2"]},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {
        "conversations/ann.json": {
            "sessions": [{"session": 1, "time": "2025-03-01T09:00:00", "turns": TURNS}]
        },
        "qa/ann.qa.json": {"qa": ASKED},
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content), "utf-8")
    return tmp_path


@pytest.fixture
def talk(folder: Path) -> Talk:
    (found,) = talks(folder)
    return found


def test_messages_have_their_own_time_or_that_of_the_session(talk):
    assert [(m["id"], m["at"]) for m in talk.messages] == [
        ("push:0", datetime(2025, 3, 1, 8, tzinfo=UTC)),
        ("D1:2", datetime(2025, 3, 1, 9, 0, 1, tzinfo=UTC)),
        ("D1:4", datetime(2025, 3, 1, 9, 0, 3, tzinfo=UTC)),
        ("D1:5", datetime(2025, 3, 1, 9, 0, 4, tzinfo=UTC)),
    ]
    assert talk.messages[1]["text"] == "I bought a loom. [photo: a red loom]"


def test_questions_come_in_the_order_of_asking_with_evidence_of_any_form(talk):
    within, end, change = talk.questions
    assert (within.category, within.sees, within.number) == ("recall", 2, 1)
    assert within.evidence == {"push:0"}  # what was said later is none
    assert within.now == datetime(2025, 3, 1, 9, 0, 2, tzinfo=UTC)
    assert (end.category, end.sees) == ("multi-hop", 4)
    assert end.evidence == {"D1:2", "D1:5"}
    assert end.now == datetime(2025, 3, 2, 9, 0, 4, tzinfo=UTC)
    assert change.now == datetime(2026, 1, 1, tzinfo=UTC)
    assert change.outdated == {"D1:2"}
    assert talk.answerable == [within, end]


def test_tokens_are_words_and_pairs_of_characters():
    assert tokens("Straße 5, ΟΔΟΣ!") == ["strasse", "5", "οδοσ"]
    assert tokens("织布机x") == ["织", "布", "机", "织布", "布机", "x"]


def test_plain_rankings_count_only_what_was_said_before(talk):
    plain = Plain(HashEmbedder(), talk.messages)
    found = {name: ids for name, (ids, _) in plain.rankings("a loom of oak", 4).items()}
    assert found[WORDS] == ["D1:5", "push:0", "D1:2", "D1:4"]
    assert set(found[COSINE]) == set(found[BOTH]) == {m["id"] for m in talk.messages}
    before = {name: ids for name, (ids, _) in plain.rankings("a loom of oak", 2).items()}
    assert before[WORDS] == ["D1:2", "push:0"]
    assert set(before[COSINE]) == {"push:0", "D1:2"}
    assert plain.rankings("xylophone", 4)[WORDS][0] == []


def test_ranks_are_fused():
    # 0: 1/61 + 1/62, 1: 1/62 + 1/61, 2: 1/63 + nothing, 3: nothing
    assert fused([[0, 1, 2], [1, 0]], 4) == [0, 1, 2, 3]
    assert fused([[2, 1], [1, 3]], 4) == [1, 2, 3, 0]


def test_a_question_within_a_conversation_is_asked_before_the_rest_is_inserted(talk):
    conditions = Conditions(embedder="wordllama")
    within, end = ask_all(talk, conditions)
    assert within.answers["default"].recall == {5: 1.0, 10: 1.0, 15: 1.0}
    assert within.answers[COSINE].recall[5] == 1.0
    assert (end.category, end.answers["default"].recall[5]) == ("multi-hop", 1.0)
    assert end.changed is None


def test_what_has_changed_is_looked_for_in_the_order_and_in_the_block(tmp_path):
    told = {
        "2025-01-01": ("D1:1", "I live in Bergen."),
        "2025-03-01": ("D2:1", "I live in Oslo now."),
    }
    sessions = [
        {"session": day, "time": f"{day}T09:00:00", "turns": [turn]}
        for day, turn in (
            (day, {"id": id, "speaker": "ann", "text": text}) for day, (id, text) in told.items()
        )
    ]
    asked = {"question": "Where does Ann live?", "category": 4} | {
        "evidence": ["D2:1"], "outdated": ["D1:1"]
    }  # fmt: skip
    for name, content in {
        "conversations/x": {"sessions": sessions},
        "qa/x.qa": {"qa": [asked]},
    }.items():
        path = tmp_path / f"{name}.json"
        path.parent.mkdir()
        path.write_text(json.dumps(content), "utf-8")
    (talk,) = talks(tmp_path)
    found = [item.changed for item in ask_all(talk, Conditions())]
    assert found == [
        Changed(newest_first=True, without_time_order=True, in_block=True, old_alone_in_block=False)
    ]


def answered(conversation: str, category: str, default: float, bm25: float) -> Asked:
    def answer(recall: float) -> Answer:
        return Answer(
            dict.fromkeys((5, 10, 15), recall), {15: float(recall > 0)} | {5: 0, 10: 0}, 2
        )

    answers = {"default": answer(default), WORDS: answer(bm25), COSINE: answer(0), BOTH: answer(0)}
    return Asked(conversation, category, answers, Changed(True, False, True, False))


def test_the_difference_is_to_the_best_plain_ranking():
    asked = [answered("a", "adversarial", 1.0, 0.5) for _ in range(3)]
    asked += [answered("b", "single-hop", 0.5, 0.25)]
    found: dict[str, Any] = report(asked)
    assert (found["questions"], found["best_plain"]) == (4, WORDS)
    assert found["recall"]["default"]["15"] == 0.875
    assert found["difference"] == {"mean": 0.4375, "interval": [0.4375, 0.4375]}
    assert found["no_adversarial"]["recall"]["default"]["15"] == 0.5
    assert found["by_category"]["adversarial"]["questions"] == 3
    assert found["newest_first"] == {
        "questions": 4, "share": 1.0, "without_time_order": 0.0, "in_block": 1.0,
        "old_alone_in_block": 0.0,
    }  # fmt: skip


def test_a_single_folder_is_a_kind_of_its_own(folder):
    (only,) = chosen_kinds(folder, None)
    assert (only.name, only.folder, only.learned) == (folder.name, ".", False)


def test_without_data_the_kinds_are_those_that_come_with_the_benchmarks(tmp_path):
    present = [kind.name for kind in chosen_kinds(tmp_path, None)]
    assert present == ["team", "Spanish", "Japanese"]
    assert [kind.name for kind in chosen_kinds(tmp_path, "Spanish,friends")] == ["Spanish"]


def test_results_are_kept_if_the_conditions_are_the_same(tmp_path):
    conditions, file = Conditions(), tmp_path / "kinds.json"
    file.write_text(json.dumps({"conditions": conditions.report(), "kinds": {"a": 1}}), "utf-8")
    assert measured(str(file), conditions) == {"a": 1}
    assert measured(str(file), Conditions(extractor="rules")) == {}
    assert measured(None, conditions) == {}
    assert np.isfinite(conditions.report()["machine"]["cores"])

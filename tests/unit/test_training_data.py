"""Recorded calls as training data, in the forms that LLaMA-Factory and verl read; questions."""

from __future__ import annotations

import json

import pytest

from cognigraph import ConfigurationError
from cognigraph.cli.app import main
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.testing import ScriptedModel
from cognigraph.training.export import read_calls
from cognigraph.training.questions import (
    MIX,
    kinds_of_session,
    make_questions,
    read_questions,
    write_questions,
)
from tests.unit.test_rules import window

# Which names LLaMA-Factory looks up in dataset_info.json (its data/README.md), and which roles must
# take turns in a conversation.
SHAREGPT_COLUMNS = {"messages", "system", "tools", "images", "videos", "audios", "chosen",
                    "rejected", "kto_tag"}  # fmt: skip
SHAREGPT_TAGS = {"role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag",
                 "function_tag", "system_tag"}  # fmt: skip

REPLIES = {
    "core": {"operation": "APPEND", "content": "Lives in Graz."},
    "episodic": {"operations": [{"action": "ADD", "title": "Move", "turns": "1",
                                 "memory": "2026: Ann moves to Graz."}]},
    "semantic": {"operations": [{"action": "ADD", "fact": "9 | Ann | lives in | Graz"}]},
    "procedural": {"operations": []},
}  # fmt: skip


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "calls.jsonl"
    model = ScriptedModel(lambda prompt: REPLIES[prompt.name])
    MemBuilderExtractor(model, record=path).extract(window(("Ann", "I moved to Graz.")))
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_calls_are_recorded_with_what_was_not_valid(recording):
    calls = list(read_calls(recording))
    assert [call.writer for call in calls] == ["core", "episodic", "semantic", "procedural"]
    assert [call.is_valid for call in calls] == [True, True, False, True]
    assert calls[2].refused == ("cites no turn of the session: semantic ADD",)
    assert calls[0].answer == REPLIES["core"]
    assert "I moved to Graz." in calls[0].user


def test_valid_calls_are_examples_for_llama_factory(recording, tmp_path, capsys):
    folder = tmp_path / "sft"
    assert main(["export-training", str(recording), str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"format": "sft", "examples": 3, "left_out": 1}
    info = json.loads((folder / "dataset_info.json").read_text("utf-8"))
    ((_, described),) = info.items()
    assert described["formatting"] == "sharegpt"
    assert set(described["columns"]) <= SHAREGPT_COLUMNS
    assert set(described["tags"]) <= SHAREGPT_TAGS
    tags = described["tags"]
    rows = lines(folder / described["file_name"])
    for row in rows:
        messages = row[described["columns"]["messages"]]
        assert [one[tags["role_tag"]] for one in messages] == [
            tags["system_tag"], tags["user_tag"], tags["assistant_tag"],
        ]  # fmt: skip
        assert all(one[tags["content_tag"]] for one in messages)
    assert json.loads(rows[0]["messages"][2]["content"]) == REPLIES["core"]
    assert main(["export-training", str(recording), str(folder)]) != 0  # nothing is overwritten


def test_all_calls_are_prompts_for_verl(recording, tmp_path):
    questions = tmp_path / "questions.jsonl"
    call = next(read_calls(recording))
    asked = [{"kind": "single", "question": "Where does Ann live?", "answer": "Graz"}]
    found, _, _ = make_questions(
        ScriptedModel([{"questions": asked}]), space=call.space, session=call.session, index=0,
        turns="[1] Ann: I moved to Graz.",
    )  # fmt: skip
    write_questions(found, questions)
    folder = tmp_path / "rl"
    assert main(["export-training", str(recording), str(folder), "--format", "rl",
                 "--questions", str(questions)]) == 0  # fmt: skip
    rows = lines(folder / "train.json")  # verl refuses names that end in .jsonl
    assert [row["ability"] for row in rows] == ["core", "episodic", "semantic", "procedural"]
    for index, row in enumerate(rows):
        assert set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
        assert [one["role"] for one in row["prompt"]] == ["system", "user"]
        assert row["reward_model"]["style"] == "rule"
        assert json.loads(row["reward_model"]["ground_truth"]) == [
            {"question": "Where does Ann live?", "answer": "Graz"}
        ]
        assert row["extra_info"]["index"] == index
    assert [path.name for path in folder.iterdir()] == ["train.json"]
    assert main(["export-training", str(recording), str(folder), "--format", "rl"]) != 0


def test_what_is_no_recording_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    with pytest.raises(ConfigurationError, match="cannot read"):
        list(read_calls(tmp_path / "missing.jsonl"))
    for content in ('{"writer": "core"}', "[" * 5000):
        path.write_text(content, "utf-8")
        with pytest.raises(ConfigurationError, match=r"line 1 of .* is not a call of a writer"):
            list(read_calls(path))
        with pytest.raises(ConfigurationError, match="not a file of questions"):
            read_questions(path)


def test_questions_have_the_mix_over_all_sessions():
    sessions = [kinds_of_session(index) for index in range(40)]
    assert all(sum(kinds.values()) == 5 and min(kinds.values()) >= 0 for kinds in sessions)
    for kind, share in MIX.items():
        assert sum(kinds[kind] for kinds in sessions) == round(200 * share)
    assert sessions[0] == {"single": 3, "multi": 1, "temporal": 1}
    assert sessions[1] == {"single": 2, "multi": 2, "temporal": 1}


def test_only_valid_questions_are_kept():
    raw = [
        {"kind": "Single", "question": "Where does Ann live?", "answer": "Graz"},
        {"kind": "single", "question": "where does ann live?", "answer": "Graz"},
        {"kind": "riddle", "question": "Why?", "answer": "So."},
        {"kind": "temporal", "question": "When did Ann move?", "answer": None},
        *({"kind": "multi", "question": f"Who is {n}?", "answer": "Ben"} for n in range(3)),
    ]
    found, refused, usage = make_questions(
        ScriptedModel([{"questions": raw}]), space="a", session="s", index=0, turns="[1] ..."
    )
    assert [(one.kind, one.question) for one in found] == [
        ("single", "Where does Ann live?"), ("multi", "Who is 0?"),
    ]  # fmt: skip
    assert refused == [
        "asked twice: where does ann live?", "kind is not defined: riddle",
        "lacks the question or the answer", "too many of kind multi", "too many of kind multi",
    ]  # fmt: skip
    assert usage.calls == 1

"""Recorded calls as training data, in the forms that LLaMA-Factory and verl read; questions."""

from __future__ import annotations

import json
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ConfigurationError, Memory
from cognigraph.cli.app import main
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.testing import ScriptedModel
from cognigraph.training.export import read_calls
from cognigraph.training.outputs import read_output
from cognigraph.training.questions import (
    MIX,
    append_questions,
    make_questions,
    read_questions,
)
from cognigraph.training.rewards import KINDS
from tests.servers.model_server import ModelServer, good
from tests.unit.test_membuilder import NAMED
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
        assert [message[tags["role_tag"]] for message in messages] == [
            tags["system_tag"], tags["user_tag"], tags["assistant_tag"],
        ]  # fmt: skip
        assert all(message[tags["content_tag"]] for message in messages)
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
    append_questions(found, questions)
    folder = tmp_path / "rl"
    assert main(["export-training", str(recording), str(folder), "--format", "rl",
                 "--questions", str(questions)]) == 0  # fmt: skip
    rows = lines(folder / "train.json")  # verl refuses names that end in .jsonl
    assert [row["ability"] for row in rows] == ["core", "episodic", "semantic", "procedural"]
    for index, row in enumerate(rows):
        assert set(row) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
        assert [item["role"] for item in row["prompt"]] == ["system", "user"]
        assert row["reward_model"]["style"] == "rule"
        assert json.loads(row["reward_model"]["ground_truth"]) == [
            {"question": "Where does Ann live?", "answer": "Graz"}
        ]
        assert row["extra_info"]["index"] == index
        assert (row["extra_info"]["turns"], row["extra_info"]["window"]) == (1, call.window)
        memory = json.loads(row["extra_info"]["memory"])
        assert memory["core"] == {"before": "", "expert": REPLIES["core"]}
        assert memory["episodic"] == {"before": {}, "expert": REPLIES["episodic"]}
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
    counts = Counter()
    for kinds in MIX:
        assert sum(kinds.values()) == 5
        counts.update(kinds)
    assert counts == {"single": 5, "multi": 3, "temporal": 2}


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
    assert [(item.kind, item.question) for item in found] == [
        ("single", "Where does Ann live?"), ("multi", "Who is 0?"),
    ]  # fmt: skip
    assert refused == [
        "asked twice: where does ann live?", "kind is not defined: riddle",
        "lacks the question or the answer", "too many of kind multi", "too many of kind multi",
    ]  # fmt: skip
    assert usage.calls == 1


def test_parquet_has_the_same_rows(recording, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra training")
    for name, options in (("json", ()), ("parquet", ("--parquet",))):
        assert main(["export-training", str(recording), str(tmp_path / name), "--format", "rl",
                     *options]) == 0  # fmt: skip
    rows = parquet.read_table(tmp_path / "parquet" / "train.parquet").to_pylist()
    assert rows == lines(tmp_path / "json" / "train.json")


def test_without_pyarrow_the_extra_is_named(recording, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    folder = tmp_path / "rl"
    assert main(["export-training", str(recording), str(folder), "--format", "rl",
                 "--parquet"]) == 2  # fmt: skip
    assert "pip install 'cognigraph-memory[training]'" in capsys.readouterr().err
    assert main(["export-training", str(recording), str(folder), "--parquet"]) == 2


@pytest.mark.slow
def test_questions_are_made_for_stored_sessions_and_continued(tmp_path, monkeypatch, capsys):
    database, file = tmp_path / "m.db", tmp_path / "questions.jsonl"
    with Memory(database, enrich="manual") as memory:
        memory.add("I moved to Graz.", session="one", speaker="Ann", at="2026-05-01T09:00Z")
        memory.add(
            "My flat in Graz has a balcony.", session="two", speaker="Ann", at="2026-05-09T09:00Z"
        )
        memory.flush()
    asked: list[str] = []

    def reply(exchange):
        asked.append(exchange.messages[1]["content"])
        kinds = ["single"] * 3 + ["multi", "temporal"]
        good({"questions": [
            {"kind": kind, "question": f"Question {len(asked)}.{n}?", "answer": "Graz"}
            for n, kind in enumerate(kinds)]})(exchange)  # fmt: skip

    with ModelServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("COGNIGRAPH_MODEL", "asker")
        arguments = ["training-questions", str(file), "--db", str(database)]
        assert main([*arguments, "--session", "one"]) == 0
        assert main([*arguments, "--session", "none"]) == 2
        assert main([*arguments, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert main(arguments) == 0 and server.calls == 2  # all sessions have their questions
    # The second session of a space has two of the first kind, two of the second, one of the third.
    assert told == {"sessions": 1, "questions": 4, "left_out": ["too many of kind single"]}
    questions = read_questions(file)
    assert {session: len(own) for (_, session), own in questions.items()} == {"one": 5, "two": 4}
    assert "I moved to Graz." not in asked[0].split("</known>")[0]
    known, new = asked[1].split("</known>")
    assert "I moved to Graz." in known and "balcony" not in known and "balcony" in new


KNOWN = {"E1": "2026: Ann moves.", "F1": "Ann likes tea", "P1": "Bread: 1. knead"}
ANSWERS = st.lists(NAMED, max_size=4).map(lambda given: json.dumps({"operations": given}))
CORE_ANSWERS = st.fixed_dictionaries(
    {"operation": st.sampled_from(["APPEND", "REPLACE", "REWRITE", "NONE", "DROP"])},
    optional={"content": st.text(max_size=9), "old": st.sampled_from(["tea", "", "Likes"])},
).map(json.dumps)


@pytest.mark.slow
@given(st.sampled_from(KINDS), st.text(max_size=40) | ANSWERS | CORE_ANSWERS, st.integers(0, 3))
def test_any_output_is_read_and_an_invalid_one_adds_nothing(kind, text, turns):
    before = "Likes tea." if kind == "core" else KNOWN
    kept = ("Likes tea.",) if kind == "core" else tuple(KNOWN.values())
    found = read_output(text, kind, before, turns)
    assert (
        read_output(f"<think>{text}</think> {text}", kind, before, turns)
        == read_output(text, kind, before, turns)
        or "</think>" in text
    )
    if not found.valid:
        assert (found.entries, found.new, found.stored) == (kept, (), 0)
    elif kind != "core":
        assert found.entries == (*kept, *found.new)  # nothing is overwritten

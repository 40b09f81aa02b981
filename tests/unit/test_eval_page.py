"""The page: every text escaped; the prompts; what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.evaluate import page
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from cognigraph.evaluate.qa import PROMPTS, judge_of, prompt, prompt_texts
from cognigraph.evaluate.report import write
from cognigraph.llm.prompts import render
from tests.cases import each

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    samples = json.loads((DATA / "locomo-small.json").read_text("utf-8"))
    samples[0]["conversation"]["session_1"][1]["text"] += (
        " <script>alert('$x')</script> \u202e&amp;"
    )
    samples[0]["qa"][1]["question"] += " <b>$title</b>"
    file = tmp_path_factory.mktemp("page") / "locomo<10>.json"
    file.write_text(json.dumps(samples), "utf-8")
    evaluation = Evaluation(file, EvalSettings(benchmark="locomo", cutoffs=(1,), extractor="none"))
    evaluation.run()
    return write(evaluation)


@pytest.mark.slow
def test_texts_are_shown_and_are_no_markup(finished):
    text = finished.page.read_text("utf-8")
    assert "# LoCoMo: locomo&lt;10&gt;.json" in text
    assert "with the cello? &lt;b&gt;$title&lt;/b&gt;" in text
    assert "&lt;script&gt;alert('$x')&lt;/script&gt; &amp;amp;" in text
    assert "\u202e" not in text
    assert f"SHA-256 {finished.result['sha256']}" in text


@given(st.text())
def test_no_text_leaves_its_cell(text):
    (_, _, row) = page._table(["a"], [[page._text(text)]])
    assert row.replace("\\|", "").count("|") == 2
    assert "<" not in row and len(row.splitlines()) == 1


@pytest.mark.slow
def test_nothing_missed_says_so(tmp_path):
    file = tmp_path / "locomo10.json"
    samples = json.loads((DATA / "locomo-small.json").read_text("utf-8"))[1:]
    file.write_text(json.dumps(samples), "utf-8")
    evaluation = Evaluation(file, EvalSettings(benchmark="locomo", extractor="none"))
    evaluation.run()
    report = write(evaluation)
    assert report.result["failures"] == 0
    assert "all evidence of all questions was found" in report.page.read_text("utf-8")


@each("id", PROMPTS)
def test_every_prompt_can_be_filled_in(id):
    file = prompt(id)
    inputs = {name: f"<{name} {{{{x}}}}>" for name in file.inputs}
    filled = render(file, "user", **inputs)
    for value in inputs.values():
        assert value in filled.user
    assert file.id == id
    assert "{{" not in filled.system
    assert prompt_texts()[id].startswith("---\nname: ")


def test_each_question_has_its_judge():
    from cognigraph.evaluate.formats import load

    judges = {
        question.id: judge_of(question)
        for name in ("locomo", "longmemeval")
        for conversation in load(name, DATA / f"{name}-small.json")
        for question in conversation.questions
    }
    assert judges["talk-1/q3"] == "judge-1"
    assert judges["talk-1/q5"] == "judge-unanswerable-1"
    assert judges["q1"] == "judge-1"
    assert judges["q2"] == "judge-temporal-1"
    assert judges["q4_abs"] == "judge-unanswerable-1"

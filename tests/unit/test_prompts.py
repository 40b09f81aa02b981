"""Prompt files: headers, rendering, and protection against text that imitates tags."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given

from cognigraph import ConfigurationError
from cognigraph.ingest.model import answer_schema
from cognigraph.ingest.model.parse_lines import FactLine, entity_line, fact_line
from cognigraph.ingest.model.transcript import WindowName
from cognigraph.llm import Prompt
from cognigraph.llm.prompts import prompt_file, read, render
from cognigraph.text.marks import TAGS, one_line
from tests.cases import each
from tests.property.alphabets import ANY_TEXT

EXTRACT, SUMMARISE = prompt_file("extract-5"), prompt_file("summarise-4")
PARTS = [(file, part) for file in (EXTRACT, SUMMARISE) for part in file.parts if part != "system"]


@each(("file", "part"), PARTS)
def test_each_renders(file, part):
    inputs = {
        name: f"<{name} goes here {{{{turns}}}} {{0}} %s $x \\1>" for name in file.inputs_of(part)
    }
    prompt = render(file, part, **inputs)
    assert (prompt.name, prompt.version) == (file.name, str(file.version))
    assert all(text in prompt.user for text in inputs.values())
    for name in inputs.keys() - {"before"}:  # that is the part of this name
        assert prompt.user.count(f"<{name}>\n") == prompt.user.count(f"\n</{name}>") == 1
    assert "{{" not in prompt.system


def test_each_names_the_schema_of_its_answer():
    assert (EXTRACT.schema, SUMMARISE.schema) == ("ReadAnswer", "SummaryAnswer")
    assert hasattr(answer_schema, EXTRACT.schema) and hasattr(answer_schema, SUMMARISE.schema)


def example(file):
    """The answer that the prompt shows, by its own schema."""
    (line,) = [line for line in file.parts["system"].splitlines() if line.startswith("{")]
    return getattr(answer_schema, file.schema).model_validate_json(line)


def test_the_example_in_each_prompt_fits_its_schema():
    read_ = example(EXTRACT)
    assert [entity_line(line) for line in read_.entities] == [
        WindowName("Vera", "person", ("my aunt", "Vee"))
    ]
    assert [fact_line(line) for line in read_.facts] == [
        FactLine((2,), "Vera", "moves to", "Turin", "last Friday", "2031-03-07"),
        FactLine((2, 3), "Vera", "not eats", "fish", source="Olle", replaces=True),
    ]
    assert read_.summary is not None
    assert (read_.summary.keys, read_.summary.themes[0].turns) == (["flat in Turin"], "2-4, 9")
    summary = example(SUMMARISE)
    assert (summary.keys, summary.themes[0].n) == (["flat in Turin", "fish allergy"], 2)


def test_missing_and_unused_inputs_are_errors():
    with pytest.raises(
        ConfigurationError, match=r"extract-5.*missing inputs \['before', 'keys', 'turns'\]"
    ):
        render(EXTRACT, "refine", themes="-")
    with pytest.raises(ConfigurationError, match=r"unused inputs \['keys'\]"):
        render(SUMMARISE, "create", turns="-", keys="-")


PACKAGES = [
    "cognigraph.evaluate.prompts",
    "cognigraph.ingest.membuilder.prompts",
    "cognigraph.ingest.model.prompts",
    "cognigraph.loop.prompts",
    "cognigraph.retrieve.question.prompts",
    "cognigraph.training.prompts",
]


@each("package", PACKAGES)
def test_every_file_declares_what_it_uses(package):
    ids = [path.name.removesuffix(".md") for path in files(package).iterdir()]
    found = [id for id in ids if not id.startswith("__")]
    assert found
    for id in found:
        file = prompt_file(id, package)
        assert file.id == id
        assert set(file.inputs) == frozenset().union(*map(file.inputs_of, file.parts))
        assert "system" in file.parts and len(file.parts) > 1 and file.schema


def test_a_file_as_it_should_be():
    header = "---\nname: a\nversion: 1\ninputs: x\nschema: S\n---\n"
    file = read(header + "## system\nHello.\n## user\nSay {{x}} and {{x}}.\n")
    assert (file.id, file.inputs) == ("a-1", ("x",))
    assert render(file, x="{{x}}") == Prompt("a", "1", "Hello.", "Say {{x}} and {{x}}.")


@given(ANY_TEXT)
def test_no_text_opens_or_closes_a_part(text):
    lines = one_line(text + "</turns>" + text + "< / CONTEXT>" + text)
    assert "\n" not in lines and len(lines.splitlines()) <= 1
    before = render(EXTRACT, "before", known=lines, context=lines).user
    user = render(EXTRACT, "refine", before=before, keys=lines, themes=lines, turns=lines).user
    for tag in TAGS:
        expected = 1 if tag in EXTRACT.inputs else 0
        assert user.count(f"<{tag}>") == user.count(f"</{tag}>") == expected

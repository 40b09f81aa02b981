"""The recipes of the docs run, each if its framework is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.pages import ROOT, matches, run, steps

pytestmark = pytest.mark.slow

NEEDS = {
    "langgraph": "langgraph", "openai-agents": "agents", "langchain": "langchain_core",
    "mem0": "cognigraph", "llamaindex": "llama_index", "autogen": "autogen_core",
    "pydantic-ai": "pydantic_ai", "crewai": "crewai", "google-adk": "google.adk",
}  # fmt: skip
FOLDER = ROOT / "docs" / "integrations"


def is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of its parent
        return False


def test_every_page_with_a_program_is_tried() -> None:
    pages = {path.stem for path in FOLDER.glob("*.md") if [*steps(path.read_text("utf-8"))]}
    assert pages == NEEDS.keys()


@pytest.mark.usefixtures("event_loop")
@pytest.mark.parametrize("name", NEEDS)
def test_a_recipe_prints_what_it_says(name: str, tmp_path: Path) -> None:
    if not is_installed(NEEDS[name]):
        pytest.skip(f"{NEEDS[name]} is not installed")
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    assert [*steps(text)]
    for step, printed in run(text, tmp_path):
        assert matches(step.expected, printed), f"line {step.line}, printed:\n{printed}"

"""Paths and names that the pages refer to exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.draw.diagrams import MESSAGE, QUESTION

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]

_PATH = re.compile(r"`([\w.*-]+/[\w./*-]*|\w+\.py)`")
_ROW = re.compile(
    r"^\| (?P<what>[^|`]+) \| (?P<file>[^|]*`[^|]+) \| (?P<names>[^|]*)\|$", re.MULTILINE
)
_CODE = ("cognigraph", "ingest", "retrieve", "cypher")
_ABOUT_THE_CODE = ("CONTRIBUTING.md", "docs/architecture.md", "docs/ranking.md")


def found(path: str) -> list[Path]:
    """What a path on a page names, below the repository or the package; a bare name, anywhere."""
    path = path.rstrip("/")
    below = [*ROOT.glob(path), *(ROOT / "cognigraph").glob(path)]
    if "/" not in path:
        below += [one for folder in _CODE for one in (ROOT / folder).rglob(path)]
    return below


def rows() -> dict[str, tuple[list[str], list[str]]]:
    """Return the rows of the table "Where to find", each with its files and names."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text.split("## Where to find\n")[1].split("\n## ")[0]
    return {
        row["what"]: (_PATH.findall(row["file"]), re.findall(r"`(\w+)`", row["names"]))
        for row in _ROW.finditer(table)
    }


@pytest.mark.parametrize("name", _ABOUT_THE_CODE)
def test_every_path_on_a_page_about_the_code_exists(name: str) -> None:
    paths = set(_PATH.findall((ROOT / name).read_text("utf-8"))) - {"cognigraph/stores/NAME/"}
    assert len(paths) >= 3
    assert [path for path in sorted(paths) if not found(path)] == []


@pytest.mark.parametrize("what", rows())
def test_what_is_looked_for_is_in_the_file_that_is_named(what: str) -> None:
    files, names = rows()[what]
    assert files
    text = "".join((ROOT / file).read_text("utf-8") for file in files)
    for name in names:
        assert re.search(rf"^(?:def |class )?{name}\b", text, re.MULTILINE), name


@pytest.mark.parametrize(
    "question",
    ["relation's name is normalised", "BM25", "lease is taken over", "token budget is held"],
)
def test_the_table_answers_the_questions_of_a_newcomer(question: str) -> None:
    assert [what for what in rows() if question in what] != []


def test_the_way_to_a_new_store_names_every_role_and_the_registry() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = text.split("## Add a store\n")[1].split("\n## ")[0]
    modules = (ROOT / "cognigraph/stores/protocols").glob("*.py")
    protocols = "\n".join(module.read_text("utf-8") for module in modules)
    roles = re.findall(r"^class (\w+)\(Protocol\)", protocols, re.MULTILINE)
    assert len(roles) == 8
    for name in (*roles, "open_store", "StoreRequest", "STORES", "tests/contract/"):
        assert f"`{name}" in steps, name


def test_the_diagrams_name_modules_that_exist() -> None:
    modules = [path for stage in (*MESSAGE, *QUESTION) for path in stage.module.split(", ") if path]
    assert len(modules) >= 15
    assert [path for path in modules if not found(path)] == []

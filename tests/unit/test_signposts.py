"""Paths that the pages about the code name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.draw.diagrams import MESSAGE, QUESTION
from tests.cases import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]

_PATH = re.compile(r"`([\w.*-]+/[\w./*-]*|\w+\.py)`")
_CODE = ("cognigraph", "ingest", "retrieve", "cypher")
_ABOUT_THE_CODE = ("CONTRIBUTING.md", "docs/architecture.md")


def below_the_code(path: str) -> list[Path]:
    """What a path on a page names, below the repository or the package; a bare name, anywhere."""
    path = path.rstrip("/")
    below = [*ROOT.glob(path), *(ROOT / "cognigraph").glob(path)]
    if "/" not in path:
        below += [match for folder in _CODE for match in (ROOT / folder).rglob(path)]
    return below


@pytest.mark.parametrize("name", _ABOUT_THE_CODE)
def test_every_path_on_a_page_about_the_code_exists(name: str) -> None:
    paths = set(_PATH.findall((ROOT / name).read_text("utf-8"))) - {"cognigraph/stores/NAME/"}
    assert len(paths) >= 3
    assert [path for path in sorted(paths) if not below_the_code(path)] == []


@each("page", PAGES)
def test_every_path_into_the_repository_exists(page: Path) -> None:
    folders = ("bench/", "cognigraph/", "cypher/", "docker/", "ingest/", "retrieve/", "tests/")
    paths = {path for path in _PATH.findall(page.read_text("utf-8")) if path.startswith(folders)}
    assert [path for path in sorted(paths) if not below_the_code(path)] == []


def test_the_diagrams_name_modules_that_exist() -> None:
    modules = [path for stage in (*MESSAGE, *QUESTION) for path in stage.module.split(", ") if path]
    assert len(modules) >= 15
    assert [path for path in modules if not below_the_code(path)] == []

"""The package as others see it: names, imports, layout."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import cognigraph
from tests.unit.test_architecture import import_statements

ROOT = Path(__file__).parents[2]
MAPPED = ("cypher", "ingest", "retrieve")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def python(code: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60,
        check=False, **options,
    )  # fmt: skip


def test_all_is_sorted_and_exactly_what_is_importable():
    assert cognigraph.__all__ == sorted(cognigraph.__all__)
    assert len(cognigraph.__all__) == len(set(cognigraph.__all__))
    assert set(cognigraph.__all__) <= set(dir(cognigraph))
    for name in cognigraph.__all__:
        assert getattr(cognigraph, name) is not None
    with pytest.raises(AttributeError, match="module 'cognigraph' has no attribute 'Memmory'"):
        cognigraph.Memmory  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported_when_they_are_used():
    """They read the imports below ``TYPE_CHECKING``; a program gets a name from its module."""
    tree = ast.parse(Path(cognigraph.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and _is_for_types(node))
    shown = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert shown.keys() | {"__version__"} == set(cognigraph.__all__)
    for name, module in shown.items():
        assert getattr(cognigraph, name) is getattr(import_module(str(module)), name)


def _is_for_types(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_everything_public_says_what_it_is():
    for name in cognigraph.__all__:
        value = getattr(cognigraph, name)
        if inspect.isclass(value):
            assert value.__doc__ and not value.__doc__.startswith(f"{name}("), name


def test_every_error_is_public_and_a_cognigraph_error():
    from cognigraph import errors

    raised = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert raised <= set(cognigraph.__all__)
    assert all(issubclass(getattr(errors, name), cognigraph.CogniGraphError) for name in raised)
    for name in raised:
        assert name in (errors.__doc__ or ""), f"{name} is not in the tree of errors.py"


CALLED_OTHERWISE = {
    "prometheus_client": "prometheus-client",
    "agents": "openai-agents",
    "autogen_core": "autogen-core",
    "google": "google-adk",
    "huggingface_hub": "huggingface-hub",
    "langchain_core": "langchain-core",
    "langgraph": "langgraph-checkpoint",
    "llama_index": "llama-index-core",
    "mcp_types": "mcp-types",
    "pydantic_ai": "pydantic-ai-slim",
    "sentence_transformers": "sentence-transformers",
}
"""Packages whose modules have another name."""
EXTRAS_OF = {"listening.py": ("server", "mcp"), "server": ("server",), "mcp_server": ("mcp",)}
"""The extras with each of which alone a module or package of ``cognigraph`` works."""


def imported_packages(path: Path) -> set[str]:
    """The packages of others that a file imports."""
    found = set[str]()
    for node in import_statements(path.read_text("utf-8")):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif node.module and not node.level:
            found.add(node.module.partition(".")[0])
    theirs = found - sys.stdlib_module_names - {"cognigraph"}
    return {CALLED_OTHERWISE.get(name, name) for name in theirs}


@pytest.mark.slow
def test_every_package_that_is_imported_is_declared():
    declared = project()["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[<>=\[;]", requirement)[0].strip() for requirement in requirements}

    always = names(declared["dependencies"])
    extras = {name: names(all) for name, all in declared["optional-dependencies"].items()}
    for path in (
        item for folder in ("cognigraph", *MAPPED) for item in (ROOT / folder).rglob("*.py")
    ):
        own = EXTRAS_OF.get(path.relative_to(ROOT).parts[1])
        for offered in [extras[name] for name in own] if own else [set().union(*extras.values())]:
            assert imported_packages(path) <= always | offered, path


IMPORT = """
import json, os, socket, sqlite3, sys, threading
import numpy, snowballstemmer, asyncio, zoneinfo, logging, concurrent.futures  # not ours
read = []
class Spy(dict):
    def __getitem__(self, key): read.append(key); return dict.__getitem__(self, key)
    def get(self, key, default=None): read.append(key); return dict.get(self, key, default)
os.environ = Spy(os.environ)
os.getenv = os.environ.get
def refuse(*a, **k): raise AssertionError("work at import")
socket.socket.connect = sqlite3.connect = threading.Thread.start = refuse
import cognigraph
from tests.unit.test_architecture import import_statements
names = {}
exec("from cognigraph import *", names)
variables = [key for key in read if "COGNI" in key.upper() or "NEO4J" in key.upper()]
import cognigraph.llm, cognigraph.testing
print(json.dumps([sorted(names), variables, sorted(sys.modules)]))
"""
"""Imports the library in a process where it can neither connect nor start a thread."""


@pytest.fixture(scope="module")
def imported() -> tuple[list[str], list[str], list[str]]:
    """The names of a star import, the variables that were read, and all modules."""
    done = python(IMPORT)
    assert done.returncode == 0, done.stderr
    names, variables, modules = json.loads(done.stdout)
    return names, variables, modules


@pytest.mark.slow
def test_star_import_leaks_nothing(imported):
    names = [name for name in imported[0] if not name.startswith("_")]
    assert names == sorted(name for name in cognigraph.__all__ if not name.startswith("_"))


@pytest.mark.slow
def test_import_does_no_work(imported):
    heavy = {
        "wordllama", "neo4j", "onnxruntime", "fastembed", "tokenizers", "rich", "torch", "openai",
        "pydantic", "httpx",
    }  # fmt: skip
    assert heavy & set(imported[2]) == set()


@pytest.mark.slow
def test_the_environment_is_not_read_at_import(imported):
    assert imported[1] == []


def test_every_package_on_disk_is_listed():
    """Folders of data too: Python could import them, and a build warns of each that is missing."""
    tools = project()["tool"]["setuptools"]
    on_disk = set()
    files = [file for name in ("cognigraph", *MAPPED) for file in (ROOT / name).rglob("*.*")]
    for file in files:
        folder = file.parent.relative_to(ROOT).parts
        if "__pycache__" not in folder and file.is_file():
            folder = folder if folder[0] == "cognigraph" else ("cognigraph", *folder)
            on_disk.add(".".join(folder))
    assert on_disk == set(tools["packages"])
    assert tools["package-dir"] == {f"cognigraph.{name}": name for name in MAPPED}


def test_every_data_file_is_shipped():
    tools = project()["tool"]["setuptools"]
    data = tools["package-data"]
    migrations = list((ROOT / "cognigraph/stores/sqlite").glob("migrations/*.sql"))
    assert migrations
    shipped = {
        path
        for package in tools["packages"]
        for pattern in (*data["*"], *data.get(package, ()))
        for path in _folder(package).glob(pattern)
    }
    files = {
        path
        for folder in ("cognigraph", *MAPPED)
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and not _mapped(path)
    }
    assert files <= shipped


def _folder(package: str) -> Path:
    parts = package.split(".")
    return ROOT.joinpath(*(parts[1:] if parts[1:2] and parts[1] in MAPPED else parts))


def _mapped(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return parts[0] == "cognigraph" and parts[1] in MAPPED


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapped_package_refuses_to_be_imported_by_its_folder_name(name):
    done = python(f"import {name}", cwd=ROOT)
    assert done.returncode == 1
    assert "ImportError" in done.stderr and f"cognigraph.{name}" in done.stderr
    link = ROOT / "cognigraph" / name
    assert link.is_symlink() and str(link.readlink()) == f"../{name}"


def _sources() -> list[Path]:
    return [
        path
        for folder in ("cognigraph", *MAPPED)
        for path in (ROOT / folder).rglob("*.py")
        if not _mapped(path)
    ]


def test_modules_are_named_for_the_thing():
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "tools", "lib"}
    for folder in (*(ROOT / name for name in ("cognigraph", *MAPPED, "bench", "tests")),):
        named = {path for path in folder.rglob("*.py") if path.stem.strip("_") in vague}
        assert named == set()


@pytest.mark.slow
def test_only_absolute_imports_and_no_path_hacks():
    for path in _sources():
        text = path.read_text("utf-8")
        # The command of a hook starts without the folders of installed packages.
        assert "sys.path" not in text or path.match("hooks/settings.py"), path
        for line in text.splitlines():
            assert not line.lstrip().startswith("from ."), f"{path}: {line}"


def test_the_version_is_one():
    assert cognigraph.__version__.count(".") == 2
    assert project()["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "cognigraph._version.__version__"
    }


def test_typed():
    assert (ROOT / "cognigraph" / "py.typed").exists()

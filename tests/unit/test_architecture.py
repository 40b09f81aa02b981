"""Packages import in one direction, and only public names of each other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from tests.cases import each

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "cognigraph": "cognigraph",
    "cognigraph.cypher": "cypher",
    "cognigraph.ingest": "ingest",
    "cognigraph.retrieve": "retrieve",
}
LAYERS: list[set[str]] = [
    {
        "_version",
        "arrays",
        "deferred",
        "english",
        "errors",
        "forks",
        "ids",
        "times",
        "tracing",
        "usage",
    },
    {"model", "new_file"},
    {"importers", "plain_data", "text"},
    {"settings", "validation"},
    {"resolution", "states"},
    {"cypher", "llm"},
    {"embed"},
    {"stores"},
    {"ingest", "retrieve"},
    {"loop"},
    {"testing"},
    {"engine"},
    {"operations"},
    {"space"},
    {"declared", "memory"},
    {"aio"},
    {"cognigraph"},
    {"listening"},
    {"evaluate", "integrations", "training", "mcp_server", "server"},
    {"hooks"},
    {"cli"},
    {"__main__"},
]
"""Each package or module of ``cognigraph`` imports from its own layer or from those before it."""
ROOMS: dict[str, list[set[str]]] = {
    "english": [{"words"}, {"verbs"}, {"sentences"}, {"times"}],
    "stores": [
        {"batch_size", "candidates", "records", "reindex", "start_blocks", "state_rows"},
        {"model_rows", "readings"},
        {"protocols"},
        {"divided", "forgetting"},
        {"registry"},
        {"neo4j", "sqlite"},
    ],
    "ingest": [
        {"extraction"},
        {"rules"},
        {"model"},
        {"stated"},
        {"membuilder", "pieces"},
        {"derive", "extractors", "reindex"},
        {"queue"},
    ],
    "operations": [
        {"adding", "facts", "tenant"},
        {"forgetting", "queries", "queue", "review"},
        {"asking", "copying", "overview"},
        {"files"},
    ],
    "cypher": [{"catalog", "deadline", "guard"}, {"local", "run_on_neo4j"}],
}
"""Inside a package: sub-packages and modules, in the order in which they may import."""
APART = [("stores.neo4j", "stores.sqlite"), ("ingest", "retrieve")]
"""Neighbours of one layer that do not know each other."""


class Import(NamedTuple):
    """One imported name: ``importer`` and ``source`` are modules without ``cognigraph.``."""

    importer: str
    source: str
    name: str


def modules() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for package, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*.py"):
            if not any(parent.is_symlink() for parent in path.parents):
                parts = path.relative_to(ROOT / folder).with_suffix("").parts
                found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def short(module: str) -> str:
    return module.removeprefix("cognigraph.")


LONG_TEXT = re.compile(r'""".*?"""', re.DOTALL)
IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t][^(\n]*(?:\([^)]*\)|\n)", re.MULTILINE)


def import_statements(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a module, without parsing all of it, which takes twenty times as long."""
    for statement in IMPORT.findall(LONG_TEXT.sub('""', source)):
        (node,) = ast.parse(dedent(statement)).body
        assert isinstance(node, ast.Import | ast.ImportFrom), statement
        yield node


@cache
def all_imports() -> list[Import]:
    return sorted(set(imports()))


def imports() -> Iterator[Import]:
    for module, path in MODULES.items():
        for node in import_statements(path.read_text("utf-8")):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: relative import"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cognigraph"):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    source = whole if whole in MODULES else str(node.module)
                    yield Import(short(module), short(source), alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("cognigraph"):
                        yield Import(short(module), short(alias.name), "")


def layer_of(layers: list[set[str]], name: str) -> int:
    found = [index for index, names in enumerate(layers) if name in names]
    assert len(found) == 1, f"{name!r} is in {len(found)} layers; give it one in LAYERS or ROOMS"
    return found[0]


@pytest.mark.slow
def test_every_module_of_the_project_is_read() -> None:
    assert {"cognigraph", "cognigraph.stores.sqlite.store", "cognigraph.ingest.derive"} <= set(
        MODULES
    )
    assert len(MODULES) > 200
    assert len(all_imports()) > 1000


def test_packages_import_in_one_direction() -> None:
    wrong = [
        item
        for item in all_imports()
        if layer_of(LAYERS, item.importer.split(".")[0])
        < layer_of(LAYERS, item.source.split(".")[0])
    ]
    assert wrong == []


@each("package", ROOMS)
def test_rooms_of_a_package_import_in_one_direction(package: str) -> None:
    rooms, wrong = ROOMS[package], []
    for item in all_imports():
        importer, source = item.importer.split("."), item.source.split(".")
        inside = importer[0] == source[0] == package and len(importer) > 1 and len(source) > 1
        if inside and layer_of(rooms, importer[1]) < layer_of(rooms, source[1]):
            wrong.append(item)
    assert wrong == []


@pytest.mark.parametrize(("one", "other"), APART)
def test_neighbours_do_not_know_each_other(one: str, other: str) -> None:
    def inside(module: str, package: str) -> bool:
        return module == package or module.startswith(package + ".")

    pairs = [(found.importer, found.source) for found in all_imports()]
    assert [p for p in pairs if inside(p[0], one) and inside(p[1], other)] == []
    assert [p for p in pairs if inside(p[0], other) and inside(p[1], one)] == []


def test_no_two_modules_import_each_other() -> None:
    """No cycle of files, however long; packages' ``__init__`` included."""
    graph: dict[str, set[str]] = {}
    for one in all_imports():
        if one.importer != one.source:
            graph.setdefault(one.importer, set()).add(one.source)
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for source in sorted(graph.get(module, ())):
                visit(source, (*path, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_private_names_stay_in_their_package() -> None:
    private = [
        item
        for item in all_imports()
        if item.name.startswith("_")
        and item.name != "__version__"
        and item.importer.rpartition(".")[0] != item.source.rpartition(".")[0]
    ]
    assert private == []

"""The pages show what their code prints, and their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import pytest

import cognigraph
from bench import figures
from cognigraph.cli.parser import build_parser
from docs import draw
from tests.cases import each
from tests.pages import MODEL, NEO4J, ROOT, endpoint, matches, run, steps
from tests.servers.neo4j_server import LINES, Server

PAGES = {
    str(page.relative_to(ROOT)): page.read_text("utf-8")
    for page in [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
}

LINKED = [ROOT / name for name in PAGES] + sorted(ROOT.glob("docs/integrations/*.md"))

NOT_RUN = {
    "claude": "is the client; the server that it starts has tests of its own",
    "curl": "needs the server of the page; a test of the wheel runs it",
    "export": "sets a variable for the commands that follow",
    "docker": "needs a Docker daemon; docker/compose.yaml has tests of its own",
    "helm": "needs a cluster; the chart has tests of its own",
    "pip": "needs the network",
    "make": "starts whole test runs or builds; the targets are checked to exist",
    "python": "benchmarks need data sets that are not in this repository, or take minutes",
    "cognigraph": "reads a file or needs a server of yours; the arguments are checked",
}
"""First words of commands in ``sh`` blocks, which are not run, and why."""


def compare(text: str, folder: Path, services: Mapping[str, str] | None = None) -> None:
    """Run a page and compare all it prints."""
    for step, printed in run(text, folder, services):
        assert matches(step.expected, printed), (
            f"line {step.line}: {step.code}\nprinted:\n{printed}"
        )


ALONE = [name for name, text in PAGES.items() if name not in (NEO4J, MODEL) and [*steps(text)]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_blocks_print_what_the_page_says(name: str, tmp_path: Path) -> None:
    compare(PAGES[name], tmp_path)


ADAPTERS = ("langchain", "mem0", "openai-agents")
"""Pages on integrations that need no package that the tests do not have."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ADAPTERS)
def test_programs_of_integrations_print_what_the_page_says(name: str, tmp_path: Path) -> None:
    compare((ROOT / "docs" / "integrations" / f"{name}.md").read_text("utf-8"), tmp_path)


def test_there_are_blocks_to_run() -> None:
    kinds = [step.kind for text in PAGES.values() for step in steps(text)]
    assert {"python", "console"} <= set(kinds)


def test_other_output_is_noticed(tmp_path: Path) -> None:
    page = "```python\nprint('one')\nprint('two')\n```\n\n```text\none\n{}\n```\n"
    compare(page.format("t..."), tmp_path)
    with pytest.raises(AssertionError, match="line 1"):
        compare(page.format("three"), tmp_path)
    with pytest.raises(AssertionError, match="printed"):
        compare("```python\nprint('more than nothing')\n```\n", tmp_path)
    with pytest.raises(AssertionError, match="line 2"):
        compare("```console\n$ cognigraph stats --db none.db\nnothing\n```\n", tmp_path)


@pytest.mark.slow
def test_the_page_on_models_talks_to_an_endpoint(tmp_path: Path) -> None:
    with endpoint() as there:
        compare(PAGES[MODEL], tmp_path, there)


@pytest.mark.neo4j
@pytest.mark.parametrize("neo4j_server", LINES, indirect=True, ids="neo4j-{}".format)
def test_the_page_on_neo4j_talks_to_a_server(
    neo4j_server: Server, tmp_path: Path, space_name: str
) -> None:
    """Enrichment is manual, so that it does not process what other tests queued on the server."""
    there = {
        "neo4j://localhost:7687": neo4j_server.uri,
        'auth=("neo4j", "cognigraph")': f'auth={neo4j_server.auth!r}, enrich="manual"',
        '"docs"': f'"{space_name}"',
    }
    compare(PAGES[NEO4J], tmp_path, there)


def shell_commands() -> Iterator[str]:
    """Commands in ``sh`` blocks, with continued lines joined and comments left out."""
    for text in PAGES.values():
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith("#"):
                    yield line.split("  #")[0].strip()


def test_every_reason_is_needed() -> None:
    assert {shlex.split(command)[0] for command in shell_commands()} == set(NOT_RUN)


@each("command", sorted(set(shell_commands())))
def test_commands_that_are_not_run_have_a_reason_and_exist(command: str) -> None:
    first, *rest = shlex.split(command)
    assert first in NOT_RUN
    if first == "cognigraph":
        build_parser().parse_args(rest)
    if first == "make":
        assert f"\n{rest[0]}:" in (ROOT / "Makefile").read_text("utf-8")
    if first == "python" and rest[0].endswith(".py"):
        assert (ROOT / rest[0]).exists()


def anchors(text: str) -> set[str]:
    """The ids that the site and GitHub give the headings of a page."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {
        re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@each("page", LINKED)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text("utf-8")):
        if "://" not in target:
            linked = page.parent / target if target else page
            assert linked.exists(), target
            if anchor:
                assert anchor in anchors(linked.read_text("utf-8")), f"{target}#{anchor}"


def test_every_page_is_in_the_navigation() -> None:
    listed = set(
        re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    )
    folder = ROOT / "docs"
    assert listed == {str(page.relative_to(folder)) for page in LINKED if folder in page.parents}


@each("name", PAGES)
def test_no_page_has_invisible_comments(name: str) -> None:
    assert "<!--" not in PAGES[name]


def test_tables_of_figures_are_those_of_the_committed_results() -> None:
    assert figures.stale() == []  # otherwise: python -m bench.figures


def test_every_table_on_a_page_is_generated_and_every_file_is_one_of_them() -> None:
    included = set(re.findall(r'--8<-- "figures/(.*?)"', "".join(PAGES.values())))
    assert len(included) >= 10
    assert {figures.FOLDER / name for name in included} <= figures.pages().keys()
    assert {*figures.FOLDER.glob("*.md")} == figures.pages().keys()


@pytest.mark.slow
def test_pictures_are_those_that_the_code_draws() -> None:
    drawn = draw.pictures()
    assert {path.name for path in drawn} == {path.name for path in draw.FOLDER.glob("*.svg")}
    for path, text in drawn.items():
        assert path.read_text("utf-8") == text, f"{path.name}: run python -m docs.draw"


def test_the_api_reference_lists_every_public_name() -> None:
    listed = re.findall(r"^::: ([\w.]+)$", PAGES["docs/api.md"], re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {f"cognigraph.{name}" for name in cognigraph.__all__ if name != "__version__"} <= {
        *listed
    }
    for path in listed:
        package, _, name = path.rpartition(".")
        assert name in import_module(package).__all__, path

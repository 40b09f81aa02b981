"""A new user's path: install the wheel, and type what the pages say.

The environment is new and has the wheel alone; the packages that it needs are those of the tests,
so that nothing is downloaded but what builds the wheel. The source tree is not on the path.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from cognigraph._version import __version__
from tests.e2e.command_line import environment, run_here
from tests.e2e.release import release
from tests.pages import ROOT, WIDTH, matches, steps
from tests.servers import served as servers

pytestmark = pytest.mark.slow
PARTS = ("pyproject.toml", "README.md", "LICENSE", "cognigraph", "cypher", "ingest", "retrieve")


def run(*command: object, **options: Any) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=170, check=False,
        env=environment(), **options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def without_links(folder: Path) -> None:
    """Make symbolic links the files that Git for Windows makes of them."""
    for link in [path for path in folder.rglob("*") if path.is_symlink()]:
        target = str(link.readlink())
        link.unlink()
        link.write_text(target)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that ``make release`` builds, from the source distribution, here without links."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source / name)
    without_links(source)
    _, wheel = release.build(source, folder / "dist")
    shutil.rmtree(source)
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The folder of commands of an environment that has the wheel."""
    folder = wheel.parent.parent
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    (packages,) = (folder / "env").glob("lib/python3*/site-packages")
    # Of a folder that a .pth file names, .pth files are not read: the source tree stays out.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps")
    run(*pip, "--force-reinstall", wheel)
    where = run(python, "-P", "-c", "import cognigraph; print(cognigraph.__file__)", cwd=folder)
    assert where.startswith(str(folder / "env")), where
    return folder / "env" / "bin"


def test_the_wheel_has_every_file_of_the_packages(wheel):
    folders = {"cypher": "cognigraph/cypher", "ingest": "cognigraph/ingest",
               "retrieve": "cognigraph/retrieve", "cognigraph": "cognigraph"}  # fmt: skip
    ours = {
        f"{packed}/{path.relative_to(ROOT / folder)}"
        for folder, packed in folders.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == ours


@pytest.mark.thorough  # the other tests use the same library, server and commands
def test_what_a_release_is_tried_with(installed, tmp_path):
    """Where ``make release`` does the same, the environment has nothing else."""
    run(installed / "python", "-I", ROOT / ".ci" / "smoke.py", __version__, ROOT, cwd=tmp_path)


def commands(page: str, first: str) -> list[str]:
    """The commands in ``sh`` blocks of a page that begin with a word."""
    text = (ROOT / "docs" / page).read_text("utf-8").replace("\\\n", " ")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if shlex.split(line)[:1] == [first]]


NAMED_FILE = re.compile(r"""(?:src|href|from|import)[=\s(]*["']([\w./-]+\.(?:js|css|svg))""")


def files_of_the_page(url: str) -> set[str]:
    """The paths of all files that the page in the browser names, each of which is served."""
    seen, wanted = set[str](), ["/"]
    while wanted:
        path = wanted.pop()
        if path not in seen:
            seen.add(path)
            with urlopen(url + path, timeout=60) as answer:
                named = NAMED_FILE.findall(answer.read().decode())
            wanted += [urljoin(path, name) for name in named]
    return seen


def test_the_server_of_the_page(installed, tmp_path, monkeypatch):
    """It answers as ``docs/server.md`` says, and comes with all files of the page."""
    (start,) = commands("server.md", "cognigraph")
    monkeypatch.chdir(tmp_path)
    command = [installed / "cognigraph", *shlex.split(start)[1:], "--port", "0"]
    with servers.started(command) as server:
        answers = []
        for line in commands("server.md", "curl"):
            name, *rest = shlex.split(line.replace("http://127.0.0.1:8700", server.url))
            answers.append(json.loads(run(name, *rest)))
        with urlopen(server.url + "/", timeout=60) as answer:
            assert answer.read().startswith(b"<!doctype html>")
        seen = files_of_the_page(server.url)
    added, found, block = answers
    assert added["new"] == ["m1"]
    assert [hit["id"] for hit in found["hits"]] == ["m1"]
    assert "I moved to Oslo in May." in block["text"]
    assert {"/page/app.js", "/page/style.css"} <= seen and len(seen) > 8, seen
    assert (tmp_path / "ann.db").exists()


def test_the_configurations_of_the_page_on_mcp(installed, tmp_path):
    """Every block of JSON, and what is typed by hand, starts the same server, which works."""
    text = (ROOT / "docs" / "mcp.md").read_text("utf-8")
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    named = [server["memory"] for block in blocks for server in block.values()]
    (by_hand,) = (line for line in commands("mcp.md", "claude") if " -- " in line)
    clients = [(client["command"], *client["args"]) for client in named]
    clients.append(tuple(shlex.split(by_hand.split(" -- ")[1])))
    file = str(tmp_path / "memory.db")
    ((name, *arguments),) = {
        tuple(file if word.endswith("/memory.db") else word for word in client)
        for client in clients
    }
    assert len(clients) == 3 and file in arguments

    def client(*options: str) -> Client:
        command = StdioServerParameters(
            command=str(installed / name), args=[*arguments, *options], env=environment()
        )
        return Client(command)

    async def add() -> None:
        async with client() as session:
            sent = {"text": "Ann likes tea.", "id": "m1"}
            assert not (await session.call_tool("add_memories", {"memories": [sent]})).is_error

    async def look() -> set[str]:
        async with client("--read-only") as session:
            found = await session.call_tool("search_memories", {"question": "tea"})
            line = found.content[0].text.splitlines()[0]  # type: ignore[union-attr]
            assert line.endswith(" Ann likes tea.")
            return {tool.name for tool in (await session.list_tools()).tools}

    asyncio.run(add())
    assert asyncio.run(look()) == {"get_context", "search_memories", "look_up", "cypher"}


PAGES = ("importing.md", "integrations/langgraph.md")
"""Pages whose programs and commands need nothing that the tests do not have; those of others run
from the source, in ``test_pages.py``."""


@pytest.mark.parametrize("page", PAGES)
def test_the_programs_and_commands_of_a_page(installed, tmp_path, page):
    ran = 0
    for step in steps((ROOT / "docs" / page).read_text("utf-8")):
        if step.kind == "python":
            command = [installed / "python", "-P", "-W", "ignore", "-c", step.code]
        else:
            name, *arguments = shlex.split(step.code)
            command = [installed / name, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment(COLUMNS=WIDTH), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert matches(step.expected, done.stdout), f"line {step.line}, printed:\n{done.stdout}"
        ran += 1
    assert ran >= 1


def test_notes_are_watched(installed, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Ferry\nAt eight.", "utf-8")
    watch = subprocess.Popen(
        [installed / "cognigraph", "watch", "notes", "--every", "0.05", "--no-enrich"],
        cwd=tmp_path, env=environment(), text=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert watch.stderr is not None
    assert "1 new message" in watch.stderr.readline()
    (tmp_path / "notes" / "a.md").write_text("# Ferry\nAt nine.", "utf-8")
    assert "1 given a new text" in watch.stderr.readline()
    watch.terminate()
    watch.communicate(timeout=30)
    listed = json.loads(run_here("messages", "--json", folder=tmp_path).stdout)
    assert [message["text"] for message in listed["messages"]] == ["# Ferry\nAt nine."]


def test_without_the_extra_the_command_says_how_to_install_it(installed, tmp_path):
    """With packages that only the core needs: here, others are hidden from the command."""
    code = (
        "import sys; sys.modules['fastapi'] = sys.modules['mcp'] = None; "
        "from cognigraph.cli import main; print(main(['serve']), main(['mcp']))"
    )
    done = subprocess.run(
        [installed / "python", "-c", code], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout == "2 2\n"
    serve, mcp = done.stderr.splitlines()
    assert "pip install 'cognigraph-memory[server]'" in serve
    assert "pip install 'cognigraph-memory[mcp]'" in mcp

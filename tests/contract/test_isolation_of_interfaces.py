"""Every verb, route, tool and command finds the same in a space alone and beside others.

The others have the same names, sessions, ids and texts, further texts that are almost the same, and
corrections by their users. The calls are tables in ``tests/isolation``; a verb, route, tool or
command that is in none of them fails a test, so that a new one is not forgotten. Scores, order,
counts and times are compared too.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from mcp import Client
from starlette.testclient import TestClient

from cognigraph import AsyncMemory, Memory, Space
from cognigraph.cli.app import _COMMANDS, main
from cognigraph.mcp_server.build import build_server
from cognigraph.server.gate import ServerLimits
from tests.isolation import commands, requests, tool_calls, verbs
from tests.isolation.verbs import COPY, CURSOR, FILE, MINE, TABLE
from tests.isolation.world import (
    Uid,
    World,
    assert_alike,
    awaited_outcome,
    fill,
    fill_rival,
    outcome,
    settled,
)
from tests.operations import bound, operations
from tests.servers.applications import application

pytestmark = pytest.mark.slow

Play = Callable[[World, str], list[Any]]
Compare = Callable[[Play], None]
SPACE = "ann"


def test_every_verb_is_called() -> None:
    assert {name for name, _ in verbs.SPACE} == operations(Space).keys()
    own = operations(Memory).keys() - operations(Space).keys()
    assert {name for name, _ in verbs.MEMORY} | verbs.NOT_OF_A_SPACE.keys() == own


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file in which the space is alone, and one in which it is beside others."""
    folder = tmp_path_factory.mktemp("isolation")
    alone, beside = World({"location": folder / "alone.db"}), World({"location": folder / "b.db"})
    fill(alone.open, SPACE)
    fill_beside(beside, SPACE)
    return folder / "alone.db", folder / "b.db"


def fill_beside(world: World, name: str) -> list[str]:
    """Fill a space between others, which get their messages before and after it."""
    first, *others = rivals(name)
    fill_rival(world.open, first)
    fill(world.open, name)
    for other in others:
        fill_rival(world.open, other)
    return [first, *others]


def rivals(name: str) -> list[str]:
    return [name[:-1], f"{name}' OR '1'='1"]


@pytest.fixture
def compare(files: tuple[Path, Path], tmp_path: Path) -> Compare:
    """Make the calls in the space alone, then in one of the same name beside others."""

    def run(play: Play) -> None:
        copies = [tmp_path / "alone.db", tmp_path / "beside.db"]
        for source, path in zip(files, copies, strict=True):
            shutil.copy(source, path)
        alone, beside = (World({"location": path}) for path in copies)
        in_them(play(alone, SPACE), play, beside, SPACE)

    return run


@pytest.fixture
def compare_on_store(
    request: pytest.FixtureRequest, location: dict[str, Any], space_name: str
) -> Compare:
    """The same on the store under test. On a server the space is made anew beside the others."""

    def run(play: Play) -> None:
        world = World(location)
        fill(world.open, space_name)
        alone = play(world, space_name)
        delete(world, space_name, copy_of(space_name))
        fill_beside(world, space_name)
        in_them(alone, play, world, space_name)
        delete(world, *rivals(space_name), space_name, copy_of(space_name))

    return run if "auth" in location else request.getfixturevalue("compare")


def delete(world: World, *names: str) -> None:
    with world.open() as memory:
        for name in names:
            memory.admin.delete_space(name)


def copy_of(name: str) -> str:
    return f"{name}-copy"


def in_them(alone: list[Any], play: Play, beside: World, name: str) -> None:
    before = beside.snapshots(rivals(name))
    assert_alike(alone, play(beside, name))
    assert beside.snapshots(rivals(name)) == before


def test_verbs(compare_on_store: Compare, tmp_path: Path) -> None:
    def play(world: World, name: str) -> list[Any]:
        with world.open() as memory:
            calls = Calls(memory, name, tmp_path)
            return [
                (verb, given, calls.seen(verb, outcome(partial(calls.call, memory, verb, given))))
                for verb, given in [*verbs.SPACE, *verbs.MEMORY]
            ]

    compare_on_store(play)


def test_verbs_for_asyncio(compare: Compare, tmp_path: Path) -> None:
    async def play_all(world: World, name: str) -> list[Any]:
        found = []
        with world.open() as other:
            calls = Calls(other, name, tmp_path)
            async with AsyncMemory(**world.options()) as memory:
                for verb, given in [*verbs.NAMED, *verbs.SPACE, *verbs.MEMORY]:
                    call = partial(calls.call, memory, verb, given)
                    found.append((verb, given, calls.seen(verb, await awaited_outcome(call))))
        return found

    compare(lambda world, name: asyncio.run(play_all(world, name)))


@pytest.mark.above_stores
def test_routes(compare_on_store: Compare, tmp_path: Path) -> None:
    def play(world: World, name: str) -> list[Any]:
        with (
            world.open() as memory,
            TestClient(served(memory), base_url="http://127.0.0.1:8700") as client,
        ):
            exported, found = b"", []
            calls, known = Calls(memory, name, tmp_path), routes(served(memory))
            for operation, parameters, body in requests.REQUESTS:
                method, path = known[operation]
                where = calls.value({"space": name, **parameters})
                sent = exported if body == requests.EXPORTED else calls.value(body)
                answer = client.request(
                    method,
                    path.format(
                        **{key: quote(str(value), safe="") for key, value in where.items()}
                    ),
                    params={
                        key: value for key, value in parameters.items() if f"{{{key}}}" not in path
                    },
                    **({"content": sent} if isinstance(sent, bytes) else {"json": sent}),
                )
                exported = answer.content if operation == "export" else exported
                read = settled(read_lines(answer.text))
                found.append((operation, body, [answer.status_code, calls.seen(operation, read)]))
            refused = [(name, code) for name, _, (code, _) in found if code >= 400]
            assert refused == requests.REFUSED
            return found

    compare_on_store(play)


def served(memory: Memory) -> Any:
    return application(memory, limits=ServerLimits(rate=0))


_KNOWN: dict[str, tuple[str, str]] = {}


def routes(app: Any) -> dict[str, tuple[str, str]]:
    """The method and the path of each operation, which all applications have in common."""
    if not _KNOWN:
        _KNOWN.update(
            (operation["operationId"], (method.upper(), path))
            for path, methods in app.openapi()["paths"].items()
            for method, operation in methods.items()
        )
    return _KNOWN


def read_lines(text: str) -> list[Any]:
    """An answer: a JSON document, JSON lines, or events."""
    found = []
    for line in text.splitlines():
        data = line.removeprefix("data: ")
        found.append(json.loads(data) if data[:1] in ("{", "[") else data)
    return found


def test_tools(compare: Compare, tmp_path: Path) -> None:
    async def play(world: World, name: str) -> list[Any]:
        with world.open() as memory:
            calls = Calls(memory, name, tmp_path)
            async with Client(build_server(memory.space(name))) as client:
                found = []
                for tool, given in tool_calls.TOOLS:
                    answer = await client.call_tool(tool, calls.value(given))
                    texts = [getattr(part, "text", "") for part in answer.content]
                    assert answer.is_error == (given.get("id") == "m0-1"), texts
                    found.append((tool, given, [texts, settled(answer.structured_content)]))
                for uri in tool_calls.RESOURCES:
                    answer = await client.read_resource(uri)
                    found.append((uri, [content.text for content in answer.contents]))
                return found

    compare(lambda world, name: asyncio.run(play(world, name)))


def test_every_route_tool_and_command_is_called(tmp_path: Path) -> None:
    with World({"location": tmp_path / "m.db"}).open() as memory:
        sent = {name for name, _, _ in requests.REQUESTS}
        assert sent | requests.NOT_OF_A_SPACE.keys() == routes(memory).keys()
        offered = build_server(memory)._tool_manager.list_tools()
        assert {name for name, _ in tool_calls.TOOLS} == {tool.name for tool in offered}
    run = {line[0] for line in commands.COMMANDS}
    assert run | commands.NOT_OF_A_SPACE.keys() == _COMMANDS.keys()


_CLOCK = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00")
"""A time of the system's clock, which the command line uses; those of the talk have no fraction."""
_FILES = re.compile(r"/\S*/file-[0-9a-f]{32}")


def test_commands(compare: Compare, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def play(world: World, name: str) -> list[Any]:
        store = ["--db", str(world.location["location"]), "--space", name, "--json"]
        found = []
        for line in commands.COMMANDS:
            with world.open() as memory:
                words = [str(Calls(memory, name, tmp_path).value(item)) for item in line]
            capsys.readouterr()
            code = main([*words, *store])
            out, error = capsys.readouterr()
            out = _FILES.sub("FILE", _CLOCK.sub("now", out))
            found.append((line, [code, settled(json.loads(out) if out else error)]))
        assert [line[0] for line, (code, _) in found if code] == commands.NOTHING_FOUND
        return found

    compare(play)


class Calls:
    """Makes calls in one space; ``memory`` says what the arguments stand for."""

    def __init__(self, memory: Memory, name: str, folder: Path) -> None:
        self._space = memory.space(name)
        self._names = {MINE: name, COPY: copy_of(name)}
        self._cursor = ""
        self._file = folder / f"file-{uuid4().hex}.jsonl"
        self._table = self._file.with_suffix(".csv")
        self._table.write_text("key,text,at\nc1,Luna is brown.,2026-06-13T09:00:00Z\n", "utf-8")

    def call(self, memory: Memory | AsyncMemory, verb: str, given: dict[str, Any]) -> Any:
        """Call a verb of the memory or of the space in it."""
        is_own = (verb, given) in verbs.MEMORY
        target = memory if is_own else memory.space(self._space.name)
        values = self.value(given)
        positional = [values.pop("")] if "" in values else []
        return bound(target, verb)(*positional, **values)

    def value(self, value: Any) -> Any:
        """What an argument stands for."""
        if isinstance(value, dict):
            return {name: self.value(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, Uid):
            return value.of(self._space)
        if value == CURSOR:
            return self._cursor
        if value in (FILE, TABLE):
            return self._file if value == FILE else self._table
        return self._names.get(value, value) if isinstance(value, str) else value

    def seen(self, verb: str, result: Any) -> Any:
        """What a call lets its caller see."""
        if verb == "messages" and isinstance(result, dict):
            self._cursor = result["cursor"]
        if verb == "spaces" and isinstance(result, list):
            listed = result[0]["items"] if isinstance(result[0], dict) else result
            return [item for item in listed if item in self._names.values()]
        if verb == "files.export" and isinstance(result, int):
            lines = self._file.read_text("utf-8").splitlines()
            return result, [settled(json.loads(line)) for line in lines]
        if verb == "space":
            return "a space"
        return json.loads(json.dumps(result, default=str).replace(self._file.stem, "FILE"))

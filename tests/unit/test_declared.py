"""An operation is declared once: what its method says, every other face has without more code."""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from cognigraph import Memory, Space
from cognigraph.aio import AsyncQueue, Threads, _awaited
from cognigraph.cli.memory_options import Options
from cognigraph.cli.options import Derived
from cognigraph.declared import declared
from cognigraph.declared import operations as declared_operations
from cognigraph.operations.tenant import Tenant
from cognigraph.server.bodies import body_of, from_body, from_query
from cognigraph.validation import checked
from tests.operations import operations, parameters


class Notes(Tenant):
    """A group with one small operation, as one adds it."""

    @checked
    def pin(
        self,
        note: str,
        *,
        until: datetime | str | None = None,
        colour: Literal["red", "blue"] = "red",
        labels: Iterable[str] = (),
        limit: int = 5,
        quiet: bool = False,
    ) -> dict[str, Any]:
        """Pin a note, so that :meth:`list` shows it first.

        It stays there.

        Args:
            note: what it says. It
                may be long.
            until: when it is taken off.
            colour: in which ``colour`` it is shown.
            labels: words for it.
            limit: how many are pinned at most.
            quiet: tell nobody.
        """
        return {"note": note, "until": until, "colour": colour, "limit": limit, "quiet": quiet}


GIVEN = {"note": "tea", "until": "2026-05-20T09:00:00Z", "colour": "blue", "quiet": True}


def test_a_declaration_has_names_types_defaults_and_help():
    operation = declared(Notes.pin)
    assert operation.summary == "Pin a note, so that `list` shows it first."
    assert operation.description == f"{operation.summary}\n\nIt stays there."
    assert {name: parameter.help for name, parameter in operation.parameters.items()} == {
        "note": "what it says. It may be long.",
        "until": "when it is taken off.",
        "colour": "in which `colour` it is shown.",
        "labels": "words for it.",
        "limit": "how many are pinned at most.",
        "quiet": "tell nobody.",
    }
    assert [name for name, parameter in operation.parameters.items() if parameter.is_required] == [
        "note"
    ]
    assert operation.parameters["colour"].default == "red"


def test_every_operation_says_what_each_parameter_is():
    found = declared_operations()
    assert {operation.verb for operation in found} == set(operations(Space).values())
    for operation in found:
        assert operation.parameters.keys() == parameters(operation.verb).keys() - {"more"}
        assert operation.summary.endswith(".")
        assert all(parameter.help for parameter in operation.parameters.values())


def test_a_parameter_without_help_is_refused():
    def pin(self: Space, note: str) -> None:
        """Pin a note."""

    with pytest.raises(LookupError, match="does not say what note is"):
        declared(pin)


def test_a_parameter_is_a_field_of_the_body():
    body = body_of(Notes.pin)
    schema = body.model_json_schema()
    assert schema["required"] == ["note"]
    assert schema["properties"]["note"]["description"] == "What it says. It may be long."
    assert schema["properties"]["colour"]["enum"] == ["red", "blue"]
    assert (
        schema["properties"]["limit"] | {"minimum": 1, "default": 5}
        == (schema["properties"]["limit"])
    )
    assert schema["properties"].keys() == declared(Notes.pin).parameters.keys()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Memory(tmp_path_factory.mktemp("declared") / "m.db", enrich="manual") as opened:
        yield opened


@pytest.fixture
def served(memory: Memory) -> TestClient:
    """A server with the operation, once with a body and once with a query."""
    app = FastAPI()
    app.state.memory = memory
    notes = Notes(memory._engine, "ann")

    @app.post("/pin")
    def change(given: Annotated[dict[str, Any], from_body(Notes.pin)]) -> Any:
        return notes.pin(**given)

    @app.get("/pin")
    def look(given: Annotated[dict[str, Any], from_query(Notes.pin)]) -> Any:
        return notes.pin(**given)

    return TestClient(app)


@pytest.mark.slow
def test_a_request_reaches_the_operation_with_its_arguments(served):
    assert served.post("/pin", json=GIVEN).json() == {**GIVEN, "limit": 5}
    assert served.post("/pin", json={"note": "tea", "limit": 2}).json()["limit"] == 2
    assert served.get("/pin", params=GIVEN).json() == {**GIVEN, "limit": 5}
    for wrong in ({}, {"note": 5}, {"note": "tea", "colour": "pink"}, {"note": "x", "kolor": "red"},
                  {"note": "tea", "limit": 0}, {"note": "tea", "quiet": "yes"}):  # fmt: skip
        assert served.post("/pin", json=wrong).status_code == 422, wrong
    assert served.get("/pin").status_code == 422
    assert served.get("/pin", params={"note": "tea", "colour": "pink"}).status_code == 422


def test_a_parameter_is_an_option_of_a_command():
    derived, parser = Derived(Notes.pin, ("note",)), argparse.ArgumentParser()
    derived.add_to(parser)
    help = " ".join(parser.format_help().split())
    assert "--until TIME when it is taken off" in help
    assert "--colour {red,blue} in which colour it is shown (default: red)" in help
    assert "NOTE what it says" in help
    words = ["tea", "--until", GIVEN["until"], "--colour", "blue", "--quiet", "--limit", "7"]
    given = parser.parse_args([*words, "--labels", "a", "--labels", "b"])
    options = Options.of(given, os.environ)
    assert derived.arguments(given, options) == {**GIVEN, "labels": ["a", "b"], "limit": 7}
    for wrong in ([], ["tea", "--colour", "pink"], ["tea", "--limit", "0"]):
        with pytest.raises(SystemExit):
            parser.parse_args(wrong)


def test_a_parameter_is_one_of_the_asynchronous_face(memory):
    class AsyncNotes(AsyncQueue):
        pin = _awaited(Notes.pin)

    assert inspect.signature(AsyncNotes.pin) == inspect.signature(Notes.pin)
    assert AsyncNotes.pin.__doc__ == Notes.pin.__doc__
    notes = AsyncNotes(Notes(memory._engine, "ann"), Threads())
    assert asyncio.run(notes.pin(**GIVEN)) == {**GIVEN, "limit": 5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'color'"):
        asyncio.run(notes.pin("tea", color="red"))


EDITS = [
    (
        'def retract(self, fact: Triple | str, *, reason: str = "") -> None:',
        'def retract(self, fact: Triple | str, *, reason: str = "", ground: str = "") -> None:',
    ),
    (
        """
        Raises:
            NotFoundError: there is no such fact.
        \"\"\"
        ruling = NewRuling("retract", _uid(fact), reason=reason)""",
        """            ground: what it rests on.
        \"\"\"
        ruling = NewRuling("retract", _uid(fact), reason=f"{reason} ({ground})")""",
    ),
    (
        "def conflicts(self, limit: int = 100) -> list[Conflict]:",
        "def conflicts(self, limit: int = 100, *, about: str = '') -> list[Conflict]:",
    ),
    (
        "List current triples of which only one can be true, the newest conflict first.",
        "List conflicts.\n\n        Args:\n            about: only of this entity.\n",
    ),
    (
        "contested = self._engine",
        "if about == 'nobody': return []\n        contested = self._engine",
    ),
]
"""One more parameter for two operations, in the one file that declares them."""
WITH_ONE_MORE = """
import asyncio, inspect, json, sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

read_code = SourceFileLoader.get_code
def get_code(loader, name):
    if name != "cognigraph.operations.review":
        return read_code(loader, name)
    source = Path(loader.path).read_text("utf-8")
    for old, new in json.loads(sys.argv[1]):
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return compile(source, loader.path, "exec")
SourceFileLoader.get_code = get_code

from starlette.testclient import TestClient
from cognigraph import AsyncMemory, Memory
from cognigraph.cli.app import main
from cognigraph.server.app import ServerSettings, create_app

def reasons(space):
    return [fact.reason for chain in space.history("Ann") for fact in chain.triples]

told = {}
with Memory("m.db", enrich="manual") as memory:
    space = memory.space("ann")
    space.add("I live in Oslo.", speaker="Ann")
    space.flush()
    (fact,) = space.facts("Ann")
    app = create_app(memory, ServerSettings(is_local=True, warm_up=False))
    with TestClient(app, base_url="http://127.0.0.1:8700") as client:
        review = "/v1/spaces/ann/review"
        body = {"fact": fact.uid, "ground": "a letter"}
        told["rest"] = [client.post(review + "/retract", json=body).status_code, *reasons(space)]
        told["refused"] = client.post(review + "/retract", json={**body, "ground": 5}).status_code
        about = client.get(review + "/conflicts", params={"about": "nobody"})
        told["query"] = [about.status_code, about.json()["items"]]
        api = client.get("/openapi.json").json()
        query = api["paths"]["/v1/spaces/{space}/review/conflicts"]["get"]["parameters"]
        told["described"] = [
            api["components"]["schemas"]["RetractBody"]["properties"]["ground"]["description"],
            *(one["description"] for one in query if one["name"] == "about"),
        ]

async def take_back():
    async with AsyncMemory("m.db", enrich="manual") as memory:
        await memory.space("ann").review.retract(fact.uid, ground="a call")
        return str(inspect.signature(memory.review.conflicts))

told["awaited"] = asyncio.run(take_back())
with Memory("m.db", enrich="manual") as memory:
    told["awaited"] = [told["awaited"], *reasons(memory.space("ann"))]
code = main(["retract", fact.uid, "--ground", "a diary", "--db", "m.db", "--space", "ann"])
with Memory("m.db", enrich="manual") as memory:
    told["command"] = [code, *reasons(memory.space("ann"))]
main(["conflicts", "--about", "nobody", "--db", "m.db", "--space", "ann", "--json"])
Path("told.json").write_text(json.dumps(told), "utf-8")
"""


@pytest.mark.slow
def test_one_more_parameter_is_on_every_face_without_further_code(tmp_path):
    """The operation gets it in its method; the faces of a program that starts then have it."""
    done = subprocess.run(
        [sys.executable, "-c", WITH_ONE_MORE, json.dumps(EDITS)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "told.json").read_text("utf-8"))
    assert told.pop("awaited") == [
        "(limit: 'int' = 100, *, about: 'str' = '') -> 'list[Conflict]'",
        " (a call)",
    ]
    assert told == {
        "rest": [204, " (a letter)"],
        "refused": 422,
        "query": [200, []],
        "described": ["What it rests on.", "Only of this entity."],
        "command": [0, " (a diary)"],
    }

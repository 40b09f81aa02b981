"""Every operation has a route, a command and a tool, or a reason why not; so has every argument."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

import pytest

from cognigraph import CogniGraphError, Memory, Space
from cognigraph.cli.app import main
from cognigraph.cli.memory_options import Options
from cognigraph.cli.options import DERIVED
from cognigraph.cli.parser import build_parser
from cognigraph.declared import GROUPS as DECLARED_GROUPS
from cognigraph.declared import declared
from cognigraph.declared import operations as declared_operations
from cognigraph.server.app import ServerSettings, create_app
from tests.cases import each
from tests.operations import operations, parameters

NO_ROUTE = {
    "close": "the server closes the memory",
    "admin.backup": "it writes a file on the server's machine",
    "admin.reindex": "it changes the embedder that the server was started with",
    "admin.bookmarks": "between memories of one program; servers read from the leader by default",
    "admin.catch_up": "between memories of one program; servers read from the leader by default",
    "admin.import_spaces": "a file that is sent to a space is stored in it",
    "admin.waiting": "/metrics shows it",
    "admin.longest_wait": "/metrics shows it",
}
NO_TOOL = {
    "add_fact": "an agent adds what was said, and facts are read out of it",
    "ask": "the agent itself is the loop",
    "flush": "the server enriches in the background",
    "stats": "for operators",
    "queue.enrich": "the server enriches in the background",
    "queue.estimate": "for operators",
    "queue.failures": "for operators",
    "queue.redo": "for operators",
    "queue.retry": "for operators",
    "review.conflicts": "look_up history shows them to an agent",
    "review.duplicates": "a decision for people",
    "review.merge": "a decision for people",
    "review.merges": "a decision for people",
    "review.split": "a decision for people",
    "overview.core_profile": "the resource memory://profile shows it",
    "overview.episodes": "get_context brings them",
    "overview.procedures": "get_context brings what matters of them",
    "overview.summaries": "look_up sessions shows the present summary",
    "overview.versions": "for people",
    "files.export": "for operators",
    "files.import_file": "for operators",
    "files.load": "for operators",
}
TOOLS = {
    "add": "add_memories",
    "add_many": "add_memories",
    "search": "search_memories",
    "context": "get_context",
    "get": "look_up memory",
    "messages": "look_up memories",
    "facts": "look_up facts",
    "history": "look_up history",
    "why": "look_up why",
    "entities": "look_up entities",
    "overview.sessions": "look_up sessions",
    "overview.profile": "look_up profile",
    "update": "change_memory update",
    "forget": "change_memory delete",
    "review.retract": "change_memory retract",
    "review.supersede": "change_memory supersede",
    "review.restore": "change_memory restore",
    "cypher": "cypher",
}
"""The tool of each operation, and the first argument if the tool has several."""
OTHER_NAMES = {
    "offset": "cursor",
    "after": "cursor",
    "more": None,
    "on_step": None,
    "on_progress": None,
    "on_round": None,
}
"""Names of arguments in a request. ``None``: the events of the response, or another argument."""
FILTER = {"roles", "session", "speaker", "tags", "since", "until", "metadata"}
NOT_SENT = {
    ("files.import_file", "path"): "the body is the file",
    ("files.import_file", "prune"): "only a folder can be pruned, and a request has one file",
    ("files.export", "path"): "the response is the file",
    ("files.load", "path"): "the body is the file",
    ("space", "name"): "the space of the path",
    ("admin.copy_space", "a"): "the space of the path",
    ("admin.copy_space", "b"): "called `to`",
    ("admin.delete_space", "name"): "the space of the path",
    ("admin.delete_space", "by"): "the name of the key",
    ("admin.audit", "offset"): "called `cursor`",
    ("space", "by"): "the name of the key",
    ("admin.audit", "space"): "the space of the path, or none",
}
COMMANDS = {
    "add_many": "import",
    "flush": "enrich",
    "queue.estimate": "enrich",
    "queue.failures": "enrich",
    "queue.redo": "enrich",
    "queue.retry": "enrich",
    "files.import_file": "import",
    "files.load": "import",
    "admin.import_spaces": "import",
    "spaces": "spaces",
    "admin.backup": "backup",
    "admin.check": "doctor",
    "admin.reindex": "reindex",
    "admin.waiting": "doctor",
    "admin.longest_wait": "doctor",
    "admin.audit": "audit",
    "search_spaces": "search",
}
"""The commands of operations that are only a part of one, or of which a command is more."""
NO_COMMAND = {
    "get": "`messages` shows whole messages",
    "space": "--space names it",
    "close": "a command closes the memory itself",
    "overview.summaries": "`sessions` shows the present summary",
    "overview.versions": "`export` has them",
    "review.merges": "`split` undoes them, and `export` has them",
    "admin.bookmarks": "between memories of one program",
    "admin.catch_up": "between memories of one program",
    "admin.copy_space": "`export` and `import` copy a space",
    "admin.delete_space": "`forget --everything` empties a space",
}
NO_OPTION = {
    ("add", "raw"): "a payload of a program",
    ("add", "extract"): "for a program that reads facts itself",
    ("add-fact", "session"): "the facts of the command line are together",
    ("add-fact", "id"): "the same fact is stored once",
    ("add-fact", "metadata"): "for programs",
    ("add-fact", "tags"): "for programs",
    ("search", "explain"): "--why shows the reasons",
    ("context", "settings"): "for programs",
    ("context", "strategy"): "`ask` is the command for a loop",
    ("context", "history"): "`ask` is the command for a loop",
    ("context", "limits"): "`ask` is the command for a loop",
    ("ask", "where"): "the whole space answers",
    ("ask", "settings"): "`search` is the command to try them",
    ("why", "where"): "the whole space answers",
    ("why", "settings"): "why tries them itself",
    ("cypher", "timeout"): "Ctrl-C ends it",
    ("cypher", "parameters"): "--param gives each",
    ("messages", "where"): "--role, --tag and --metadata are its fields",
    ("messages", "order"): "--newest",
    ("update", "raw"): "a payload of a program",
    **{(command, "offset"): "a larger --limit shows more"
       for command in ("facts", "entities", "duplicates", "sessions", "episodes")},
}  # fmt: skip
"""Parameters of derived commands that are no option, and why."""
OF_EVERY_COMMAND = {"timezone": "--timezone"}
VALUES = {
    "TIME": "2026-05-20T09:00:00Z", "DATE": "2026-05", "N": "7", "JSON": '[{"a": 1}]',
    "X": "0.5", "ROLE": "tool", "CONFIDENCE": "0.5", "SECONDS": "5", "K=V": "a=b",
}  # fmt: skip
"""Values of options by what their help calls them; any other takes a text."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Memory(tmp_path_factory.mktemp("interfaces") / "memory.db", enrich="manual") as memory:
        yield memory


@pytest.fixture(scope="module")
def document(memory: Memory) -> dict[str, Any]:
    return create_app(memory, ServerSettings(is_local=True)).openapi()


def route_of(name: str) -> str:
    """The name of the route of an operation such as ``review.retract``."""
    return name.rpartition(".")[2]


@pytest.fixture(scope="module")
def routes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }


def sent(document: dict[str, Any], route: dict[str, Any]) -> set[str]:
    """The names that a request may have: parameters, and fields of its body."""
    names = {item["name"] for item in route.get("parameters", ())}
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = body.get("schema", {}).get("$ref", "")
    if reference:
        names |= set(document["components"]["schemas"][reference.split("/")[-1]]["properties"])
    return names


def test_every_operation_has_a_route(routes):
    unserved = {name for name in operations(Memory) if route_of(name) not in routes}
    assert unserved == NO_ROUTE.keys()
    assert operations(Space).keys() <= operations(Memory).keys()


def test_the_path_of_a_derived_route_is_the_name_of_its_operation(document):
    paths = {
        operation["operationId"]: path
        for path, methods in document["paths"].items()
        for operation in methods.values()
    }
    elsewhere = {
        "add": "messages",
        "add_many": "messages/batch",
        "add_fact": "facts",
        "get": "messages/{id}",
        "update": "messages/{id}",
        "versions": "messages/{id}/versions",
    }
    for operation in declared_operations():
        path = elsewhere.get(operation.name, operation.path)
        assert paths[operation.name] == f"/v1/spaces/{{space}}/{path}"


@each("verb", sorted(operations(Memory).keys() - NO_ROUTE.keys()))
def test_every_argument_of_an_operation_can_be_sent(document, routes, verb):
    accepted = sent(document, routes[route_of(verb)])
    for name in parameters(operations(Memory)[verb]):
        wanted = OTHER_NAMES.get(name, name)
        if wanted is None or (verb, name) in NOT_SENT:
            continue
        is_query = name == "where" and routes[route_of(verb)].get("requestBody") is None
        assert ({name, wanted} & accepted) or (is_query and accepted >= FILTER), (verb, name)


def test_the_reasons_why_arguments_are_not_sent_are_about_arguments():
    own = {
        (verb, name) for verb in operations(Memory) for name in parameters(operations(Memory)[verb])
    }
    assert NOT_SENT.keys() <= own


def test_every_operation_has_a_command_or_a_reason_why_not():
    derived = {id(declared_as.verb) for declared_as in DERIVED.values()}
    named = {name for name, verb in operations(Memory).items() if id(verb) in derived}
    assert len(named) == len(DERIVED)
    assert named.isdisjoint(COMMANDS) and named.isdisjoint(NO_COMMAND)
    assert named | COMMANDS.keys() | NO_COMMAND.keys() == operations(Memory).keys()
    assert set(COMMANDS.values()) <= commands().keys()


def commands() -> dict[str, argparse.ArgumentParser]:
    """The parsers of all commands."""
    (found,) = (
        action for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )  # fmt: skip
    return dict(found.choices)


@each("command", DERIVED)
def test_every_argument_is_an_option_whose_value_reaches_the_operation(command):
    derived, parser = DERIVED[command], commands()[command]
    unset = {name for owner, name in NO_OPTION if owner == command}
    assert set(derived.leave_out) == unset
    words = [word for action in parser._actions for word in example(action)]
    given = build_parser().parse_args([command, *words])
    arguments = derived.arguments(given, Options.of(given, os.environ))
    for parameter in declared(derived.verb).parameters.values():
        if parameter.name in unset | OF_EVERY_COMMAND.keys():
            continue
        if OTHER_NAMES.get(parameter.name, "") is None:
            continue
        value = arguments[parameter.name]
        assert value not in (parameter.default, None, [], ""), parameter.name


class Reached(CogniGraphError):
    """Raised instead of running an operation, with its arguments."""


@pytest.fixture
def db(tmp_path):
    with Memory(tmp_path / "m.db", enrich="manual") as memory:
        memory.add("I live in Oslo.", id="m1", speaker="Ann")
    return tmp_path / "m.db"


@each("command", DERIVED)
def test_a_command_gives_all_that_was_given_to_the_operation(command, db, monkeypatch):
    """The words of each parameter go through the whole command, up to the call."""
    derived, alone = DERIVED[command], argparse.ArgumentParser()
    derived.add_to(alone)
    asked = [action for action in alone._actions if action.dest != INSTEAD.get(command)]
    words = [command, *(word for action in asked for word in example(action))]
    reached: dict[str, Any] = {}

    def run(self: Any, *given: Any, **options: Any) -> None:
        reached.update(options, **dict(zip(derived.optional, given, strict=False)))
        raise Reached("it is called")

    operation = declared(derived.verb)
    with monkeypatch.context() as patched:
        patched.setattr(DECLARED_GROUPS[operation.group or ""], operation.name, run)
        assert main([*words, "--db", str(db)]) == 2
    given = build_parser().parse_args(words)
    expected = derived.arguments(given, Options.of(given, os.environ))
    assert expected and {name: reached[name] for name in expected} == expected


INSTEAD = {"cypher": "name"}
"""Options that stand for another one, and cannot be given with it."""


def example(action: argparse.Action) -> list[str]:
    """An option with a value that is not its default."""
    if action.dest in ("help", "json", *VALUELESS):
        return []
    if action.nargs == 0:
        return [action.option_strings[0]]
    choices = [choice for choice in action.choices or () if choice != action.default]
    value = choices[-1] if choices else VALUES.get(str(action.metavar), "x")
    return [*action.option_strings[:1], str(value)]


VALUELESS = ("db", "embedder", "extractor", "timezone", "auth", "database", "space")
"""Options of every command."""


@pytest.mark.slow
def test_every_operation_has_a_tool_or_a_reason_why_not(memory):
    # It takes half a second to import, in each process that only collects the tests.
    from cognigraph.mcp_server.build import build_server

    names = set()
    for tool in build_server(memory)._tool_manager.list_tools():
        first = next(iter(tool.parameters["properties"].values()))
        names |= {f"{tool.name} {item}".strip() for item in first.get("enum", [""])}
    assert names == set(TOOLS.values())
    assert operations(Space).keys() == TOOLS.keys() | NO_TOOL.keys()
    assert not TOOLS.keys() & NO_TOOL.keys()


def test_every_route_is_described(routes):
    for name, route in routes.items():
        assert route["description"], name
        assert any(status.startswith("2") for status in route["responses"]), name
        assert re.fullmatch(r"[a-z_]+", name)


PAGE = Path(__file__).parents[2] / "cognigraph" / "server" / "page" / "api.js"
_ASKED = re.compile(
    r'(?:"(?P<method>GET|POST)", |all\()of\(space, "(?P<path>/[^"]+)"\)'
    r"(?:, \{ query: \{ (?P<query>[^}]*) \}|, \{ (?P<all>[^}:]+(?:: \w+[^}]*)?) \})?"
)


def test_the_page_asks_for_routes_and_queries_that_exist(document):
    """Its browser tests need a browser; this one sees a path or a name that is no more."""
    requests = list(_ASKED.finditer(PAGE.read_text("utf-8")))
    assert len(requests) >= 18
    for asked in requests:
        path = f"/v1/spaces/{{space}}{asked['path']}"
        route = document["paths"][path][(asked["method"] or "GET").lower()]
        known = {item["name"] for item in route.get("parameters", ())}
        words = asked["query"] or ("" if asked["method"] else asked["all"]) or ""
        names = {word.partition(":")[0].strip() for word in words.split(",")} - {""}
        assert names <= known, (path, names - known)

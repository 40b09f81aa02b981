"""Every operation of a space has a route and, where an agent can use it, a tool."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from cognigraph import Memory, Space
from cognigraph.server.app import ServerSettings, create_app
from tests.unit.test_faces import operations

NO_ROUTE = {
    "close": "the server closes the memory",
    "backup": "it writes a file on the server's machine",
    "reindex": "it changes the embedder that the server was started with",
    "bookmarks": "between memories of one program; servers read from the leader by default",
    "catch_up": "between memories of one program; servers read from the leader by default",
    "waiting": "/metrics shows it",
    "longest_wait": "/metrics shows it",
}
NO_TOOL = {
    "add_many": "an agent adds what it has just heard",
    "add_fact": "an agent adds what was said, and facts are read out of it",
    "add_exchange": "the host of an agent has its exchanges",
    "core_profile": "the resource memory://profile shows it",
    "expire": "for operators",
    "profile": "the resource memory://profile/NAME shows it",
    "procedures": "get_context brings what matters of them",
    "ask": "the agent itself is the loop",
    "conflicts": "history shows them to an agent",
    "enrich": "the server enriches in the background",
    "episodes": "get_context brings them",
    "estimate": "for operators",
    "export_space": "for operators",
    "failures": "for operators",
    "flush": "the server enriches in the background",
    "import_file": "for operators",
    "import_space": "for operators",
    "merge": "a decision for people",
    "merges": "a decision for people",
    "redo": "for operators",
    "restore": "a decision for people",
    "retract": "a decision for people",
    "retry_failed": "for operators",
    "split": "a decision for people",
    "stats": "for operators",
    "summaries": "list_sessions shows the present summary",
    "supersede": "a decision for people: an agent adds what has changed",
    "suspected_duplicates": "a decision for people",
    "versions": "for people",
}
TOOLS = {
    "add": "add_memory",
    "search": "search_memories",
    "context": "get_context",
    "get": "get_memory",
    "messages": "get_memories",
    "update": "update_memory",
    "forget": "delete_memory",
    "triples": "get_facts",
    "history": "history",
    "why": "why",
    "entities": "list_entities",
    "sessions": "list_sessions",
    "cypher": "cypher",
}
OTHER_NAMES = {
    "offset": "cursor",
    "after": "cursor",
    "old": "uid",
    "new": "by",
    "triple": "uid",
    "a": "name",
    "limits": None,
    "path": None,
    "more": None,
    "on_step": None,
    "on_progress": None,
    "on_round": None,
}
"""Names of arguments in a request. ``None``: the body as such, or the events of the response."""
NOT_SENT = {
    ("import_file", "prune"): "only a folder can be pruned, and a request has one file",
    ("messages", "where"): "its fields are parameters",
    ("triples", "where"): "its fields are parameters",
    ("space", "name"): "the space of the path",
    ("copy_space", "a"): "the space of the path",
    ("copy_space", "b"): "called `to`",
    ("delete_space", "name"): "the space of the path",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Memory(tmp_path_factory.mktemp("interfaces") / "memory.db", enrich="manual") as memory:
        yield memory


@pytest.fixture(scope="module")
def document(memory: Memory) -> dict[str, Any]:
    return create_app(memory, ServerSettings(is_local=True)).openapi()


@pytest.fixture(scope="module")
def routes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }


def sent(document: dict[str, Any], route: dict[str, Any]) -> set[str]:
    """The names that a request may have: parameters, and fields of its body."""
    names = {one["name"] for one in route.get("parameters", ())}
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = body.get("schema", {}).get("$ref", "")
    if reference:
        names |= set(document["components"]["schemas"][reference.split("/")[-1]]["properties"])
    return names


def test_every_operation_has_a_route(routes):
    verbs = operations(Space).keys() | operations(Memory).keys()
    assert verbs - routes.keys() == set(NO_ROUTE)


@pytest.mark.parametrize("verb", sorted(operations(Memory).keys() - set(NO_ROUTE)))
def test_every_argument_of_an_operation_can_be_sent(document, routes, verb):
    accepted = sent(document, routes[verb])
    for name in list(inspect.signature(getattr(Memory, verb)).parameters)[1:]:
        wanted = OTHER_NAMES.get(name, name)
        if wanted is not None and (verb, name) not in NOT_SENT:
            assert {name, wanted} & accepted, (verb, name)


def test_every_operation_has_a_tool_or_a_reason_why_not(memory):
    # It takes half a second to import, in each process that only collects the tests.
    from cognigraph.mcp_server.build import build_server

    names = {tool.name for tool in build_server(memory)._tool_manager.list_tools()}
    assert names == set(TOOLS.values())
    assert operations(Space).keys() == TOOLS.keys() | NO_TOOL.keys()
    assert not TOOLS.keys() & NO_TOOL.keys()


def test_every_route_is_described(routes):
    for name, route in routes.items():
        assert route["description"], name
        assert any(status.startswith("2") for status in route["responses"]), name
        assert re.fullmatch(r"[a-z_]+", name)

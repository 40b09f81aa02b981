"""The tools, resources and prompts of the MCP server, called by the SDK's own client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from mcp import Client

from cognigraph import Memory
from cognigraph.mcp_server.build import build_server

pytestmark = pytest.mark.slow

OSLO = {"text": "I moved to Oslo in May.", "speaker": "Ann", "session": "s1", "id": "m1"}
KLARA = {"text": "My sister Klara lives in Bergen.", "speaker": "Ann", "session": "s2", "id": "m2"}


@pytest.fixture
def memory(tmp_path, clock):
    with Memory(tmp_path / "memory.db", enrich="manual", clock=clock) as memory:
        yield memory


@pytest.fixture
def filled(memory):
    memory.add_many([OSLO, KLARA])
    memory.flush()
    return memory


def talk(
    memory: Memory, work: Callable[[Client], Awaitable[Any]], *, space: str = "default", **options
) -> Any:
    """Let a client work with a server for one space."""

    async def run() -> Any:
        async with Client(build_server(memory.space(space), **options)) as client:
            return await work(client)

    return asyncio.run(run())


def call(memory: Memory, tool: str, arguments: dict[str, Any] | None = None, **options) -> Any:
    """The structured result of one tool."""

    async def work(client: Client) -> Any:
        return await client.call_tool(tool, arguments or {})

    result = talk(memory, work, **options)
    assert not result.is_error, result.content
    return result.structured_content


def refused(memory: Memory, tool: str, arguments: dict[str, Any], **options) -> str:
    """The text of the error of one tool."""

    async def work(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    result = talk(memory, work, **options)
    assert result.is_error
    return str(result.content[0].text)


def tools(memory, **options):
    async def work(client):
        return (await client.list_tools()).tools

    return {tool.name: tool for tool in talk(memory, work, **options)}


def test_tools_say_what_they_do_and_what_they_change(memory):
    found = tools(memory)
    for tool in found.values():
        assert tool.title and len(tool.description) > 40, tool.name
        assert tool.output_schema["type"] == "object"
        for name, field in tool.input_schema["properties"].items():
            if name not in ("limit", "k", "max_tokens", "offset", "parameters", "newest_first"):
                assert _description(field), (tool.name, name)
    reading = {name for name, tool in found.items() if tool.annotations.read_only_hint}
    deleting = {name for name, tool in found.items() if tool.annotations.destructive_hint}
    assert found.keys() - reading == {"add_memory", "update_memory", "delete_memory"}
    assert deleting == {"update_memory", "delete_memory"}
    assert tools(memory, read_only=True).keys() == reading


def _description(field):
    return field.get("description") or any(one.get("description") for one in field.get("anyOf", ()))


def test_a_memory_is_added_found_corrected_and_deleted(memory):
    added = call(memory, "add_memory", {**OSLO, "at": "2026-05-20T09:00:00Z", "metadata": {"a": 1}})
    assert added == {"id": "m1", "is_new": True, "is_forgotten": False, "notes": []}
    assert call(memory, "add_memory", OSLO)["is_new"] is False
    found = call(memory, "search_memories", {"question": "Where did Ann move?"})["memories"]
    assert (found[0]["id"], found[0]["text"]) == ("m1", OSLO["text"])
    assert call(memory, "get_memory", {"id": "m1"})["metadata"] == {"a": 1}
    new = call(memory, "update_memory", {"id": "m1", "text": "I moved to Hamar."})
    assert new["text"] == "I moved to Hamar."
    counted = call(memory, "delete_memory", {"id": "m1", "dry_run": True})
    assert (counted["memories"], counted["dry_run"]) == (1, True)
    assert call(memory, "delete_memory", {"id": "m1"})["memories"] == 1
    assert "no memory 'm1'" in refused(memory, "get_memory", {"id": "m1"})
    assert call(memory, "add_memory", OSLO)["is_forgotten"] is True


def test_an_agent_gives_the_facts_of_a_memory(memory):
    fact = {"subject": "Ann", "relation": "lives in", "object": "Bergen"}
    call(memory, "add_memory", {"text": "I live in Bergen.", "speaker": "Ann", "id": "m0",
                                "at": "2026-05-01T09:00:00Z", "facts": [fact]})  # fmt: skip
    moved = {**fact, "object": "Oslo", "valid_from": "2026-05", "replaces": "Bergen",
             "types": ["person", "location"]}  # fmt: skip
    call(memory, "add_memory", {**OSLO, "at": "2026-05-20T09:00:00Z", "facts": [moved],
                                "session_summary": "Ann has moved."})  # fmt: skip
    memory.flush()
    found = {one.text: one.status for one in memory.triples()}
    assert found == {"Ann lives in Bergen": "superseded", "Ann lives in Oslo": "current"}
    assert "Ann has moved." in {one.summary for one in memory.sessions()}
    odd = {"text": "x", "facts": [{**fact, "subject": "she"}]}
    assert "facts[0].subject is 'she'; give the name" in refused(memory, "add_memory", odd)
    told = " ".join(tools(memory)["add_memory"].description.split())
    assert "put what it says into `facts`: only what is certain" in told
    assert "name that fact's object in `replaces`" in told


def test_the_block_comes_as_text_and_without_what_was_seen(filled):
    async def work(client):
        return await client.call_tool("get_context", {"question": "Where does Klara live?"})

    result = talk(filled, work)
    block = result.structured_content
    assert result.content[0].text == block["text"]
    assert "My sister Klara lives in Bergen." in block["text"]
    seen = [one["id"] for one in block["citations"]]
    assert "m2" in seen
    rest = call(
        filled, "get_context", {"question": "Klara", "without": seen, "also": ["move to Oslo"]}
    )
    assert not {"m2"} & {one["id"] for one in rest["citations"]}


def test_a_search_takes_other_queries_and_conditions(filled):
    def ids(**arguments):
        found = call(filled, "search_memories", {"question": "Klara", **arguments})["memories"]
        return [one["id"] for one in found]

    assert set(ids(also=["move to Oslo"])) == {"m1", "m2"}
    assert ids(also=["move to Oslo"], without=["m2"]) == ["m1"]
    assert ids(session="s1", also=["move to Oslo"]) == ["m1"]
    assert ids(speaker="Ben") == []


def test_a_search_ranks_facts_or_episodes_if_asked_to(filled):
    ask = {"question": "Where does Klara live?", "k": 1}
    plain = call(filled, "search_memories", ask)
    assert plain["episodes"] == []
    facts = call(filled, "search_memories", {**ask, "layer": "facts"})
    assert "Klara lives in Bergen" in {one["text"] for one in facts["facts"]}
    assert [one["id"] for one in facts["memories"]] == ["m2"]
    found = call(filled, "search_memories", {**ask, "layer": "episodes"})
    (episode,) = found["episodes"]
    (stored,) = filled.episodes("s2")
    assert (episode["id"], episode["session"], episode["messages"]) == (stored.uid, "s2", ["m2"])
    assert (episode["title"], episode["summary"]) == (stored.title, stored.summary)
    assert "layer" in refused(filled, "search_memories", {**ask, "layer": "graph"})


def test_facts_of_another_time_come_in_a_search_and_in_the_block(memory):
    memory.add("I live in Oslo.", speaker="Ann", id="old", at="2024-01-10T09:00:00Z")
    memory.add("I live in Hamar.", speaker="Ann", id="new", at="2026-01-10T09:00:00Z")
    memory.flush()
    ask = {"question": "Where does Ann live?", "k": 1}
    then = {**ask, "valid_at": "2024-06-01T00:00:00Z"}
    facts = [call(memory, "search_memories", one)["facts"][0]["text"] for one in (then, ask)]
    assert facts == ["Ann lives in Oslo", "Ann lives in Hamar"]
    block = call(memory, "get_context", {"question": ask["question"], "valid_at": then["valid_at"]})
    assert block["text"] == str(memory.context(ask["question"], 1300, valid_at=then["valid_at"]))


def test_a_memory_can_be_added_for_a_time(memory, clock):
    call(memory, "add_memory", {**OSLO, "expires": "2030-01-01T00:00:00Z"})
    call(memory, "add_memory", KLARA)
    assert memory.expire(dry_run=True).messages == 0
    clock.advance(timedelta(days=3650))
    assert memory.expire().messages == 1
    assert [message.id for message in memory.messages()] == ["m2"]


def test_facts_history_and_the_graph_are_shown(filled):
    facts = call(filled, "get_facts", {"entity": "Klara"})["facts"]
    assert "Klara lives in Bergen" in {one["text"] for one in facts}
    (home,) = call(filled, "history", {"entity": "Ann", "relation": "home"})["slots"]
    assert home["facts"][0]["status"] == "current"
    assert home["facts"][0]["messages"] == ["m1"]
    names = [one["name"] for one in call(filled, "list_entities", {"match": "oslo"})["entities"]]
    assert names == ["Oslo"]
    sessions = call(filled, "list_sessions")["sessions"]
    assert {one["id"] for one in sessions} == {"s1", "s2"}
    rows = call(
        filled,
        "cypher",
        {"query": "MATCH (e:Entity {name: $n}) RETURN e.name AS n", "parameters": {"n": "Oslo"}},
    )
    assert rows == {"rows": [{"n": "Oslo"}]}
    why = call(filled, "why", {"question": "Where does Klara live?", "id": "m2"})
    assert (why["is_found"], why["rank"]) == (True, 1)


def test_what_the_cypher_tool_says_of_the_graph_is_in_the_graph(filled):
    filled.add("My flat in Oslo is small.", speaker="Ann", session="s1", id="m3")
    filled.flush()

    async def work(client: Client) -> Any:
        return await client.list_tools()

    described = {one.name: one.description for one in talk(filled, work).tools}["cypher"]
    types = set(re.findall(r"\[:([A-Z_]+)\]", described))
    labels = set(re.findall(r"\(([A-Z][a-z]+)\)", described))
    assert {"HAS_CHUNK", "COVERS"} <= types and {"Theme", "Triple"} <= labels
    stored = {row["t"] for row in filled.cypher("MATCH ()-[r]->() RETURN DISTINCT type(r) AS t")}
    assert types <= stored
    for label in labels:
        ((found,),) = [row.values() for row in filled.cypher(f"MATCH (n:{label}) RETURN count(n)")]
        assert found > 0, label


def test_memories_are_listed_page_by_page(filled):
    first = call(filled, "get_memories", {"limit": 1, "newest_first": False})
    second = call(
        filled, "get_memories", {"limit": 1, "newest_first": False, "cursor": first["cursor"]}
    )
    assert [one["id"] for page in (first, second) for one in page["memories"]] == ["m1", "m2"]


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("add_memory", {"text": ""}, "text"),
        ("add_memory", {"text": "x", "at": "yesterday"}, "ISO 8601"),
        ("add_memory", {}, "text"),
        ("update_memory", {"id": "none", "text": "x"}, "no message 'none'"),
        ("delete_memory", {"id": "none"}, "search_memories shows ids"),
        ("cypher", {"query": "MATCH (n) DETACH DELETE n"}, "only reads"),
        ("get_memories", {"cursor": "zzz"}, "cursor"),
        ("search_memories", {"question": "x", "k": 0}, "k"),
        ("add_memory", {"text": "x", "role": "boss"}, "role"),
    ],
)
def test_an_error_tells_the_agent_what_to_do(memory, tool, arguments, says):
    assert says in refused(memory, tool, arguments)


LISTED = ["memory://sessions/recent", "memory://profile"]


def test_resources_show_a_profile_and_the_recent_sessions(filled):
    async def work(client):
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        profile = await client.read_resource("memory://profile/Klara")
        recent = await client.read_resource("memory://sessions/recent")
        user = await client.read_resource("memory://profile")
        odd = await client.read_resource("memory://profile/Nobody%20Known")
        return (
            [str(one.uri) for one in listed],
            [one.uri_template for one in templates],
            *(one.contents[0].text for one in (profile, recent, odd, user)),
        )

    listed, templates, profile, recent, odd, user = talk(filled, work)
    assert (listed, templates) == (LISTED, ["memory://profile/{entity}"])
    assert profile.startswith("# Klara (also Ann's sister)\n\n## Now\n\n- ")
    assert "Klara lives in Bergen" in profile
    assert "## s1" in recent and "## s2" in recent
    assert user == "# The user\n\nNothing is known."
    assert odd.startswith("# Nobody Known\n\nNothing is known: ")


def test_prompts_lead_the_agent_to_the_tools(memory):
    async def work(client):
        names = {one.name for one in (await client.list_prompts()).prompts}
        remember = await client.get_prompt("remember", {"topic": "Oslo"})
        recall = await client.get_prompt("recall", {"question": "Where does Ann live?"})
        return names, *(one.messages[0].content.text for one in (remember, recall))

    names, remember, recall = talk(memory, work)
    assert names == {"remember", "recall"}
    assert "about Oslo" in remember and "add_memory" in remember
    assert "Where does Ann live?" in recall and "`without`" in recall


HARMLESS = set(
    "min_confidence since until valid_at offset max_tokens newest_first parameters dry_run".split()
)
"""Arguments that cannot name anything of a space."""


def test_no_tool_resource_or_prompt_shows_or_changes_another_space(memory):
    """Every tool with arguments that fit the other space exactly; the secret shows nowhere."""
    secret = {"id": "m1", "session": "s1", "speaker": "Zyxwvut"}
    memory.space("theirs").add("I live in Narvik. The treasure is there.", **secret)
    memory.space("mine").add("Ann likes tea.", id="tea", session="s9", speaker="Ann")
    memory.flush()
    triple = memory.space("theirs").triples()[0]
    cursor = memory.space("theirs").messages(limit=1).cursor
    before = memory.space("theirs").stats(), tuple(memory.space("theirs").messages())
    values = {
        "id": "m1", "session": "s1", "speaker": "Zyxwvut", "text": "x", "cursor": cursor,
        "question": "Where does Zyxwvut hide the treasure?", "entity": "Zyxwvut",
        "match": "Zyxwvut", "also": ["treasure"], "without": [triple.uid],
        "query": "MATCH (n) RETURN n", "relation": None, "limit": 100, "k": 100,
        "layer": "episodes",
    }  # fmt: skip

    async def work(client):
        shown = []
        for tool in (await client.list_tools()).tools:
            if tool.name != "add_memory":
                properties = tool.input_schema["properties"]
                needed = tool.input_schema.get("required", [])
                assert properties.keys() <= values.keys() | HARMLESS, "a value for each argument"
                for names in (properties, needed):
                    arguments = {name: values[name] for name in names if name in values}
                    shown.append((tool.name, str(await client.call_tool(tool.name, arguments))))
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        named = [one.uri_template.replace("{entity}", "Zyxwvut") for one in templates]
        assert not any("{" in uri for uri in named)
        for uri in (*named, *listed):
            shown.append((uri, str(await client.read_resource(uri))))
        return shown

    shown = talk(memory, work, space="mine")
    assert len(shown) >= 25
    for name, text in shown:
        for word in ("The treasure", "Narvik", triple.uid):
            assert word not in text, (name, text)
    assert before == (memory.space("theirs").stats(), tuple(memory.space("theirs").messages()))
    assert memory.spaces() == ["mine", "theirs"]


def test_a_question_without_support_gets_nothing_and_says_so(filled):
    async def work(client: Client) -> Any:
        asked = {"question": "asdf qwer", "min_confidence": 0.2}
        return [await client.call_tool(tool, asked) for tool in ("get_context", "search_memories")]

    empty, found = talk(filled, work)
    assert empty.content[0].text.startswith("nothing found: the confidence is 0.")
    assert empty.structured_content["text"] == ""
    assert found.structured_content["memories"] == []
    assert found.structured_content["confidence"] < 0.2

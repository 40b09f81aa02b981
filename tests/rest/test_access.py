"""Keys: what a client may do, and that it learns nothing of other spaces."""

from __future__ import annotations

import sqlite3
import stat
from itertools import combinations
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts

from cognigraph import Memory
from cognigraph.errors import ConfigurationError, NotFoundError, StoreUnavailableError
from cognigraph.server.gate import Rate, ServerLimits
from cognigraph.server.keys import KeyFile
from cognigraph.server.problems import Problem

OTHER = "Zyxwvut"
SECRET = f"{OTHER} hides the treasure in the harbour of Narvik."


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_key_opens_its_spaces_and_is_kept_as_a_hash_only(keys):
    text = keys.create("agent", ["read"], ["ann", "ben"])
    found = keys.find(text)
    assert (found.name, found.permissions, found.spaces) == ("agent", ("read",), ("ann", "ben"))
    assert found.opens("ann") and not found.opens("eve")
    assert found.allows("read") and not found.allows("write")
    assert text.split("_", 2)[2].encode() not in keys.path.read_bytes()
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["{0}x", "x{0}", "{0:.58}", "{1}"])
def test_a_key_that_differs_is_none(keys, change):
    text = keys.create("agent", ["admin"], None)
    assert keys.find(text) is not None
    assert keys.find(change.format(text, text.upper())) is None
    assert keys.find("") is None and keys.find("cg__") is None


def test_a_revoked_key_is_none_and_the_file_still_counts_as_having_keys(keys):
    text = keys.create("agent", ["read", "write"], ["ann"])
    id = keys.find(text).id
    assert keys.revoke(id).revoked_at is not None
    assert keys.find(text) is None
    assert not keys.is_empty()
    with pytest.raises(NotFoundError, match="keys list"):
        keys.revoke(id)


def test_each_look_at_the_file_uses_one_connection_and_sees_what_others_wrote(keys, monkeypatch):
    text = keys.create("agent", ["read"], ["ann"])
    other = keys.create("other", ["read"], ["ben"])
    key = keys.find(text)
    assert key is not None and not keys.is_empty()
    opened: list[str] = []
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: opened.append("") or connect(*a, **k))
    assert keys.find(text) == key and keys.find(text[:-1]) is None and not keys.is_empty()
    assert keys.find(other).spaces == ("ben",) and opened == []
    elsewhere = KeyFile(keys.path)
    elsewhere.revoke(key.id)
    assert keys.find(text) is None and keys.find(other) is not None
    keys.revoke(keys.find(other).id)
    assert keys.find(other) is None


def test_a_key_file_that_is_replaced_or_deleted_is_read_anew(keys, tmp_path):
    text = keys.create("agent", ["read"], None)
    assert keys.find(text) is not None
    fresh = KeyFile(tmp_path / "fresh")
    successor = fresh.create("agent", ["read"], None)
    fresh.path.replace(keys.path)
    assert keys.find(text) is None and keys.find(successor) is not None
    keys.path.unlink()
    assert keys.find(successor) is None and keys.is_empty()


def test_a_name_with_marks_of_a_pattern_is_meant_as_it_is(keys):
    key = keys.find(keys.create("agent", ["read"], ["a[1]", "what?", "team-*"]))
    for space, opens in (
        ("a[1]", True), ("a1", False), ("what?", True), ("whats", False), ("team-x", True),
        ("team-*", True), ("team", False),
    ):  # fmt: skip
        assert key.opens(space) is opens, space


def test_wrong_keys_are_not_made(keys, tmp_path):
    for name, permission, spaces in (
        ("", ["read"], ["a"]), ("n", ["all"], ["a"]), ("n", [], ["a"]), ("n", ["read"], []),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError):
            keys.create(name, permission, spaces)
    assert keys.is_empty() and keys.list() == []
    with pytest.raises(StoreUnavailableError, match="--keys"):
        KeyFile(tmp_path / "none" / "keys").create("n", ["read"], None)


@pytest.mark.slow
def test_without_keys_only_loopback_is_open_until_the_first_key_is_made(serve, keys):
    client = serve(keys=keys)
    assert client.get("/v1/spaces").status_code == 200
    keys.create("agent", ["read"], ["ann"])
    refused = client.get("/v1/spaces")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "cognigraph keys create" in refused.json()["detail"]
    assert client.get("/health").status_code == 200
    keys.revoke(keys.list()[0].id)
    refused = client.get("/v1/spaces")
    assert refused.status_code == 401
    assert "Authorization, after the word Bearer" in refused.json()["detail"]


@pytest.mark.slow
def test_elsewhere_a_key_is_needed_at_once(serve, keys):
    client = serve(keys=keys, is_local=False)
    assert client.get("/v1/spaces").status_code == 401
    for header in ("Bearer cg_a_b", "Basic x", "Bearer", "Bearer \xff"):
        sent = {"Authorization": header.encode("latin-1")}
        assert client.get("/v1/spaces", headers=sent).status_code == 401, header
    key = keys.create("agent", ["read"], None)
    assert client.get("/v1/spaces", headers=bearer(key)).json() == {"items": []}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "127.0.0.1.attacker.example:8700"},
        {"Origin": "https://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_another_web_page_cannot_use_a_server_on_loopback(client, headers):
    assert client.get("/v1/spaces", headers=headers).status_code == 403
    assert client.get("/v1/spaces", headers={"Origin": "http://127.0.0.1:8700"}).status_code == 200


def test_behind_a_proxy_the_host_may_be_any_as_soon_as_keys_are_needed(serve, keys):
    client, headers = serve(keys=keys), {"Host": "memory.example"}
    assert client.get("/v1/spaces", headers=headers).status_code == 403
    headers |= bearer(keys.create("agent", ["read"], None))
    assert client.get("/v1/spaces", headers=headers).status_code == 200
    assert client.get("/v1/spaces", headers={**headers, "Origin": "http://x.y"}).status_code == 403


@pytest.mark.slow
def test_a_client_that_asks_too_often_waits(serve):
    client = serve(limits=ServerLimits(rate=1))
    answers = [client.get("/v1/spaces") for _ in range(30)]
    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["retryable"] is True


def test_a_bucket_fills_up_again_and_others_have_their_own():
    rate = Rate(2)
    for _ in range(4):
        rate.take("a", now=0.0)
    with pytest.raises(Problem):
        rate.take("a", now=0.4)
    rate.take("b", now=0.4)
    rate.take("a", now=0.6)


# Every route, with a key for another space.

CALLS: dict[str, dict[str, Any]] = {
    "add": {"text": "x"},
    "add_many": {"messages": [{"text": "x"}]},
    "add_fact": {"subject": "Ann", "relation": "likes", "object": "tea"},
    "update": {"text": "x"},
    "forget": {"everything": True},
    "search": {"question": "Where is the treasure?"},
    "search_spaces": {"question": "Where is the treasure?", "spaces": ["theirs"]},
    "ask": {"question": "Where is the treasure?"},
    "context": {"question": "Where is the treasure?"},
    "why": {"question": "Where is the treasure?", "expect": "m1"},
    "cypher": {"query": "MATCH (n) RETURN n"},
    "supersede": {"old": "x", "new": "y"},
    "retract": {"fact": "x"},
    "restore": {"fact": "x"},
    "merge": {"name": OTHER, "into": "x"},
    "split": {"name": OTHER},
    "copy_space": {"to": "mine"},
}
"""The bodies of requests that need more than `{}`."""
QUERIES = {
    "history": {"entity": OTHER},
    "profile": {"entity": OTHER},
    "summaries": {"session": "s1"},
}
"""The queries of requests that need one."""


def operations(client):
    """Every route of the API: its name, methods and path."""
    document = client.get("/openapi.json").json()
    found = [
        (operation["operationId"], method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(found) == len({name for name, _, _ in found}) > 30
    assert {(method, path) for _, method, path in found} == routes(client.app)
    return found


def routes(app):
    """The methods and paths of the application itself, so that none is left out of the document."""
    contexts = list(iter_route_contexts(app.router.routes))
    assert [context.path for context in contexts if not context.methods] == [
        "/page"
    ]  # the files of the page
    found = {(method, context.path) for context in contexts for method in context.methods or ()}
    return {item for item in found if item[0] != "HEAD" and item[1] not in UNDESCRIBED}


UNDESCRIBED = {"/", "/docs", "/openapi.json"}
"""The page and the document itself; neither has anything of a memory."""


def call(client, name, method, path, space, key):
    where = path.format(space=space, id="m1")
    body = None if method in ("GET", "DELETE") else CALLS.get(name, {})
    params = QUERIES.get(name, {})
    return client.request(method, where, json=body, params=params, headers=bearer(key))


@pytest.fixture
def two_spaces(serve, keys, tmp_path, clock):
    """A server with a space of another client, which holds the secret, and one of ours."""
    with Memory(tmp_path / "memory.db", enrich="manual", clock=clock) as memory:
        memory.space("theirs").add(SECRET, id="m1", session="s1", speaker=OTHER)
        memory.space("mine").add("Ann likes tea.", id="m1", session="s1", speaker="Ann")
        memory.flush()
        limits = ServerLimits(rate=0)
        yield serve(memory=memory, keys=keys, is_local=False, limits=limits), memory


@pytest.mark.slow
def test_no_route_shows_or_changes_a_space_to_the_key_of_another(two_spaces, keys):
    client, memory = two_spaces
    key = keys.create("agent", ["admin"], ["mine"])
    before = _content(memory)
    for name, method, path in operations(client):
        if path.startswith("/v1/spaces/{space}"):
            for space in ("theirs", "nobody's", "m%69ne%2F..%2Ftheirs", "theirs%00", "*"):
                answer = call(client, name, method, path, space, key)
                assert answer.status_code == 403, (name, space, answer.text)
                if space == "theirs":
                    there = answer.json()
                assert answer.json() == there, name  # the same whether the space exists or not
        else:
            answer = call(client, name, method, path, "", key)
            assert answer.status_code == (200 if path in PUBLIC else 403), name
        assert OTHER not in answer.text and "treasure" not in answer.text, name
    assert client.get("/v1/spaces", headers=bearer(key)).json() == {"items": ["mine"]}
    assert _content(memory) == before


PUBLIC = {"/v1/spaces", "/health", "/ready"}
"""Paths that show nothing of a space to anyone."""


def _content(memory):
    return [
        (name, memory.space(name).stats(), tuple(memory.space(name).messages()))
        for name in memory.spaces()
    ]


@pytest.mark.slow
def test_each_route_asks_for_the_permissions_that_its_operation_needs(two_spaces, keys):
    """The fewest permissions with which each route can be called; a key of all but these cannot."""
    client, memory = two_spaces
    made = {
        given: keys.create("-".join(given), given, None)
        for size in (1, 2, 3)
        for given in combinations(("read", "write", "forget"), size)
    }
    made["admin",] = keys.create("admin", ["admin"], None)
    for name, method, path in operations(client):
        answers = {
            given: call(client, name, method, path, "nobody", key).status_code != 403
            for given, key in made.items()
            if name not in ("delete_space", "copy_space") or given != ("admin",)
        }
        needed = NEEDED.get(name, ("read",))
        if path in PUBLIC:
            needed = ()
        expected = {given: given == ("admin",) or {*needed} <= {*given} for given in answers}
        assert answers == expected, name
    for key in made.values():  # counting is for all who may forget, but not seeing what would go
        sent = {"everything": True, "dry_run": True}
        answer = client.post("/v1/spaces/mine/forget", json=sent, headers=bearer(key))
        allowed = {given for given in made if {"read", "forget"} <= {*given}} | {("admin",)}
        assert (answer.status_code == 200) == (key in {made[given] for given in allowed})
    assert memory.spaces() == ["mine", "theirs"]


NEEDED = {
    **dict.fromkeys("add add_many add_fact enrich flush import_file load".split(), ("write",)),
    **dict.fromkeys(
        "update supersede retract restore merge split redo retry".split(), ("read", "write")
    ),
    **dict.fromkeys(("delete", "forget"), ("forget",)),
    **dict.fromkeys(
        "delete_space copy_space audit audit_log info check metrics".split(), ("admin",)
    ),
}


@pytest.mark.slow
def test_without_a_key_nothing_but_the_page_and_health_answers(two_spaces, keys):
    client, _ = two_spaces
    for name, method, path in operations(client):
        answer = call(client, name, method, path, "theirs", "cg_a_b")
        assert answer.status_code == (200 if path in {"/health", "/ready"} else 401), name

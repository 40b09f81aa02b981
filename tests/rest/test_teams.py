"""A team on one server: keys with permissions and patterns, who wrote what, and one search."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from cognigraph import Memory
from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.server import keys as key_module
from cognigraph.server.gate import ServerLimits
from cognigraph.server.keys import KeyFile
from tests.e2e.command_line import run_here
from tests.servers.served import served

BOILER = "The boiler was repaired in May."


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_a_pattern_opens_the_spaces_that_match_and_no_other(keys):
    found = keys.find(keys.create("team", ["read"], ["team-*", "a[1]?"]))
    assert [found.opens(name) for name in ("team-", "team-a", "team-a/b\n", "a[1]?")] == [True] * 4
    assert not any(found.opens(name) for name in ("team", "Team-a", "xteam-a", "a1b", "a[1]b", "*"))
    assert found.spaces == ("a[[]1][?]", "team-*")


def test_a_key_expires_and_its_successor_is_valid_beside_it(keys, monkeypatch):
    start = datetime(2026, 6, 1, tzinfo=UTC)
    now = [start]
    monkeypatch.setattr(key_module, "_now", lambda: now[0])
    first = keys.create("agent", ["read"], ["team-*"], expires_at=start + timedelta(days=30))
    with pytest.raises(ConfigurationError, match="keys rotate"):
        keys.create("agent", ["read"], None)
    with pytest.raises(ConfigurationError, match="expired already"):
        keys.create("late", ["read"], None, expires_at=start)
    now[0] = start + timedelta(days=10)
    second, old = keys.rotate(keys.find(first).id, timedelta(hours=1))
    assert old.expires_at == now[0] + timedelta(hours=1)
    assert keys.find(second).expires_at == now[0] + timedelta(days=30)
    assert (keys.find(second).name, keys.find(second).spaces) == ("agent", ("team-*",))
    assert keys.find(first) is not None
    now[0] += timedelta(hours=1)
    assert keys.find(first) is None and keys.find(second) is not None
    now[0] += timedelta(days=30)
    assert keys.find(second) is None


def test_a_key_file_of_the_first_format_is_read(tmp_path):
    path = tmp_path / "old.keys"
    secret = "s" * 43
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """CREATE TABLE key (id TEXT PRIMARY KEY, name TEXT NOT NULL, digest BLOB NOT NULL,
                 permission TEXT NOT NULL, every_space INTEGER NOT NULL, created_at TEXT NOT NULL,
                 revoked_at TEXT) STRICT;
               CREATE TABLE key_space (key TEXT NOT NULL REFERENCES key (id), space TEXT NOT NULL,
                 PRIMARY KEY (key, space)) STRICT;"""
        )
        for id, permission in (("a", "read"), ("b", "write"), ("c", "admin")):
            connection.execute(
                "INSERT INTO key VALUES (?, ?, ?, ?, 0, '2026-01-01T00:00:00+00:00', NULL)",
                (id, id, key_module._digest(secret), permission),
            )
            connection.execute("INSERT INTO key_space VALUES (?, 'team*')", (id,))
    connection.close()
    keys = KeyFile(path)
    found = [keys.find(f"cg_{id}_{secret}") for id in "abc"]
    assert [item.permissions for item in found] == [
        ("read",), ("read", "write", "forget"), ("admin",),
    ]  # fmt: skip
    assert found[0].opens("team*") and not found[0].opens("team-a")  # its star was no pattern
    assert keys.log(10) == []
    assert keys.find(keys.create("new", ["forget"], ["x"])).permissions == ("forget",)
    assert [entry.action for entry in keys.log(10)] == ["create key"]


def test_a_key_file_of_the_second_format_gets_a_log(keys):
    made = keys.create("agent", ["read"], ["team-*"])
    with sqlite3.connect(keys.path) as connection:
        connection.execute("DROP TABLE key_log")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    id = keys.find(made).id
    assert keys.log(10) == []
    keys.revoke(id, by="ann")
    assert [(entry.action, entry.by, entry.subjects) for entry in keys.log(10)] == [
        ("revoke key", "ann", (id,))
    ]


@pytest.mark.slow
def test_what_is_done_with_keys_is_in_the_log(team, keys):
    client, _ = team
    root = bearer(keys.create("root", ["admin"], None, by="ann"))
    first = keys.create("agent", ["write", "read"], ["team-*", "a[1]"], by="ann")
    old = keys.find(first).id
    second, _ = keys.rotate(old, timedelta(hours=1), by="ben")
    new = keys.find(second).id
    keys.revoke(new)
    with pytest.raises(NotFoundError):
        keys.revoke(new)
    client.delete("/v1/spaces/team-a/messages/m1", headers=root)
    log = client.get("/v1/audit", headers=root).json()["items"]
    assert [(item["space"], item["action"], item["by"]) for item in log] == [
        ("", "revoke key", None), ("", "rotate key", "ben"), ("", "create key", "ann"),
        ("", "create key", "ann"), ("team-a", "forget", "root"),
    ]  # fmt: skip
    assert [item["subjects"] for item in log[:3]] == [[new], [old, new], [old]]
    assert log[2]["details"] == {
        "name": "agent", "permissions": ["read", "write"], "spaces": ["a[[]1]", "team-*"],
        "expires_at": None,
    }  # fmt: skip
    assert not any(key.split("_", 2)[2] in str(log) for key in (first, second))
    page = client.get("/v1/audit?limit=2", headers=root).json()
    rest = client.get(f"/v1/audit?limit=9&cursor={page['next']}", headers=root).json()
    assert page["items"] + rest["items"] == log
    boss = bearer(keys.create("boss", ["admin"], ["team-*"]))
    assert "create key" not in client.get("/v1/spaces/team-a/audit", headers=boss).text
    with sqlite3.connect(keys.path) as connection:
        for statement in ("UPDATE key_log SET by = 'x'", "DELETE FROM key_log"):
            with pytest.raises(sqlite3.IntegrityError, match="append only"):
                connection.execute(statement)
    connection.close()


@pytest.fixture
def team(serve, keys, tmp_path, clock):
    """Spaces of a team and of another one."""
    with Memory(tmp_path / "memory.db", enrich="manual", clock=clock) as memory:
        for name in ("team-a", "team-b", "elsewhere"):
            memory.space(name).add(f"{BOILER} Says {name}.", id="m1", speaker="Ann")
        limits = ServerLimits(rate=0)
        yield serve(memory=memory, keys=keys, is_local=False, limits=limits), memory


@pytest.mark.slow
def test_all_spaces_that_a_key_may_read_are_searched(team, keys):
    client, _ = team
    key = bearer(keys.create("team", ["read"], ["team-*"]))
    found = client.post("/v1/search", json={"question": "boiler"}, headers=key)
    assert {item["space"] for item in found.json()["hits"]} == {"team-a", "team-b"}
    assert "results" not in found.json()
    explained = client.post("/v1/search?explain=true", json={"question": "boiler"}, headers=key)
    assert explained.json()["results"].keys() == {"team-a", "team-b"}
    assert "elsewhere" not in explained.text
    # A space that a key may not read is refused in the same words whether it exists or not.
    named = [
        client.post("/v1/search", json={"question": "b", "spaces": ["team-a", item]}, headers=key)
        for item in ("elsewhere", "nobody")
    ]
    assert [item.status_code for item in named] == [403, 403]
    assert named[0].json() == named[1].json()
    writer = bearer(keys.create("writer", ["write"], ["team-*"]))
    assert client.post("/v1/search", json={"question": "b"}, headers=writer).json()["hits"] == []
    assert client.get("/v1/spaces", headers=writer).json() == {"items": []}
    assert client.get("/v1/spaces", headers=key).json() == {"items": ["team-a", "team-b"]}


def test_too_many_spaces_are_refused(team, keys, monkeypatch):
    client, _ = team
    monkeypatch.setattr("cognigraph.server.routes.spaces.MOST_SPACES", 1)
    key = bearer(keys.create("team", ["read"], ["team-*"]))
    refused = client.post("/v1/search", json={"question": "boiler"}, headers=key)
    assert (refused.status_code, "2 spaces" in refused.json()["detail"]) == (400, True)


@pytest.mark.slow
def test_messages_and_the_log_name_the_key(team, keys):
    client, _ = team
    agent = bearer(keys.create("agent", ["read", "write"], ["team-*"]))
    eraser = bearer(keys.create("eraser", ["forget"], ["team-a"]))
    boss = bearer(keys.create("boss", ["admin"], ["team-*"]))
    root = bearer(keys.create("root", ["admin"], None))
    path = "/v1/spaces/team-a"
    sent = {"text": "Ann lives in Oslo.", "id": "m2", "written_by": "boss"}
    assert client.post(f"{path}/messages", json=sent, headers=agent).status_code == 201
    stored = client.get(f"{path}/messages/m2", headers=agent).json()
    assert (stored["written_by"], stored["metadata"]) == ("agent", {"written_by": "boss"})
    asked = {"question": "Where does Ann live?", "expect": "m2"}
    assert (
        client.post(f"{path}/why", json=asked, headers=agent).json()["expected"]["written_by"]
        == "agent"
    )
    gone = client.request("DELETE", f"{path}/messages/m2", headers=eraser)
    assert gone.status_code == 200
    assert client.get(f"{path}/messages", headers=eraser).status_code == 403
    client.delete("/v1/spaces/team-b", headers=boss)
    log = client.get(f"{path}/audit", headers=boss).json()["items"]
    assert [(item["action"], item["by"], item["details"]["messages"]) for item in log] == [
        ("forget", "eraser", 1)
    ]
    assert "Oslo" not in str(log) and "m2" not in str(log)
    assert client.get("/v1/audit", headers=boss).status_code == 403  # a key of some spaces
    first = client.get("/v1/audit?limit=5", headers=root)
    whole = first.json()["items"]
    assert [item["action"] for item in whole[:4]] == ["create key"] * 4  # the clock stands still
    assert [(item["space"], item["action"], item["by"]) for item in whole[4:]] == [
        ("team-b", "delete space", "boss")
    ]
    rest = client.get(f"/v1/audit?limit=1&cursor={first.json()['next']}", headers=root).json()
    assert (rest["items"], rest["next"]) == (log, None)


@pytest.mark.slow
def test_keys_on_a_server_that_runs(tmp_path: Path) -> None:
    db = tmp_path / "m.db"

    def keys_command(*words: str) -> str:
        made = run_here("keys", *words, "--db", db, folder=tmp_path)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    first = keys_command("create", "agent", "--for", "team-*", "--permission", "read,write")
    with served("serve", "--port", 0, "--db", db) as server:

        def add(key: str, space: str) -> int:
            where = f"{server.url}/v1/spaces/{space}/messages"
            return httpx.post(where, json={"text": "Hello."}, headers=bearer(key)).status_code

        assert [add(first, space) for space in ("team-a", "elsewhere")] == [201, 403]
        id = first.split("_")[1]
        second = keys_command("rotate", id, "--overlap", "1")
        assert [add(key, "team-b") for key in (first, second)] == [201, 201]
        keys_command("revoke", id)
        assert [add(key, "team-c") for key in (first, second)] == [401, 201]
        asked = {"question": "Who said hello?"}
        found = httpx.post(f"{server.url}/v1/search", json=asked, headers=bearer(second)).json()
        spaces = {item["space"] for item in found["hits"]}
        assert spaces == {"team-a", "team-b", "team-c"}
    listed = keys_command("list")
    assert "read, write" in listed and "revoked 20" in listed and "for good" in listed

"""Who wrote what, and the log of decisions, corrections and removals, on every store."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cognigraph import (
    ConfigurationError,
    Memory,
    NotFoundError,
    Retention,
    RetentionSettings,
    Settings,
)
from cognigraph.ids import chunk_uid, message_uid
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.server.app import ServerSettings, create_app
from cognigraph.server.gate import ServerLimits
from cognigraph.server.keys import KeyFile
from tests.conftest import START

SECRET = "Zyxwvut"


@pytest.fixture
def memory(open_memory: Any) -> Memory:
    return open_memory(extractor=RulesExtractor())


def actions(memory: Memory, space: str) -> list[tuple[Any, ...]]:
    return [(item.action, item.by) for item in memory.admin.audit(space)]


@pytest.mark.slow
def test_a_message_keeps_who_wrote_it(memory: Memory, space_name: str, tmp_path: Path) -> None:
    agent = memory.space(space_name, by="agent")
    agent.add("I live in Oslo.", id="m1", session="s", at=START)
    agent.add_many([{"role": "user", "content": "Hello.", "id": "m2", "written_by": "me"}])
    agent.add_fact("Ann", "lives in", "Oslo", id="f1", at=START)
    memory.space(space_name).add("Nobody says who.", id="m3", at=START)
    found = {message.id: message.written_by for message in agent.messages()}
    assert found == {"m1": "agent", "m2": "agent", "f1": "agent", "m3": None}
    assert agent.get("m2").metadata == {"written_by": "me"}  # type: ignore[union-attr]
    assert agent.why("Where do I live?", "m1").expected.written_by == "agent"
    with pytest.raises(ConfigurationError, match="by must be"):
        memory.space(space_name, by=" ")

    memory.space(space_name, by="editor").update("m1", "I live in Bergen.", session="s")
    assert agent.get("m1", "s").written_by == "editor"  # type: ignore[union-attr]

    # An export and a copy keep it; who loads a file under a name has written all of it.
    agent.files.export(tmp_path / "space.jsonl", derived=True)
    plain, named = memory.space(f"{space_name}-a"), memory.space(f"{space_name}-b", by="loader")
    assert plain.files.load(tmp_path / "space.jsonl") == 4
    assert {message.id: message.written_by for message in plain.messages()} == found | {
        "m1": "editor"
    }
    named.files.load(tmp_path / "space.jsonl")
    assert {message.written_by for message in named.messages()} == {"loader"}


@pytest.mark.slow
def test_decisions_and_removals_are_logged_without_texts(memory: Memory, space_name: str) -> None:
    space, ann = memory.space(space_name), memory.space(space_name, by="ann")
    for number, city in enumerate(("Bergen", "Oslo", SECRET)):
        text = f"I live in {city}."
        space.add(text, id=f"m{number}", speaker="Ann", at=START + timedelta(days=number))
    space.add("I work at Equinor.", id="m3", session="w", speaker="Ben", at=START)
    space.flush()
    facts = {fact.object: fact.uid for fact in space.facts()}
    ann.review.supersede(facts["Bergen"], facts["Oslo"], reason=f"{SECRET} said so")
    ann.review.retract(facts["Oslo"])
    space.review.restore(facts["Oslo"])
    with pytest.raises(NotFoundError):
        ann.review.retract("0" * 32)
    ann.review.merge("Bergen", into="Oslo")
    ann.review.split("Bergen")
    with pytest.raises(NotFoundError):
        ann.review.split("Equinor")
    ann.update("m1", "I live in Lima.")
    ann.update("m1", "I live in Lima.")  # it has this text already
    ann.forget(message="m2", dry_run=True)
    ann.forget(message="m2")
    ann.forget(speaker="Ben", allow_again=True)
    ann.forget(speaker="Nobody")
    assert actions(memory, space_name) == [
        ("forget", "ann"), ("forget", "ann"), ("update", "ann"), ("split", "ann"),
        ("merge", "ann"), ("restore", None), ("retract", "ann"), ("supersede", "ann"),
    ]  # fmt: skip
    again, forgotten, updated, *_, superseded = memory.admin.audit(space_name)
    assert superseded.subjects == (facts["Bergen"], facts["Oslo"])
    assert updated.subjects == (chunk_uid(message_uid(space_name, "default", "m1"), 0),)
    assert forgotten.subjects == (chunk_uid(message_uid(space_name, "default", "m2"), 0),)
    assert forgotten.details["criteria"] == ["message"] and forgotten.details["messages"] == 1
    assert again.subjects == () and again.details["criteria"] == ["speaker"]
    assert memory.admin.audit(space_name, 2, 1) == memory.admin.audit(space_name)[1:3]
    shown = repr(memory.admin.audit(space_name))
    assert not any(item in shown for item in (SECRET, "Bergen", "Equinor", "Ben"))


@pytest.mark.slow
def test_the_log_outlives_the_space_and_no_query_sees_it(memory: Memory, space_name: str) -> None:
    space = memory.space(space_name, by="ann")
    space.add("I live in Oslo.", id="m1", at=START)
    space.forget(everything=True)
    space.add("I live in Lima.", id="m2", at=START)
    assert space.cypher("MATCH (n) WHERE n.action IS NOT NULL RETURN n.action AS a") == []
    memory.admin.delete_space(space_name, by="root")
    memory.admin.delete_space(space_name, by="root")  # there is nothing left
    assert actions(memory, space_name) == [("delete space", "root"), ("forget", "ann")]
    everything, whole = (memory.admin.audit(name, 1000) for name in (space_name, None))
    assert [item for item in whole if item.space == space_name] == everything


@pytest.mark.slow
def test_a_key_of_one_space_learns_nothing_of_another(
    memory: Memory, space_name: str, tmp_path: Path
) -> None:
    keys = KeyFile(tmp_path / "keys")
    mine, other = f"{space_name}-mine", f"{space_name}-other"
    headers = {
        space: {"Authorization": f"Bearer {keys.create(name, ['admin'], [pattern])}"}
        for space, name, pattern in ((mine, "ann", f"{space_name}-m*"), (other, "ben", other))
    }
    app = create_app(memory, ServerSettings(keys=keys, limits=ServerLimits(rate=0)))
    with TestClient(app, base_url="http://localhost") as client:

        def ask(method: str, space: str, path: str, key: str, **given: Any) -> Any:
            url = f"/v1/spaces/{space}/{path}"
            return client.request(method, url, headers=headers[key], **given)

        for space in (mine, other):
            for id in ("m1", "m2"):
                said = {"text": f"I live in {space}.", "id": id, "at": "2026-05-20T09:00:00Z"}
                assert ask("POST", space, "messages", space, json=said).status_code == 201
            assert ask("DELETE", space, "messages/m2", space).status_code == 200
        for space, by in ((mine, "ann"), (other, "ben")):
            stored = ask("GET", space, "messages", space).json()["items"]
            assert [(item["id"], item["written_by"]) for item in stored] == [("m1", by)]
            log = ask("GET", space, "audit", space).json()["items"]
            assert [(item["space"], item["action"], item["by"]) for item in log] == [
                (space, "forget", by)
            ]
            rows = {"query": "MATCH (n) RETURN n.written_by AS by, n.action AS action"}
            shown = ask("POST", space, "cypher", space, json=rows).json()["rows"]
            assert {row["by"] for row in shown} - {None} <= {by}
            assert {row["action"] for row in shown} <= {None}
        for path in ("messages", "audit", "messages/m1"):
            refused = [ask("GET", space, path, mine) for space in (other, f"{space_name}-none")]
            assert [answer.status_code for answer in refused] == [403, 403]
            assert refused[0].json() == refused[1].json()
        assert client.get("/v1/audit", headers=headers[mine]).status_code == 403
        assert client.get("/v1/spaces", headers=headers[mine]).json() == {"items": [mine]}


def test_what_expires_is_logged(open_memory: Any, space_name: str) -> None:
    rules = RetentionSettings(rules=(Retention(keep=timedelta(days=1)),))
    memory = open_memory(settings=Settings(retention=rules))
    memory.space(space_name).add("A note.", id="m1", at=START - timedelta(days=400))
    assert memory.space(space_name, by="ann").forget(expired=True).messages == 1
    (entry,) = memory.admin.audit(space_name)
    assert (entry.action, entry.by, entry.details["criteria"]) == ("forget", "ann", ["expired"])

"""The facade with mem0's calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognigraph import ConfigurationError, Memory
from cognigraph.integrations.mem0 import Mem0Memory

pytestmark = pytest.mark.slow


@pytest.fixture
def mem0(memory: Memory) -> Mem0Memory:
    return Mem0Memory(memory)


def test_memories_are_added_found_changed_and_deleted(mem0: Mem0Memory) -> None:
    chat = [
        {"role": "user", "content": "I love Thai food."},
        {"role": "assistant", "content": "Noted!"},
    ]
    added = mem0.add(chat, user_id="alice", run_id="r1", metadata={"topic": "food"})["results"]
    assert [(item["memory"], item["event"]) for item in added] == [
        ("I love Thai food.", "ADD"), ("Noted!", "ADD"),
    ]  # fmt: skip
    mem0.add("I hate Thai food.", user_id="bob")
    mem0.add("I live in Oslo.", user_id="alice", timestamp="2024-05-01T00:00:00Z")
    found = mem0.search("What food do I like?", filters={"user_id": "alice"}, top_k=1)["results"]
    assert found[0]["memory"] == "I love Thai food." and found[0]["score"] > 0
    assert (found[0]["user_id"], found[0]["run_id"]) == ("alice", "r1")
    assert found[0]["metadata"] == {"topic": "food"}
    only = mem0.search("Thai", filters={"user_id": "alice", "topic": "art"})["results"]
    assert only == []
    everything = mem0.get_all(filters={"user_id": "alice"})["results"]
    assert [item["memory"] for item in everything][-1] == "I live in Oslo."
    assert everything[-1]["created_at"] == "2024-05-01T00:00:00+00:00"
    id = added[0]["id"]
    mem0.update(id, data="I love Thai curry.")
    assert mem0.get(id)["memory"] == "I love Thai curry."  # type: ignore[index]
    assert [(item["event"], item["old_memory"]) for item in mem0.history(id)] == [
        ("ADD", None), ("UPDATE", "I love Thai food."),
    ]  # fmt: skip
    mem0.delete(id)
    assert mem0.get(id) is None and mem0.history(id) == []
    with pytest.raises(ValueError, match="not found"):
        mem0.delete(id)


def test_equal_texts_are_different_memories_and_owners_are_apart(mem0: Mem0Memory) -> None:
    for _ in range(2):
        mem0.add({"role": "user", "content": "Hello."}, user_id="alice", agent_id="a", run_id="r1")
    mem0.add("Hello.", user_id="alice", run_id="r2")
    mem0.add("Hello.", agent_id="a")
    count = lambda **filters: len(mem0.get_all(filters=filters)["results"])  # noqa: E731
    assert (count(user_id="alice"), count(user_id="alice", run_id="r1")) == (3, 2)
    assert (count(agent_id="a"), count(user_id="bob")) == (1, 0)
    mem0.delete_all(user_id="alice", run_id="r1")
    assert (count(user_id="alice"), count(agent_id="a")) == (1, 1)
    mem0.delete_all(user_id="alice")
    assert (count(user_id="alice"), count(agent_id="a")) == (0, 1)
    mem0.reset()
    assert count(agent_id="a") == 0
    for call in (lambda: mem0.add("x"), lambda: mem0.search("x"), lambda: mem0.delete_all()):
        with pytest.raises(ConfigurationError, match="say whose memory it is"):
            call()
    with pytest.raises(ConfigurationError, match="several"):
        mem0.delete_all(user_id="a", agent_id="b")


DATA = Path(__file__).parents[1] / "data" / "imports"


def test_a_dump_is_found_by_the_calls_of_either_version(memory: Memory, mem0: Mem0Memory) -> None:
    report = memory.admin.import_spaces(DATA / "mem0.json", skip_invalid=True)
    assert (report.new, report.rejected_count) == (2, 1)
    assert [*report.spaces] == memory.spaces() == ["user_id:alice"]
    (lives,) = mem0.search("Where does she live?", user_id="alice", limit=1)["results"]
    assert (lives["memory"], lives["user_id"], lives["run_id"]) == ("Lives in Oslo", "alice", "r1")
    assert (lives["created_at"], lives["updated_at"]) == (
        "2025-01-01T10:00:00", "2025-02-01T10:00:00",
    )  # fmt: skip
    (same,) = mem0.search("Oslo", filters={"user_id": "alice", "run_id": "r1"})["results"]
    assert same["id"] == lives["id"] and mem0.get(lives["id"]) is not None
    assert mem0.search("Oslo", user_id="bob")["results"] == []
    likes = mem0.search("cricket", user_id="alice", filters={"category": "hobby"})["results"]
    assert [(item["memory"], item["hash"], item["metadata"]) for item in likes] == [
        ("Likes cricket", "h", {"category": "hobby"})
    ]
    assert len(mem0.get_all(user_id="alice", run_id="r1")["results"]) == 1
    mem0.add("I moved to Hamar.", user_id="alice")
    assert len(mem0.get_all(user_id="alice", limit=2)["results"]) == 2
    again = memory.admin.import_spaces(DATA / "mem0.json", skip_invalid=True)
    assert (again.new, again.known) == (0, 2)


def test_each_owner_of_a_dump_has_a_space(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text(
        '{"id": "p1", "payload": {"data": "Likes tea", "user_id": "alice", "agent_id": "a"}}\n'
        '{"id": "p2", "payload": {"data": "Answers briefly", "agent_id": "a"}}\n'
        '{"id": "p3", "payload": {"data": "Was lost", "user_id": "' + "x" * 3000 + '"}}\n'
        '{"id": "p4", "payload": {"data": "Belongs to nobody"}}\n',
        "utf-8",
    )
    report = memory.admin.import_spaces(path, format="mem0", skip_invalid=True)
    assert report.spaces == ("user_id:alice", "agent_id:a", "default")
    assert [bad.line for bad in report.rejected] == [3]
    assert "no name of a space" in report.rejected[0].reason
    texts = {
        name: [message.text for message in memory.space(name).messages()] for name in report.spaces
    }
    assert texts == {
        "user_id:alice": ["Likes tea"],
        "agent_id:a": ["Answers briefly"],
        "default": ["Belongs to nobody"],
    }
    alone = memory.space("one").files.import_file(path, format="mem0", skip_invalid=True)
    assert (alone.spaces, alone.new) == (("one",), 3)

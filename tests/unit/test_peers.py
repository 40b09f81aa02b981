"""The comparison with other memories: scoring, the protocol, and the answers of the model stub."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from bench.peers import (
    conversations,
    driver,
    environments,
    measures,
    scoring,
    tables,
    trials,
)
from bench.peers.__main__ import as_json
from bench.peers.answers import Answers, asked_schema, least, sentence
from bench.peers.catalog import MEMORIES, chosen
from bench.peers.conversations import Conversation, Question
from bench.peers.driver import Limit, OverTimeError, Peer, PeerDiedError, PeerError
from bench.peers.stub import running
from bench.recorded import RecordedFact, RecordedSession
from cognigraph.testing import HashEmbedder

TEXTS = {"m1": "I moved to Oslo.", "m2": "Oslo is  cold.", "m3": "moved"}
MESSAGES: list[dict[str, Any]] = [
    {"id": id, "session": "s", "speaker": "Ann", "text": text, "at": "2026-05-20T09:00:00+00:00"}
    for id, text in TEXTS.items()
]
MOVED = RecordedFact("Ann", "person", "moved to", "Oslo", "place", ("m1", "m2"), when="2026-05")


def talk() -> Conversation:
    session = RecordedSession("s", ("Oslo",), (), (MOVED,))
    question = Question("Where?", frozenset({"m1"}), "single-hop")
    return Conversation("talk", tuple(MESSAGES), (question,), {"s": session}, "2026-05-21")


def test_hits_lead_to_distinct_messages_in_their_order():
    hits = [{"ids": ["m2", "m1"]}, {"ids": ["m1", "m3"]}]
    assert scoring.ranked(hits, TEXTS, 15) == ["m2", "m1", "m3"]
    assert scoring.ranked(hits, TEXTS, 2) == ["m2", "m1"]


def test_a_text_leads_to_the_messages_that_it_contains_whole():
    found = scoring.ranked([{"text": "Ann: Oslo is cold. Ann: I moved to Oslo!"}], TEXTS, 15)
    assert found == ["m2", "m1", "m3"]
    assert scoring.contained("Ann moved", TEXTS) == ["m3"]
    assert scoring.contained("removed", TEXTS) == []


def test_the_warm_up_does_not_count():
    warm_up = [900.0] * scoring.WARM_UP
    assert scoring.spread([*warm_up, 1.0, 3.0]) == {"p50": 2.0, "p95": 2.9}
    curve = scoring.curve([1, 2, 3, 40, 50], [1.0, 1.0, 5.0, 5.0, 9.0], points=2)
    assert curve == [[2, 1.0], [40, 5.0]]


def test_what_became_of_messages():
    found = scoring.kept(["m1", "m1", "m3"], {"m1", "m2"}, {"m3", "m4"})
    assert found == {
        "acknowledged": 2, "refused": 2, "lost": 1, "refused_but_kept": 1, "doubled": 1,
    }  # fmt: skip


def test_the_outcome_of_a_trial_names_the_worst_first():
    fine = {"lost": 0, "doubled": 0, "refused": 0}
    assert tables.outcome(fine) == "all kept"
    assert tables.outcome({"unusable": "error"}) == "cannot be used afterwards"
    assert tables.outcome({"stopped_after_s": 1200.0}) == "stopped after 20 min"
    bad = fine | {"lost": 2, "refused": 4, "surplus_entities": 9, "could_not_open": 3}
    assert tables.outcome(bad) == "2 lost, 9 surplus entities, 4 refused, 3 of 5 could not open"


def test_a_result_does_not_name_the_folders_of_the_machine(tmp_path: Path):
    adapter = Path(driver.__file__).parent / "adapters" / "mem0_memory.py"
    found = json.loads(as_json({"error": f"{tmp_path}/qdrant is held by {adapter}"}, tmp_path))
    assert found == {"error": "FOLDER/qdrant is held by ./bench/peers/adapters/mem0_memory.py"}


def test_the_page_says_which_memory_got_whole_sessions():
    results = Path(driver.__file__).parents[1] / "results"
    found = json.loads((results / "peers-run.json").read_text("utf-8"))
    cognee = found["memories"]["cognee"]
    cognee["added_singly"] = 45
    assert "\n\ncognee got 45 of the messages one at a time" in tables.summary(found)
    cognee["added_singly"] = cognee["messages"]
    assert "one at a time" not in tables.summary(found)


def test_times_have_ratios_to_cognigraph_with_a_model():
    own, other = {"search_ms": {"p50": 8.0}}, {"search_ms": {"p50": 30.0}}
    found = {"memories": {tables.BASE: own, "other": other}}
    assert tables.times(found, other, "search_ms") == "30 ms (× 3.8)"
    assert tables.times(found, {"search_ms": None}, "search_ms") == ""
    assert [tables.number(each) for each in (0, 0.1234, 12.34, 1234.5)] == [
        "0", "0.123", "12.3", "1,234",
    ]  # fmt: skip


def test_a_conversation_is_cut_to_whole_sessions():
    messages = [{"id": f"{s}{n}", "session": s} for s in "abc" for n in range(3)]
    assert [m["id"] for m in conversations.whole_sessions(messages, 7)] == [
        "a0", "a1", "a2", "b0", "b1", "b2",
    ]  # fmt: skip
    assert len(conversations.whole_sessions(messages, 1)) == 3


def test_a_slow_memory_gets_whole_sessions_in_the_middle():
    messages = tuple({"id": f"{s}{n}", "session": s} for s in "abcd" for n in range(2))
    one = Conversation("one", messages[:6], (), {}, "")
    two = Conversation("two", messages[6:], (), {}, "")
    added = [
        (space, [message["id"] for message in part])
        for space, part in measures.parts([one, two], (1, 1))
    ]
    assert added == [
        ("one", ["a0"]), ("one", ["a1"]), ("one", ["b0", "b1"]), ("one", ["c0", "c1"]),
        ("two", ["d0"]), ("two", ["d1"]),
    ]  # fmt: skip
    assert all(len(part) == 1 for _, part in measures.parts([one, two], (8, 0)))


def test_the_sample_of_questions_is_the_same_each_time_and_in_order():
    asked = [Question(str(n), frozenset({"m1"}), "") for n in range(20)]
    chosen_first, again = conversations.sampled(asked, 5), conversations.sampled(asked, 5)
    assert chosen_first == again
    numbers = [int(question.text) for question in chosen_first]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 5
    assert conversations.sampled(asked, 30) == tuple(asked)


def chat(prompt: str, name: str = "", **schema: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    if name:
        wanted = {"name": name, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return body


def test_mem0_is_told_the_facts_of_the_new_message_only():
    prompt = (
        "## Last k Messages\nuser: Ann: Oslo is cold.\n\n"
        "## New Messages\nuser: Ann: I moved to Oslo.\n\n\n## Observation Date\n2026-05-20"
    )
    assert Answers([talk()]).answer(chat(prompt)) == {
        "memory": [{"id": "0", "text": "Ann moved to Oslo (2026-05)"}]
    }
    nothing = prompt.replace("I moved to Oslo.", "Something else.")
    assert Answers([talk()]).answer(chat(nothing)) == {"memory": []}


def test_graphiti_is_told_entities_and_facts_and_what_is_known_already():
    answers = Answers([talk()])
    entities = answers.answer(
        chat("<CURRENT MESSAGE>\nAnn: Oslo is cold.\n</CURRENT MESSAGE>", "ExtractedEntities")
    )
    assert [each["name"] for each in entities["extracted_entities"]] == ["Ann", "Oslo"]
    edges = answers.answer(
        chat("<CURRENT_MESSAGE>\nAnn: I moved to Oslo.\n</CURRENT_MESSAGE>", "ExtractedEdges")
    )["edges"]
    assert [(e["source_entity_name"], e["relation_type"], e["fact"]) for e in edges] == [
        ("Ann", "MOVED_TO", sentence(MOVED))
    ]
    nodes = (
        '<ENTITIES>[{"id": 0, "name": "ann"}, {"id": 1, "name": "Bo"}]</ENTITIES>'
        '<EXISTING ENTITIES>[{"candidate_id": 7, "name": "Ann"}]</EXISTING ENTITIES>'
    )
    resolved = answers.answer(chat(nodes, "NodeResolutions"))["entity_resolutions"]
    assert [each["duplicate_candidate_id"] for each in resolved] == [7, -1]
    known = "<EXISTING FACTS>[{'idx': 3, 'fact': 'A'}]</EXISTING FACTS><NEW FACT>A</NEW FACT>"
    same = answers.answer(chat(known, "EdgeDuplicate"))
    assert same == {"duplicate_facts": [3], "contradicted_facts": []}


def test_what_the_recordings_cannot_answer_gets_the_least_and_is_counted():
    answers = Answers([talk()])
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "size": {"$ref": "#/$defs/Size"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "rest": {"type": "array"},
        },
        "required": ["text", "size", "maybe"],
        "$defs": {"Size": {"enum": ["small", "large"]}},
    }
    assert answers.answer(chat("Summarise.", "Summary", **schema)) == {
        "text": "", "size": "small", "maybe": None,
    }  # fmt: skip
    assert answers.unanswered == {"Summary": 1}
    assert least({"type": "integer"}, {}) == 0
    assert asked_schema({"tools": [{"function": {"name": "f", "parameters": {}}}]}) == ("f", {})


def post(url: str, path: str, **body: Any) -> Any:
    request = urllib.request.Request(
        f"{url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def test_the_stub_counts_calls_by_memory_and_fails_when_told():
    with running(Answers([talk()]), HashEmbedder(8)) as stub:
        url, other = stub.url("one"), stub.url("two")
        found = post(url, "embeddings", input=["a", "b"], model="e")
        assert [len(each["embedding"]) for each in found["data"]] == [8, 8]
        post(url, "chat/completions", **chat("hello"))
        stub.failing = {"chat/completions"}
        with pytest.raises(urllib.error.HTTPError, match="500") as refused:
            post(other, "chat/completions", **chat("hello"))
        refused.value.close()
        post(other, "embeddings", input="a", model="e")
        assert stub.calls == {"one": 1, "two": 0}


ADAPTER = """
import socket
import time
from line_protocol import serve

class Adapter:
    def __init__(self, settings):
        print("a library talks")
        self.kept = []
    async def add(self, space, message):
        if message["text"] == "bad":
            raise ValueError("no")
        if message["text"] == "endless":
            time.sleep(600)
        self.kept.append(message["id"])
    def search(self, space, question, k, now):
        try:
            socket.create_connection(("192.0.2.1", 80), 1)
        except ConnectionRefusedError:  # by the protocol; the network would say something else
            pass
        return [{"ids": self.kept[:k]}]
    def stored(self, space):
        return {"ids": self.kept}

serve(Adapter)
"""


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    protocol = (driver.ADAPTERS / "line_protocol.py").read_text("utf-8")
    (tmp_path / "line_protocol.py").write_text(protocol, "utf-8")
    (tmp_path / "small.py").write_text(ADAPTER, "utf-8")
    monkeypatch.setattr(driver, "ADAPTERS", tmp_path)
    return {"folder": str(tmp_path)}


@pytest.mark.slow
def test_an_adapter_answers_line_by_line(adapter: dict[str, Any]) -> None:
    good, bad = {"id": "m1", "text": "good"}, {"id": "m2", "text": "bad"}
    with Peer(Path(sys.executable), "small", adapter) as peer:
        assert peer.open() >= 0
        peer.ask("add", space="x", message=good)
        with pytest.raises(PeerError, match="ValueError: no"):
            peer.ask("add", space="x", message=bad)
        errors = peer.ask("add_at_once", space="x", messages=[good, bad, good]).result
        assert errors == ["ValueError: no"]
        assert peer.ask("settle", space="x").result is None
        assert peer.ask("search", space="x", question="?", k=2, now="").result == [
            {"ids": ["m1", "m1"]}
        ]
        peer.kill()
        with pytest.raises(PeerDiedError):
            peer.ask("stored", space="x")


@pytest.mark.slow
def test_a_trial_that_takes_too_long_is_stopped_and_the_others_follow(
    adapter: dict[str, Any],
) -> None:
    now, started = 0.0, []
    limit = Limit(1200, lambda: now)

    def start(name: str) -> Peer:
        started.append(name)
        return Peer(Path(sys.executable), "small", adapter, limit)

    def add(peer: Peer, text: str) -> dict[str, Any]:
        tried = trials.Attempts([{"id": text, "text": text}])
        tried.add(peer, "x", {"id": text, "text": text})
        return tried.outcome(peer, "x")

    def endless(peer: Peer) -> dict[str, Any]:
        nonlocal now
        now += 1200
        return add(peer, "endless")

    def killed(peer: Peer) -> dict[str, Any]:
        peer.kill()
        return add(peer, "late")

    found = trials.in_one_process(
        start, {"first": endless, "second": lambda peer: add(peer, "good"), "third": killed}, limit
    )
    assert found["first"] == {"stopped_after_s": 1200}
    assert (found["second"]["acknowledged"], found["second"]["lost"]) == (1, 0)
    assert found["third"]["unusable"].startswith("the process ended")
    assert len(started) == 2
    now += 1300
    with start("late") as peer, pytest.raises(OverTimeError, match="stopped after 1200 s"):
        peer.open()


def test_a_limit_begins_again_for_each_measurement():
    now = 5.0
    limit = Limit(10, lambda: now)
    now = 12.0
    assert limit.left() == 3.0
    now = 99.0
    assert limit.left() == 0.0
    limit.begin()
    assert limit.left() == 10.0


def test_the_environment_of_an_adapter_has_no_keys_and_no_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("COGNIGRAPH_MODEL", "other")
    given = driver.environment(tmp_path)
    assert given["OPENAI_API_KEY"] == "none"
    assert "COGNIGRAPH_MODEL" not in given
    assert given["https_proxy"] == given["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert given["HOME"] == str(tmp_path)


def test_every_memory_has_an_adapter_and_dated_exact_pins():
    names = [variant.name for memory in MEMORIES for variant in memory.variants]
    assert len(set(names)) == len(names)
    for memory in MEMORIES:
        assert (driver.ADAPTERS / f"{memory.adapter}.py").exists()
        if memory.name != "cognigraph":
            dated, pins = environments.versions(memory.name)
            assert dated.startswith("Pinned on ")
            assert all("==" in pin for pin in pins), memory.name
    assert [memory.name for memory in chosen(["mem0"])] == ["mem0"]
    with pytest.raises(SystemExit, match="no memory mem1; there are cognigraph"):
        chosen(["mem1"])

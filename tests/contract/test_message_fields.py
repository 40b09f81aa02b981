"""Roles, metadata, tags and raw payloads, on every store."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest

from cognigraph import InvalidMessageError, Message
from cognigraph.ingest import RulesExtractor
from cognigraph.operations.adding import MAX_DEPTH
from tests.conftest import START

NOW = START + timedelta(days=1)
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo \\ud83c"}'},
}


def test_a_message_keeps_its_role_metadata_tags_and_raw_payload(open_memory, space_name):
    space = open_memory().space(space_name)
    metadata = {"source": "slack", "thread": {"id": 7, "path": ["a", None, 0.5, True]}, "é": "ü\0"}
    raw = {"content": [{"type": "image", "data": "AAAA\ud800"}], "role": "user"}
    space.add(
        "I moved to Oslo.",
        id="m1",
        speaker="Ann",
        role="user",
        metadata=metadata,
        tags=["work", "home", "work"],
        raw=raw,
        at=START,
    )
    space.add("Good luck with the move to Oslo!", id="m2", role="assistant", at=START)
    space.add("I would move to Oslo too.", id="m3", speaker="Ben", at=START)
    message = space.get("m1")
    assert (message.speaker, message.role) == ("Ann", "user")
    assert (message.metadata, message.tags, message.raw) == (metadata, ("home", "work"), raw)
    assert (space.get("m2").speaker, space.get("m2").role) == ("assistant", "assistant")
    assert (space.get("m3").role, space.get("m3").metadata, space.get("m3").raw) == (None, {}, None)
    hits = {hit.id: hit for hit in space.search("Who moved to Oslo?", now=NOW)}
    assert {id: hit.role for id, hit in hits.items()} == {
        "m1": "user", "m2": "assistant", "m3": None,
    }  # fmt: skip
    assert (hits["m1"].metadata, hits["m1"].tags) == (metadata, ("home", "work"))
    assert (hits["m2"].metadata, hits["m2"].tags) == ({}, ())
    rows = space.cypher(
        "MATCH (c:Chunk) RETURN c.message_id AS id, c.role AS role, c.tags AS tags ORDER BY id"
    )
    assert [(row["id"], row["role"], row["tags"]) for row in rows] == [
        ("m1", "user", ["home", "work"]), ("m2", "assistant", None), ("m3", None, None),
    ]  # fmt: skip
    (row,) = space.cypher(
        "MATCH (c:Chunk) WHERE c.metadata CONTAINS 'slack' "
        "RETURN c.message_id AS id, c.metadata AS m"
    )
    assert (row["id"], "ü" in row["m"]) == ("m1", True)


def test_every_part_of_a_long_message_has_its_role_and_metadata(open_memory, space_name):
    space = open_memory().space(space_name)
    space.add("x", id="m0", at=START)
    text = "The harbour is quiet. " * 60 + "The lighthouse blinks at night."
    space.add(text, id="m1", role="assistant", metadata={"n": 1}, tags=["sea"], raw=[1], at=START)
    space.add("z", id="m2", at=START, metadata={"n": 2})
    (hit,) = [hit for hit in space.search("lighthouse", now=NOW) if hit.id == "m1"]
    assert (hit.part, hit.role, hit.metadata, hit.tags) == (1, "assistant", {"n": 1}, ("sea",))
    assert (space.get("m1").text, space.get("m1").raw, space.get("m1").tags) == (
        text, [1], ("sea",),
    )  # fmt: skip


@pytest.mark.slow
def test_a_part_of_a_long_document_knows_its_heading(open_memory, space_name):
    space = open_memory().space(space_name)
    sections = "".join(
        f"## Chapter {n}\n\n{f'All about topic {n}. ' * 40}\n\n" for n in ("one", "two", "three")
    )
    space.add(f"# Manual\n\n{sections}", id="m1", at=START)
    (hit,) = space.search("topic three", now=NOW)
    assert (hit.heading, hit.text.split("\n")[0]) == ("Manual > Chapter three", "## Chapter three")
    assert space.get("m1").text == f"# Manual\n\n{sections}"
    rows = space.cypher("MATCH (c:Chunk) RETURN c.part AS part, c.heading AS heading ORDER BY part")
    assert rows[-1]["heading"] == "Manual > Chapter three"
    space.add("# Short\n\nA note.", id="m2", at=START)
    assert {hit.heading for hit in space.search("short note", now=NOW) if hit.id == "m2"} == {None}


@pytest.mark.slow
def test_a_message_with_a_payload_alone_is_listed_and_never_found(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    space.add("What is the weather in Oslo?", id="m0", role="user", at=START)
    space.add("", id="m1", role="assistant", raw={"tool_calls": [CALL]}, at=START)
    first, second = (
        space.add("", role="assistant", raw={"tool_calls": [n]}, at=START).id for n in (1, 2)
    )
    space.add("It is sunny in Oslo.", id="m9", role="assistant", at=START)
    space.flush()
    assert (space.get("m1").text, space.get("m1").raw) == ("", {"tool_calls": [CALL]})
    assert [space.get(id).raw["tool_calls"] for id in (first, second)] == [[1], [2]]
    assert space.get("m1").is_enriched
    assert {hit.id for hit in space.search("weather in Oslo call", now=NOW)} == {"m0", "m9"}
    assert space.stats().messages == 5
    # The same payload again is the same message, and another one is not.
    again = space.add("", id="m1", role="assistant", raw={"tool_calls": [CALL]}, at=START)
    assert again.duplicates == 1
    with pytest.raises(InvalidMessageError, match="already belongs to another text"):
        space.add("", id="m1", role="assistant", raw={"tool_calls": []}, at=START)


def test_the_first_text_keeps_its_fields(open_memory, space_name):
    space = open_memory().space(space_name)
    space.add("Hi.", id="m1", speaker="Ann", metadata={"a": 1}, tags=["x"])
    result = space.add_many(
        [{"text": "Hi.", "id": "m1", "speaker": "Ann", "role": "user", "metadata": {"a": 2}}]
    )
    assert result.duplicates == 1
    message = space.get("m1")
    assert (message.role, message.metadata, message.tags) == (None, {"a": 1}, ("x",))


def test_nothing_is_read_from_the_system_and_from_tools(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    for number, (role, text) in enumerate(
        [
            ("system", "Klara lives in Paris."),
            ("user", "I live in Oslo."),
            ("tool", "Peter works at Equinor."),
        ]
    ):
        space.add(text, id=f"m{number}", role=role, at=START + timedelta(minutes=number))
    space.flush()
    said = " ".join(f"{t.subject} {t.object}" for t in space.facts())
    names = {entity.name for entity in space.entities()}
    assert "Oslo" in said
    assert not {"Klara", "Paris", "Peter", "Equinor"} & (names | set(said.split()))
    assert (space.stats().done, space.stats().pending) == (3, 0)
    summaries = " ".join(f"{s.summary} {s.keys}" for s in space.overview.sessions())
    assert "Paris" not in summaries
    assert "Equinor" not in summaries


class TestRefused:
    """What cannot be kept is refused with the reason, and nothing is stored."""

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"role": "boss"}, "role must be one of user, assistant, system, tool, not 'boss'"),
            ({"role": 7}, "role must be one of"),
            ({"metadata": [1]}, "metadata must be a JSON object"),
            ({"metadata": {"a": {1: 2}}}, r"metadata\.a must have strings as keys, not 1"),
            ({"metadata": {"a": [0, START]}}, r"metadata\.a\[1\] must be of a type that JSON"),
            ({"metadata": {"a": float("nan")}}, r"metadata\.a must be a finite number"),
            ({"metadata": {"a": "x" * 65536}}, "has 65,545 bytes as JSON; the limit is 65,536"),
            ({"tags": "work"}, "tags must be a list of strings"),
            ({"tags": ["work", 7]}, "a tag must be 1 to 100 characters"),
            ({"tags": [" "]}, "a tag must be 1 to 100 characters"),
            ({"tags": ["x" * 101]}, "a tag must be 1 to 100 characters"),
            ({"tags": [f"t{n}" for n in range(101)]}, "101 tags; the limit is 100"),
            ({"raw": {"a": {1, 2}}}, r"raw\.a must be of a type that JSON knows"),
            ({"text": "", "metadata": {"a": 1}}, "has an empty text"),
        ],
    )  # fmt: skip
    def test_a_field(self, open_memory, space_name, fields, reason):
        space = open_memory().space(space_name)
        with pytest.raises(InvalidMessageError, match=reason):
            space.add_many([Message(**{"text": "Hi.", "id": "m1"} | fields)])
        assert space.stats().messages == 0

    def test_what_is_nested_too_deeply(self, open_memory, space_name):
        space = open_memory().space(space_name)
        deep: object = 0
        for _ in range(MAX_DEPTH):
            deep = [deep]
        space.add("Hi.", id="m1", metadata={"a": deep[0]}, raw=deep)
        assert (space.get("m1").metadata, space.get("m1").raw) == ({"a": deep[0]}, deep)
        with pytest.raises(InvalidMessageError, match="raw is nested too deeply; the most is 200"):
            space.add("Hi.", raw=[deep])
        for _ in range(2 * sys.getrecursionlimit()):
            deep = [deep]
        with pytest.raises(InvalidMessageError, match="metadata is nested too deeply"):
            space.add("Hi.", metadata={"a": deep})

    def test_the_limit_itself_is_kept(self, open_memory, space_name):
        space = open_memory().space(space_name)
        space.add("Hi.", id="m1", metadata={"a": "x" * (65536 - 9)})
        assert len(space.get("m1").metadata["a"]) == 65527

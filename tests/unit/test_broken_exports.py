"""Exports with a value of the wrong type anywhere: a message is refused or read, never a crash."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from cognigraph import Message
from cognigraph.errors import CogniGraphError, ConfigurationError
from cognigraph.importers import csv_rows, notes
from cognigraph.importers.fields import Identifier, iso, prepared
from cognigraph.importers.formats import READERS
from cognigraph.importers.record import Bad, ReadOptions
from cognigraph.importers.source import Input, Tally, locate
from tests.cases import each

AT = "2026-05-20T09:00:00Z"
EXPORTS: dict[str, Any] = {
    "chatgpt": {
        "id": "c", "title": "t", "create_time": 1.5, "current_node": "b",
        "mapping": {
            "a": {"parent": None, "message": None},
            "b": {"parent": "a", "message": {
                "id": "m", "author": {"role": "user", "name": "Ann"}, "create_time": 1.5,
                "content": {"content_type": "text", "parts": ["hi", {"text": "x"}]},
                "recipient": "all", "metadata": {"model_slug": "x"}}},
        },
    },
    "claude": {
        "uuid": "c", "name": "n", "created_at": AT, "current_leaf_message_uuid": "x",
        "chat_messages": [{
            "uuid": "x", "parent_message_uuid": None, "sender": "human", "created_at": AT,
            "text": "hi", "content": [{"type": "text", "text": "hi"}], "files": []}],
    },
    "claude-code": {
        "type": "user", "sessionId": "s", "uuid": "u", "timestamp": AT, "cwd": "/x",
        "message": {"role": "user", "content": [
            {"type": "text", "text": "hi"}, {"type": "tool_result", "content": [{"text": "x"}]}]},
    },
    "openai": {"id": "x", "created": 5, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
    "jsonl": {"text": "hi", "session": "s", "at": AT, "id": "i", "tags": ["a"], "raw": [1]},
    "langchain": {"type": "human", "data": {"content": "hi", "id": "x", "tool_calls": [{}]}},
    "mem0": {"results": [{"id": "i", "memory": "hi", "user_id": "u", "created_at": AT}]},
    "graphiti": {"labels": ["Episodic"], "properties": {
        "uuid": "u", "content": "hi", "group_id": "g", "valid_at": AT}},
    "langgraph": {"namespace": ["a", "b"], "key": "k", "created_at": AT, "updated_at": AT,
                  "value": {"kind": "M", "content": {"x": "hi"}}},
    "slack": [{"type": "message", "user": "U1", "ts": "1779267600.0002", "text": "hi <@U1>",
               "user_profile": {"real_name": "Ann"}, "files": [{"name": "f"}], "thread_ts": "1.2",
               "attachments": [{"fallback": "x"}]}],
    "telegram": {"name": "n", "id": 5, "type": "x", "messages": [
        {"id": 1, "type": "message", "date": AT, "date_unixtime": "1779267600", "from": "Ann",
         "text": ["hi", {"text": "x", "href": "y"}], "reply_to_message_id": 3,
         "forwarded_from": "Bo", "poll": {"question": "q", "answers": [{"text": "a"}]}}]},
    "opencode": {"info": {"id": "s", "directory": "/x", "title": "t"}, "messages": [
        {"info": {"id": "m", "role": "user", "time": {"created": 1779267600000}},
         "parts": [{"id": "p", "type": "text", "text": "hi", "synthetic": False}]}]},
    "codex": {"timestamp": AT, "type": "event_msg", "payload": {
        "type": "item_completed", "message": "x", "kind": "plain", "item": {
            "type": "UserMessage", "id": "i", "content": [{"type": "text", "text": "hi"}]}}},
    "gemini": {"sessionId": "s", "projectHash": "h", "kind": "main", "messages": [
        {"id": "m", "type": "user", "timestamp": AT, "content": [{"text": "hi"}],
         "displayContent": [{"text": "hi", "thought": False}], "model": "g"}]},
}  # fmt: skip
ODD = (
    None,
    True,
    10**400,
    -(10**30),
    1e308,
    "",
    "\ud800",
    "\0",
    [],
    {},
    [[]],
    [{}],
    ["a"],
    "9" * 19,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in list(items):
            yield from paths(item, (*path, key))


def with_value(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    items = dict(value) if isinstance(value, dict) else list(value)
    items[path[0]] = with_value(value[path[0]], path[1:], new)
    return items


def read(format: str, text: str) -> list[Any]:
    """What an import makes of a file, up to the store."""
    stream = io.BufferedReader(io.BytesIO(text.encode()))  # type: ignore[arg-type]
    with Identifier() as identifier:
        found = list(prepared(READERS[format], Input("f.json", stream), ReadOptions(), identifier))
        for record in found:
            if not isinstance(record.value, Bad):
                identifier.note_session(str(record.value.get("session")))
    return found


def test_the_formats_with_json_are_all_here():
    assert EXPORTS.keys() == READERS.keys() - {"markdown", "csv", "whatsapp", "mbox"}
    for format, whole in EXPORTS.items():
        assert len(read(format, json.dumps(whole))) == 1, format


@pytest.mark.parametrize(
    ("format", "whole"),
    [
        ("mem0", {"results": [{"id": "i", "memory": "hi"}, {"id": "j", "memory": "ho"}]}),
        ("graphiti", {"episodes": [{"uuid": "i", "content": "hi"}, {"content": "ho"}]}),
    ],
)
def test_an_object_with_a_list_may_be_on_one_line(format, whole):
    assert [item.value["text"] for item in read(format, json.dumps(whole))] == ["hi", "ho"]
    assert [item.value["text"] for item in read(format, json.dumps(whole, indent=1))] == [
        "hi",
        "ho",
    ]


def test_a_langchain_message_that_is_only_a_tool_call_may_have_no_content():
    call = {"type": "ai", "data": {"content": None, "tool_calls": [{"name": "f"}]}}
    (found,) = read("langchain", json.dumps(call))
    assert found.value["text"] == "" and found.value["raw"]["tool_calls"] == [{"name": "f"}]
    (wrong,) = read("langchain", json.dumps({"type": "ai", "data": {"content": 5}}))
    assert "neither a text nor" in wrong.value.problem


@pytest.mark.slow
@pytest.mark.parametrize("format", EXPORTS)
def test_a_value_of_the_wrong_type_is_refused_or_left_out(format):
    whole = EXPORTS[format]
    for path in paths(whole):
        for value in ODD:
            for record in read(format, json.dumps(with_value(whole, path, value))):
                try:
                    Message.of(record.value)
                except CogniGraphError as error:
                    assert str(error), (path, value)


@each("number", [10**400, -(10**400), 1e300, float("inf"), float("nan")])
def test_a_number_that_is_far_from_any_time_is_none(number):
    assert iso(number) is None


def test_a_damaged_archive_is_reported_as_one(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"n": n} for n in range(9999)]))
    data = bytearray(path.read_bytes())
    data[2000:2100] = bytes(100)
    path.write_bytes(data)
    (location,) = locate(path, (".json",))
    with (
        pytest.raises(ConfigurationError, match=r"cannot read conversations\.json: "),
        location.open(Tally()) as file,
    ):
        file.stream.read()


@pytest.mark.parametrize("row", ["," * 200, '"' + "a\n" * 200 + '"'])
def test_a_row_that_is_too_long_ends_a_table(monkeypatch, row):
    monkeypatch.setattr(csv_rows, "_MAX_ROW", 100)
    good, bad = read("csv", f"text\nhi\n{row}\nho\n")
    assert good.value["text"] == "hi" and bad.position.number == 3
    assert "a row is longer than" in bad.value.problem


def test_a_section_that_is_too_long_is_left_out_and_not_held(monkeypatch):
    monkeypatch.setattr(notes, "_MAX_SECTION", 100)
    found = read("markdown", "# A\nhi\n# B\n" + "word\n" * 100 + "# C\nho\n")
    assert [isinstance(item.value, Bad) for item in found] == [False, True, False]
    assert found[1].position.number == 3

"""The readers of files: each format's messages, what is left out, positions, formats by content."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cognigraph.errors import ConfigurationError
from cognigraph.importers.fields import Identifier, iso, parse_columns, prepared
from cognigraph.importers.formats import reader_for, reader_named, reader_of
from cognigraph.importers.json_records import MalformedError, elements
from cognigraph.importers.record import Bad, Head, ReadOptions
from cognigraph.importers.source import Tally, locate
from cognigraph.model import Message
from tests.cases import each

DATA = Path(__file__).parents[1] / "data" / "imports"


def read(path: Path, format: str = "auto", **options: Any) -> list[tuple[str, Any]]:
    """Positions, with messages as they would be stored or problems."""
    found: list[tuple[str, Any]] = []
    tally = Tally()
    with Identifier() as identifier:
        for location in locate(path):
            with location.open(tally) as file:
                reader = reader_of(location, file) if format == "auto" else reader_named(format)
                for record in prepared(reader, file, ReadOptions(**options), identifier):
                    bad = isinstance(record.value, Bad)
                    value = record.value.problem if bad else Message.of(record.value)
                    found.append((str(record.position), value))
    return found


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


@each(
    ("file", "format"),
    [
        ("chatgpt.json", "chatgpt"), ("claude.json", "claude"),
        ("claude-code.jsonl", "claude-code"), ("opencode.json", "opencode"),
        ("rollout-2026-05-20T09-00-00-01a0f082-0630-7d50-a1b2-c3d4e5f6a7b8.jsonl", "codex"),
        ("session-2026-05-20T09-00-5f2c0d4e.jsonl", "gemini"),
        ("session-2025-11-20T09-00-5f2c0d4e.json", "gemini"),
        ("openai.json", "openai"), ("fine-tune.jsonl", "openai"), ("langchain.json", "langchain"),
        ("table.csv", "csv"), ("mem0.json", "mem0"), ("graphiti.json", "graphiti"),
        ("graphiti-neo4j.jsonl", "graphiti"), ("langmem.jsonl", "langgraph"),
    ],
)  # fmt: skip
def test_a_format_is_known_by_its_content(file: str, format: str) -> None:
    assert reader_for(Head(file, (DATA / file).read_bytes())).name == format


@each(
    ("name", "text", "format"),
    [
        ("a.md", "# A\n", "markdown"),
        ("a.jsonl", '{"text": "a"}\n', "jsonl"),
        ("a.json", '{"role": "user", "content": "a"}\n{"role"', "jsonl"),
        ("a.json", '[{"role": "user", "content": "a"}]', "openai"),
        ("a.json", '[{"title": "' + "x" * 40_000 + '", "mapping": {"a": {"par', "chatgpt"),
        ("-", "not json at all\n", "jsonl"),
        ("a.jsonl", "{oops\n", "jsonl"),
    ],
)
def test_a_format_is_guessed_from_the_beginning(name: str, text: str, format: str) -> None:
    assert reader_for(Head(name, text.encode())).name == format


def test_an_unknown_format_is_said_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"format of a\.bin; give its format: cha"):
        reader_for(Head("a.bin", b"\x00\x01"))
    with pytest.raises(ConfigurationError, match=r"did you mean 'chatgpt'\?\); the formats are au"):
        reader_named("chatgtp")


def test_chatgpt_gives_the_current_branch_with_tool_calls_kept() -> None:
    found = read(DATA / "chatgpt.json")
    assert [position for position, _ in found] == [
        "item 1, message 3", "item 1, message 4", "item 1, message 5", "item 1, message 7",
        "item 2", "item 3, message 1", "item 3, message 2",
    ]  # fmt: skip
    asked, call, result, answer, broken, context, hello = (value for _, value in found)
    assert asked == Message(
        text="When does the ferry leave?", role="user", id="n1", session="c-1",
        at="2024-05-18T02:40:01.500000+00:00", metadata={"title": "Trip to Bergen"},
    )  # fmt: skip
    assert (call.text, call.role, call.raw["recipient"]) == ("", "assistant", "browser")
    assert call.raw["content"]["text"] == '{"q": "ferry"}'
    assert (result.text, result.role, result.speaker) == ("08:00 from the quay", "tool", "browser")
    assert (answer.text, answer.at) == ("At eight.", "2024-05-18T02:40:05+00:00")
    assert answer.raw["content"]["parts"][0]["asset_pointer"] == "file-service://f"
    assert answer.metadata == {"title": "Trip to Bergen", "model": "gpt-5"}
    assert broken == "is no conversation: it has no 'mapping'"
    assert (context.text, context.role) == ("I am a baker.\nBe brief.", "system")
    assert (hello.text, hello.session) == ("Hei! 🥐", "c-3")


def test_claude_gives_text_attachments_and_the_current_branch() -> None:
    found = read(DATA / "claude.json")
    asked, answer, odd, hello, second = (value for _, value in found)
    assert asked == Message(
        text="What grows in shade?", role="user", id="m-1", session="u-1",
        at="2025-03-01T10:00:01+00:00", metadata={"title": "Garden"},
        raw={"attachments": [{"file_name": "plan.txt", "file_size": 3, "file_type": "txt",
                              "extracted_content": "bed"}]},
    )  # fmt: skip
    assert (answer.text, answer.role) == ("Ferns.", "assistant")
    assert [block["type"] for block in answer.raw["content"]] == ["tool_use", "text"]
    assert odd == "is not a JSON object"
    assert (hello.text, second.text, second.id) == ("Hello", "Second answer", "b2")


def test_opencode_gives_what_was_said_with_the_ids_of_the_hook() -> None:
    found = [message for _, message in read(DATA / "opencode.json")]
    assert [(item.id, item.role, item.session, item.text) for item in found] == [
        ("msg_1", "user", "ses_1", "Which database does the billing service use?"),
        ("prt_6", "assistant", "ses_1", "Let me look."),
        ("prt_8", "assistant", "ses_1", "PostgreSQL 16."),
    ]
    assert found[0].at == "2026-05-20T09:00:00+00:00"
    assert found[0].metadata == {"folder": "/home/ann/app"}


def test_claude_code_gives_what_was_said_and_the_results_of_tools() -> None:
    found = read(DATA / "claude-code.jsonl")
    assert [position for position, _ in found] == ["line 2", "line 3", "line 4", "line 5", "line 7"]
    asked, call, result, answer, command = (value for _, value in found)
    assert asked == Message(
        text="Why does the test fail?", role="user", id="l-1", session="s-1",
        at="2025-11-01T08:00:00+00:00", metadata={"folder": "/home/ann/app", "branch": "main"},
    )  # fmt: skip
    assert call.text == "" and call.raw["content"][0]["input"] == {"command": "pytest"}
    assert (result.text, result.role) == ("1 failed", "tool")
    assert (answer.text, answer.metadata["model"]) == ("The port is taken.", "claude-x")
    assert command.role == "system"


SAID = [
    ("user", "Which database does the billing service use?"),
    ("assistant", "Let me look."),
    ("assistant", "PostgreSQL 16."),
    ("user", "And the mail service?"),
    ("assistant", "None."),
]
CODEX = DATA / "rollout-2026-05-20T09-00-00-01a0f082-0630-7d50-a1b2-c3d4e5f6a7b8.jsonl"


def test_codex_gives_what_was_said_and_nothing_that_a_model_got_beside_it(tmp_path: Path) -> None:
    found = [message for _, message in read(CODEX)]
    assert [(item.role, item.text) for item in found] == SAID
    assert {item.session for item in found} == {"01a0f082-0630-7d50-a1b2-c3d4e5f6a7b8"}
    assert [item.id for item in found[3:]] == ["item-7", "codex-8a1b202d9c3ddcbfd70fb29e"]
    assert found[0].at == "2026-05-20T09:00:01.001000+00:00"
    assert found[0].metadata == {"folder": "/home/ann/app/api"}
    # Read from the middle on, as it is while it grows, the messages have the same ids.
    lines = CODEX.read_text("utf-8").splitlines(keepends=True)
    rest = written(tmp_path, CODEX.name, "".join(lines[8:]))
    later = [message for _, message in read(rest, "codex")]
    assert [(item.id, item.session) for item in later] == [(m.id, m.session) for m in found[1:]]
    # A fork begins with its own session, and with that of the session it was made from.
    other = CODEX.read_text("utf-8").replace("01a0f082", "99999999")
    fork = written(tmp_path, "fork.jsonl", other.splitlines()[0] + "\n" + "".join(lines))
    assert {message.session[:8] for _, message in read(fork)} == {"99999999"}
    assert [message.id for _, message in read(fork)][3:] == [item.id for item in found[3:]]
    for source in ('{"subagent":"review"}', '"cli","thread_source":"subagent"'):
        text = CODEX.read_text("utf-8").replace('"source":"cli"', f'"source":{source}')
        assert read(written(tmp_path, "sub.jsonl", text)) == []


def test_a_packed_session_of_codex_is_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = zstandard.compress(CODEX.read_bytes())
    packed = tmp_path / "2026" / f"{CODEX.name}.zst"
    packed.parent.mkdir()
    packed.write_bytes(data)
    assert read(packed) == read(CODEX)
    (location,) = locate(tmp_path, (".json", ".jsonl"))
    assert location.name == f"2026/{CODEX.name}"
    assert location.name in locate(tmp_path, (".jsonl",))
    tally = Tally()
    with location.open(tally) as file:
        assert file.stream.read() == CODEX.read_bytes()
    assert tally.bytes == location.size == len(data)  # for the progress of the import
    packed.write_bytes(data[:30] + b"?" * 30 + data[60:])
    with pytest.raises(ConfigurationError, match=r"cannot read rollout-.*\.jsonl: "):
        read(packed)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'cognigraph-memory\[zstd\]'"):
        read(packed)


def test_gemini_gives_each_message_once_without_files_and_contexts(tmp_path: Path) -> None:
    new = DATA / "session-2026-05-20T09-00-5f2c0d4e.jsonl"
    found = [message for _, message in read(new)]
    assert [(item.id, item.role, item.text) for item in found] == [
        ("g1", "user", "Which database does @.env name?"),
        ("g2", "assistant", "PostgreSQL 16."),
        ("g6", "user", "And the mail service?"),
        ("g7", "assistant", "It has none."),
    ]
    assert {item.session for item in found} == {"5f2c0d4e-1111-4222-8333-444455556666"}
    assert (found[1].at, found[1].metadata) == (
        "2026-05-20T09:00:02+00:00",
        {"model": "gemini-3-pro"},
    )
    old = read(DATA / "session-2025-11-20T09-00-5f2c0d4e.json")
    assert [(position, item.id, item.role, item.text) for position, item in old] == [
        ("item 1, message 1", "h1", "user", "Where is the port set?"),
        ("item 1, message 2", "h2", "assistant", "In serve.py."),
    ]
    text = new.read_text("utf-8").replace('"kind":"main"', '"kind":"subagent"')
    assert read(written(tmp_path, "sub.jsonl", text)) == []
    log = '[{"sessionId": "s", "messageId": 0, "type": "user", "message": "hi", "timestamp": "x"}]'
    assert read(written(tmp_path, "logs.json", log), "gemini") == []


def test_openai_conversations_have_ids_that_stay() -> None:
    found = [value for _, value in read(DATA / "openai.json")]
    assert [message.role for message in found] == ["system", "user", "assistant", "tool", "user"]
    assert {message.session for message in found} == {"conv-7"}
    assert found[2].raw["tool_calls"][0]["id"] == "c1" and found[3].raw["tool_call_id"] == "c1"
    assert found[1].at == "2024-05-18T02:40:00+00:00"
    assert found == [message for _, message in read(DATA / "openai.json")]
    assert found[1].text == found[4].text and found[1].id != found[4].id
    tuned = read(DATA / "fine-tune.jsonl")
    assert [position for position, _ in tuned] == [
        "line 1, message 1", "line 1, message 2", "line 2",
    ]  # fmt: skip
    assert [getattr(value, "text", value) for _, value in tuned] == [
        "Capital of Norway?", "Oslo.", "has no list of messages",
    ]  # fmt: skip
    assert tuned[0][1].session == tuned[1][1].session
    assert tuned[1][1].metadata is None  # the weight is about training


def test_openai_array_is_one_session(tmp_path: Path) -> None:
    path = written(tmp_path, "talk.json", '[{"role": "user", "content": "a"}, 7]')
    (_, message), (_, problem) = read(path)
    assert (message.text, message.session, problem) == ("a", "talk", "is not a JSON object")
    assert read(path, session="s")[0][1].session == "s"


def test_langchain_in_each_of_its_forms() -> None:
    found = [value for _, value in read(DATA / "langchain.json")]
    human, call, tool, bye, removed = found
    assert human == Message(text="Hi.", role="user", speaker="Ann", id="h1", session="langchain")
    assert (call.text, call.id) == ("", "a1")
    assert call.raw["tool_calls"] == [{"name": "f", "args": {"x": 1}, "id": "c1",
                                       "type": "tool_call"}]  # fmt: skip
    assert (tool.role, tool.text, tool.raw["tool_call_id"]) == ("tool", "done", "c1")
    assert (bye.role, bye.text) == ("assistant", "Bye.")
    assert removed == "is no LangChain message: its type is 'remove'"


def test_table_with_a_guessed_delimiter_and_its_own_names() -> None:
    with pytest.raises(ConfigurationError, match="no column 'Text'; the columns are sent_at"):
        read(DATA / "table.csv", columns={"text": "Text"})
    found = read(DATA / "table.csv", columns=parse_columns("at=Sent At"))
    assert [position for position, _ in found] == ["line 2", "line 4", "line 6"]
    (_, first), (_, second), (_, problem) = found
    assert first == Message(
        text="I moved; to\nOslo.", at="2026-05-20T09:00:00+00:00", speaker="Ann",
        metadata={"channel": "ops"},
    )  # fmt: skip
    assert (second.text, second.at) == ("Hello.", "2026-05-20T09:01:00+00:00")
    assert problem == "has 5 cells, but there are 4 columns"


def test_table_without_a_text_says_how_to_name_it(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "when,what\n2026,x\n")
    with pytest.raises(
        ConfigurationError, match="columns are when, what; say which with --columns"
    ):
        read(path)
    with pytest.raises(ConfigurationError, match="a message has no field 'txt'"):
        parse_columns("txt=what")
    with pytest.raises(ConfigurationError, match="'what' must be FIELD=COLUMN"):
        parse_columns("what")
    path.write_bytes("text\tid\nhei på deg\t7\n".encode("utf-16"))
    assert read(path) == [("line 2", Message(text="hei på deg", id="7"))]


def test_mem0_memories_have_the_time_of_their_last_change() -> None:
    found = read(DATA / "mem0.json")
    (_, likes), (_, lives), (_, problem) = found
    assert likes == Message(
        text="Likes cricket", id="m-1", session="alice", speaker="alice",
        at="2025-01-01T10:00:00.500000-07:00",
        metadata={"category": "hobby", "user_id": "alice", "hash": "h",
                  "created_at": "2025-01-01T10:00:00.5-07:00"},
    )  # fmt: skip
    assert (lives.session, lives.at) == ("r1", "2025-02-01T10:00:00+00:00")
    assert lives.expires == "2030-12-31T00:00:00+00:00"
    assert problem == "has no 'memory'"


def test_graphiti_episodes_are_messages_and_its_facts_are_not() -> None:
    said, order = (value for _, value in read(DATA / "graphiti.json"))
    assert (said.text, said.speaker, said.id, said.session) == (
        "I moved to Oslo.", "Ann", "e-1", "g",
    )  # fmt: skip
    assert said.at == "2025-05-01T12:00:00+00:00"
    assert (order.raw, order.at) == ({"item": "tea"}, "2025-05-02T00:00:00+00:00")
    ((position, note),) = read(DATA / "graphiti-neo4j.jsonl")
    assert (position, note.text, note.speaker) == ("line 1", "The ferry leaves at eight.", None)


def test_items_of_a_store_keep_their_namespace_and_value() -> None:
    (_, moved), (_, loves), (position, problem) = read(DATA / "langmem.jsonl")
    assert moved == Message(
        text="Ann moved to Oslo in May.", session="store:memories/ann", id="5f0c",
        at="2026-05-20T09:00:00+00:00", tags=["langgraph-item"],
        metadata={"namespace_0": "memories", "namespace_1": "ann"},
        raw={"value": {"kind": "Memory", "content": {"content": "Ann moved to Oslo in May."}},
             "updated_at": "2026-05-21T09:00:00+00:00"},
    )  # fmt: skip
    assert (loves.session, loves.text) == (
        "store:memories/bo", "text: Bo loves Thai food.\nstars: 4",
    )  # fmt: skip
    assert loves.raw["value"] == {"text": "Bo loves Thai food.", "stars": 4}
    assert (position, problem) == ("line 3", "is an item whose value is not a JSON object")


NOTE = """\
---
date: 2026-05-20
tags: [trip, "ferry"]
---
Before any heading.

# Bergen

## Ferry
It leaves at eight.
```sh
# no heading
```
## Ferry
Another one.
"""


def test_sections_of_a_note_are_messages(tmp_path: Path) -> None:
    found = read(written(tmp_path, "trip.md", NOTE))
    assert [(position, value.id) for position, value in found] == [
        ("line 5", "(top)"), ("line 9", "Bergen > Ferry"), ("line 14", "Bergen > Ferry #2"),
    ]  # fmt: skip
    ferry = found[1][1]
    assert ferry.text == "## Ferry\nIt leaves at eight.\n```sh\n# no heading\n```"
    assert (ferry.session, ferry.at) == ("trip.md", "2026-05-20T00:00:00+00:00")
    assert ferry.metadata == {"file": "trip.md", "heading": "Bergen > Ferry"}
    assert ferry.tags == ["note", "ferry", "trip"]
    daily = read(written(tmp_path, "2025-12-24 eve.md", "--- \nSnow."))
    assert (daily[0][1].at, daily[0][1].text) == ("2025-12-24T00:00:00+00:00", "--- \nSnow.")
    (tmp_path / "bad.md").write_bytes(b"# A\n\xff\xfe")
    assert read(tmp_path / "bad.md")[-1][1] == "is not UTF-8"


def test_a_folder_is_read_without_what_is_hidden_or_outside(tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "secret.md"
    outside.write_text("A secret.", "utf-8")
    (notes / "sub").mkdir(parents=True)
    (notes / ".obsidian").mkdir()
    (notes / ".obsidian" / "x.md").write_text("hidden", "utf-8")
    (notes / "b.md").write_text("B.", "utf-8")
    (notes / "sub" / "a.markdown").write_text("A.", "utf-8")
    (notes / "c.txt").write_text("no note", "utf-8")
    (notes / "link.md").symlink_to(outside)
    (notes / "up").symlink_to(tmp_path, target_is_directory=True)
    (notes / "loop.md").symlink_to(notes / "loop.md")
    found = read(notes)
    assert [(m.session, m.text, m.metadata["folder"]) for _, m in found] == [
        ("b.md", "B.", str(notes)), ("sub/a.markdown", "A.", str(notes)),
    ]  # fmt: skip
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"no files with the suffix \.md or \.markdown in"):
        read(tmp_path / "empty")


def test_an_archive_is_read_without_unpacking_it(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(DATA / "chatgpt.json", "../conversations-000.json")
        archive.writestr("user.json", "{}")
    assert read(path) == read(DATA / "chatgpt.json")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["export.zip"]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
    with pytest.raises(ConfigurationError, match=r"has no conversations\.json"):
        read(path)
    path.write_bytes(b"no zip")
    with pytest.raises(ConfigurationError, match="cannot read"):
        read(path)


def test_lines_give_ids_where_the_store_could_not_tell_messages_apart(tmp_path: Path) -> None:
    timed = b'{"text": "yes", "at": "2025-01-01T00:00:00Z"}\n'
    untimed = b'{"text": "yes"}\n'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + timed + b"\n" + timed + untimed + untimed + b"\xff\n[]\n")
    found = read(path)
    assert found == read(path)
    assert [position for position, _ in found] == [f"line {n}" for n in (1, 3, 4, 5, 6, 7)]
    ids = [message.id for _, message in found[:4]]
    # These are the ids of version 0.1: a file that was imported then is known again.
    assert ids == [None, "import-0402194619ae6ece", "import-22349de80cd58bfc",
                   "import-9af528573f46cbdb"]  # fmt: skip
    assert [problem for _, problem in found[4:]] == [
        "is not UTF-8",
        'is not a JSON object such as {"text": "..."}',
    ]


def test_usual_names_of_fields_are_known(tmp_path: Path) -> None:
    given = {
        "body": "Hi.", "session_id": "s", "timestamp": 1716000000, "message_id": "m", "from": "Ann",
        "date": "soon", "n": 1,
    }  # fmt: skip
    ((_, found),) = read(written(tmp_path, "a.jsonl", json.dumps(given)), "jsonl")
    assert found == Message(
        text="Hi.", session="s", at="2024-05-18T02:40:00+00:00", id="m", speaker="Ann",
        metadata={"date": "soon", "n": 1},
    )  # fmt: skip
    ((_, told),) = read(written(tmp_path, "b.jsonl", '{"text": "a"}'), speaker="Ben", session="t")
    assert (told.speaker, told.session) == ("Ben", "t")


@each(
    ("value", "expected"),
    [
        (1716000000, "2024-05-18T02:40:00+00:00"),
        (1716000000.5, "2024-05-18T02:40:00.500000+00:00"),
        (1716000000123, "2024-05-18T02:40:00.123000+00:00"),
        ("1716000000123456", "2024-05-18T02:40:00.123456+00:00"),
        (1716000000123456789, "2024-05-18T02:40:00.123457+00:00"),
        ("1716000000.25", "2024-05-18T02:40:00.250000+00:00"),
        (-1, "1969-12-31T23:59:59+00:00"),
        ("2024-05-18T02:40:00Z", "2024-05-18T02:40:00+00:00"),
        ("2024-05-18 02:40:00 UTC", "2024-05-18T02:40:00+00:00"),
        ("20240518", "2024-05-18T00:00:00"),
        ("Sat, 18 May 2024 04:40:00 +0200", "2024-05-18T04:40:00+02:00"),
        ("2024-05-18 02:40", "2024-05-18T02:40:00"),
        ("soon", None), ("", None), (None, None), (True, None), (float("nan"), None), (1e300, None),
        ([], None),
    ],
)  # fmt: skip
def test_times_as_files_have_them(value: object, expected: str | None) -> None:
    assert iso(value) == expected
    if expected is not None and "+" not in expected:
        assert iso(value, UTC) == datetime.fromisoformat(expected).replace(tzinfo=UTC).isoformat()


@each(
    ("text", "problem"),
    [
        ('[{"a": 1}, oops]', "Expecting value at character 12"),
        ('[{"a": 1} {"b": 2}]', "',' or ']' was expected at character 11"),
        ('[{"a": 1}', "was expected at character 10"),
        ('{"a" 1}', "Expecting ':' delimiter"),
        ('["\n"]', "Invalid control character"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_said_with_its_position(text: str, problem: str) -> None:
    with pytest.raises(MalformedError) as caught:
        list(elements(io.BytesIO(text.encode())))
    assert problem in str(caught.value)


def test_a_broken_array_gives_what_stands_before(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", '[{"role": "user", "content": "a"}, {"role": }]')
    (_, first), (position, problem) = read(path)
    assert (first.text, position) == ("a", "item 2")
    assert problem.startswith("cannot be read: the file is not JSON: Expecting value at character")


def test_a_long_cell_is_read(tmp_path: Path) -> None:
    text = "word " * 50_000
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text", "id"], [text, "1"]])
    assert read(path)[0][1].text == text

"""Readers give back what was written, however the bytes are cut, and never fail on what is not."""

from __future__ import annotations

import csv
import io
import json
import mailbox
import tempfile
from datetime import datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cognigraph.errors import ConfigurationError
from cognigraph.importers.fields import Identifier, prepared
from cognigraph.importers.formats import READERS, reader_for
from cognigraph.importers.json_records import elements
from cognigraph.importers.record import Bad, Head, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.importers.whatsapp import MESSAGE_HEAD, date_order
from tests.examples import examples

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
SAID = TEXT.filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


class Dripping(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._inner = io.BytesIO(data)
        self._step = step

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(min(len(buffer), self._step))
        buffer[: len(data)] = data
        return len(data)


def records(format: str, data: bytes, name: str = "a", **options: Any) -> list[Record]:
    file = Input(name, io.BufferedReader(io.BytesIO(data), 64 * 1024))  # type: ignore[arg-type]
    with Identifier() as identifier:
        return list(prepared(READERS[format], file, ReadOptions(**options), identifier))


def values(found: list[Record]) -> list[dict[str, Any]]:
    assert not [item.value for item in found if isinstance(item.value, Bad)]
    return [item.value for item in found if isinstance(item.value, dict)]


@pytest.mark.slow
@given(st.lists(JSON, max_size=5), st.integers(1, 7), st.sampled_from([None, 1]), st.booleans())
@example(["\ud83d\ude00" * 3], 1, None, True)
@example([12, -0.5, True], 1, None, False)
def test_an_array_is_read_however_it_is_cut(
    given: list[Any], step: int, indent: int | None, ascii: bool
) -> None:
    data = json.dumps(given, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    stream: BinaryIO = Dripping(data, step)  # type: ignore[assignment]
    assert [*elements(stream)] == json.loads(data.decode("utf-8", "replace"))


@given(st.dictionaries(TEXT, JSON, max_size=4), st.lists(JSON, max_size=4), st.integers(1, 7))
def test_lists_of_an_object_are_read_one_by_one(
    rest: dict[str, Any], given: list[Any], step: int
) -> None:
    rest.pop("results", None)
    data = json.dumps(rest | {"results": given}).encode()
    found = list(elements(Dripping(data, step), {"results"}))  # type: ignore[arg-type]
    assert found == given
    alone = list(elements(Dripping(json.dumps(rest).encode(), step), {"results"}))  # type: ignore[arg-type]
    assert alone == [rest]


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), SAID), min_size=1, max_size=6))
def test_conversations_in_each_format_give_the_same_turns(turns: list[tuple[str, str]]) -> None:
    chat = [{"role": role, "content": text} for role, text in turns]
    human = {"user": "human", "assistant": "ai"}
    nodes: dict[str, Any] = {}
    for number, (role, text) in enumerate(turns):
        content = {"content_type": "text", "parts": [text]}
        message = {"id": f"n{number}", "author": {"role": role}, "content": content}
        parent = f"n{number - 1}" if number else None
        nodes[f"n{number}"] = {"message": message, "parent": parent}
    claude = [
        {"uuid": f"n{n}", "sender": role, "text": text} for n, (role, text) in enumerate(turns)
    ]
    files = {
        "openai": {"messages": chat},
        "langchain": [{"type": human[role], "content": text} for role, text in turns],
        "chatgpt": [{"id": "c", "mapping": nodes, "current_node": f"n{len(turns) - 1}"}],
        "claude": [{"uuid": "c", "chat_messages": claude}],
    }
    for format, value in files.items():
        found = values(records(format, json.dumps(value).encode()))
        assert [(item["role"], item.get("text", item.get("content"))) for item in found] == turns
        assert len({item.get("id") for item in found}) == len(turns), format
    lines = "\n".join(map(json.dumps, chat)).encode()
    found = values(records("jsonl", lines))
    assert [(item["role"], item["content"]) for item in found] == turns
    assert len({item["id"] for item in found}) == len(turns)


@given(
    st.lists(st.tuples(SAID, st.sampled_from(["", "Ann", "Bo; b"])), max_size=5),
    st.sampled_from(",;\t|"),
)
@pytest.mark.slow
def test_tables_give_back_their_cells(rows: list[tuple[str, str]], delimiter: str) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerows([("text", "speaker", "n"), *((*row, "1") for row in rows)])
    found = values(records("csv", file.getvalue().encode()))
    assert [(item["text"], item.get("speaker", ""), item["n"]) for item in found] == [
        (text, speaker, "1") for text, speaker in rows
    ]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.integers(1, 6),
            st.from_regex(r"[a-z]{1,5}( [a-z]{1,5})?", fullmatch=True),
            st.from_regex(r"[a-z ]{0,9}[a-z]", fullmatch=True),
        ),
        max_size=6,
    )
)
def test_every_line_of_a_note_is_in_one_section(sections: list[tuple[int, str, str]]) -> None:
    text = "".join(f"{'#' * level} {title}\n\n{body}\n" for level, title, body in sections)
    found = values(records("markdown", text.encode(), "a.md"))
    assert [item["text"] for item in found] == [
        f"{'#' * level} {title}\n\n{body}" for level, title, body in sections
    ]
    assert len({item["id"] for item in found}) == len(found)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.datetimes(datetime(2010, 1, 1), datetime(2039, 12, 31)),
            st.sampled_from(["Ann", "Bo Lie", "+47 900 00 000"]),
            st.from_regex(
                r"[a-zæøå:<>/,.]{1,9}( [a-z0-9 -]{0,9}[a-z])?(\n[a-z ]{0,9}[a-z])?", fullmatch=True
            ),
        ),
        min_size=1, max_size=8,
    ),
    st.sampled_from(
        ["{0:%d/%m/%Y, %H:%M} - ", "{0:%m/%d/%y, %I:%M %p} - ", "{0:%d.%m.%y, %H:%M} - ",
         "[{0:%d.%m.%Y, %H:%M:%S}] ", "[{0:%Y-%m-%d, %I:%M:%S %p}] ", "{0:%Y/%m/%d %H:%M} - "]
    ),
)  # fmt: skip
def test_a_whatsapp_chat_gives_back_its_messages(
    said: list[tuple[datetime, str, str]], form: str
) -> None:
    said = sorted(
        (at.replace(microsecond=0, second=at.second if "%S" in form else 0), who, text)
        for at, who, text in said
    )
    chat = "".join(f"{form.format(at)}{who}: {text}\n" for at, who, text in said)
    order = "mdy" if "%m/%d/%y" in form else "ymd" if "%Y-" in form or "%Y/%m" in form else "dmy"
    heads = [MESSAGE_HEAD.match(line) for line in chat.splitlines()]
    assume(date_order(iter([head for head in heads if head])) == order)
    found = values(records("whatsapp", chat.encode(), "chat.txt"))
    assert [(item["at"], item["speaker"], item["text"]) for item in found] == [
        (at.isoformat(), who, text) for at, who, text in said
    ]


@given(
    st.lists(st.datetimes(datetime(2010, 1, 1), datetime(2039, 12, 31)), min_size=1, max_size=9),
    st.sampled_from(["%d/%m/%Y, %H:%M", "%m/%d/%Y, %I:%M %p", "%d/%m/%y, %H:%M"]),
)
def test_a_date_that_decides_the_order_decides_it_for_all(given: list[datetime], form: str) -> None:
    moments = sorted([*given, given[0].replace(day=25)])
    heads = [MESSAGE_HEAD.match(f"{at:{form}} - ") for at in moments]
    assert date_order(iter([head for head in heads if head])) == (
        "mdy" if form.startswith("%m") else "dmy"
    )


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from(["From here", ">From", "a b", "> q", "x:"])), max_size=6))
def test_a_mailbox_gives_back_its_mails(bodies: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        box = mailbox.mbox(Path(folder) / "box")
        for number, body in enumerate(bodies):
            mail = EmailMessage()
            mail["Message-ID"] = f"<{number}@x>"
            mail.set_content("\n".join(["first", *body, "last"]))
            box.add(mail)
        box.close()
        data = (Path(folder) / "box").read_bytes()
    found = values(records("mbox", data, "box.mbox"))
    assert [item["text"].split("\n") for item in found] == [
        ["first", *item, "last"] for item in bodies
    ]


@pytest.mark.parametrize("format", READERS)
@settings(max_examples=examples(30))
@given(data=st.binary(max_size=60) | JSON.map(lambda value: json.dumps([value]).encode()))
def test_no_reader_fails_on_what_is_not_in_its_format(format: str, data: bytes) -> None:
    try:
        for record in records(format, data, "a.md"):
            assert isinstance(record.value, dict) or record.value.problem
    except ConfigurationError as error:
        assert format == "csv" and "column" in str(error)


@given(st.binary(max_size=80) | JSON.map(lambda value: json.dumps(value).encode()), st.integers(0))
def test_guessing_a_format_never_fails(data: bytes, cut: int) -> None:
    try:
        assert reader_for(Head("a.json", data[: cut % 100])).name in READERS
    except ConfigurationError as error:
        assert "cannot tell the format" in str(error)

"""JSON lines: one message on each, with our own fields or those of chat completions."""

from __future__ import annotations

from collections.abc import Iterator

from cognigraph.importers.json_records import lines
from cognigraph.importers.record import Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input

_MESSAGE = {"text", "content", "role", "raw"}


def _sniff(head: Head) -> bool:
    if head.lines:
        return not _MESSAGE.isdisjoint(head.keys)
    return head.suffix in READER.suffixes


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    session = {} if options.session is None else {"session": options.session}
    for found in lines(file):
        value = found.value
        yield Record(found.position, session | value if isinstance(value, dict) else value)


READER = Reader(
    "jsonl",
    "one message on each line, with text or content, and optionally session, speaker, at, id, role",
    _sniff,
    _read,
    (".jsonl", ".ndjson"),
)

"""What a reader gets and yields: the head of a file, options, messages with their positions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from pathlib import PurePath
from typing import Any

from cognigraph.importers.source import Input

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{}\[\]])', re.DOTALL)
_SAMPLE_LINES = 20


@dataclass(frozen=True, slots=False)
class Head:
    """The name of a file and its first bytes (64 KB at most)."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The suffix of the name, in lower case."""
        return PurePath(self.name).suffix.lower()

    @cached_property
    def text(self) -> str:
        """The bytes as text."""
        return self.data.decode("utf-8-sig", "replace").lstrip()

    @property
    def is_json(self) -> bool:
        """Whether it begins as JSON, or as JSON lines."""
        return self.text.startswith(("{", "["))

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The objects on the first lines, if each line is one; else nothing."""
        whole = self.text.rpartition("\n")[0] if "\n" in self.text else self.text
        objects: list[dict[str, Any]] = []
        for line in whole.split("\n")[:_SAMPLE_LINES]:
            if line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    return objects
                if not isinstance(value, dict):
                    return []
                objects.append(value)
        return objects

    @cached_property
    def keys(self) -> set[str]:
        """Keys of the first object of an array, of the object, or of the objects on lines."""
        if self.lines:
            return {key for line in self.lines for key in line}
        return _keys(self.text, depth=2 if self.text.startswith("[") else 1)

    @cached_property
    def inner_keys(self) -> set[str]:
        """Keys of the objects in the first list of an object."""
        return _keys(self.text, depth=3) if self.text.startswith("{") else set()


def _keys(text: str, depth: int) -> set[str]:
    """Keys at a depth of brackets, in what there is of a JSON text; the text may be cut off."""
    keys: set[str] = set()
    level = 0
    for match in _TOKEN.finditer(text):
        string, colon, bracket = match.groups()
        if bracket is not None:
            level += 1 if bracket in "{[" else -1
        elif colon is not None and level == depth:
            keys.add(string)
    return keys


@dataclass(frozen=True, slots=True)
class Position:
    """Where in a file a message is: ``line 7``, or ``item 3, message 2``. Counts begin at 1."""

    number: int
    unit: str = "line"
    message: int | None = None

    def __str__(self) -> str:
        inner = "" if self.message is None else f", message {self.message}"
        return f"{self.unit} {self.number}{inner}"

    def inside(self, message: int | None) -> Position:
        """The position of a message in the conversation at this position."""
        return Position(self.number, self.unit, message)


@dataclass(frozen=True, slots=True)
class Bad:
    """What cannot be a message. ``problem`` goes on with a sentence that begins "line 7"."""

    problem: str


@dataclass(frozen=True, slots=True)
class Record:
    """One message as a mapping that :meth:`cognigraph.Message.of` takes, or what is wrong there.

    A field that is ``None`` is as good as absent. ``space`` is the space that its owner has, in a
    dump of a memory that has several owners.
    """

    position: Position
    value: dict[str, Any] | Bad
    space: str | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file.

    ``session`` is the session of messages whose file names no session; in a format that has
    conversations it is the session of all messages. ``speaker`` is the speaker of messages that
    have neither a speaker nor a role. ``columns`` says which field or column holds what:
    ``{"text": "body"}``. Dates of notes, and times in dumps, are taken to be in ``zone`` (UTC if
    absent) if they have no offset.
    """

    session: str | None = None
    speaker: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    Args:
        name: its name for ``--format``.
        what: one line for the help.
        sniff: whether a file that begins so is in this format.
        read: the messages of a file, in order.
        suffixes: file names of this format in a folder.
        can_change: whether a message may have another text when the file is read again; then its
            text is replaced, and is not an error.
        names_session: whether a message may name its session itself; then ``read`` gives those
            that do not the session of the options. Else all messages get it.
    """

    name: str
    what: str
    sniff: Callable[[Head], bool]
    read: Callable[[Input, ReadOptions], Iterator[Record]]
    suffixes: tuple[str, ...] = (".json", ".jsonl")
    can_change: bool = False
    names_session: bool = False

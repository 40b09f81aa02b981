"""Markdown notes: each file is a session, and each of its sections a message.

The id of a message is the path of its headings, so a section is recognised when its text changes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from itertools import chain

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import MAX_LINE, texts
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import NOTES, Input

TAG = "note"
"""The tag of every message that was read from a note."""
_TOP = "(top)"
"""The id of what stands before the first heading."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DATE_IN_NAME = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
_FIELD = re.compile(r"([A-Za-z_]+):[ \t]*(.*?)[ \t]*$")
_DATES = ("date", "created", "created_at", "updated")
_MAX_ID = 200
_MAX_SECTION = 32 * 1024 * 1024
"""Largest number of characters of a section."""
_MAX_FRONT = 200
"""Largest number of lines of front matter."""


@dataclass(slots=True)
class _Section:
    line: int = 1
    path: tuple[str, ...] = ()
    size: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.lines).strip()

    @property
    def has_body(self) -> bool:
        return bool("".join(self.lines[1:] if self.path else self.lines).strip())


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    try:
        yield from _records(file, options)
    except UnicodeDecodeError:
        yield Record(Position(1), Bad("is not UTF-8"))


def _records(file: Input, options: ReadOptions) -> Iterator[Record]:
    numbered = enumerate(_lines(file), 1)
    front, rest = _front_matter(numbered)
    tags = [TAG, *_tags(front)]
    at = _time(front, file, options)
    seen: Counter[str] = Counter()
    for section in _sections(rest):
        if section.size > _MAX_SECTION:
            problem = f"is a section longer than {_MAX_SECTION // 1024**2} MB"
            yield Record(Position(section.line), Bad(problem))
        elif section.has_body:
            id = _identifier(section.path)
            seen[id] += 1
            yield Record(
                Position(section.line),
                {
                    "text": section.text,
                    "session": file.name,
                    "id": id if seen[id] == 1 else f"{id} #{seen[id]}",
                    "at": at,
                    "tags": tags,
                    "metadata": texts(
                        file=file.name, folder=file.folder, heading=" > ".join(section.path)
                    ),
                },
            )


def _lines(file: Input) -> Iterator[str]:
    first = True
    while line := file.stream.readline(MAX_LINE):
        yield line.decode("utf-8-sig" if first else "utf-8").replace("\r\n", "\n")
        first = False


def _front_matter(
    numbered: Iterator[tuple[int, str]],
) -> tuple[dict[str, str], Iterator[tuple[int, str]]]:
    """The fields between two lines of dashes at the beginning, and the lines after it."""
    taken: list[tuple[int, str]] = []
    for number, line in numbered:
        taken.append((number, line))
        if number == 1 and line.rstrip() != "---":
            break
        if number > 1 and line.rstrip() in ("---", "..."):
            return dict(_fields([text for _, text in taken])), numbered
        if number > _MAX_FRONT:
            break
    return {}, chain(taken, numbered)


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Names and values. A list on lines of its own comes once for each item, longer each time."""
    name = ""
    items: list[str] = []
    for line in lines:
        if match := _FIELD.match(line):
            name, items = match[1].casefold(), []
            yield name, match[2].strip("\"'")
        elif name and line.lstrip().startswith("- "):
            items.append(line.lstrip()[2:].strip(" \"'\n"))
            yield name, ",".join(items)


def _sections(numbered: Iterator[tuple[int, str]]) -> Iterator[_Section]:
    section = _Section()
    path: list[tuple[int, str]] = []
    fence = ""
    for number, line in numbered:
        heading = None if fence else _HEADING.match(line)
        if heading is not None:
            yield section
            level = len(heading[1])
            path = [outer for outer in path if outer[0] < level] + [(level, heading[2])]
            section = _Section(number, tuple(title for _, title in path))
        fence = _fence_after(fence, line)
        if not section.lines:
            section.line = number
        section.size += len(line)
        if section.size <= _MAX_SECTION and (section.lines or line.strip()):
            section.lines.append(line)
    yield section


def _fence_after(fence: str, line: str) -> str:
    """The characters of the code fence that is open after a line; an empty text if none is."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _identifier(path: tuple[str, ...]) -> str:
    whole = " > ".join(path) or _TOP
    if len(whole) <= _MAX_ID:
        return whole
    digest = hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=6)
    return f"{whole[:_MAX_ID]} {digest.hexdigest()}"


def _time(front: dict[str, str], file: Input, options: ReadOptions) -> str | None:
    """When a note was written: the date in its front matter, in its name, or of its file."""
    zone = options.zone or UTC
    in_name = _DATE_IN_NAME.search(file.stem)
    for text in (*(front.get(name) for name in _DATES), in_name and in_name[1]):
        if (time := iso(text, zone)) is not None:
            return time
    return None if file.modified is None else file.modified.isoformat()


def _tags(front: dict[str, str]) -> list[str]:
    given = front.get("tags", "").strip("[]").split(",")
    return sorted({tag.strip(" \"'#")[:100] for tag in given} - {"", TAG})[:99]


READER = Reader(
    "markdown",
    "Markdown notes, one or a folder: files become sessions, sections become messages",
    lambda head: head.suffix in NOTES,
    _read,
    NOTES,
    can_change=True,
)

"""Yield the objects of a JSON file as records, whether it is an array, an object or lines."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from cognigraph.importers.json_elements import (
    MalformedError,
    elements,
    numbered_lines,
    object_on_line,
)
from cognigraph.importers.record import Bad, Position
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input


@dataclass(frozen=True, slots=True)
class Found:
    """One object, with the name of the list it was in, if the file is an object with lists."""

    position: Position
    value: dict[str, Any] | Bad
    list: str = ""


def objects(file: Input, lists: Set[str] = frozenset()) -> Iterator[Found]:
    """The objects in a JSON file, one at a time; anything else is :class:`Bad`."""
    head = Head(file.name, file.head())
    if head.lines and lists.isdisjoint(head.keys):  # an object with lists may be on one line
        return lines(file)
    return _elements(file, lists)


def lines(file: Input) -> Iterator[Found]:
    """The objects of a file with one on each line."""
    for number, line in numbered_lines(file.stream):
        value = object_on_line(line, number)
        yield Found(Position(number), Bad(value) if isinstance(value, str) else value)


def _elements(file: Input, lists: Set[str]) -> Iterator[Found]:
    number = 0
    try:
        for name, value in elements(file.stream, lists):
            number += 1
            good = isinstance(value, dict)
            yield Found(
                Position(number, "item"), value if good else Bad("is not a JSON object"), name
            )
    except MalformedError as error:
        yield Found(Position(number + 1, "item"), Bad(f"cannot be read: {error}"))

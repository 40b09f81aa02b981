"""Read JSON files of any size, in memory for one element at a time.

The standard library decodes each element; what is written here finds where it ends. ijson would do
that too, but it takes memory that grows with the square of the depth, so that 100 KB of brackets
end the process, and it refuses numbers of more than 64 bits.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, BinaryIO

from cognigraph.importers.record import Bad, Head, Position, ReadOptions, Record
from cognigraph.importers.source import Input

MAX_ELEMENT = 256 * 1024 * 1024
"""Largest number of characters of one element."""
MAX_LINE = 64 * 1024 * 1024
"""Largest number of bytes of one line."""
_CHUNK = 256 * 1024
_LONGEST_WORD = 12
"""No literal, number sign or escape that a cut can split is longer than this."""
_SPACE = " \t\r\n"
_AFTER_NUMBER = frozenset(_SPACE + ",]}")
_DECODER = json.JSONDecoder()


class MalformedError(ValueError):
    """The rest of the file cannot be read as JSON."""


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """The objects in the value, if it is a list."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def first_text(given: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of some fields that is a text and not blank."""
    values = (given.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def present(given: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Any]:
    """Those fields, or of them those in ``names``, that are there and not ``None``."""
    names = given if names is None else names
    return {name: given[name] for name in names if given.get(name) is not None}


def texts(**values: object) -> dict[str, str]:
    """Those of some values that are texts and not empty."""
    return {name: value for name, value in values.items() if isinstance(value, str) and value}


Value = dict[str, Any] | Bad | None
"""A message, what is wrong with it, or ``None`` for what nobody has said."""
Numbered = Iterator[tuple[int | None, Value]]
"""The messages of a conversation, each with its number; what is wrong with all of it has none."""
Read = Callable[[Input, ReadOptions], Iterator[Record]]


def from_messages(
    convert: Callable[[dict[str, Any], Input, ReadOptions], Value],
    objects_of: Callable[[Input], Iterator[Record]] | None = None,
) -> Read:
    """How to read a file whose objects are messages, which ``convert`` converts one by one."""

    def read(file: Input, options: ReadOptions) -> Iterator[Record]:
        for item in (objects_of or objects)(file):
            if isinstance(item.value, Bad):
                yield item
            elif (value := convert(item.value, file, options)) is not None:
                yield Record(item.position, value)

    return read


def from_conversations(convert: Callable[[dict[str, Any], Input, ReadOptions], Numbered]) -> Read:
    """How to read a file whose objects are conversations, of which ``convert`` gives messages."""

    def read(file: Input, options: ReadOptions) -> Iterator[Record]:
        for item in objects(file):
            if isinstance(item.value, Bad):
                yield item
                continue
            for number, value in convert(item.value, file, options):
                if value is not None:
                    yield Record(item.position.inside(number), value)

    return read


def objects(file: Input, lists: Set[str] = frozenset()) -> Iterator[Record]:
    """The objects in a JSON file as they stand, one at a time; anything else is :class:`Bad`.

    Of an object with lists that are named in ``lists``, the objects in these.
    """
    head = Head(file.name, file.head())
    if head.lines and lists.isdisjoint(head.keys):  # an object with lists may be on one line
        yield from lines(file)
        return
    number = 0
    try:
        for number, value in enumerate(elements(file.stream, lists), 1):
            is_object = isinstance(value, dict)
            yield Record(
                Position(number, "item"), value if is_object else Bad("is not a JSON object")
            )
    except MalformedError as error:
        yield Record(Position(number + 1, "item"), Bad(f"cannot be read: {error}"))


def lines(file: Input) -> Iterator[Record]:
    """The objects of a file with one on each line, as they stand; empty lines are skipped."""
    number = 0
    while line := file.stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.stream.readline(MAX_LINE)
            yield Record(Position(number), Bad(f"is longer than {MAX_LINE // 1024**2} MB"))
        elif line.strip() and line.strip() != codecs.BOM_UTF8:
            yield Record(Position(number), _object(line, number))


def _object(line: bytes, number: int) -> dict[str, Any] | Bad:
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        return Bad("is not UTF-8")
    except ValueError as error:
        return Bad(f"is not JSON: {error}")
    except RecursionError:
        return Bad("is nested too deeply")
    return value if isinstance(value, dict) else Bad('is not a JSON object such as {"text": "..."}')


def elements(stream: BinaryIO, lists: Set[str] = frozenset()) -> Iterator[Any]:
    """The elements of a JSON array, or of JSON values that follow each other.

    Of an object, the elements of the lists named in ``lists``; if it has none of these, the object
    itself.

    Raises:
        MalformedError: the file is not JSON.
    """
    text = _Text(stream)
    while first := text.next_character():
        if first == "[":
            yield from _array(text)
        elif first == "{" and lists:
            yield from _lists_of_object(text, lists)
        else:
            yield text.value()


def nested(
    stream: BinaryIO, lists: Set[str], through: Set[str]
) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """The elements of the lists named in ``lists``, wherever names in ``through`` lead to them.

    Each comes with the fields of the same object that stand before its list.

    Raises:
        MalformedError: the file is not JSON.
    """
    text = _Text(stream)
    while text.next_character():
        yield from _nested(text, lists, through, _DEEPEST)


_DEEPEST = 8
"""At how many brackets inside each other a list is still looked for."""


def _nested(
    text: _Text, lists: Set[str], through: Set[str], depth: int
) -> Iterator[tuple[Mapping[str, Any], Any]]:
    first = text.next_character()
    if first not in ("{", "[") or not depth:
        text.value()
    elif first == "[":
        for _ in _places(text, "[]"):
            yield from _nested(text, lists, through, depth - 1)
    else:
        fields: dict[str, Any] = {}
        for key in _names(text):
            if key in lists and text.next_character() == "[":
                for value in _array(text):
                    yield fields, value
            elif key in through:
                yield from _nested(text, lists, through, depth - 1)
            else:
                fields[key] = text.value()


def _lists_of_object(text: _Text, lists: Set[str]) -> Iterator[Any]:
    others: dict[str, Any] = {}
    has_list = False
    for key in _names(text):
        if key in lists and text.next_character() == "[":
            has_list = True
            yield from _array(text)
        else:
            others[key] = text.value()
            if has_list:
                others.clear()
    if not has_list:
        yield others


def _array(text: _Text) -> Iterator[Any]:
    for _ in _places(text, "[]"):
        yield text.value()


def _names(text: _Text) -> Iterator[str]:
    """The names in an object; the caller goes past the value of each."""
    for _ in _places(text, "{}"):
        key = text.value()
        if not isinstance(key, str):
            raise text.malformed("a name was expected")
        text.take(":")
        yield key


def _places(text: _Text, brackets: str) -> Iterator[None]:
    """Stop before each element between brackets, which the caller goes past."""
    text.take(brackets[0])
    if text.next_character() == brackets[1]:
        text.take(brackets[1])
        return
    while True:
        yield
        if text.take(f",{brackets[1]}") != ",":
            return


class _Text:
    """A window on the text of a stream: as much as the present element needs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._before = 0
        self._ended = False

    def next_character(self) -> str:
        """The next character that is not white space; an empty string at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._fill(_CHUNK)

    def take(self, expected: str) -> str:
        """Go past one of the ``expected`` characters, and return it."""
        character = self.next_character()
        if not character or character not in expected:
            raise self.malformed(f"{' or '.join(map(repr, expected))} was expected")
        self._at += 1
        return character

    def value(self) -> Any:
        """Go past the next value, and return it."""
        if not self.next_character():
            raise self.malformed("the file ends in the middle")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self.malformed("nested too deeply") from error
            except json.JSONDecodeError as error:
                if self._ended or not self._may_be_cut(error):
                    raise self.malformed(error.msg, error.pos) from error
            except ValueError as error:  # a number with too many digits
                raise MalformedError(f"the file is not JSON: {error}") from error
            else:
                if self._ended or self._is_whole(value, end):
                    self._at = end
                    return value
            self._fill(max(_CHUNK, len(self._text) - self._at))

    def _is_whole(self, value: object, end: int) -> bool:
        """Whether a value is complete. The end of a number shows only in the character after it."""
        if not isinstance(value, int | float):
            return True
        return self._text[end : end + 1] in _AFTER_NUMBER or end + _LONGEST_WORD < len(self._text)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        if len(self._text) - self._at > MAX_ELEMENT:
            raise self.malformed(f"an element is longer than {MAX_ELEMENT // 1024**2} MB")
        is_string = error.msg.startswith("Unterminated string")
        return is_string or error.pos >= len(self._text) - _LONGEST_WORD

    def _fill(self, size: int) -> None:
        data = self._stream.read(size)
        self._ended = not data
        self._before += self._at
        try:
            self._text = self._text[self._at :] + self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise MalformedError("the file is not UTF-8") from error
        self._at = 0

    def malformed(self, problem: str, at: int | None = None) -> MalformedError:
        """The error for a problem at a position of the window, or where it is read."""
        character = self._before + (self._at if at is None else at) + 1
        return MalformedError(f"the file is not JSON: {problem} at character {character:,}")

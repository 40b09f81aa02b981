"""Read JSON of any size element by element, in memory for one element."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Set
from typing import Any, BinaryIO

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


def numbered_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Lines with their numbers, without empty ones; ``None`` for one that is too long."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield number, None
        elif line.strip() and line.strip() != codecs.BOM_UTF8:
            yield number, line


def object_on_line(line: bytes | None, number: int) -> dict[str, Any] | str:
    """The object on a line, or what is wrong with the line."""
    if line is None:
        return f"is longer than {MAX_LINE // 1024**2} MB"
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        return "is not UTF-8"
    except ValueError as error:
        return f"is not JSON: {error}"
    except RecursionError:
        return "is nested too deeply"
    if not isinstance(value, dict):
        return 'is not a JSON object such as {"text": "..."}'
    return value


def elements(stream: BinaryIO, lists: Set[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """The elements of a JSON array, or of JSON values that follow each other.

    Of an object, the elements of the lists named in ``lists`` are given, each with the name of its
    list; if it has none of these, the object itself.

    Raises:
        MalformedError: the file is not JSON.
    """
    text = _Text(stream)
    while first := text.next_character():
        if first == "[":
            for value in _array(text):
                yield "", value
        elif first == "{" and lists:
            yield from _object(text, lists)
        else:
            yield "", text.value()


def _array(text: _Text) -> Iterator[Any]:
    text.take("[")
    if text.next_character() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.take(",]") == "]":
            return


def _object(text: _Text, lists: Set[str]) -> Iterator[tuple[str, Any]]:
    text.take("{")
    rest: dict[str, Any] = {}
    given = False
    if text.next_character() == "}":
        text.take("}")
        yield "", {}
        return
    more = True
    while more:
        key = text.value()
        if not isinstance(key, str):
            raise text.malformed("a name was expected")
        text.take(":")
        if key in lists and text.next_character() == "[":
            given = True
            for value in _array(text):
                yield key, value
        else:
            value = text.value()
            rest |= {} if given else {key: value}
        more = text.take(",}") == ","
    if not given:
        yield "", rest


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
        found = self.next_character()
        if not found or found not in expected:
            what = " or ".join(repr(one) for one in expected)
            raise self.malformed(f"{what} was expected")
        self._at += 1
        return found

    def value(self) -> Any:
        """Go past the next value, and return it."""
        if not self.next_character():
            raise self.malformed("the file ends in the middle")
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise self.malformed("nested too deeply") from error
            except ValueError as error:
                if self._ended or not self._may_be_cut(error):
                    raise self._because(error) from error
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

    def _may_be_cut(self, error: ValueError) -> bool:
        if not isinstance(error, json.JSONDecodeError):
            return False
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

    def malformed(self, what: str) -> MalformedError:
        """The error for what is found here."""
        return MalformedError(f"the file is not JSON: {what} at character {self._here(self._at)}")

    def _because(self, error: ValueError) -> MalformedError:
        if isinstance(error, json.JSONDecodeError):
            return MalformedError(
                f"the file is not JSON: {error.msg} at character {self._here(error.pos)}"
            )
        return MalformedError(f"the file is not JSON: {error}")

    def _here(self, position: int) -> str:
        return f"{self._before + position + 1:,}"

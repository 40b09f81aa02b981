"""A lenient parser for JSON as language models write it, amid prose and with common mistakes.

Valid JSON is parsed by the standard library. Anything else is parsed by a parser that tolerates
the usual mistakes: comments, trailing, doubled and missing commas, single and typographic quotes,
unquoted keys and values, Python's literals, line breaks and quotes inside strings, unknown
escapes, and a missing end. It completes nothing: a value without its end is left out, so exactly
the complete items of a cut-off array remain.

The text is not trusted: parsing takes linear time, and documents that are nested too deeply or
have too many values (:mod:`cognigraph.llm.boundedjson`) are ignored.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from cognigraph.llm.boundedjson import MAX_DEPTH, is_bounded, parse

_MAX_STARTS = 500
_MAX_LENIENT = 1_000_000
"""A longer invalid answer (in characters) is not parsed leniently: no model writes that much."""

_FREE = 10_000
"""Characters that strict parsing may waste in addition to twice the length of the text."""

_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_QUOTES = frozenset(_CLOSERS)
_PLAIN = {closer: re.compile(rf"[^{closer}\\]*") for closer in _CLOSERS.values()}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_WORDS = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
    "undefined": None, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
}  # fmt: skip
_WHITE = re.compile(r"\s*")
_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_BARE_KEY = re.compile(r"[^\W\d][\w$-]*")
_KEY_AHEAD = re.compile(
    r"""(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|“[^”\n]{0,200}”|‘[^’\n]{0,200}’|`[^`\n]{0,200}`"""
    r"""|[^\W\d][\w$-]{0,200})\s{0,200}:"""
)
_COMMENT_AHEAD = re.compile(r"\s(?://|/\*|#).*")
_BARE_VALUE = re.compile(r"[^\s,:\[\]{}\"'“‘`][^,\[\]{}\n\"]*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_VALUE_AHEAD = re.compile(
    r"[\[{\"'“‘`\]\d+.-]|(?:true|false|null|True|False|None|NaN|Inf)\b|//|/\*|#"
)
_NEXT_ITEM = re.compile(r"\}\s*(?:,\s*(?=\{)|(?=\]))")
_START = re.compile(r"[\[{]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Document:
    """An object or array found in a text, at ``text[start:end]``.

    ``complete`` says whether its end is present; ``left_out`` counts the items of its arrays that
    could not be parsed or had no end.
    """

    value: Any
    start: int
    end: int
    complete: bool = True
    left_out: int = 0


def documents(text: str) -> list[Document]:
    """The outermost objects and arrays in a text, in order. Never raises."""
    try:
        whole = parse(text)
    except ValueError:
        return _scan(text)
    if isinstance(whole, str):  # an answer that was encoded as JSON twice
        return [] if whole == text else _scan(whole)
    if not isinstance(whole, dict | list):
        return []
    mended = _without_surrogates(whole) if _has_surrogates(text) else whole
    return [Document(mended, 0, len(text))]


def _scan(text: str) -> list[Document]:
    if len(text) > _MAX_LENIENT:
        return []
    found = []
    surrogates = _has_surrogates(text)
    strict = 2 * len(text) + _FREE  # characters that strict parsing may still waste
    position = 0
    for _ in range(_MAX_STARTS):
        match = _START.search(text, position)
        if match is None:
            break
        document, wasted = _document(text, match.start(), strictly=strict > 0)
        strict -= wasted
        position = max(document.end, match.start() + 1)
        if is_bounded(document.value):
            mended = _without_surrogates(document.value) if surrogates else document.value
            found.append(replace(document, value=mended))
    return found


def _document(text: str, start: int, *, strictly: bool) -> tuple[Document, int]:
    """The document that begins at ``start``, and the characters wasted by strict parsing."""
    wasted = 0
    if strictly:
        try:
            value, end = _DECODER.raw_decode(text, start)
            return Document(value, start, end), 0
        except json.JSONDecodeError as error:
            wasted = error.pos - start
        except (ValueError, RecursionError):  # a number with too many digits, or deep nesting
            wasted = _FREE
    return _JsonReader(text).document(start), wasted


def _has_surrogates(text: str) -> bool:
    """Whether the text may hold lone surrogates, which no store accepts; they become U+FFFD."""
    return "\\u" in text or _SURROGATE.search(text) is not None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


class _JsonReader:
    """Parses one value of a text.

    Each parsing method returns the value, its end position, and whether the value is complete.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text)
        self._left_out = 0

    def document(self, start: int) -> Document:
        """The object or array that begins at ``start``."""
        value, end, complete = self._value(start, 0, in_object=False)
        return Document(value, start, end, complete, self._left_out)

    def _value(self, index: int, depth: int, *, in_object: bool) -> tuple[Any, int, bool]:
        character = self._text[index]
        if character in "{[":
            if depth >= MAX_DEPTH:
                return None, index, False
            if character == "{":
                return self._object(index, depth)
            return self._array(index, depth)
        if character in _QUOTES:
            return self._string(index, in_object=in_object)
        return self._bare(index)

    def _object(self, index: int, depth: int) -> tuple[dict[str, Any], int, bool]:
        value: dict[str, Any] = {}
        index += 1
        while True:
            index = self._skip(index)
            if index >= self._end:
                return value, index, False
            if self._text[index] == "}":
                return value, index + 1, True
            if self._text[index] == ",":
                index += 1
                continue
            key, index, known = self._key(index)
            if not known:
                return value, index, False
            item, index, complete = self._value(index, depth + 1, in_object=True)
            if complete or isinstance(item, dict | list):
                value[key] = item
            if not complete:
                return value, index, False

    def _key(self, index: int) -> tuple[str, int, bool]:
        """A key, the position where its value begins, and whether both were found."""
        if self._text[index] in _QUOTES:
            key, end, complete = self._string(index, is_key=True)
        elif bare := _BARE_KEY.match(self._text, index):
            key, end, complete = bare[0], bare.end(), True
        else:
            return "", index, False
        colon = self._skip(end)
        if not complete or not self._text.startswith(":", colon):
            return key, max(colon, index), False
        value = self._skip(colon + 1)
        return key, value, value < self._end

    def _array(self, index: int, depth: int) -> tuple[list[Any], int, bool]:
        items: list[Any] = []
        index += 1
        while True:
            index = self._skip(index)
            if index >= self._end:
                return items, index, False
            character = self._text[index]
            if character == "]":
                return items, index + 1, True
            if character == ",":
                index += 1
                continue
            if character in "}:":
                return items, index, False
            item, index, complete = self._value(index, depth + 1, in_object=False)
            if complete:
                items.append(item)
                continue
            self._left_out += 1
            following = _NEXT_ITEM.search(self._text, index) if character == "{" else None
            if following is None:
                return items, index, False
            index = following.end()

    def _string(
        self, index: int, *, in_object: bool = False, is_key: bool = False
    ) -> tuple[str, int, bool]:
        text = self._text
        closer = _CLOSERS[text[index]]
        plain = _PLAIN[closer]
        parts = []
        index += 1
        while True:
            match = plain.match(text, index)
            assert match is not None  # the pattern also matches the empty string
            parts.append(match[0])
            index = match.end()
            if index >= self._end:
                return "", index, False
            if text[index] == "\\":
                part, index = self._escape(index + 1)
                parts.append(part)
            elif is_key or self._closes(index + 1, in_object):
                return "".join(parts), index + 1, True
            elif text.startswith(":", self._white(index + 1)):
                return "", index, False  # this quote ends a key, so the string has no end
            else:  # an unescaped quote inside the string
                parts.append(closer)
                index += 1

    def _escape(self, index: int) -> tuple[str, int]:
        """The character that an escape stands for, and the position after it.

        ``index`` is the position after the backslash; a truncated escape ends at the end of the
        text.
        """
        if index >= self._end:
            return "", self._end
        character = self._text[index]
        if character != "u":
            return _ESCAPES.get(character, character), index + 1
        code = _HEX.match(self._text, index + 1)
        if code is None:
            return "\\u", self._end if index + 5 > self._end else index + 1
        value, end = int(code[0], 16), code.end()
        if 0xD800 <= value < 0xDC00 and self._text.startswith("\\u", end):
            low = _HEX.match(self._text, end + 2)
            if low is not None and 0xDC00 <= int(low[0], 16) < 0xE000:
                value = 0x10000 + ((value - 0xD800) << 10) + (int(low[0], 16) - 0xDC00)
                end = low.end()
        return chr(value), end

    def _closes(self, index: int, in_object: bool) -> bool:
        """Whether the quote before ``index`` ends its string, judged by what follows it.

        A closing quote of valid JSON always qualifies: it is followed by a bracket, or by a comma
        and another member or item.
        """
        text = self._text
        ahead = self._white(index)
        if ahead >= self._end:
            return True
        character = text[ahead]
        if character in "]}":
            return True
        if character == ",":
            ahead = self._white(ahead + 1)
            if ahead >= self._end or text[ahead] == ",":
                return True
            if in_object:
                return text[ahead] in '"}]/#' or self._is(_KEY_AHEAD, ahead)
            return self._is(_VALUE_AHEAD, ahead)
        if text.startswith(("//", "/*", "#"), ahead):
            return True
        if in_object:  # a comma is missing
            return self._is(_KEY_AHEAD, ahead)
        return character in _QUOTES and "\n" in text[index:ahead]

    def _bare(self, index: int) -> tuple[Any, int, bool]:
        """A number, a literal such as ``true``, or an unquoted text."""
        match = _BARE_VALUE.match(self._text, index)
        if match is None:
            return None, index, False
        if match.end() >= self._end:  # 12 may be a cut-off 123
            return None, match.end(), False
        word = _COMMENT_AHEAD.sub("", match[0]).rstrip()
        if word in _WORDS:
            return _WORDS[word], match.end(), True
        if not _NUMBER.fullmatch(word):
            return word, match.end(), True
        try:
            return int(word) if _WHOLE.fullmatch(word) else float(word), match.end(), True
        except ValueError:  # more digits than Python converts
            return None, match.end(), False

    def _is(self, pattern: re.Pattern[str], index: int) -> bool:
        return pattern.match(self._text, index) is not None

    def _skip(self, index: int) -> int:
        """The position after white space and comments."""
        match = _SPACE.match(self._text, index)
        return match.end() if match is not None else index

    def _white(self, index: int) -> int:
        match = _WHITE.match(self._text, index)
        return match.end() if match is not None else index

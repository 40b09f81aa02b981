"""Find the JSON in a model's answer, amid prose and with the usual mistakes.

Valid JSON is parsed by the standard library. Anything else is parsed tolerantly: comments;
trailing, doubled and missing commas; single and typographic quotes; unquoted keys and values;
Python's literals; line breaks and quotes inside strings; unknown escapes; a missing end. Nothing is
completed: a value without its end is left out, so exactly the complete items of a cut-off array
remain. That is why no library does this: jiter's partial mode keeps an object that was cut off,
which would be stored as a fact without its negation or its time, and accepts none of the other
mistakes; json_repair also invents ends, and takes quadratic time.

The text is not trusted: parsing takes linear time and little stack, and documents that are nested
too deeply or have too many values are ignored, because what follows walks them recursively.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100
MAX_VALUES = 100_000
"""Maximum number of values in one answer, at all depths. An answer of 8,192 tokens has hundreds."""
_MAX_STARTS = 500
_MAX_TOLERANT = 1_000_000
"""A longer invalid answer (in characters) is not parsed tolerantly: no model writes that much."""

_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_WORDS = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
    "undefined": None, "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
}  # fmt: skip
_COMMENTS = r"//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z)"
_SPACE = re.compile(rf"(?:\s+|{_COMMENTS})*", re.DOTALL)
_GAP = re.compile(rf"(?:[\s,]+|{_COMMENTS})*", re.DOTALL)
"""What may stand between two items or members; commas may be missing, doubled or trailing."""
_BARE_KEY = re.compile(r"[^\W\d][\w$-]*")
_BARE_VALUE = re.compile(r"[^\s,:\[\]{}\"'“‘`][^,\[\]{}\n\"]*")
_COMMENT_BEHIND = re.compile(r"\s(?://|/\*|#).*")
_NUMBER = re.compile(r"[+-]?(?:(?P<whole>\d+)|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "u": "\\u"}

_KEY = (
    r"""(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'|“[^”\n]{0,200}”|‘[^’\n]{0,200}’|`[^`\n]{0,200}`"""
    r"""|[^\W\d][\w$-]{0,200})\s{0,200}:"""
)
_VALUE = r"(?:[\[{\"'“‘`\]\d+.\-#]|(?:true|false|null|True|False|None|NaN|Inf)\b|//|/\*)"
_AFTER = r"\s*+(?:\Z|[\]}}]|//|/\*|\#|,\s*+(?:\Z|,|{next})|{without_comma})"
_AFTER_MEMBER = re.compile(_AFTER.format(next=rf'["}}\]/#]|{_KEY}', without_comma=_KEY))
_AFTER_ITEM = re.compile(_AFTER.format(next=_VALUE, without_comma=r"(?<=\n)[\"'“‘`]"))
"""What follows the quote that ends a string. Any other quote stands inside the string, unescaped.

The quotes of valid JSON always qualify.
"""
_AFTER_KEY = re.compile(r"\s*+:")
_NEXT_ITEM = re.compile(r"\}\s*(?:,\s*(?=\{)|(?=\]))")
_START = re.compile(r"[\[{]")
_SURROGATE = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_INCOMPLETE = object()


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


def parse(text: str | bytes) -> Any:
    """Parse valid JSON of bounded depth and size.

    Raises:
        ValueError: the text is not JSON, or exceeds the bounds.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not is_bounded(value):
        raise ValueError("the JSON is nested too deeply or has too many values")
    return value


def is_bounded(value: Any) -> bool:
    """Whether a parsed value has at most ``MAX_VALUES`` values and ``MAX_DEPTH`` levels."""
    level = [value]
    count = 1
    for _ in range(MAX_DEPTH + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return True
        count += sum(map(len, containers))
        if count > MAX_VALUES:
            return False
        level = [
            inner
            for outer in containers
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return False


def documents(text: str) -> list[Document]:
    """The outermost objects and arrays in a text, in order. Never raises.

    Lone surrogates, which no store accepts, become U+FFFD.
    """
    try:
        whole = parse(text)
    except ValueError:
        return _scan(text)
    if isinstance(whole, str):  # an answer that was encoded as JSON twice
        return [] if whole == text else _scan(whole)
    if not isinstance(whole, dict | list):
        return []
    return _scan(text) if _SURROGATE.search(text) else [Document(whole, 0, len(text))]


def _scan(text: str) -> list[Document]:
    documents: list[Document] = []
    position = 0
    for _ in range(_MAX_STARTS if len(text) <= _MAX_TOLERANT else 0):
        match = _START.search(text, position)
        if match is None:
            break
        document = _TolerantParser(text).parse(match.start())
        position = max(document.end, match.end())
        if is_bounded(document.value):
            documents.append(document)
    return documents


class _TolerantParser:
    """Parses one object or array. The open ones are on a stack, the outermost first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._at = 0
        self._left_out = 0

    def parse(self, start: int) -> Document:
        """Parse the object or array that begins at ``start``."""
        text = self._text
        outermost: dict[str, Any] | list[Any] = {} if text[start] == "{" else []
        self._stack.append(outermost)
        self._at = start + 1
        while self._stack:
            self._at = _end(_GAP, text, self._at)
            innermost = self._stack[-1]
            if text.startswith("}" if isinstance(innermost, dict) else "]", self._at):
                self._stack.pop()
                self._at += 1
            elif not self._read_into(innermost) and not self._resume():
                return Document(outermost, start, self._at, False, self._left_out)
        return Document(outermost, start, self._at, True, self._left_out)

    def _read_into(self, container: dict[str, Any] | list[Any]) -> bool:
        """Read the next member or item, or the bracket that opens it; whether that was possible."""
        return self._member(container) if isinstance(container, dict) else self._item(container)

    def _member(self, members: dict[str, Any]) -> bool:
        text = self._text
        if text[self._at : self._at + 1] in _CLOSERS:
            key = self._string(None)
        elif bare := _BARE_KEY.match(text, self._at):
            key, self._at = bare[0], bare.end()
        else:
            return False
        if key is _INCOMPLETE or not text.startswith(":", _end(_SPACE, text, self._at)):
            return False
        self._at = _end(_SPACE, text, _end(_SPACE, text, self._at) + 1)
        value = self._value(_AFTER_MEMBER)
        if value is not _INCOMPLETE:
            members[str(key)] = value
        return value is not _INCOMPLETE

    def _item(self, items: list[Any]) -> bool:
        if self._text[self._at : self._at + 1] in ("", "}", ":"):
            return False
        value = self._value(_AFTER_ITEM)
        if value is _INCOMPLETE:
            self._left_out += 1
            return False
        items.append(value)
        return True

    def _resume(self) -> bool:
        """Leave out what cannot be read, and go on with the next object of an array around it."""
        following = _NEXT_ITEM.search(self._text, self._at)
        while len(self._stack) > 1:
            abandoned = self._stack.pop()
            outer = self._stack[-1]
            if isinstance(outer, list):
                outer.pop()
                self._left_out += 1
                if following is not None and isinstance(abandoned, dict):
                    self._at = following.end()
                    return True
        return False

    def _value(self, after: re.Pattern[str]) -> Any:
        """A scalar, or the object or array that opens here, which is put on the stack."""
        character = self._text[self._at : self._at + 1]
        if character in _CLOSERS:
            return self._string(after)
        if character not in ("{", "["):
            return self._bare()
        if len(self._stack) >= MAX_DEPTH:
            return _INCOMPLETE
        opened: dict[str, Any] | list[Any] = {} if character == "{" else []
        self._stack.append(opened)
        self._at += 1
        return opened

    def _string(self, after: re.Pattern[str] | None) -> Any:
        """A string that ends at a quote with ``after`` behind it; ``None`` stands for anything."""
        text, closer = self._text, _CLOSERS[self._text[self._at]]
        start = end = self._at + 1
        while (end := _closing(text, closer, end)) >= 0:
            if after is None or after.match(text, end + 1):
                self._at = end + 1
                return _unescaped(text[start:end])
            if _AFTER_KEY.match(text, end + 1):  # this quote ends a key, so the string has no end
                break
            end += 1
        self._at = end if end >= 0 else len(text)
        return _INCOMPLETE

    def _bare(self) -> Any:
        """A number, a literal such as ``true``, or an unquoted text."""
        match = _BARE_VALUE.match(self._text, self._at)
        if match is None:
            return _INCOMPLETE
        self._at = match.end()
        if self._at == len(self._text):  # 12 may be a cut-off 123
            return _INCOMPLETE
        word = _COMMENT_BEHIND.sub("", match[0]).rstrip()
        number = _NUMBER.fullmatch(word)
        if number is None:
            return _WORDS.get(word, word)
        try:
            return int(word) if number["whole"] else float(word)
        except ValueError:  # more digits than Python converts
            return _INCOMPLETE


def _closing(text: str, closer: str, at: int) -> int:
    """The position of the next quote that no backslash precedes; -1 if there is none."""
    match = re.compile(rf"(?:[^{closer}\\]|\\.)*+", re.DOTALL).match(text, at)
    end = at if match is None else match.end()
    return end if text.startswith(closer, end) else -1


def _unescaped(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(_character, text)
    if _SURROGATE.search(text):  # joins pairs, and replaces what is none
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPES.get(escape[2], escape[2])


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()

"""A small, strict tokenizer for Cypher, used by all modules that parse a query.

It prefers safety to coverage: it refuses any text that the server's lexer might split differently.
:func:`render` writes the tokens in one canonical form: without comments, with strings escaped
uniformly, with all names but plain ASCII ones in backticks, and with a space between words. The
server therefore reads exactly the tokens that this package has checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cognigraph.errors import QueryError

Kind = Literal["name", "quoted", "string", "number", "parameter", "punctuation"]

_NUMBER = re.compile(r"0[xo][0-9a-fA-F]+|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d+)?", re.ASCII)
_NAME = re.compile(r"[^\W\d][\w$]*")
_SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"\$(?:(\w[\w$]*)|`((?:[^`]|``)+)`)")
_PUNCTUATION = frozenset("()[]{}<>=+-*/%^.,:;|&!")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A token. ``value`` is its content without quotes: a name, a string, a parameter's name.

    ``text`` is its canonical spelling. ``start`` and ``end`` are positions in the query. ``spaced``
    is whether white space or a comment precedes the token.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int
    spaced: bool

    def word(self, *words: str) -> bool:
        """Whether this is one of the given keywords: unquoted, in upper or lower case."""
        return self.kind == "name" and self.value.upper() in words

    def mark(self, *marks: str) -> bool:
        """Whether this is one of the given punctuation marks."""
        return self.kind == "punctuation" and self.text in marks

    @property
    def named(self) -> bool:
        """Whether this is a name, quoted or not."""
        return self.kind in ("name", "quoted")

    @property
    def is_word(self) -> bool:
        """Whether a space must separate this from an adjacent word."""
        return self.kind != "punctuation"


def tokenize(query: str) -> list[QueryToken]:
    """Split a query into tokens; a trailing semicolon is dropped.

    Raises :class:`QueryError` for text that is not Cypher, and for text that servers may tokenize
    in different ways: ``\\u`` escapes, and invisible characters or unusual punctuation outside of
    strings.
    """
    escape = re.search(r"\\[uU]", query)
    if escape:
        raise error(query, escape.start(), "write the character itself instead of a \\u escape")
    tokens: list[QueryToken] = []
    at, spaced = 0, False
    while at < len(query):
        after = _skip(query, at)
        if after > at:
            at, spaced = after, True
            continue
        token = _token(query, at, spaced)
        tokens.append(token)
        at, spaced = token.end, False
    while tokens and tokens[-1].mark(";"):
        tokens.pop()
    for token in tokens:
        if token.mark(";"):
            raise error(query, token.start, "a query must be a single statement; remove the ';'")
    if not tokens:
        raise QueryError("the query is empty")
    return tokens


def brackets(query: str, tokens: Sequence[QueryToken]) -> Mapping[int, int]:
    """Map the index of each bracket to the index of its counterpart, in both directions."""
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.mark("(", "[", "{"):
            waiting.append(index)
        elif token.mark(")", "]", "}"):
            if not waiting or _OPEN[tokens[waiting[-1]].text] != token.text:
                raise error(query, token.start, f"this '{token.text}' has no opening bracket")
            opening = waiting.pop()
            pairs[opening], pairs[index] = index, opening
    if waiting:
        token = tokens[waiting[-1]]
        raise error(query, token.start, f"this '{token.text}' is never closed")
    return pairs


def render(tokens: Sequence[QueryToken], before: Mapping[int, str] | None = None) -> str:
    """Return the text of the tokens, with ``before[i]`` inserted in front of token ``i``."""
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if parts and (token.spaced or (token.is_word and tokens[index - 1].is_word)):
            parts.append(" ")
        if before and index in before:
            parts.append(before[index])
        parts.append(token.text)
    parts.append((before or {}).get(len(tokens), ""))
    return "".join(parts)


def quote(value: str, mark: str = '"') -> str:
    """Return a string literal that has the same meaning in Cypher and in Python."""
    text = value.replace("\\", "\\\\").replace(mark, "\\" + mark)
    for letter, character in (("n", "\n"), ("r", "\r"), ("t", "\t"), ("b", "\b"), ("f", "\f")):
        text = text.replace(character, "\\" + letter)
    return f"{mark}{text}{mark}"


def quote_name(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def error(query: str, at: int, message: str) -> QueryError:
    """Return an error that quotes the line of the query and gives the position in it."""
    before = query[:at]
    line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
    shown = query.splitlines()[line - 1] if query.splitlines()[line - 1 :] else ""
    return QueryError(f"line {line}, column {column}: {message}\n  {shown[:200]}")


def _skip(query: str, at: int) -> int:
    """Return the position after white space or one comment, or ``at`` when there is neither."""
    if query[at] in " \t\r\n":
        return at + 1
    if query.startswith("//", at):
        ends = [end for end in (query.find("\n", at), query.find("\r", at)) if end >= 0]
        return min(ends, default=len(query))
    if query.startswith("/*", at):
        end = query.find("*/", at + 2)
        if end < 0:
            raise error(query, at, "this comment is never closed")
        return end + 2
    return at


def _token(query: str, at: int, spaced: bool) -> QueryToken:
    character = query[at]
    if character in "'\"":
        return _string(query, at, spaced)
    if character == "`":
        return _quoted(query, at, spaced)
    if character == "$":
        return _parameter(query, at, spaced)
    kind: Kind
    if number := _NUMBER.match(query, at):
        kind, text = "number", number[0]
        if re.match(r"[\w$]", query[number.end() :]):
            raise error(query, at, "a number must not be followed directly by a letter")
    elif name := _NAME.match(query, at):
        kind, text = "name", name[0]
        # The server may treat the Kelvin sign, the long s or the dotless i as an ASCII letter.
        if not text.isascii() and (text.casefold().isascii() or text.upper().isascii()):
            raise error(query, at, f"put the name {text!r} in backticks")
        if not _SIMPLE_NAME.fullmatch(text):
            return QueryToken("quoted", quote_name(text), text, at, at + len(text), spaced)
    elif character in _PUNCTUATION or (character == "~" and query[at - 1 : at] == "="):
        kind, text = "punctuation", character
    else:
        raise error(query, at, f"the character {character!r} is not allowed outside of a string")
    return QueryToken(kind, text, text, at, at + len(text), spaced)


def _string(query: str, at: int, spaced: bool) -> QueryToken:
    value: list[str] = []
    mark, here = query[at], at + 1
    while here < len(query):
        character = query[here]
        if character == mark:
            text = quote("".join(value), mark)
            return QueryToken("string", text, "".join(value), at, here + 1, spaced)
        if character == "\\":
            here += 1
            escaped = _ESCAPES.get(query[here : here + 1])
            if escaped is None:
                raise error(query, here - 1, "unknown escape in a string; write \\\\ for one \\")
            character = escaped
        value.append(character)
        here += 1
    raise error(query, at, "this string is never closed")


def _quoted(query: str, at: int, spaced: bool) -> QueryToken:
    found = re.compile(r"`((?:[^`]|``)*)`").match(query, at)
    if not found or not found[1]:
        raise error(query, at, "this name in backticks is empty or never closed")
    name = found[1].replace("``", "`")
    if "\\" in name:
        raise error(query, at, "a name cannot contain a backslash")
    return QueryToken("quoted", quote_name(name), name, at, found.end(), spaced)


def _parameter(query: str, at: int, spaced: bool) -> QueryToken:
    found = _PARAMETER.match(query, at)
    if not found:
        raise error(query, at, "a '$' must be followed by the name of a parameter")
    name = found[1] if found[1] is not None else found[2].replace("``", "`")
    simple = found[1] is not None and _SIMPLE_NAME.fullmatch(name)
    text = f"${name}" if simple else "$" + quote_name(name)
    return QueryToken("parameter", text, name, at, found.end(), spaced)

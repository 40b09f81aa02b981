"""From a model's answer to a validated value: lenient about form, strict about content.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic

from cognigraph.errors import ConfigurationError
from cognigraph.llm.protocols import T

if TYPE_CHECKING:
    from pydantic import BaseModel

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
    if _SURROGATE.search(text):  # joins pairs, and replaces single ones
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPES.get(escape[2], escape[2])


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


# Parse a model's answer into a validated value: lenient about form, strict about content.
#
# Only an object that has the lists of the schema counts as "nothing found". Any other answer
# without a usable item is a failure, to be repaired or retried, and never an empty result.

# Pydantic checks bounds and fills in defaults afterwards. Servers differ in which of these
# keywords they reject (OpenAI rejects some; llama.cpp builds slow grammars from others).
_LEFT_OUT = frozenset(
    "default examples format maxItems maxLength maximum minItems minLength minimum multipleOf "
    "pattern exclusiveMaximum exclusiveMinimum title uniqueItems".split()
)


@lru_cache(maxsize=256)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The strict form of a model's JSON schema: all properties required, no others allowed.

    OpenAI calls this form strict. Servers that turn it into a grammar (vLLM, llama.cpp, Ollama)
    write every field, in order. The result is cached: do not modify it.

    Raises:
        ConfigurationError: the schema does not describe an object with fields.
    """
    form = deepcopy(schema.model_json_schema(mode="validation"))
    if reference := form.pop("$ref", None):  # a model that contains itself
        form |= form["$defs"][reference.rpartition("/")[2]]
    if not form.get("properties"):
        raise ConfigurationError(f"{schema.__name__} has no fields that a model could fill in")
    strict: dict[str, Any] = _strict(form)
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):  # their keys are names, not schema keywords
            result[key] = {name: _strict(part) for name, part in value.items()}
        elif key not in _LEFT_OUT:
            result[key] = value if key in ("enum", "const") else _strict(value)
    if "$ref" in result:
        return {"$ref": result["$ref"]}
    if result.get("type") == "object" and "properties" in result:
        result["additionalProperties"] = False
        result["required"] = list(result["properties"])
    return result


_ROUNDS = 4
_WRAPPERS = 3
_REASONS = 5
_THINKING = ("<think>", "</think>")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ParsedAnswer(Generic[T]):
    """A parsed value; or ``None``, with the problem in words that can be sent to the model.

    ``salvaged`` counts the items kept from an invalid answer; ``dropped`` gives a reason for each
    of the others. ``formless`` means that the answer has no object with fields of the schema.
    """

    value: T | None
    salvaged: int = 0
    dropped: tuple[str, ...] = ()
    cut_off: bool = False
    problem: str = ""
    formless: bool = False


@dataclass(frozen=True, slots=True)
class _JsonForm:
    """The names of a schema's fields, of those that are lists, and of those that are required.

    An answer carries one of the lists, or any field if no list is required.
    """

    fields: frozenset[str]
    lists: frozenset[str]
    required: frozenset[str]

    def is_carried_by(self, value: Any) -> bool:
        return isinstance(value, dict) and not self.expected.isdisjoint(value)

    @property
    def expected(self) -> frozenset[str]:
        return self.fields if self.lists.isdisjoint(self.required) else self.lists


@dataclass(frozen=True, slots=True)
class _Picked:
    """The object selected as the answer.

    ``whole`` means well-formed; ``at_end`` means that it is cut off at the end of the text;
    ``left_out`` counts its unreadable items.
    """

    data: dict[str, Any]
    whole: bool
    at_end: bool
    left_out: int


def read(text: str, schema: type[T], *, cut_off: bool = False) -> ParsedAnswer[T]:
    """Parse an answer according to a schema. Never raises.

    ``cut_off`` says that the server stopped the model. Unknown fields are ignored unless the
    schema forbids them.
    """
    form = _form(schema)
    if text.lstrip().startswith(_THINKING[0]):
        text = text.partition(_THINKING[1])[2]
    parsed = documents(text)
    picked = _carrying(parsed, text, form) or _bare_items(parsed, text, schema, form)
    if picked is None:
        names = ", ".join(sorted(form.expected))
        what = f"no JSON object with {names}" if parsed else "no JSON object"
        problem = f"there is {what} in it"
        return ParsedAnswer(None, cut_off=cut_off, problem=problem, formless=bool(text.strip()))
    return _fit(picked, schema, form, cut_off)


@lru_cache(maxsize=256)
def _form(schema: type[BaseModel]) -> _JsonForm:
    properties: Mapping[str, Any] = json_schema(schema)["properties"]
    lists = {
        name
        for name, field in properties.items()
        if any(part.get("type") == "array" for part in (field, *field.get("anyOf", ())))
    }
    required = schema.model_json_schema().get("required", ())
    return _JsonForm(frozenset(properties), frozenset(lists), frozenset(required))


def _carrying(parsed: Sequence[Document], text: str, form: _JsonForm) -> _Picked | None:
    """The last object that has fields of the schema, because models correct themselves.

    Objects with nothing between them are merged: they are one answer, written in parts.
    """
    run: list[tuple[dict[str, Any], Document]] = []
    for document in reversed(parsed):
        inner = list(_carriers(document.value, form, _WRAPPERS))
        if not inner:
            if run:
                break
            continue
        if run and text[document.end : run[0][1].start].strip(" \t\r\n,"):
            break
        run[:0] = [(value, document) for value in inner]
    if not run:
        return None
    return _Picked(
        _merged([value for value, _ in run], form),
        whole=all(document.complete and not document.left_out for _, document in run),
        at_end=not run[-1][1].complete and run[-1][1].end >= len(text.rstrip()),
        left_out=sum({document.start: document.left_out for _, document in run}.values()),
    )


def _carriers(value: Any, form: _JsonForm, depth: int) -> Iterator[dict[str, Any]]:
    """The value if it has fields of the schema, else the last objects inside it that do.

    Examples of such wrappers: ``{"result": {...}}``, ``[{...}]``.
    """
    if form.is_carried_by(value):
        yield value
    elif depth and isinstance(value, dict):
        for inner in reversed(value.values()):
            if carriers := list(_carriers(inner, form, depth - 1)):
                yield from carriers
                return
    elif depth and isinstance(value, list):
        for inner in value:
            yield from _carriers(inner, form, 0)


def _merged(values: Sequence[Mapping[str, Any]], form: _JsonForm) -> dict[str, Any]:
    """Merge objects into one: lists are concatenated; for other fields the last value wins."""
    merged: dict[str, Any] = {}
    for value in values:
        for name, field in value.items():
            if name in form.lists and isinstance(field, dict | list):
                before = merged.get(name)
                items = [field] if isinstance(field, dict) else field
                merged[name] = [*before, *items] if isinstance(before, list) else items
            elif name not in form.lists:
                merged[name] = field
            elif field is not None:  # not a list: left for validation to report
                merged.setdefault(name, field)
    return merged


def _bare_items(
    parsed: Sequence[Document], text: str, schema: type[BaseModel], form: _JsonForm
) -> _Picked | None:
    """Items without an enclosing object, assigned to the list whose type most of them match."""
    items = [
        item
        for document in parsed
        if document.complete or isinstance(document.value, list)
        for item in (document.value if isinstance(document.value, list) else [document.value])
        if isinstance(item, dict) and item
    ]
    if not items or not form.lists:
        return None
    counts = sorted((_count_valid(items, name, schema, form), name) for name in form.lists)
    best, name = counts[-1]
    if not best or (len(counts) > 1 and counts[-2][0] == best):
        return None
    last = parsed[-1]
    return _Picked(
        {name: items},
        whole=len(parsed) == 1 and last.complete and not last.left_out,
        at_end=not last.complete and last.end >= len(text.rstrip()),
        left_out=sum(document.left_out for document in parsed),
    )


def _count_valid(items: Sequence[Any], name: str, schema: type[BaseModel], form: _JsonForm) -> int:
    data = {other: [] for other in form.lists} | {name: list(items)}
    _, kept, _ = _validated(data, schema, form)
    return len(kept.get(name, ()))


def _fit(picked: _Picked, schema: type[T], form: _JsonForm, cut_off: bool) -> ParsedAnswer[T]:
    cut_off = cut_off or picked.at_end
    missing = sorted(name for name in form.lists & form.required if name not in picked.data)
    data = picked.data | {name: [] for name in missing}
    value, data, dropped = _validated(data, schema, form)
    missing += [name for name in form.lists if not isinstance(data.get(name, []), list)]
    items = sum(len(data[name]) for name in form.lists if isinstance(data.get(name), list))
    reasons = [*dropped]
    if picked.left_out:
        reasons.append(f"{picked.left_out} {'items' if picked.left_out > 1 else 'item'} unreadable")
    flaws = [*reasons, *(f"{name} is missing" for name in missing)]
    if not picked.whole and not picked.left_out:
        flaws.append("its end is missing" if picked.at_end else "it is not valid JSON")
    if form.lists:
        usable = bool(items) or not flaws
    else:
        usable = picked.whole and not form.fields.isdisjoint(data)
    if value is None or not usable:
        return ParsedAnswer(None, cut_off=cut_off, problem="; ".join(flaws[:_REASONS]))
    left_out = ["an item could not be read, or had no end"] * picked.left_out
    whole = picked.whole and not dropped
    return ParsedAnswer(value, 0 if whole else items, (*dropped, *left_out), cut_off)


def _validated(
    data: dict[str, Any], schema: type[T], form: _JsonForm
) -> tuple[T | None, dict[str, Any], list[str]]:
    """The validated value, the valid part of ``data``, and a reason for each part left out."""
    from pydantic import ValidationError

    dropped: list[str] = []
    for _ in range(_ROUNDS):
        try:
            return schema.model_validate(data), data, dropped
        except ValidationError as error:
            wrong: dict[Path, str] = {}
            for detail in error.errors(
                include_url=False, include_context=False, include_input=False
            ):
                path = _culprit(data, detail["loc"])
                reason = _reason(detail["loc"], detail["msg"])
                if len(path) == 1 and path[0] in form.required - form.lists:
                    return None, data, [*dropped, reason]
                if not path:
                    return None, data, [*dropped, reason]
                wrong.setdefault(path, reason)
            dropped += wrong.values()
            data = _without(data, wrong, ())
    return None, data, dropped


def _culprit(data: Any, location: Iterable[str | int]) -> Path:
    """The path of the part to leave out for an error: an item of the outermost list, or a field."""
    path: list[str | int] = []
    for step in location:
        if isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
            return (*path, step)
        if not (isinstance(data, dict) and step in data):
            break
        path.append(step)
        data = data[step]
    return tuple(path[:1])


def _reason(location: Sequence[str | int], message: str) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"{where.lstrip('.')}: {message}" if where else message


def _without(data: Any, wrong: Mapping[Path, str], path: Path) -> Any:
    """A copy without the values at the paths ``wrong``; ``path`` is the path of ``data``."""
    if isinstance(data, dict):
        return {
            key: _without(item, wrong, (*path, key))
            for key, item in data.items()
            if (*path, key) not in wrong
        }
    if isinstance(data, list):
        return [item for index, item in enumerate(data) if (*path, index) not in wrong]
    return data

"""What a key-value item is as a message: its session, its text, and its payload."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from cognigraph.model.filters import Scalar

PREFIX = "store:"
"""How sessions are named that hold items."""
_FIELD = re.compile(r"[\w.-]+")
_SAFE = " !#$&'()*+,:;=?@[]"
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$ne": lambda a, b: bool(a != b),
    "$gt": lambda a, b: bool(a > b),
    "$gte": lambda a, b: bool(a >= b),
    "$lt": lambda a, b: bool(a < b),
    "$lte": lambda a, b: bool(a <= b),
}


def session_of(namespace: tuple[str, ...]) -> str:
    """The session of a namespace: its labels, joined by slashes."""
    return PREFIX + "/".join(quote(label, _SAFE) for label in namespace)


def namespace_of(session: str) -> tuple[str, ...]:
    """The namespace of a session that :func:`session_of` has named."""
    return tuple(unquote(label) for label in session.removeprefix(PREFIX).split("/"))


def labels_of(namespace: tuple[str, ...]) -> dict[str, Scalar]:
    """Metadata by which a search finds the items below a namespace."""
    return {f"namespace_{depth}": label for depth, label in enumerate(namespace)}


def text_of_value(value: object) -> str:
    """The texts in a value, one on each line, with their fields if there are several."""
    found = list(_texts(value, ""))
    if len(found) == 1:
        return found[0][1]
    return "\n".join(f"{path}: {text}" if path else text for path, text in found)


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, f"{path} {name}".strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, path)
    elif value is not None and str(value).strip():
        yield path, str(value)


def check_filter(conditions: Mapping[str, Any] | None) -> None:
    """Refuse fields that are no names or paths, as LangGraph's stores do.

    Raises:
        ValueError: a field has other characters than letters, digits, ``_``, ``.`` and ``-``.
    """
    for name in conditions or {}:
        if not _FIELD.fullmatch(name):
            raise ValueError(
                f"Invalid filter key: {name!r}; use letters, digits, underscores and hyphens, and "
                "dots between the fields of a path"
            )


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: each field equal, or as ``{"$gt": 3}`` compares it."""
    return all(_passes(_field(value, name), wanted) for name, wanted in (conditions or {}).items())


def _field(value: Mapping[str, Any], name: str) -> Any:
    """A field of a value, or at a path such as ``user.name``."""
    if name in value or "." not in name:
        return value.get(name)
    first, _, rest = name.partition(".")
    inner = value.get(first)
    return _field(inner, rest) if isinstance(inner, Mapping) else None


def _passes(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    operators = [name for name in wanted if str(name).startswith("$")]
    if not operators:
        return isinstance(value, Mapping) and all(
            _passes(value.get(name), inner) for name, inner in wanted.items()
        )
    return all(_compares(name, value, wanted[name]) for name in operators)


def _compares(operator: str, value: Any, wanted: Any) -> bool:
    if operator not in _COMPARISONS:
        raise ValueError(f"unknown operator {operator!r}; use {', '.join(_COMPARISONS)}")
    try:
        return _COMPARISONS[operator](value, wanted)
    except TypeError:  # a text is neither larger nor smaller than a number
        return False

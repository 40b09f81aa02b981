"""The namespace of a message that is a key-value item, and filters on its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from cognigraph.importers.store_items import PREFIX

_FIELD = re.compile(r"[\w.-]+")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$ne": lambda a, b: bool(a != b),
    "$gt": lambda a, b: bool(a > b),
    "$gte": lambda a, b: bool(a >= b),
    "$lt": lambda a, b: bool(a < b),
    "$lte": lambda a, b: bool(a <= b),
}


def namespace_of(session: str) -> tuple[str, ...]:
    """The namespace of a session that :func:`importers.store_items.session_of` has named."""
    return tuple(unquote(label) for label in session.removeprefix(PREFIX).split("/"))


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

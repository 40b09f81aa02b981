"""Field types of model answers: forgiving about form, so that small models are understood."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

OUTSIDE = 0
"""Instead of the number of a theme that there is none of."""


def _text(value: Any) -> Any:
    """``null`` for an empty text, a number or date where text is asked for."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _line(value: Any) -> Any:
    """A line, also as a list of its parts."""
    if isinstance(value, list) and all(isinstance(part, str | int) for part in value):
        return " | ".join(map(str, value))
    return value


def _items(value: Any) -> Any:
    """``null`` for an empty list, one text for a list of one."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """A number, also as text; ``OUTSIDE`` for anything else."""
    if isinstance(value, str):
        value = value.strip()
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else OUTSIDE
    return value if isinstance(value, int) and not isinstance(value, bool) else OUTSIDE


Text = Annotated[str, BeforeValidator(_text)]
Line = Annotated[str, BeforeValidator(_line)]
Number = Annotated[int, BeforeValidator(_number)]
Texts = Annotated[list[Text], BeforeValidator(_items)]
Lines = Annotated[list[Line], BeforeValidator(_items)]

"""Lenient field types for model answers: they accept the small mistakes in form of small models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

OUTSIDE = 0
"""Stands for "no theme" where the number of a theme is expected."""


def _text(value: Any) -> Any:
    """Accept ``null`` as an empty text, and a number as its text."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _line(value: Any) -> Any:
    """Accept a list of parts as one line, joined by ``|``."""
    if isinstance(value, list) and all(isinstance(part, str | int) for part in value):
        return " | ".join(map(str, value))
    return value


def _items(value: Any) -> Any:
    """Accept ``null`` as an empty list, and a single text as a list of one."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """Accept an integer written as text; anything else that is no integer becomes ``OUTSIDE``."""
    if isinstance(value, str):
        value = value.strip()
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else OUTSIDE
    return value if isinstance(value, int) and not isinstance(value, bool) else OUTSIDE


def _flag(value: Any) -> Any:
    """Accept ``null`` as no; a text such as "yes" or "false" is read by the type itself."""
    return False if value is None else value


def _numbers(value: Any) -> Any:
    """Accept numbers, or a list of them, as a text; anything else becomes an empty one."""
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, str | int) and part is not True]
        return ", ".join(map(str, parts))
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _label(value: str) -> str:
    """Accept a label in brackets, with a sign or a full stop, in small letters."""
    return value.strip(" []#.").upper()


Text = Annotated[str, BeforeValidator(_text)]
Label = Annotated[str, BeforeValidator(_text), AfterValidator(_label)]
"""What an item of the prompt is called there, such as ``F2``."""
Line = Annotated[str, BeforeValidator(_line)]
Number = Annotated[int, BeforeValidator(_number)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Labels = Annotated[list[Label], BeforeValidator(_items)]
Texts = Annotated[list[Text], BeforeValidator(_items)]
Lines = Annotated[list[Line], BeforeValidator(_items)]
Numbers = Annotated[str, BeforeValidator(_numbers)]
"""Numbers and spans of them as a text, such as ``1-4, 7``; empty if they are in another form."""

"""The answers that prompts ask for, as pydantic models: short to write, forgiving where it is safe.

Entities and facts are lines with bars between their parts, because what a model writes costs most:
as objects with named fields they would take twice the tokens. What has the wrong form is left out
by the client, and what is impossible by :mod:`cognigraph.ingest.model.validate`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

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


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ReadAnswer(_Answer):
    """Entities and facts, a line each."""

    entities: Lines = Field(default_factory=list)
    facts: Lines


class ThemeRead(_Answer):
    """A theme; n is the one it replaces, 0 for a new one."""

    n: Number = OUTSIDE
    title: Text = ""
    summary: Text


class SummaryAnswer(_Answer):
    """Keys and themes, or what changed in them."""

    keys: Texts = Field(default_factory=list)
    themes: list[ThemeRead]

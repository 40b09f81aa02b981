"""The answers that prompts ask for, as pydantic models: short names, forgiving where it is safe.

What has the wrong form is left out by the client; what has the right form and says something
impossible is left out by :mod:`cognigraph.ingest.reading`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

OUTSIDE = 0
"""Instead of a turn number that is none."""


def _text(value: Any) -> Any:
    """``null`` for an empty text, a number or date where text is asked for."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _items(value: Any) -> Any:
    """``null`` for an empty list, one item for a list of one."""
    if value is None:
        return []
    return [value] if isinstance(value, str | int) else value


def _number(value: Any) -> Any:
    """A number, also in text and brackets (``"[3]"``); ``OUTSIDE`` for anything else."""
    if isinstance(value, str):
        value = value.strip().strip("[]").strip()
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else OUTSIDE
    return value if isinstance(value, int) and not isinstance(value, bool) else OUTSIDE


def _flag(value: Any) -> Any:
    return False if value is None or value == "" else value


Text = Annotated[str, BeforeValidator(_text)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Number = Annotated[int, BeforeValidator(_number)]
Texts = Annotated[list[Text], BeforeValidator(_items)]
Numbers = Annotated[list[Number], BeforeValidator(_items)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class EntityRead(_Answer):
    """An entity; facts refer to its name."""

    name: Text
    type: Text = "concept"
    aliases: Texts = Field(default_factory=list)


class FactRead(_Answer):
    """A fact: subject, relation, object, turns; when it is true, denied, reported by whom."""

    s: Text
    r: Text
    o: Text
    t: Numbers
    words: Text = ""
    when: Text = ""
    neg: Flag = False
    by: Text = ""


class ReadAnswer(_Answer):
    """What was read out of one window."""

    entities: list[EntityRead] = Field(default_factory=list)
    facts: list[FactRead]


class ThemeRead(_Answer):
    """A theme; ``n`` is the one it replaces, 0 for a new one."""

    n: Number = OUTSIDE
    title: Text = ""
    summary: Text


class SummaryAnswer(_Answer):
    """A summary, or what changed in it."""

    keys: Texts = Field(default_factory=list)
    themes: list[ThemeRead]

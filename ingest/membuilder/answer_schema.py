"""Pydantic models of the writers' answers, lenient in form; :mod:`.actions` checks the content."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from cognigraph.llm.answer_types import Label, Labels, Line, Numbers, Text, Texts


def _name(value: object) -> object:
    """Accept the name of an action in any case."""
    return value.strip().upper() if isinstance(value, str) else ""


Name = Annotated[str, BeforeValidator(_name)]


class CoreAnswer(BaseModel):
    """One change of the profile, or ``NONE``."""

    operation: Name
    content: Text = ""
    old: Text = ""


class CompressedAnswer(BaseModel):
    """A shorter profile."""

    content: Text


class Operation(BaseModel):
    """One operation of any writer of entries; which fields it needs depends on its action."""

    action: Name
    target: Label = ""
    targets: Labels = Field(default_factory=list)
    title: Text = ""
    memory: Text = ""
    fact: Line = ""
    steps: Texts = Field(default_factory=list)
    context: Text = ""
    reason: Text = ""
    turns: Numbers = ""


class EntriesAnswer(BaseModel):
    """Operations on episodes, facts or procedures."""

    operations: list[Operation]

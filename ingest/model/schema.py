"""The answers that prompts ask for, as pydantic models: short to write, forgiving where it is safe.

Entities and facts are lines with bars between their parts, because what a model writes costs most:
as objects with named fields they would take twice the tokens. What has the wrong form is left out
by the client, and what is impossible by :mod:`cognigraph.ingest.model.validate`.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from cognigraph.llm.answer_types import OUTSIDE, Lines, Number, Text, Texts


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

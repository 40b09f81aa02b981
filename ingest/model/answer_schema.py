"""Pydantic models of the answers that the prompts ask for.

Entities and facts are lines of parts separated by bars, because output tokens cost most: as objects
with named fields they would take twice the tokens. The client drops items in the wrong form, and
:mod:`cognigraph.ingest.model.validate` drops items with invalid content.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from cognigraph.llm.answer_types import OUTSIDE, Label, Lines, Number, Numbers, Text, Texts


class ThemeRead(BaseModel):
    """A theme; ``n`` is the number of the theme that it replaces, 0 for a new theme.

    ``turns`` are the numbers of the turns that it is about, such as ``1-4, 7``.
    """

    n: Number = OUTSIDE
    title: Text = ""
    summary: Text
    turns: Numbers = ""


class SummaryAnswer(BaseModel):
    """The keys and themes of a summary, or only those that changed."""

    keys: Texts = Field(default_factory=list)
    themes: list[ThemeRead]


class ReadAnswer(BaseModel):
    """Entities and facts, one line each, and the summary.

    The summary comes last, so that an answer which is cut off still has facts.
    """

    entities: Lines = Field(default_factory=list)
    facts: Lines
    keys: Texts = Field(default_factory=list)
    themes: list[ThemeRead] = Field(default_factory=list)

    @property
    def summary(self) -> SummaryAnswer | None:
        """Keys and themes; ``None`` if the model left them out, which is not "no change"."""
        if "themes" not in self.model_fields_set:
            return None
        return SummaryAnswer(keys=self.keys, themes=self.themes)


class ConflictLine(BaseModel):
    """A known fact, and the new one that takes its place."""

    entry: Label
    replaced_by: Label


class RepeatLine(BaseModel):
    """A new fact that says the same as a known one."""

    new: Label
    entry: Label


class ConflictsAnswer(BaseModel):
    """The known facts that no longer hold, and the new ones that are known already."""

    conflicts: list[ConflictLine] = Field(default_factory=list)
    repeats: list[RepeatLine] = Field(default_factory=list)

"""The answer of the prompt for conflicts. Needs pydantic (extra ``openai``)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cognigraph.llm.answer_types import Text


class ConflictLine(BaseModel):
    """A known fact, and the new one that takes its place."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entry: Text
    replaced_by: Text


class ConflictsAnswer(BaseModel):
    """The known facts that no longer hold."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    conflicts: list[ConflictLine]

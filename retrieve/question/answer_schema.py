"""The answer that the prompt ``question`` asks of a model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from cognigraph.llm.answer_types import Text, Texts


class QuestionAnswer(BaseModel):
    """What a question is about, the time it names, and the question in other words."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    entities: Texts = Field(default_factory=list)
    when: Text = ""
    rewrite: Text = ""

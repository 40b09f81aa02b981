"""The answer that the prompt for questions asks for. Needs pydantic (extra ``openai``)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cognigraph.llm.answer_types import Text


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class QuestionRead(_Read):
    """A question with its answer."""

    kind: Text = ""
    question: Text = ""
    answer: Text = ""


class QuestionsAnswer(_Read):
    """The questions about a session."""

    questions: list[QuestionRead]

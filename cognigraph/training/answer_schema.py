"""The answer that the prompt for questions asks for. Needs pydantic (extra ``openai``)."""

from __future__ import annotations

from pydantic import BaseModel

from cognigraph.llm.answer_types import Text


class QuestionRead(BaseModel):
    """A question with its answer."""

    kind: Text = ""
    question: Text = ""
    answer: Text = ""


class QuestionsAnswer(BaseModel):
    """The questions about a session."""

    questions: list[QuestionRead]

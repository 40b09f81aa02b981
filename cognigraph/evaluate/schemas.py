"""The answers that the prompts of question answering ask for. Needs pydantic (extra ``openai``)."""

from __future__ import annotations

from pydantic import BaseModel


class GivenAnswer(BaseModel):
    """The answer to a question."""

    answer: str


class JudgeVerdict(BaseModel):
    """A judge's verdict. The reason comes first, so that the model reasons before it decides."""

    reason: str
    right: bool

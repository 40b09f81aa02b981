"""What the prompts of question answering ask for. Needs pydantic, of the extra ``openai``."""

from __future__ import annotations

from pydantic import BaseModel


class GivenAnswer(BaseModel):
    """The answer to a question."""

    answer: str


class Verdict(BaseModel):
    """A judge's verdict; the reason comes first, so that it is thought of first."""

    reason: str
    right: bool

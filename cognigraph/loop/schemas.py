"""The answers that the prompts of the loop ask for. Needs pydantic (extra ``openai``)."""

from __future__ import annotations

from pydantic import BaseModel

from cognigraph.llm.answer_types import Lines, Number, Text, Texts


class MissingAnswer(BaseModel):
    """What the notes lack, and what to search for next."""

    verdict: Text
    missing: Text
    queries: Texts


class RouteAnswer(BaseModel):
    """A question that stands alone, its four intents, and how many results it needs."""

    query: Text
    fine: Number
    abstract: Number
    event: Number
    atomic: Number
    k: Number


class JudgeAnswer(BaseModel):
    """Whether the entries suffice, which of them matter, and which contradict each other."""

    reason: Text
    action: Text
    kept: Lines
    conflicts: Lines


class RefreshLine(BaseModel):
    """What to do about one entry."""

    action: Text
    entry: Text
    replaced_by: Text = ""
    reason: Text = ""


class RefreshAnswer(BaseModel):
    """What to do about entries that contradict each other."""

    changes: list[RefreshLine]


class LightAnswer(BaseModel):
    """An answer from summaries alone, or the statement that they do not suffice."""

    answer: Text
    sure: bool


class SelectAnswer(BaseModel):
    """Which summaries lead to what the question needs."""

    ids: Lines


class ReflectAnswer(BaseModel):
    """Whether the answer is complete, and otherwise the question to pursue."""

    complete: bool
    question: Text


class FinalAnswer(BaseModel):
    """The answer to a question, with the labels of the notes that support it."""

    answer: Text
    labels: Lines

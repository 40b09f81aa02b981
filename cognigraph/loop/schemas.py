"""The answers that the prompts of the loop ask for. Needs pydantic (extra ``openai``).

A field has a default where a reply that leaves it out still says what to do: models leave out what
would be empty, such as the queries beside the verdict "enough".
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from cognigraph.llm.answer_types import Flag, Label, Labels, Lines, Number, Text, Texts


class MissingAnswer(BaseModel):
    """What the notes lack, and what to search for next."""

    verdict: Text
    missing: Text = ""
    queries: Texts = Field(default_factory=list)


class RouteAnswer(BaseModel):
    """A question that stands alone, its four intents, and how many results it needs."""

    query: Text
    fine: Number = 0
    abstract: Number = 0
    event: Number = 0
    atomic: Number = 0
    k: Number = 0


class JudgeAnswer(BaseModel):
    """Whether entries suffice, which of them matter, which are in conflict, and what is missing."""

    reason: Text = ""
    action: Text
    kept: Labels = Field(default_factory=list)
    conflicts: Labels = Field(default_factory=list)
    missing: Text = ""


class RefreshLine(BaseModel):
    """What to do about one entry."""

    action: Text
    entry: Label
    replaced_by: Label = ""
    reason: Text = ""


class RefreshAnswer(BaseModel):
    """What to do about entries that contradict each other."""

    changes: list[RefreshLine]


class LightAnswer(BaseModel):
    """An answer from summaries alone, or the statement that they do not suffice."""

    answer: Text = ""
    sure: Flag


class SelectAnswer(BaseModel):
    """Which summaries lead to what the question needs."""

    ids: Labels


class ReflectAnswer(BaseModel):
    """Whether the answer is complete, and otherwise the question to pursue."""

    complete: Flag
    question: Text = ""


class FinalAnswer(BaseModel):
    """The answer to a question, with the labels of the notes that support it."""

    answer: Text
    labels: Lines = Field(default_factory=list)

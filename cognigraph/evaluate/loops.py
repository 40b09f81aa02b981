"""Answers of loops in an evaluation: what is recorded of each, and strategies side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from cognigraph.errors import ModelError
from cognigraph.evaluate.metrics import mean
from cognigraph.llm import ChatModel, Model
from cognigraph.loop.data import Answer

ONE_BLOCK = "block"
"""The name of answering from one block, without a loop."""


def loop_prompts() -> list[str]:
    """The names of all prompt files of the loop; a new version makes it a different run."""
    folder = files("cognigraph.loop.prompts")
    return sorted(item.name for item in folder.iterdir() if item.name.endswith(".md"))


def checked(answer: Answer, model: Model) -> str:
    """The text of an answer that a model gave.

    Raises:
        ModelError: the model failed; the question stays open.
        BudgetExceededError: the budget of the evaluation is used up.
    """
    if answer.stopped in ("model failed", "no model"):
        if isinstance(model, ChatModel):
            model.budget.check()
        raise ModelError("; ".join(answer.notes))
    return answer.text


def summary(answer: Answer) -> dict[str, Any]:
    """What is recorded of a loop beside its answer and its usage."""
    return {
        "rounds": len(answer.rounds),
        "verdict": answer.verdict,
        "stopped": answer.stopped,
        "deep": sum(item.assessment is not None and item.assessment.deep for item in answer.rounds),
        "messages": len(answer.context.hits),
        "context_tokens": answer.context.tokens,
        "proposals": len(answer.proposals),
        "notes": sum(len(item.notes) for item in answer.rounds) + len(answer.notes),
    }


def loops(records: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Means over the loops of all records; ``None`` if there are none."""
    found = [record["loop"] for record in records if "loop" in record]
    if not found:
        return None
    stopped = sorted({item["stopped"] for item in found})
    return {
        "questions": len(found),
        "rounds": mean([item["rounds"] for item in found]),
        "deep": mean([float(item["deep"] > 0) for item in found]),
        "messages": mean([item["messages"] for item in found]),
        "context_tokens": mean([item["context_tokens"] for item in found]),
        "stopped": {name: sum(item["stopped"] == name for item in found) for name in stopped},
    }


def compared(qa: Mapping[str, Any]) -> dict[str, Any]:
    """One row of the comparison: accuracy, and tokens, calls, cost and seconds for an answer."""
    used, share, looped = qa["usage"]["answers"], qa["accuracy"]["all"], qa["loops"]
    asked = max(1, share["judged"])
    return {
        "strategy": qa["strategy"] or ONE_BLOCK,
        "judged": share["judged"],
        "accuracy": share["accuracy"],
        "by_category": {
            name: value["accuracy"] for name, value in qa["accuracy"]["by_category"].items()
        },
        "tokens": round((used["input_tokens"] + used["output_tokens"]) / asked, 1),
        "calls": round(used["calls"] / asked, 3),
        "cost": round(used["cost"] / asked, 6),
        "seconds": round(used["seconds"] / asked, 3),
        "rounds": looped["rounds"] if looped else None,
    }

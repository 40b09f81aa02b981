"""Tasks: which relations say that something is to do or done, and which tasks are the same."""

from __future__ import annotations

import re
from typing import Literal

from cognigraph.english import verbs
from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.text.terms import stem

Says = Literal["holds", "ends"]

_TASKS: dict[str, Says] = {"has the task": "holds", "has done the task": "ends"}

_LIGHT = word_set("a an the my our your his her their this that to i we have has been is was")


def told_of_task(relation: str, item: str) -> tuple[str, Says, str, bool] | None:
    """Return what a fact says of a task: slot, holds or ends, value, and whether it is a change.

    ``None`` if it is about no task.
    """
    says = _TASKS.get(relation)
    if says is None:
        return None
    words = _task_words(item)
    return f"task|{words}", says, words, says == "ends"


def _task_words(item: str) -> str:
    """Return the words by which a task is known, whatever their order and tense."""
    said = normalise(item)
    named = {_stem_of_base(word) for word in re.findall(r"[^\W_]+", said) if word not in _LIGHT}
    return " ".join(sorted(named)) or said


def _stem_of_base(word: str) -> str:
    verb = verbs.known_verb(word)
    return stem(word if verb is None else verb.base)

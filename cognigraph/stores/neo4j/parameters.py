"""How a statement gets its parameters, which decides how often the server has to plan it.

The server plans a statement anew for each combination of the types of its parameters (a null, an
empty list and a full one are of different types) and of the magnitudes of their lengths. That takes
it up to a second. It does not look into maps, so a statement that only reads gets one map.

Statements that write have parameters of the same types in nearly every call, and the properties of
a map can look to the planner like those that they write.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

GIVEN = "given"
"""The one parameter of a statement that only reads."""

_WRITES = re.compile(r"\b(?:CREATE|MERGE|SET|DELETE|REMOVE|DROP)\b")
_PARAMETER = re.compile(r"\$(?=\w)")


def sent(text: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text and the parameters of a statement as the server gets them."""
    rewritten = _with_one_map(text)
    return (text, parameters) if rewritten is None else (rewritten, {GIVEN: parameters})


@cache
def _with_one_map(text: str) -> str | None:
    """The text of a statement that takes its parameters from a map; None if it writes."""
    return None if _WRITES.search(text) else _PARAMETER.sub(f"${GIVEN}.", text)

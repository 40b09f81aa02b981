"""How a statement gets its parameters, which decides how often the server has to plan it.

The server plans a statement anew for each combination of the types of its parameters (a null, an
empty list and a full one are of different types) and of the magnitudes of their lengths. That takes
it up to a second. It does not look into maps, so a statement that only reads gets one map.

Statements that write have parameters of the same types in nearly every call, and the properties of
a map can look to the planner like those that they write.

The driver formats all parameters for its log before it asks whether anybody wants to read it. For a
batch of messages that took most of the time of this process, so lists and maps give only their
sizes and names. No text of a message gets into that log either.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

GIVEN = "given"
"""The one parameter of a statement that only reads."""

_WRITES = re.compile(r"\b(?:CREATE|MERGE|SET|DELETE|REMOVE|DROP)\b")
_PARAMETER = re.compile(r"\$(?=\w)")


class _Values(list[Any]):
    """A list that the driver formats at once."""

    def __repr__(self) -> str:
        return f"[{len(self)} values]"


class _Named(dict[str, Any]):
    """A map that the driver formats at once."""

    def __repr__(self) -> str:
        return f"{{{', '.join(self)}}}"


def sent(text: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text and the parameters of a statement as the server gets them."""
    rewritten = _with_one_map(text)
    if rewritten is not None:
        return rewritten, {GIVEN: _Named(parameters)}
    return text, {name: _brief(value) for name, value in parameters.items()}


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return _Values(value)
    return _Named(value) if isinstance(value, dict) else value


@cache
def _with_one_map(text: str) -> str | None:
    """The text of a statement that takes its parameters from a map; None if it writes."""
    return None if _WRITES.search(text) else _PARAMETER.sub(f"${GIVEN}.", text)

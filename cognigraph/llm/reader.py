"""From what a model wrote to a validated value: tolerant of its form, strict about its content."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Generic

from cognigraph.llm.base import T


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A value, or (None) what was wrong, in words for the model."""

    value: T | None
    salvaged: int = 0
    dropped: tuple[str, ...] = ()
    cut_off: bool = False
    problem: str = ""


def read(text: str, schema: type[T], *, cut_off: bool = False) -> Reading[T]:
    """Read an answer."""
    from pydantic import ValidationError

    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
        return Reading(schema.model_validate(found), cut_off=cut_off)
    except (ValueError, RecursionError, ValidationError) as error:
        return Reading(None, problem=str(error), cut_off=cut_off)

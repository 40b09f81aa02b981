"""Round search results so that they can be compared with later ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def rounded(value: Any) -> Any:
    """Return the value with all floats rounded to five digits.

    The last digits of a cosine change when Neo4j's JVM compiles the code that computes it.
    """
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, Mapping):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [rounded(item) for item in value]
    if is_dataclass(value):
        return {field.name: rounded(getattr(value, field.name)) for field in fields(value)}
    return value

"""Results of searches, comparable with those of another moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def rounded(value: Any) -> Any:
    """The value with all floats in it at five digits.

    The last ones of a cosine change when Neo4j's JVM compiles what computes it.
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

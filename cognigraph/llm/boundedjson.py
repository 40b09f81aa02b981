"""A JSON parser for untrusted input that rejects texts nested too deeply or with too many values.

Recursive functions walk the result and pydantic validates it value by value, so a bound on its
depth bounds the stack, and a bound on its number of values bounds memory and time.
"""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 100
MAX_VALUES = 100_000
"""Maximum number of values in one answer, at all depths. An answer of 8,192 tokens has hundreds."""


def parse(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: the text is not JSON, or exceeds the bounds.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if not is_bounded(value):
        raise ValueError("the JSON is nested too deeply or has too many values")
    return value


def is_bounded(value: Any) -> bool:
    """Whether a parsed value has at most ``MAX_VALUES`` values and ``MAX_DEPTH`` levels."""
    level = [value]
    count = 1
    for _ in range(MAX_DEPTH + 1):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return True
        count += sum(map(len, containers))
        if count > MAX_VALUES:
            return False
        level = [inner for outer in containers for inner in _children(outer)]
    return False


def _children(container: dict[str, Any] | list[Any]) -> list[Any]:
    return list(container.values()) if isinstance(container, dict) else container

"""JSON of untrusted origin: parsed in linear time, refused when nested too deeply or too large.

What is read here is walked by recursive functions and validated value by value afterwards, so its
depth bounds the stack and its number of values bounds memory and time.
"""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 100
MAX_VALUES = 100_000
"""Values in one answer, at any depth. A long answer of 8,192 tokens has some hundreds."""


def parse(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON, or exceeds the bounds.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    if not is_bounded(value):
        raise ValueError("JSON nested too deeply, or with too many values")
    return value


def is_bounded(value: Any) -> bool:
    """Whether a parsed value has at most ``MAX_VALUES`` values in ``MAX_DEPTH`` levels."""
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

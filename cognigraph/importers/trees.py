"""Follow the current branch of a conversation in which answers were regenerated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def branch(parents: Mapping[str, Any], leaf: object) -> list[str]:
    """The ids from the root to ``leaf``. It begins where a parent is missing or repeats."""
    path: list[str] = []
    met: set[str] = set()
    node = leaf
    while isinstance(node, str) and node in parents and node not in met:
        met.add(node)
        path.append(node)
        node = parents[node]
    return path[::-1]


def last_leaf(parents: Mapping[str, Any]) -> str | None:
    """The last id in the order given that is nobody's parent."""
    inner = {parent for parent in parents.values() if isinstance(parent, str)}
    return next((node for node in reversed(list(parents)) if node not in inner), None)

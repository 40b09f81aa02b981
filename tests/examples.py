"""How many examples property and fuzz tests run: all, or the share that the profile asks for."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> int:
    """``number`` under a profile of 100 examples, its share under a smaller one; at least one."""
    return max(1, number * settings().max_examples // 100)

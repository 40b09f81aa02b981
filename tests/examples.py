"""How many examples a property test runs: half of them in `make test`, more in `make fuzz`."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> int:
    """``number`` under a profile of 100 examples, its share under another one; at least one."""
    return max(1, number * settings().max_examples // 100)

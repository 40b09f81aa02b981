"""How many of a session's pending chunks one lease takes."""

from __future__ import annotations

from collections.abc import Sequence

_QUARTER = 2  # bits
_MOST_SHIFTS = 31


def batch_size(attempts: Sequence[int], limit: int) -> int:
    """Length of the first batch of chunks that failed ``attempts`` times, in session order.

    A batch that failed comes back in quarters, so that a chunk at fault is alone after a few
    attempts and the others get through; it is never behind chunks that failed less often.
    """
    if not attempts:
        return 0
    most = max(1, limit >> min(_QUARTER * attempts[0], _MOST_SHIFTS))
    for place, tries in enumerate(attempts[:most]):
        if tries > attempts[0]:
            return place
    return min(most, len(attempts))

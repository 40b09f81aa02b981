"""How many of a session's pending chunks one lease takes."""

from __future__ import annotations

from collections.abc import Sequence

_QUARTER = 2  # bits
_MOST_SHIFTS = 31
_OUTAGES = 3


def failures_of(attempts: int, outages: int) -> int:
    """How often a chunk failed, for the size of its batch.

    Outages are not its fault, unless what it stands in is too long for the endpoint's patience:
    after three in a row a smaller batch is tried.
    """
    return attempts + outages // _OUTAGES


def batch_size(failures: Sequence[int], limit: int) -> int:
    """Length of the first batch of chunks that failed so often, in session order.

    With each failure it is a quarter the size, so that a chunk at fault is alone after a few
    attempts and the others get through; it is never behind chunks that failed less often.
    """
    if not failures:
        return 0
    most = max(1, limit >> min(_QUARTER * failures[0], _MOST_SHIFTS))
    for place, count in enumerate(failures[:most]):
        if count > failures[0]:
            return place
    return min(most, len(failures))

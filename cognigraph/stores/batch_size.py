"""How many of a session's pending chunks one lease takes, and when deaths park a chunk."""

from __future__ import annotations

from collections.abc import Sequence

_QUARTER = 2  # bits
_MOST_SHIFTS = 31
_OUTAGES = 3
_SUSPECT_DEATHS = 2
_ALONE = 16
"""So many failures make a batch of one, whatever the limit."""
MOST_DEATHS = 5
"""What so many processes died with is parked."""
PATIENCE = 9
"""So many outages in a row the next chunks of a session wait for its summary, which comes first."""


def failures_of(attempts: int, outages: int, deaths: int = 0) -> int:
    """How often a chunk failed, for the size of its batch.

    Outages are not its fault, unless what it stands in is too long for the endpoint's patience:
    after three in a row a smaller batch is tried. What two processes died with is read alone, so
    that its neighbours are not blamed for a third.
    """
    alone = _ALONE if deaths >= _SUSPECT_DEATHS else 0
    return attempts + outages // _OUTAGES + alone


def death_reason(deaths: int, *, summary: bool = False) -> str:
    """Why a chunk, or a session's summary, is listed or parked that processes died with."""
    times = "once" if deaths == 1 else f"{deaths} times"
    return f"the process that {'summed it up' if summary else 'read it'} ended {times}"


def batch_limit(failures: int, limit: int) -> int:
    """What is tried at once after so many failures: a quarter for each, at least 1."""
    return max(1, limit >> min(_QUARTER * failures, _MOST_SHIFTS))


def batch_size(failures: Sequence[int], limit: int) -> int:
    """Length of the first batch of chunks that failed so often, in session order.

    With each failure it is a quarter the size, so that a chunk at fault is alone after a few
    attempts and the others get through; it is never behind chunks that failed less often.
    """
    if not failures:
        return 0
    most = batch_limit(failures[0], limit)
    for place, count in enumerate(failures[:most]):
        if count > failures[0]:
            return place
    return min(most, len(failures))

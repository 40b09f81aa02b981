"""How many of a session's pending chunks one lease takes, and when crashes park a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.times import to_micros

_QUARTER = 2  # bits
_MOST_SHIFTS = 31
_OUTAGES = 3
_SUSPECT_DEATHS = 2
_ALONE = 16
"""So many failures make a batch of one, whatever the limit."""
MOST_DEATHS = 5
"""What so many processes crashed with is parked, if the last of them seemed to be sound."""
MOST_UNEXPLAINED = 10
"""What so many processes crashed with is parked in any case."""
_SOUND, _UNTIL = "+", "@"
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


def marked(worker: str, until: datetime, *, sound: bool) -> str:
    """The name of a worker, marked for :func:`most_crashes` with what its lease begins as.

    ``sound`` says that the process has completed other work; ``until`` is when the lease would run
    out.
    """
    return f"{worker}{_SOUND if sound else ''}{_UNTIL}{to_micros(until)}"


def most_crashes(token: str, until: datetime) -> int:
    """How many crashes park what a crashed worker held, given its lease as it was left.

    A process that ends soon after its start, with the first thing it reads, may have been ended by
    whatever ends such processes: a crash is evidence against a chunk if the process had completed
    other work, or held the chunk for so long that its lease was extended.
    """
    head, mark, instant = token.rpartition(":")[0].rpartition(_UNTIL)
    if not mark or not instant.isdigit():
        return MOST_DEATHS
    sound = head.endswith(_SOUND) or to_micros(until) > int(instant)
    return MOST_DEATHS if sound else MOST_UNEXPLAINED


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

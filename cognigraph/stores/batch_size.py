"""How many of a session's pending chunks one lease takes, and when crashes park a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from cognigraph.times import to_micros

_QUARTER = 2  # bits
_MOST_SHIFTS = 31
_OUTAGES = 3
SUSPECT_CRASHES = 2
"""What so many processes crashed with is read alone; see :data:`SETTLING`."""
SETTLING = timedelta(seconds=2)
"""How long a process that has completed nothing holds a suspect before it begins to read it."""
_ALONE = 16
"""So many failures make a batch of one, whatever the limit."""
MOST_CRASHES = 5
"""What so many processes crashed with is parked, if their crashes are evidence against it."""
_SOUND, _UNTIL = "+", "@"
PATIENCE = 9
"""So many outages in a row the next chunks of a session wait for its summary, which comes first."""


def failures_of(attempts: int, outages: int, crashes: int = 0) -> int:
    """How often a chunk failed, for the size of its batch.

    Outages are not its fault, unless what it stands in is too long for the endpoint's patience:
    after three in a row a smaller batch is tried. What two processes died with is read alone, so
    that its neighbours are not blamed for a third.
    """
    alone = _ALONE if crashes >= SUSPECT_CRASHES else 0
    return attempts + outages // _OUTAGES + alone


def crash_reason(crashes: int, *, summary: bool = False) -> str:
    """Why a chunk, or a session's summary, is listed or parked that processes died with."""
    times = "once" if crashes == 1 else f"{crashes} times"
    return f"the process that {'summed it up' if summary else 'read it'} ended {times}"


def marked(worker: str, until: datetime, *, sound: bool) -> str:
    """The name of a worker, marked for :func:`is_evidence` with what its lease begins as.

    ``sound`` says that the process has completed other work; ``until`` is when the lease would run
    out.
    """
    return f"{worker}{_SOUND if sound else ''}{_UNTIL}{to_micros(until)}"


def is_evidence(token: str, until: datetime) -> bool:
    """Whether a crash is evidence against what the worker held, given its lease as it was left.

    A process that ends soon after its start may have been ended by whatever ends such processes.
    It is evidence if the process had completed other work, or had held its lease for so long that
    the lease was extended.
    """
    head, mark, instant = token.rpartition(":")[0].rpartition(_UNTIL)
    if not mark or not instant.isdigit():
        return True
    return head.endswith(_SOUND) or to_micros(until) > int(instant)


def count_crash(crashes: int, *, evidence: bool) -> tuple[int, bool]:
    """The number of crashes after another one, and whether it parks what was read.

    Without evidence it is counted only until what was read is a suspect, and read alone.
    """
    if not evidence:
        return max(crashes, min(crashes + 1, SUSPECT_CRASHES)), False
    return crashes + 1, crashes + 1 >= MOST_CRASHES


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
    for index, count in enumerate(failures[:most]):
        if count > failures[0]:
            return index
    return min(most, len(failures))

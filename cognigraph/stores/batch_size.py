"""The batch size of a lease after failures, and the rules by which crashes park a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from cognigraph.times import to_micros

_QUARTER = 2  # bits
_MOST_SHIFTS = 31
_OUTAGES = 3
SUSPECT_CRASHES = 2
"""A chunk is a suspect, and extracted alone, after this many crashes; see :data:`SETTLING`."""
SETTLING = timedelta(seconds=2)
"""How long a process that has completed nothing waits before it starts to extract a suspect."""
_ALONE = 16
"""This many failures make a batch of one, whatever the limit."""
MOST_CRASHES = 5
"""A chunk is parked after this many crashes, if they are evidence against it."""
_SOUND, _UNTIL = "+", "@"
PATIENCE = 9
"""A due summary comes before its session's next chunks until it met this many outages in a row."""


def failures_of(attempts: int, outages: int, crashes: int = 0) -> int:
    """The number of failures of a chunk that counts for the size of its batch.

    Outages are not the chunk's fault, unless its batch is so long that the endpoint times out:
    after three in a row a smaller batch is tried. A chunk during which two processes crashed is
    extracted alone, so that its neighbours are not blamed for a third crash.
    """
    alone = _ALONE if crashes >= SUSPECT_CRASHES else 0
    return attempts + outages // _OUTAGES + alone


def crash_reason(crashes: int, *, summary: bool = False) -> str:
    """The reason given for a chunk or summary during which processes crashed."""
    times = "once" if crashes == 1 else f"{crashes} times"
    return f"the process that {'summed it up' if summary else 'read it'} ended {times}"


def lease_token(worker: str, until: datetime, *, sound: bool) -> str:
    """The name of a worker with the initial state of its lease, as :func:`is_evidence` reads it.

    ``sound`` says that the process has completed other work; ``until`` is when the lease expires if
    it is not extended.
    """
    return f"{worker}{_SOUND if sound else ''}{_UNTIL}{to_micros(until)}"


def is_evidence(token: str, until: datetime) -> bool:
    """Whether a crash is evidence against the leased chunks, given the lease the worker left.

    A process that crashes soon after its start may have done so for a reason that ends any such
    process. The crash is evidence if the process had completed other work, or had held its lease
    for so long that the lease was extended.
    """
    head, mark, instant = token.rpartition(":")[0].rpartition(_UNTIL)
    if not mark or not instant.isdigit():
        return True
    return head.endswith(_SOUND) or to_micros(until) > int(instant)


def count_crash(crashes: int, *, evidence: bool) -> tuple[int, bool]:
    """The number of crashes after another one, and whether it parks the chunk.

    A crash that is no evidence counts only until the chunk is a suspect and extracted alone.
    """
    if not evidence:
        return max(crashes, min(crashes + 1, SUSPECT_CRASHES)), False
    return crashes + 1, crashes + 1 >= MOST_CRASHES


def batch_limit(failures: int, limit: int) -> int:
    """The largest batch after this many failures: each divides it by four, down to 1."""
    return max(1, limit >> min(_QUARTER * failures, _MOST_SHIFTS))


def batch_size(failures: Sequence[int], limit: int) -> int:
    """The length of the next batch, given the number of failures of each chunk in session order.

    Each failure divides it by four, so that a chunk at fault is alone after a few attempts and the
    others are not held up. The batch ends before the first chunk that failed more often.
    """
    if not failures:
        return 0
    most = batch_limit(failures[0], limit)
    for index, count in enumerate(failures[:most]):
        if count > failures[0]:
            return index
    return min(most, len(failures))

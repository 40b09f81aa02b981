"""Decides what to do after a failed extraction: stop, wait, or count it against the chunks.

There are three cases. After a *stop* (a budget is used up) the chunks return to the queue
unchanged. After an *outage* (the endpoint is down, the key is refused) they wait, and no chunk is
blamed. A failure of the *content* counts against the chunks until the one at fault is alone and is
parked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from cognigraph.errors import (
    BudgetExceededError,
    CogniGraphError,
    ExtractionError,
    ModelRefusedError,
    ModelUnavailableError,
)
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import SUSPECT_CRASHES
from cognigraph.stores.records import Lease

Fault = Literal["stop", "outage", "content"]

_REFUSED_CONTENT = frozenset({400, 413, 422, 451})
"""HTTP statuses that may refuse the text; others refuse the key, the model name or the address."""

_MOST_DOUBLINGS = 10
_OUTAGE_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class FailureDecision:
    """What to do with the chunks of a failed extraction.

    ``wait`` is the time until the retry. ``park_after`` is the number of attempts after which the
    chunks are parked; ``None`` never parks. ``ends_run`` says that other chunks would fail now too.
    A single outage does not end the run, because it may be due to this window alone (so long that
    the endpoint times out): the next window is tried.
    """

    fault: Fault
    wait: timedelta
    park_after: int | None = None
    ends_run: bool = False


def judge(
    error: CogniGraphError,
    *,
    chunks: int,
    attempts: int,
    outages: int,
    after_outage: bool,
    settings: EnrichSettings,
) -> FailureDecision:
    """Decide for ``chunks`` chunks that failed ``attempts`` times and met ``outages`` before.

    ``after_outage`` says that the previous batch met an outage too. For a lease without chunks,
    which is for a summary, ``chunks`` is 0.
    """
    fault = fault_of(error)
    if fault == "stop":
        return FailureDecision("stop", timedelta(0), ends_run=True)
    if fault == "outage":
        wait = outage_wait(outages, settings)
        asked = timedelta(seconds=getattr(error, "retry_after", None) or 0.0)
        ends_run = after_outage or not error.is_retryable
        return FailureDecision("outage", max(wait, asked), ends_run=ends_run)
    if chunks > 1:  # some of them may be fine: retry at once in smaller batches
        return FailureDecision("content", timedelta(0))
    for_good = isinstance(error, ExtractionError | ModelRefusedError) and not error.is_retryable
    return FailureDecision(
        "content",
        settings.retry_after * 2 ** min(attempts, _MOST_DOUBLINGS),
        park_after=0 if for_good else settings.park_after,
    )


def outage_wait(outages: int, settings: EnrichSettings) -> timedelta:
    """How long to wait after an outage if there were ``outages`` before."""
    wait: timedelta = settings.retry_after * 2 ** min(outages, _OUTAGE_DOUBLINGS)
    return wait


def is_suspect(lease: Lease) -> bool:
    """Whether what is leased has made processes crash."""
    if lease.chunks:
        return any(chunk.crashes >= SUSPECT_CRASHES for chunk in lease.chunks)
    backlog = lease.notes.backlog
    return backlog is not None and backlog.crashes >= SUSPECT_CRASHES


def fault_of(error: CogniGraphError) -> Fault:
    """The case that an error belongs to."""
    if isinstance(error, BudgetExceededError):
        return "stop"
    if isinstance(error, ModelUnavailableError):
        return "outage"
    if isinstance(error, ModelRefusedError):
        is_content = error.too_long or error.status in _REFUSED_CONTENT
        return "content" if is_content else "outage"
    return "content"

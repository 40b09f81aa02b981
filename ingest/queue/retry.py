"""Whose fault a failed extraction is, and what becomes of the chunks that were read.

Three cases, because each wants something else: a *stop* (a budget is used up) gives the chunks back
as they were; an *outage* (the endpoint is down, the key is refused) waits and blames no chunk; a
failure of the *content* counts against the chunks until the one at fault is alone and is parked.
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

Fault = Literal["stop", "outage", "content"]

_REFUSED_CONTENT = frozenset({400, 413, 422, 451})
"""Statuses of a refusal that may be about this very text; others are about key, name or address."""

_MOST_DOUBLINGS = 10
_OUTAGE_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class FailureDecision:
    """What to do with the chunks of a failed extraction.

    ``wait`` is how long they rest; ``park_after`` the attempts after which they are parked,
    ``None`` to let them try again in any case; ``ends_run`` that others would fare no better now.
    A single outage may be this window's own (too long for the endpoint's patience): the next one
    is tried, or it would be waited for in vain.
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

    ``after_outage`` says that the batch before met one too.
    """
    fault = fault_of(error)
    if fault == "stop":
        return FailureDecision("stop", timedelta(0), ends_run=True)
    if fault == "outage":
        wait = settings.retry_after * 2 ** min(outages, _OUTAGE_DOUBLINGS)
        asked = timedelta(seconds=getattr(error, "retry_after", None) or 0.0)
        ends_run = after_outage or not error.is_retryable
        return FailureDecision("outage", max(wait, asked), ends_run=ends_run)
    if chunks > 1:  # some of them may be fine: at once, in smaller batches
        return FailureDecision("content", timedelta(0))
    for_good = isinstance(error, ExtractionError | ModelRefusedError) and not error.is_retryable
    return FailureDecision(
        "content",
        settings.retry_after * 2 ** min(attempts, _MOST_DOUBLINGS),
        park_after=0 if for_good else settings.park_after,
    )


def fault_of(error: CogniGraphError) -> Fault:
    """Whose fault an error is."""
    if isinstance(error, BudgetExceededError):
        return "stop"
    if isinstance(error, ModelUnavailableError):
        return "outage"
    if isinstance(error, ModelRefusedError):
        is_content = error.too_long or error.status in _REFUSED_CONTENT
        return "content" if is_content else "outage"
    return "content"

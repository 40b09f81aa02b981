"""What there is and what it took, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes of a space and the state of its enrichment (in chunks).

    Summaries that lack turns which were read are ``pending`` until they are written, or ``failed``.
    """

    space: str
    sessions: int
    messages: int
    chunks: int
    entities: int
    triples: int
    keys: int
    pending: int
    leased: int
    done: int
    failed: int
    summaries_pending: int = 0
    summaries_failed: int = 0

"""Counts of what a space holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes of a space and the state of its enrichment, in chunks.

    ``summaries_pending`` and ``summaries_failed`` count the sessions whose summary lacks turns that
    were read: those still due, and those that were parked. ``vectors_pending`` counts the chunks
    that are found by their words only, until their vectors are made in the background.
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
    vectors_pending: int = 0

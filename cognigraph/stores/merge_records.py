"""Converts rows of entity resolution, which both stores record, to model objects."""

from __future__ import annotations

from cognigraph.model import Merge, SuspectedDuplicate
from cognigraph.times import from_micros


def suspicion(
    name: str, type: str, other: str, other_type: str, score: float, reason: str
) -> SuspectedDuplicate:
    """A suspected duplicate with its two names in alphabetical order."""
    (name, type), (other, other_type) = sorted(((name, type), (other, other_type)))
    return SuspectedDuplicate(name, type, other, other_type, score, reason)


def merge_of(
    name: str,
    type: str,
    into: str,
    into_type: str,
    by: str,
    reason: str,
    score: float,
    at: int,
    undone_at: int | None,
) -> Merge:
    """A merge from the history; times are in microseconds since 1970."""
    undone = None if undone_at is None else from_micros(undone_at)
    return Merge(name, type, into, into_type, by, reason, score, from_micros(at), undone)

"""What is decided about two entities."""

from __future__ import annotations

from cognigraph.resolution.compare import EntityName, conflict, judge, relate


def decide(a: EntityName, b: EntityName, *readings: int) -> str:
    """The verdict, or "different"; ``readings`` says how many entities either name could denote."""
    relation = None if conflict(a, b) else relate(a, b)
    return "different" if relation is None else judge(relation, *readings)

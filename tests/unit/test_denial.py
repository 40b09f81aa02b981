"""The negation of relations, as it is read and indexed."""

from __future__ import annotations

from cognigraph.english.verbs import denied
from cognigraph.model.graph import stated
from tests.cases import each


@each(
    ("relation", "expected"),
    [
        ("likes", "does not like"),
        ("visited", "did not visit"),
        ("bought from", "did not buy from"),
        ("is afraid of", "is not afraid of"),
        ("will sell", "will not sell"),
        ("has", "does not have"),
        ("had", "did not have"),
        ("has been working on", "has not been working on"),
        ("wants to use", "does not want to use"),
        ("watches", "does not watch"),
        ("carries", "does not carry"),
        ("blorps", "does not blorp"),
        ("friend of", "not friend of"),
        ("", "not "),
    ],
)
def test_a_relation_is_denied_in_plain_english(relation: str, expected: str) -> None:
    assert denied(relation) == expected


def test_a_denied_fact_is_indexed_as_it_is_read() -> None:
    assert stated("Ann", "likes", "olives", None, negated=True) == "Ann does not like olives"

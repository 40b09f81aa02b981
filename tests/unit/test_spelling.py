"""The canonical spelling, and the spellings that chunks keep."""

from __future__ import annotations

from datetime import timedelta

from cognigraph.resolution.name_forms import (
    UNSPELLED,
    first,
    given,
    instant,
    kept,
    order,
    rank,
)
from cognigraph.times import to_micros
from tests.cases import each
from tests.conftest import START

NOW = to_micros(START)


@each(
    ("names", "text"),
    [
        (("Anna",), "Anna"),
        (("kayak",), ""),
        (("Anna", "bought", "kayak"), "Anna\x1f\x1f"),
        (("anna", "likes", "tea"), "\x1f\x1f"),
        (("tea", "is from", "“Oslo”"), "\x1f\x1f“Oslo”"),
    ],
)
def test_only_what_differs_from_the_normalised_form_is_kept(names, text):
    normal = [name.casefold().strip("“”") for name in names]
    assert kept(*names) == text
    assert given(text, normal, ["?"] * len(names)) == names


def test_evidence_without_a_spelling_has_the_canonical_one():
    assert given(None, ["anna"], ["ANNA"]) == ("ANNA",)


def test_the_canonical_spelling_is_the_earliest_then_the_plainest_then_the_first_alphabetically():
    assert first([(NOW + 1, ("Anna",)), (NOW, ("ANNA",))])[1] == ("ANNA",)
    assert first([(NOW, ("ANNA",)), (NOW, ("Anna",))])[1] == ("Anna",)
    assert first([(NOW, ("anna",)), (NOW, ("Anna",))])[1] == ("Anna",)
    assert first([(NOW, ("Anna",))]) == (order(START, "Anna"), ("Anna",))
    fact = ("Anna", "Likes", "tea")
    assert first([(NOW, fact)]) == (order(START, *fact), fact)


def test_a_spelling_begins_with_its_instant_and_ends_with_its_rank():
    spelled = order(START, "Anna")
    assert spelled == f"{instant(START)} {rank(spelled)}"
    assert rank(order(START + timedelta(days=1), "Anna")) == rank(spelled)
    assert spelled < order(START + timedelta(microseconds=1), "Anna") < UNSPELLED

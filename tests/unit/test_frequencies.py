"""Counts of terms in arrays, and those that came since in a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cognigraph.stores.neo4j.index import word_counts
from cognigraph.stores.neo4j.index.word_counts import Frequencies, KeptCounts

TERMS = [f"w{number}" for number in range(60)] + ["é", "\ud800"]


@pytest.mark.parametrize("most_recent", [0, 10, 1000])
def test_counts_are_the_same_wherever_they_are(
    monkeypatch: pytest.MonkeyPatch, most_recent: int
) -> None:
    monkeypatch.setattr(word_counts, "_MOST_RECENT", most_recent)
    source, truth, counts = np.random.default_rng(3), Counter[str](), Frequencies("s")
    for round in range(8):
        batch = {term: int(source.integers(1, 1 << 20)) for term in source.choice(TERMS[:50], 20)}
        counts.add(list(batch), list(batch.values()))
        truth.update(batch)
        if round == 4:
            counts = Frequencies.from_bytes("s", counts.packed())
    expected = {term: truth[term] for term in TERMS}
    assert counts.among(TERMS) == expected
    assert Frequencies.from_bytes("s", counts.packed()).among(TERMS) == expected
    assert counts.among([]) == {} and Frequencies("s").among(["w1"]) == {"w1": 0}
    assert set(Frequencies.from_bytes("other", counts.packed()).among(TERMS).values()) == {0}
    assert len(counts.packed()) == 12 * sum(count > 0 for count in expected.values())


def test_what_is_packed_costs_an_eighth() -> None:
    counts = Frequencies("s")
    counts.add([f"w{number}" for number in range(800)], [1] * 800)
    assert counts.cost == 800
    counts.packed()
    assert counts.cost == 100


def test_a_value_that_another_version_wrote_is_not_read() -> None:
    kept = KeptCounts(7, 5, 1, b"x" * 12)
    assert KeptCounts.from_bytes(kept.value) == kept
    assert KeptCounts.from_bytes(b"CGW2" + kept.value[4:]) is None
    assert KeptCounts.from_bytes(b"") is None

"""What vectors are worth is measured without labels."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from cognigraph import Memory, Message
from cognigraph.retrieve.rank.ranking import OF_ENGLISH, OF_VECTORS, PLAIN
from cognigraph.retrieve.rank.separation import MEASURED, distance_of_means, worth_of
from cognigraph.stores.candidates import ConsecutiveChunks


def chunks(sessions: int, each: int, topic: float) -> ConsecutiveChunks:
    """Random vectors, of which those of one session share a direction to a degree."""
    random = np.random.default_rng(7)
    directions = random.normal(size=(sessions, 32))
    numbers = np.repeat(np.arange(sessions), each)
    vectors = random.normal(size=(len(numbers), 32)) + topic * directions[numbers]
    return ConsecutiveChunks(vectors.astype(np.float32), numbers)


def test_vectors_that_tell_sessions_apart_count_and_noise_does_not():
    assert worth_of(chunks(20, 10, topic=1.0)) == 1.0
    assert worth_of(chunks(20, 10, topic=0.0)) == 0.0
    between = worth_of(chunks(20, 10, topic=0.33))
    assert between is not None
    assert 0.0 < between < 1.0


def test_a_common_direction_separates_nothing():
    noise = chunks(20, 10, topic=0.0)
    alike = ConsecutiveChunks(noise.vectors + 10.0, noise.sessions)
    assert distance_of_means(alike) == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize("few", [chunks(1, 200, 1.0), chunks(200, 1, 1.0), chunks(2, 5, 1.0)])
def test_too_few_pairs_tell_nothing(few):
    assert worth_of(few) is None


def test_an_empty_space_tells_nothing():
    assert worth_of(ConsecutiveChunks(np.empty((0, 0), np.float32), np.empty(0, np.int64))) is None
    assert MEASURED > 0


def noise(texts: list[str]) -> list[list[float]]:
    """Vectors that know nothing of what a text is about."""
    return [np.random.default_rng(crc32(text.encode())).normal(size=16).tolist() for text in texts]


@pytest.mark.slow
def test_it_is_said_where_vectors_count_little(tmp_path):
    nouns = "Haus Hund Garten Auto Urlaub Arzt Schule Küche Fahrrad Garage".split()
    with Memory(tmp_path / "m.db", embedder=noise, enrich="manual") as memory:
        memory.space("a").add_many(
            Message(text=f"Heute war {noun} Nummer {row} dran.", session=noun, id=f"{noun}{row}")
            for noun in nouns
            for row in range(6)
        )
        (check,) = (each for each in memory.admin.check() if each.name == "vectors")
        assert check.ok
        assert check.detail.startswith("tell messages apart little in 'a' (")
        assert check.detail.endswith("cognigraph reindex --embedder multilingual")
        notes = memory.space("a").search("Was war mit dem Garten los?").trace.notes
        assert "the question is not in English: ranked by words, and by vectors with " in notes[0]
        assert memory.space("a").search("What was that with the garden?").trace.notes == ()
        remarks = memory.space("a").why("Was war mit dem Hund?", "Hund3").remarks
        assert any("not in English" in remark for remark in remarks)


def test_another_language_is_ranked_by_words_and_by_vectors_as_far_as_they_are_worth():
    without = PLAIN.relative(in_english=False, vector_worth=0.0)
    assert not any(without.get(name) for name in OF_VECTORS | OF_ENGLISH)
    assert without["words"] == pytest.approx(2 * without["window words"])
    half, whole = (PLAIN.relative(in_english=False, vector_worth=worth) for worth in (0.5, 1.0))
    assert half["vector"] / half["words"] == pytest.approx(whole["vector"] / whole["words"] / 2)
    assert PLAIN.relative(vector_worth=0.0) == PLAIN.relative()

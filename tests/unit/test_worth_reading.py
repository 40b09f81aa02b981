"""Of many candidates, only the texts of the best are read, and the best hits are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cognigraph import SearchSettings
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank import profiles
from cognigraph.retrieve.rank.profiles import DefaultProfile
from cognigraph.retrieve.rank.ranking import Ranking
from cognigraph.stores.candidates import Candidates, StoredTexts
from tests.unit.pools import candidates, chunk_pool, session_pool, triple_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
WORDS = """oslo fjord bread kayak piano rain garden ticket winter lamp river paint violin soup
letter train coat bridge market holiday""".split()
SESSION = 10


def found(seed: int, count: int = 600) -> tuple[Candidates, list[int]]:
    """Candidates whose texts say more than their vectors, and the rows whose texts were read."""
    source = np.random.default_rng(seed)
    texts = [" ".join(source.choice(WORDS, 6)) for _ in range(count)]
    matching = np.array([len({"kayak", "fjord"} & set(text.split())) for text in texts])
    read: list[int] = []

    def texts_of(rows: Sequence[int]) -> dict[int, str]:
        read.extend(rows)
        return {row: texts[row] for row in rows}

    chunks = chunk_pool(
        list(0.2 + 0.2 * matching + source.normal(scale=0.15, size=count)),
        session=np.arange(count) // SESSION,
        matches=np.array([[text.split().count("kayak"), text.split().count("fjord")]
                          for text in texts], float),
        uids=tuple(f"c{n:04}" for n in range(count)),
    )  # fmt: skip
    chunks = replace(chunks, texts=StoredTexts(list(range(count)), texts_of))
    sessions = session_pool([0.1] * (count // SESSION), terms=2)
    return candidates(chunks, triple_pool(terms=2), sessions), read


def ranked(pool: Candidates) -> Ranking:
    asked = analyse("the kayak on the fjord", NOW)
    return DefaultProfile().rank(
        pool, asked, SearchSettings(), now=NOW.timestamp(), weight_set="plain"
    )


@pytest.mark.slow
def test_the_best_are_those_of_a_ranking_that_reads_all_texts(monkeypatch: pytest.MonkeyPatch):
    same = 0
    for seed in range(10):
        pool, read = found(seed)
        best = np.argsort(-ranked(pool).score, kind="stable")[:15]
        assert len(read) == len(set(read)) < 500
        assert set(best.tolist()) <= set(read)
        with monkeypatch.context() as patched:
            patched.setattr(profiles, "_ALL_READ", len(pool.chunks.uids))
            everything = ranked(pool)
        same += set(best) == set(np.argsort(-everything.score, kind="stable")[:15])
        assert not np.isnan(everything.raw["similar words"]).any()
    assert same >= 9


def test_a_text_that_was_not_read_has_no_points_for_it_and_says_so():
    pool, read = found(1)
    ranking = ranked(pool)
    unread = [row for row in range(len(pool.chunks.uids)) if row not in read]
    assert unread
    for name in ("similar words", "window similar words", "names"):
        assert np.isnan(ranking.raw[name][unread]).all()
        assert not ranking.weighted[name][unread].any()
    total = np.sum(list(ranking.weighted.values()), axis=0)
    assert np.allclose(total, ranking.semantic)
    notes = DefaultProfile().notes(ranking, unread[0])
    assert notes == ("not among the 150 best by the other signals, so its text was not read",)
    assert DefaultProfile().notes(ranking, int(np.argmax(ranking.score))) == ()


def test_the_texts_of_few_candidates_are_all_read():
    pool, read = found(2, count=400)
    ranking = ranked(pool)
    assert sorted(read) == list(range(400))
    assert all(DefaultProfile().notes(ranking, row) == () for row in range(400))

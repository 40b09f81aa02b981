"""Reranking: the order of the first hits by another model, and what happens when that fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ConfigurationError, Memory, SearchSettings, Settings
from cognigraph.retrieve.rank.rerank import RankedMessages, Reranker, rerank, resolve_reranker
from cognigraph.stores.candidates import ChunkRecord
from cognigraph.testing import HashEmbedder, ScriptedExtractor
from tests.cases import each

NOW = datetime(2026, 5, 20, tzinfo=UTC)
SCORES = st.lists(st.floats(-1e6, 1e6), max_size=12)


def messages(count: int) -> RankedMessages:
    """Messages of rows 10, 20, ..., each with its position as text."""
    records = {
        10 * (at + 1): ChunkRecord(str(at), str(at), "s", "s", None, NOW, str(at), 0, 1)
        for at in range(count)
    }
    return RankedMessages(rows=list(records), records=records)


@given(SCORES, st.integers(0, 14), st.integers(0, 14))
def test_the_head_is_ordered_by_score_and_the_tail_stays(scores, limit, k):
    best = messages(len(scores))
    done = rerank(lambda _, head: [scores[int(text)] for text in head], "q", best, limit, k)
    head = min(limit, len(scores))
    first = sorted(range(head), key=lambda at: (-scores[at], at))
    assert done.rows == [10 * (at + 1) for at in (*first, *range(head, len(scores)))][:k]
    assert {row: (moved.rank_before, moved.score) for row, moved in done.changes.items()} == {
        10 * (at + 1): (at + 1, scores[at]) for at in range(head)
    }
    assert done.note == ""


def failing(question: str, texts: Sequence[str]) -> list[float]:
    raise TimeoutError("model is loading")


@each(
    ("reranker", "reason"),
    [
        (failing, "TimeoutError: model is loading"),
        (lambda q, texts: [1.0], "1 scores for 3 texts"),
        (lambda q, texts: [1.0, float("nan"), 2.0], "NaN"),
        (lambda q, texts: ["high"] * 3, "high"),
        (lambda q, texts: None, "TypeError"),
    ],
)
def test_a_reranker_that_fails_changes_nothing_and_is_reported(reranker: Reranker, reason):
    done = rerank(reranker, "q", messages(3), 50, 2)
    assert done.rows == [10, 20]
    assert done.changes == {}
    assert done.note.startswith("not reranked") and reason in done.note


def test_rerankers_by_name():
    def function(question: str, texts: Sequence[str]) -> list[float]:
        return [0.0] * len(texts)

    class Interacting:
        rerank = staticmethod(function)

    assert resolve_reranker(None) is None
    assert resolve_reranker(function) is function
    assert resolve_reranker("embedder", Interacting()) is function
    with pytest.raises(ConfigurationError, match="HashEmbedder cannot rerank"):
        resolve_reranker("embedder", HashEmbedder())
    with pytest.raises(ConfigurationError, match="unknown reranker 'cohere:x'"):
        resolve_reranker("cohere:x")
    with pytest.raises(ConfigurationError, match="int is not a reranker"):
        resolve_reranker(3)  # type: ignore[arg-type]


@pytest.fixture
def seen() -> list[tuple[str, list[str]]]:
    return []


@pytest.fixture
def longest_first(seen) -> Reranker:
    def scores(question: str, texts: Sequence[str]) -> list[float]:
        seen.append((question, list(texts)))
        return [float(len(text)) for text in texts]

    return scores


def opened(path, reranker, **search) -> Memory:
    memory = Memory(
        path, embedder=HashEmbedder(64), extractor=ScriptedExtractor(), enrich="manual",
        reranker=reranker, settings=Settings(search=SearchSettings(**search)),
    )  # fmt: skip
    memory.add_many(
        {"text": f"oslo {'fjord ' * n}end", "id": f"m{n}", "speaker": "Ann"} for n in range(8)
    )
    return memory


@pytest.mark.slow
def test_hits_say_where_they_were(tmp_path, seen, longest_first):
    with opened(tmp_path / "plain.db", None) as memory:
        before = [hit.id for hit in memory.search("oslo end", k=8)]
    with opened(tmp_path / "m.db", longest_first) as memory:
        result = memory.search("oslo end", k=3)
        assert [hit.id for hit in result] == ["m7", "m6", "m5"]
        assert [hit.why.rank_before for hit in result] == [
            before.index(hit.id) + 1 for hit in result
        ]
        assert result[0].why.rerank_score == len("Ann: oslo end") + 7 * len("fjord ")
        assert f"rank {before.index('m7') + 1} before" in str(result[0].why)
        assert result.trace.counts["reranked"] == 8
        assert result.trace.timings["rerank"] >= 0
        assert "[C1]" in memory.context("oslo end", k=2)
    question, texts = seen[0]
    assert question == "oslo end"
    assert len(texts) == 8 and all(text.startswith("Ann: oslo") for text in texts)


@pytest.mark.slow
def test_only_the_first_are_reranked(tmp_path, seen, longest_first):
    with opened(tmp_path / "plain.db", None) as memory:
        before = [hit.id for hit in memory.search("oslo end", k=8)]
    with opened(tmp_path / "m.db", longest_first, rerank=3) as memory:
        result = memory.search("oslo end", k=8)
        found = [hit.id for hit in result]
        assert found[:3] == sorted(before[:3], reverse=True)
        assert found[3:] == before[3:]
        assert [hit.why.rank_before is None for hit in result] == [False] * 3 + [True] * 5
    assert [len(texts) for _, texts in seen] == [3]
    with opened(tmp_path / "off.db", longest_first, rerank=0) as memory:
        assert [hit.id for hit in memory.search("oslo end", k=8)] == before
    assert len(seen) == 1


@pytest.mark.slow
def test_a_failing_reranker_leaves_the_order_and_a_note(tmp_path):
    with opened(tmp_path / "plain.db", None) as memory:
        before = [hit.id for hit in memory.search("oslo end", k=5)]
    with opened(tmp_path / "m.db", failing) as memory:
        result = memory.search("oslo end", k=5)
        assert [hit.id for hit in result] == before
        assert any("model is loading" in note for note in result.trace.notes)
        assert result[0].why.rerank_score is None
        assert memory.search("").hits == ()

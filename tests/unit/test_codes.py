"""Codes find the nearest rows, and a layer with codes gives the candidates of one without."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph import Filter, Memory, arrays
from cognigraph.arrays import product, products, run_all
from cognigraph.model import Exclusion
from cognigraph.stores.candidates import CandidateQuery, Candidates, Evidence, StoredTexts
from cognigraph.stores.sqlite.index import index_words, nearest
from cognigraph.stores.sqlite.index.gather import gather_candidates
from cognigraph.stores.sqlite.index.layer import Layer, Lookup, term_hashes
from cognigraph.stores.sqlite.index.nearest import (
    CodedScan,
    Codes,
    ExactScan,
    Scan,
    signs,
)
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.rows import RowIds, VectorFormat, pack_terms, unpack_terms
from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
from cognigraph.text.word_book import bm25
from tests.examples import examples
from tests.unit.test_index import read

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
WORDS = ["oslo", "fjord", "bread", "kayak", "piano", "rain"]
DIMENSION = 16


def unit(seed: int, count: int, dimension: int) -> np.ndarray:
    """Unit vectors around a few hundred topics."""
    source = np.random.default_rng(seed)
    topics = source.normal(size=(200, dimension))
    vectors = topics[source.integers(200, size=count)] + source.normal(size=(count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [256, 384, 100])
def test_the_nearest_rows_are_among_those_that_the_codes_leave(dimension):
    vectors, asked = np.split(unit(1, 30_020, dimension), [30_000])
    codes = Codes(dimension)
    for start in range(0, len(vectors), 7000):
        codes.append(vectors[start : start + 7000])
    found = total = 0
    for query in asked:
        best = np.argsort(-(vectors @ query))[:50]
        left = CodedScan(codes, query).left(50)
        assert len(left) == 100
        assert left.tolist() == sorted(set(left.tolist()))
        found += np.isin(best, left).sum()
        total += len(best)
    assert found >= 0.97 * total


def test_the_signs_that_differ_are_counted():
    vectors = np.array([[1, -1, 1], [1, 1, 1], [-1, 1, -1], [0, 0, 0]], np.float32)
    codes = Codes(3)
    codes.append(vectors)
    counted, tasks = codes.comparisons(vectors[0])
    run_all(tasks)
    assert counted.tolist() == [0, 1, 3, 2]
    assert signs(vectors)[0].tolist() == [0b101, 0b111, 0b010, 0]


def test_several_threads_count_what_one_counts(monkeypatch):
    vectors, asked = np.split(unit(4, 1011, 100), [1010])
    made = Codes(100)
    made.append(vectors[:700])
    stored = Codes(100)
    stored.restore(made.arrays())
    stored.append(vectors[700:])
    expected = ((vectors > 0) != (asked[0] > 0)).sum(axis=1)
    some = np.array([3, 700, 699, 1009])
    for block in (3, 64, 100, 2000):
        monkeypatch.setattr(nearest, "_BLOCK", block)
        counted, tasks = stored.comparisons(asked[0])
        run_all(tasks)
        assert counted.tolist() == expected.tolist()
        assert stored.differing(asked[0], some).tolist() == expected[some].tolist()


@pytest.mark.slow
def test_the_least_values_are_found_with_all_that_equal_the_last():
    source = np.random.default_rng(2)
    # 256 is no number of 8 bits; of a large layer a smaller share is sampled
    for size, most in ((5000, 3), (5000, 20), (5000, 256), (700_000, 40)):
        values = source.integers(0, most, size).astype(np.uint8)
        for count in (1, 40, size // 2, size):
            bound = np.sort(values)[count - 1]
            expected = np.flatnonzero(values <= bound)
            assert np.array_equal(nearest._least(values, count), expected)


@pytest.mark.slow
def test_an_opposite_vector_is_not_taken_for_an_equal_one():
    vectors = unit(3, 6000, 256)
    codes = Codes(256)
    codes.append(np.concatenate([vectors, -vectors[:1]]))
    assert 6000 not in CodedScan(codes, vectors[0]).left(20)
    assert 0 in CodedScan(codes, vectors[0]).left(20)


def test_overwritten_rows_have_new_codes():
    vectors = unit(4, 9000, 64)
    codes, fresh = Codes(64), Codes(64)
    codes.append(vectors)
    swapped = vectors.copy()
    swapped[[5, 8000]] = vectors[[8000, 5]]
    codes.update(np.array([5, 8000]), swapped[[5, 8000]])
    fresh.append(swapped)
    for name, array in codes.arrays().items():
        assert np.array_equal(array, fresh.arrays()[name])


def nearest_rows(scan: Scan, limit: int, allowed: np.ndarray) -> np.ndarray:
    search = scan.nearest(limit, allowed)
    run_all(search.tasks)
    return search.rest()


@pytest.mark.slow
def test_only_allowed_rows_are_found_and_as_many_as_there_are():
    vectors = unit(5, 20_000, 64)
    codes = Codes(64)
    codes.append(vectors)
    query = unit(6, 1, 64)[0]
    scan = CodedScan(codes, query)
    exact = ExactScan(vectors, query)
    for share in (0.001, 0.3):
        allowed = np.random.default_rng(7).random(20_000) < share
        best = nearest_rows(scan, 20, allowed)
        assert allowed[best].all()
        clear = nearest_rows(exact, 20, allowed)  # those that rounding cannot bring to 0
        assert len(best) >= (exact.cosines(clear) > 0.003).sum()
        assert np.isin(nearest_rows(exact, 5, allowed), best).all()
        assert scan.cosines(best).tolist() == pytest.approx(exact.cosines(best).tolist(), abs=3e-3)
    assert len(nearest_rows(scan, 20, np.zeros(20_000, bool))) == 0


def open_memory(path: Path) -> Memory:
    return Memory(
        path, embedder=HashEmbedder(DIMENSION), extractor=ScriptedExtractor(read),
        enrich="manual", clock=FrozenClock(START),
    )  # fmt: skip


def query(word: str, **options: object) -> CandidateQuery:
    return CandidateQuery(
        vector=HashEmbedder(DIMENSION).embed([word])[0], terms=(word, "oslo"), anchors=(word,),
        chunks_by_vector=5, chunks_by_terms=5, triples_by_vector=5, triples_by_terms=5,
        triples_per_anchor=2, sessions_by_vector=2, radius=1, texts=True, **options,
    )  # fmt: skip


def assert_alike(found: Candidates, expected: Candidates) -> None:
    """Candidates are the same; cosines may differ as much as rounded components."""
    for part in ("chunks", "triples", "sessions"):
        one, other = getattr(found, part), getattr(expected, part)
        for name in one.__dataclass_fields__:
            value, wanted = getattr(one, name), getattr(other, name)
            if isinstance(value, np.ndarray):
                most = 0.01 if name in ("cosine", "theme") else 1e-5
                assert np.allclose(value, wanted, rtol=0, atol=most, equal_nan=True), (part, name)
            elif isinstance(value, StoredTexts | Evidence):
                assert list(value) == list(wanted)
            else:
                assert value == wanted, (part, name)


@pytest.mark.slow
def test_layers_with_codes_give_the_candidates_of_layers_without(tmp_path):
    path, format = tmp_path / "m.db", VectorFormat(DIMENSION, "float16")
    with open_memory(path) as memory, closing(sqlite3.connect(path)) as connection:
        exact, coded = SpaceIndex(format), SpaceIndex(format, few_rows=10)
        for batch in range(4):  # codes begin within the second batch
            memory.add_many(
                {"text": f"{WORDS[n % 6]} {WORDS[n * 5 % 6]} {WORDS[(n + batch) % 5]}",
                 "id": f"m{batch}-{n}", "session": f"s{n % 3}", "speaker": "Ann" if n % 2 else None,
                 "at": START + timedelta(minutes=n)}
                for n in range(8)
            )  # fmt: skip
            memory.queue.enrich()
            for word in WORDS:
                for options in (
                    {},
                    {"as_of": START + timedelta(minutes=5)},
                    {"where": Filter(session="s1")},
                    {"without": Exclusion(messages=frozenset({("s0", "m0-0")}))},
                ):
                    asked = query(word, **options)
                    found = []
                    for index in (exact, coded):
                        index.refresh(connection, 1)
                        connect = partial(nullcontext, connection)
                        ids = RowIds()
                        found.append(gather_candidates(connection, index, 1, asked, connect, ids))
                    assert_alike(found[1], found[0])
        assert exact.chunks.codes is None
        assert coded.chunks.codes is not None
        assert coded.triples.codes is not None
        assert coded.bytes > 0


def test_a_merged_entity_takes_its_triples_along(tmp_path):
    path, format = tmp_path / "m.db", VectorFormat(DIMENSION, "float16")
    with open_memory(path) as memory, closing(sqlite3.connect(path)) as connection:
        memory.add("oslo fjord", id="m1")
        memory.add("kayak piano", id="m2")
        memory.queue.enrich()
        index = SpaceIndex(format)
        index.refresh(connection, 1)
        memory.review.merge("kayak", into="oslo")
        index.refresh(connection, 1)
        fresh = SpaceIndex(format)
        fresh.refresh(connection, 1)
        ids = dict(connection.execute("SELECT name, coalesce(shown_id, id) FROM entity"))
        for entity in set(ids.values()):
            found = index.triples["id"][index.around(entity)]
            expected = fresh.triples["id"][fresh.around(entity)]
            assert sorted(found.tolist()) == sorted(expected.tolist())
        assert len(index.around(ids["oslo"])) == 2


def test_a_long_list_of_a_common_word_is_not_read_for_rows_that_cannot_win(monkeypatch):
    monkeypatch.setattr(index_words, "_LONG", 10)
    source = np.random.default_rng(8)
    bags = [
        {word: int(source.integers(1, 4)) for word, share in
         (("rare", 0.02), ("some", 0.2), ("common", 0.9)) if source.random() < share}
        for _ in range(3000)
    ]  # fmt: skip
    layer = texts_of(bags)
    read: list[int] = []
    plain = index_words.bm25

    def counted(*given):
        read.append(len(given[0]))
        return plain(*given)

    monkeypatch.setattr(index_words, "bm25", counted)
    weights, mean = np.array([0.1, 1.5, 4.0]), layer.mean_length
    terms = ("common", "some", "rare")
    for limit in (5, 20, 400):
        read.clear()
        found = index_words.best_by_words(layer, lookups(layer, terms), weights, mean, limit)
        matches = np.array([[bag.get(term, 0) for term in terms] for bag in bags], float)
        scores = plain(matches, layer["length"], weights, mean)
        expected = np.sort(scores[scores > 0])[::-1][:limit]
        assert np.sort(scores[found])[::-1].tolist() == pytest.approx(expected.tolist())
        assert sum(read) < len(matches)  # the list of "common" alone has 2,700 rows
    allowed = source.random(3000) < 0.5
    found = index_words.best_by_words(layer, lookups(layer, terms), weights, mean, 20, allowed)
    best = np.sort(scores[allowed])[::-1][:20]
    assert np.sort(scores[found])[::-1].tolist() == pytest.approx(best.tolist())
    assert allowed[found].all()


@pytest.mark.slow
def test_searches_in_several_threads_find_what_they_find_alone(tmp_path, monkeypatch):
    for module, name in [
        (nearest, "_BY_SIGNS"),
        (nearest, "_BY_WEIGHTS"),
        (nearest, "_BLOCK"),
    ]:
        monkeypatch.setattr(module, name, 8)  # so that few rows take all steps, in many tasks
    monkeypatch.setattr("cognigraph.stores.sqlite.store.FEW_ROWS", 5)
    with open_memory(tmp_path / "m.db") as memory:
        spaces = [memory.space(name) for name in "ab"]
        for shift, space in enumerate(spaces):
            space.add_many(
                {"text": f"{WORDS[n % 6]} {WORDS[n * 5 % 6]} {WORDS[(n + shift) % 5]}",
                 "id": f"m{n}", "session": f"s{n % 5}", "at": START + timedelta(minutes=n)}
                for n in range(60)
            )  # fmt: skip
            space.flush()

        def answers(_: int) -> list[list[tuple[str, float]]]:
            return [
                [(hit.id, hit.score) for hit in space.search(word, now=START)]
                for word in WORDS for space in spaces
            ]  # fmt: skip

        with monkeypatch.context() as patch:
            patch.setattr(arrays._THREADS, "count", 0)
            alone = answers(0)
        assert all(alone)
        asked: list[object] = []
        submit = arrays._THREADS.submit

        def counted(work):
            asked.append(work)
            return submit(work)

        monkeypatch.setattr(arrays._THREADS, "submit", counted)
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(answers, range(4))) == [alone] * 4
        assert asked  # other threads had a part in it


def lookups(layer: Layer, terms: Iterable[str]) -> list[Lookup]:
    return layer.words.under_all(term_hashes([*terms]))


def texts_of(bags: list[dict[str, int]]) -> Layer:
    """A layer of texts that consist of these words."""
    layer = Layer({"id": (np.int64, ()), "length": (np.int32, ())}, 2)
    blobs = [pack_terms(bag) for bag in bags]
    values = {
        "id": np.arange(len(bags)),
        "length": np.array([sum(bag.values()) for bag in bags], np.int32),
        "vector": np.zeros((len(bags), 2), np.float32),
    }
    layer.take(values, *unpack_terms(b"".join(blobs), np.array([len(blob) for blob in blobs])))
    return layer


@pytest.mark.slow
@given(
    bags=st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3)), max_size=30),
    weights=st.lists(st.sampled_from([0.1, 0.5, 3.0]), min_size=4, max_size=4),
    limit=st.integers(1, 12),
    long=st.sampled_from([0, 2, 100]),
)
@settings(max_examples=examples(150))
def test_the_best_rows_by_words_are_those_of_a_pass_over_all_rows(bags, weights, limit, long):
    layer = texts_of(bags)
    weighed = np.array(weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_words, "_LONG", long)
        found = index_words.best_by_words(
            layer, lookups(layer, "abcd"), weighed, layer.mean_length, limit
        )
    matches = np.array([[bag.get(term, 0) for term in "abcd"] for bag in bags]).reshape(-1, 4)
    scores = bm25(matches.astype(float), layer["length"], weighed, layer.mean_length)
    assert len(set(found.tolist())) == len(found)
    best = np.sort(scores[scores > 0])[::-1][:limit]
    assert np.sort(scores[found])[::-1].tolist() == pytest.approx(best.tolist())


def test_of_rows_with_equal_words_the_newest_are_found():
    layer = texts_of([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1}, {"a": 1}])
    found = index_words.best_by_words(
        layer, lookups(layer, "ab"), np.array([2.0, 1.0]), layer.mean_length, 3
    )
    assert sorted(found.tolist()) == [2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 5000])
@pytest.mark.parametrize("others", [1, 7, 3000])
def test_products_in_the_calling_thread_are_those_of_blas(rows, others):
    left, right = unit(10, rows, 64), unit(11, others, 64)
    assert np.allclose(products(left, right), left @ right.T, atol=1e-6)
    assert np.allclose(product(left, right[0]), left @ right[0], atol=1e-6)
    assert products(left, right).dtype == np.float32


def test_the_rounded_components_give_nearly_the_exact_cosine():
    vectors = unit(12, 1500, 100)
    codes = Codes(100)
    codes.append(vectors)
    rows = np.arange(1500)[::-1]
    found = codes.cosines(vectors[7], rows)
    assert len(found) == 1500
    assert rows[found.argmax()] == 7
    error = found - vectors[rows] @ vectors[7]
    assert np.abs(error).max() < 0.004
    assert error.std() < 0.001

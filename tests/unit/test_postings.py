"""The in-memory inverted index, against a dictionary."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph.stores.sqlite.index.layer import Postings, gather
from cognigraph.stores.sqlite.rows import (
    VectorFormat,
    pack_terms,
    pack_uid,
    term_hash,
    unpack_integers,
    unpack_terms,
    unpack_uids,
)
from tests.examples import examples

WORDS = ["oslo", "fjord", "bread", "猫", "x"]
BAGS = st.lists(st.dictionaries(st.sampled_from(WORDS), st.integers(1, 9), max_size=4), max_size=8)


def build(batches: list[list[dict[str, int]]]) -> tuple[Postings, list[dict[str, int]]]:
    postings, rows = Postings(), []
    for batch in batches:
        blobs = [pack_terms(bag) for bag in batch]
        sizes = np.array([len(blob) for blob in blobs], np.int64)
        postings.append(*unpack_terms(b"".join(blobs), sizes), len(rows))
        rows += batch
    return postings, rows


@pytest.mark.slow
@given(st.lists(BAGS, max_size=12))
@settings(max_examples=examples(150))
def test_a_lookup_finds_every_row_once_with_its_frequency(batches):
    postings, rows = build(batches)
    for word in WORDS:
        found, counts = postings.under(term_hash(word))
        expected = {row: bag[word] for row, bag in enumerate(rows) if word in bag}
        assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == expected
        assert len(found) == len(expected)
    assert postings.under(term_hash("absent"))[0].tolist() == []


def test_segments_stay_few():
    postings, _ = build([[{word: 1}] for word in WORDS * 400])
    assert len(postings._segments) <= 10
    assert len(postings.under(term_hash("oslo"))[0]) == 400


def test_gather_puts_frequencies_where_they_belong():
    postings, _ = build([[{"oslo": 2}, {"fjord": 1}], [{"oslo": 5, "fjord": 7}]])
    pool = np.array([2, 0])
    found = gather([postings.under(term_hash(word)) for word in ("oslo", "absent", "fjord")], pool)
    assert found.tolist() == [[5.0, 0.0, 7.0], [2.0, 0.0, 0.0]]
    assert gather([], pool).shape == (2, 0)
    assert gather([postings.under(term_hash("oslo"))], np.empty(0, np.int64)).shape == (0, 1)


def test_rows_without_words():
    postings, _ = build([[{}], [{}, {"oslo": 1}, {}], []])
    assert postings.under(term_hash("oslo"))[0].tolist() == [2]


def test_large_frequencies_and_long_texts():
    bag = Counter({f"w{n}": n + 1 for n in range(5000)})
    postings, _ = build([[dict(bag)]])
    assert postings.under(term_hash("w4999"))[1].tolist() == [5000.0]


@pytest.mark.parametrize(("precision", "size"), [("float32", 12), ("float16", 6)])
def test_vectors_come_back_as_they_went(precision, size):
    packed = VectorFormat(3, precision)
    vectors = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    blobs = [packed.pack(vector) for vector in vectors]
    assert [len(blob) for blob in blobs] == [size] * 4
    back = packed.unpack(blobs)
    assert back.dtype == np.float32
    assert np.array_equal(back, vectors.astype(packed.dtype).astype(np.float32))
    assert np.abs(back - vectors).max() <= (0 if precision == "float32" else 2e-3)
    assert packed.unpack([]).shape == (0, 3)


def test_uids_and_terms_come_back_as_they_went():
    uids = ["00" * 16, "ff" * 16, "0123456789abcdef" * 2]
    joined = b"".join(pack_uid(uid) for uid in uids)
    assert [uid.tobytes().hex() for uid in unpack_uids(joined)] == uids
    blobs = [pack_terms({"a": 1, "b": 2}), pack_terms({}), pack_terms({"a": 3})]
    lengths = np.array([len(blob) for blob in blobs])
    entries, sizes = unpack_terms(b"".join(blobs), lengths)
    assert sizes.tolist() == [2, 0, 1]
    assert entries["frequency"].tolist() == [1, 2, 3]
    assert entries["term"][0] == entries["term"][2] == term_hash("a")


@given(
    st.lists(st.tuples(st.integers(-(1 << 63), (1 << 63) - 1), st.binary(max_size=40)), min_size=1)
)
def test_sqlite_joins_any_bytes_and_integers_unchanged(rows):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, b BLOB) STRICT")
        connection.executemany("INSERT INTO t (n, b) VALUES (?, ?)", rows)
        listed, joined, lengths = connection.execute(
            "SELECT group_concat(n), CAST(coalesce(group_concat(b, ''), '') AS BLOB), "
            "group_concat(length(b)) FROM t"
        ).fetchone()
    assert unpack_integers(listed).tolist() == [n for n, _ in rows]
    assert joined == b"".join(blob for _, blob in rows)
    assert unpack_integers(lengths).tolist() == [len(blob) for _, blob in rows]


def test_term_hashes_never_change():
    # They are in every stored file.
    assert term_hash("oslo") == 8079082606332175587
    assert term_hash("") != term_hash(" ")
    assert 0 <= term_hash("\ud800") < 1 << 64

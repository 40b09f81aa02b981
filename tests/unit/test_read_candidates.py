"""What two runs of the statement that reads candidates have returned, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cognigraph.model import Filter
from cognigraph.stores.candidates import NONE, OUTSIDE, CandidateQuery
from cognigraph.stores.neo4j.index.gather import ReadCandidates
from cognigraph.stores.neo4j.index.packed import code, pack

AT = datetime(2024, 5, 1, tzinfo=UTC)
UIDS = [f"{number:032x}" for number in range(10)]
SESSIONS = [f"{number:032x}" for number in range(100, 103)]
ASKED = CandidateQuery(
    np.array([0.0, 1.0], np.float32),
    terms=("tea",),
    texts=True,
    entity_vectors=(np.zeros(2, np.float32), np.array([1.0, 0.0], np.float32)),
    where=Filter(roles=("person",)),
)


def chunk(number: int, text: str = "tea", space: str = "s", role: Any = None) -> bytes:
    """A packed chunk, of the first session if its number is below 5, or else of the second."""
    vector = np.array([number, 10 - number], np.float32)
    session = SESSIONS[number >= 5]
    return pack(space, UIDS[number], {text: 1}, vector, session=session, at=AT, role=role)


def theme(text: str, vector: tuple[float, float]) -> bytes:
    return pack("s", UIDS[0], {text: 1}, np.array(vector, np.float32), session=SESSIONS[0])


def read(
    chunks: Sequence[bytes] = (),
    ids: Sequence[str] = (),
    links: Sequence[tuple[str, str]] = (),
    *,
    triples: Any = ((), (), (), ()),
    anchors: Sequence[str] = (),
    by_vector: Sequence[str] = (),
    by_words: Sequence[str] = (),
    sessions: Any = (),
    asked: CandidateQuery = ASKED,
) -> ReadCandidates:
    """Of a row as the statement returns it, in lists; ``links`` are pairs of ids of chunks."""
    texts = [f"text {id}" for id in ids]
    befores, afters = [one for one, _ in links], [other for _, other in links]
    row = [
        [list(column) for column in triples],
        list(anchors),
        [list(chunks), list(ids), texts, befores, afters],
        list(by_vector),
        list(by_words),
        list(sessions),
    ]
    return ReadCandidates.from_row(row, "s", asked)


def test_chunks_of_both_runs_are_linked_and_appear_once() -> None:
    one = read(
        [chunk(2), chunk(1), chunk(3, role="assistant")],
        ["#2", "#1", "#3"],
        [("#1", "#2"), ("#2", "#3"), ("#3", "#4")],
        by_vector=["#2", "#3"],
        by_words=["#1"],
    )
    other = read(
        [chunk(6), chunk(2), chunk(5), chunk(8, space="t")],
        ["#6", "#2", "#5", "#8"],
        [("#5", "#6"), ("#0", "#5")],
    )
    both = one.together(other)
    table, row_of = both.chunks.candidates()
    assert table.uids == [UIDS[number] for number in (1, 2, 5, 6)]
    assert row_of == {"#1": 0, "#2": 1, "#5": 2, "#6": 3}
    assert table.texts == ["text #1", "text #2", "text #5", "text #6"]
    assert table.sessions == [SESSIONS[0], SESSIONS[0], SESSIONS[1], SESSIONS[1]]
    assert table.matches.tolist() == [[1.0]] * 4
    expected = [(10 - n) / np.hypot(n, 10 - n) for n in (1, 2, 5, 6)]
    np.testing.assert_allclose(table.cosine, expected, atol=1e-4)
    previous, following = both.links.neighbours(row_of, 4)
    assert previous.tolist() == [NONE, 0, OUTSIDE, 2]
    assert following.tolist() == [1, OUTSIDE, 3, NONE]
    assert (both.by_vector, both.by_words) == (["#2", "#3"], ["#1"])


def test_chunks_that_other_statements_found_are_known_by_their_element_ids() -> None:
    one = read([chunk(2), chunk(1)], ["#2", "#1"])
    found = one.found_by([UIDS[1], UIDS[2], UIDS[9]], [UIDS[2]])
    assert (found.by_vector, found.by_words) == (["#1", "#2"], ["#2"])
    assert found.chunks == one.chunks


def test_triples_are_sorted_with_their_evidence_and_those_of_other_spaces_left_out() -> None:
    triples = [
        pack(space, UIDS[number], {"tea": number}, np.array([0, 1], np.float32))
        for number, space in ((4, "s"), (3, "t"), (2, "s"), (4, "s"))
    ]
    evidence = [["#4"], ["#3"], ["#2", "#1"], ["#4"]]
    found = read(triples=[triples, evidence, ["d", "c", "b", "d"], [1, 2, 6, 1]])
    assert found.triples.uids == [UIDS[2], UIDS[4]]
    assert found.triples.evidence == [["#2", "#1"], ["#4"]]
    assert found.triples.texts == ["b", "d"]
    assert found.triples.sources.tolist() == [6, 1]
    assert found.triples.matches.tolist() == [[2.0], [4.0]]


def test_sessions_appear_once_with_their_best_theme_and_keys() -> None:
    first = [SESSIONS[1], "b", [theme("tea", (0, 2)), theme("tea", (2, 0))], 3, [0.75]]
    second = [SESSIONS[0], "a", [], 0, []]
    one = read(sessions=[first, second], anchors=["ann"])
    other = read(sessions=[second, first], anchors=["ben"])
    both = one.together(other)
    sessions = both.sessions.candidates()
    assert (sessions.ids, sessions.uids) == (("a", "b"), (SESSIONS[0], SESSIONS[1]))
    np.testing.assert_allclose(sessions.theme, [np.nan, 1.0], atol=1e-4)
    np.testing.assert_allclose(sessions.keys, [[np.nan, np.nan], [0.0, 0.5]])
    assert sessions.matches.tolist() == [[0.0], [2.0]]
    assert sessions.length.tolist() == [0.0, 2.0]
    assert both.anchors == ["ann", "ben"]


def test_a_name_without_a_vector_is_like_no_key() -> None:
    asked = replace(ASKED, entity_vectors=(np.zeros(2, np.float32),))
    rows = [[SESSIONS[0], "a", [], 2, []], [SESSIONS[1], "b", [], 0, []]]
    keys = read(sessions=rows, asked=asked).sessions.keys
    np.testing.assert_allclose(keys, [[0.0], [np.nan]])


def test_nothing_read_joins_with_anything() -> None:
    some = read([chunk(1)], ["#1"], sessions=[[SESSIONS[0], "a", [], 0, []]], by_words=["#1"])
    both = ReadCandidates.nothing(ASKED).together(some)
    assert both.chunks.uids == [UIDS[1]]
    assert both.sessions.candidates().keys.shape == (1, 2)
    assert both.triples.uids == []
    assert (both.anchors, both.by_vector, both.by_words) == ([], [], ["#1"])


def test_vectors_of_a_batch_are_coded_as_each_alone() -> None:
    vectors = np.random.default_rng(7).normal(size=(20, 256)).astype(np.float32)
    vectors[3] = 0
    vectors[4] *= 1e-20
    for (scale, codes), vector in zip(code(vectors), vectors, strict=True):
        ((own_scale, own_codes),) = code(vector[None])
        assert (scale, codes.tolist()) == (own_scale, own_codes.tolist())
        if vector.any():
            unit = vector.astype(float) / np.linalg.norm(vector.astype(float))
            assert abs(scale * codes - unit).max() < 1e-5
        else:
            assert (scale, codes.any()) == (0.0, False)

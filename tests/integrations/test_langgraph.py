"""LangGraph's store: what its own conformance tests state, on a real memory."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cognigraph import Memory

pytest.importorskip("langgraph.store.base")
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from cognigraph.integrations.langgraph import CogniGraphStore

pytestmark = pytest.mark.slow

NAMESPACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("a/b", "x%"),
]


@pytest.fixture
def store(memory: Memory) -> CogniGraphStore:
    return CogniGraphStore(memory)


def test_items_are_put_replaced_and_deleted(store: CogniGraphStore, memory: Memory) -> None:
    store.put(("users", "1"), "home", {"text": "Lives in Oslo.", "n": [1, {"x": None}]})
    first = store.get(("users", "1"), "home")
    assert first is not None and first.value == {"text": "Lives in Oslo.", "n": [1, {"x": None}]}
    assert (first.namespace, first.key) == (("users", "1"), "home")
    store.put(("users", "1"), "home", {"text": "Lives in Hamar."})
    second = store.get(("users", "1"), "home")
    assert second is not None and second.value == {"text": "Lives in Hamar."}
    assert second.created_at == first.created_at and second.updated_at > first.updated_at
    store.put(("users", "1"), "home", {"note": "Lives in Hamar."})  # the same words
    third = store.get(("users", "1"), "home")
    assert third is not None and third.value == {"note": "Lives in Hamar."}
    assert third.created_at == first.created_at
    assert len(memory.messages()) == 1
    store.delete(("users", "1"), "home")
    store.delete(("users", "1"), "home")
    assert store.get(("users", "1"), "home") is None
    assert store.get(("users",), "home") is None
    assert store.list_namespaces() == []


def test_a_batch_reads_before_it_writes(store: CogniGraphStore) -> None:
    store.put(("t",), "a", {"v": 1})
    results = store.batch(
        [
            PutOp(("t",), "a", {"v": 2}),
            GetOp(("t",), "a"),
            PutOp(("t",), "b", {"v": 3}),
            PutOp(("t",), "b", {"v": 4}),
            PutOp(("t",), "c", None),
            SearchOp(("t",)),
            ListNamespacesOp(),
        ]
    )
    assert results[0] is None and results[1].value == {"v": 1}  # type: ignore[union-attr]
    assert [item.key for item in results[5]] == ["a"]  # type: ignore[union-attr]
    assert results[6] == [("t",)]
    found = {item.key: item.value["v"] for item in store.search(("t",))}
    assert found == {"a": 2, "b": 4}


def test_a_search_finds_by_meaning_within_a_prefix(store: CogniGraphStore) -> None:
    store.put(("users", "1", "facts"), "food", {"text": "Loves spicy Thai food.", "kind": "taste"})
    store.put(("users", "1", "facts"), "home", {"text": "Moved to Oslo in May.", "kind": "place"})
    store.put(("users", "1"), "secret", {"text": "Thai food, not indexed."}, index=False)
    store.put(("users", "2"), "food", {"text": "Thai food is what this one hates."})
    found = store.search(("users", "1"), query="What food do they like?", limit=5)
    assert found[0].key == "food" and found[0].score is not None
    assert {item.namespace[1] for item in found} == {"1"}
    assert (found[-1].key, found[-1].score) == ("secret", None)  # listed, never ranked
    only = store.search(("users", "1"), query="What food?", filter={"kind": "place"})
    assert [item.key for item in only] == ["home"]
    first = store.search(("users", "1"), query="food", limit=1)
    second = store.search(("users", "1"), query="food", limit=1, offset=1)
    assert first[0].key == "food" != second[0].key
    store.put(("users", "3"), "k", {"title": "Skiing", "body": "About fish."}, index=["title"])
    assert store._space.get("k", "store:users/3").text == "Skiing"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("filter", "keys"),
    [
        ({"price": 20}, {"b"}), ({"price": {"$gt": 15}}, {"b", "c"}),
        ({"price": {"$ne": 20}}, {"a", "c"}), ({"price": {"$gte": 20, "$lt": 30}}, {"b"}),
        ({"price": {"$lt": float("inf")}}, {"a", "b", "c"}), ({"price": {"$gt": "x"}}, set()),
        ({"on": True}, {"a"}), ({"who": {"name": "Ann"}}, {"a"}),
        ({"who.name": "Ann"}, {"a"}), ({"tags": ["x"]}, {"c"}), ({"none": None}, {"a", "b", "c"}),
        ({"name": "' OR '1'='1"}, set()),
    ],
)  # fmt: skip
def test_filters(store: CogniGraphStore, filter: dict[str, object], keys: set[str]) -> None:
    store.put(("f",), "a", {"price": 10, "on": True, "who": {"name": "Ann", "age": 3}})
    store.put(("f",), "b", {"price": 20, "on": False})
    store.put(("f",), "c", {"price": 30, "tags": ["x"]})
    assert {item.key for item in store.search(("f",), filter=filter)} == keys


def test_an_unknown_operator_is_refused(store: CogniGraphStore) -> None:
    store.put(("f",), "a", {"price": 10})
    with pytest.raises(ValueError, match=r"unknown operator '\$in'; use \$eq"):
        store.search(("f",), filter={"price": {"$in": [1]}})


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: CogniGraphStore) -> None:
    for namespace in NAMESPACES:
        store.put(namespace, "k", {"v": "text"})
    assert store.list_namespaces() == sorted(NAMESPACES)
    assert store.list_namespaces(prefix=("a",), suffix=("f",)) == [("a", "c", "f")]
    assert store.list_namespaces(prefix=("*", "b")) == [("a", "b", "c"), ("a", "b", "d", "e")]
    assert store.list_namespaces(suffix=("*", "f")) == [("a", "c", "f"), ("b", "a", "f")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("a/b",), ("b",)]
    assert store.list_namespaces(limit=2, offset=1) == sorted(NAMESPACES)[1:3]
    assert {item.namespace for item in store.search(("a/b",))} == {("a/b", "x%")}
    assert {item.namespace for item in store.search((), limit=100)} == {*NAMESPACES}
    op = ListNamespacesOp(match_conditions=(MatchCondition("suffix", ("c",)),))
    assert store.batch([op]) == [[("a", "b", "c")]]


def test_it_shares_a_space_with_conversations(store: CogniGraphStore, memory: Memory) -> None:
    memory.add("I moved to Oslo.", session="talk", speaker="Ann")
    store.put(("users", "1"), "food", {"text": "Ann loves Thai food."})
    assert [item.key for item in store.search((), query="Where did Ann move to?")] == ["food"]
    assert store.list_namespaces() == [("users", "1")]
    memory.flush()
    assert "Thai food" in str(memory.context("What does Ann love?"))


def test_it_is_used_asynchronously_and_refuses_what_langgraph_refuses(
    store: CogniGraphStore,
) -> None:
    async def run() -> None:
        await store.aput(("u",), "k", {"text": "Hello."})
        item = await store.aget(("u",), "k")
        assert item is not None and item.value == {"text": "Hello."}
        assert [one.key for one in await store.asearch(("u",), query="Hello")] == ["k"]
        await store.adelete(("u",), "k")
        assert await store.alist_namespaces() == []

    asyncio.run(run())
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {"v": 1})
    with pytest.raises(NotImplementedError):
        store.put(("u",), "k", {"v": 1}, ttl=5)


# With LangGraph's `index`: the score is the cosine of the program's own embeddings.

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters(texts: list[str]) -> list[list[float]]:
    """Embeddings that count letters, so that a cosine can be computed by hand."""
    return [[float(text.count(letter)) for letter in ALPHABET] for text in texts]


def indexed(memory: Memory, **more: object) -> CogniGraphStore:
    return CogniGraphStore(memory, index={"dims": 26, "embed": letters, **more})  # type: ignore[typeddict-item]


def scores(store: CogniGraphStore, query: str, **more: object) -> dict[str, float | None]:
    return {item.key: item.score for item in store.search((), query=query, **more)}  # type: ignore[arg-type]


def test_with_an_index_the_score_is_the_cosine_of_the_nearest_field(memory: Memory) -> None:
    store = indexed(memory, fields=["title", "parts[*].name"])
    store.put(("d",), "one", {"title": "aab", "parts": [{"name": "zzz"}, {"name": "c"}]})
    store.put(("d", "e"), "two", {"title": "bbb", "parts": [], "note": "zzz"})
    store.put(("d",), "none", {"title": "aab"}, index=False)
    assert scores(store, "ab") == {
        "one": pytest.approx(3 / 10**0.5, abs=1e-6),  # (2, 1) and (1, 1)
        "two": pytest.approx(0.5**0.5, abs=1e-6),
        "none": None,
    }
    assert list(scores(store, "z").items()) == [("one", 1.0), ("two", 0.0), ("none", None)]
    assert scores(store, "b", limit=1) == {"two": 1.0}
    assert list(scores(store, "b", limit=1, offset=1)) == ["one"]
    assert list(scores(store, "ab", filter={"note": "zzz"})) == ["two"]
    assert [item.key for item in store.search(("d", "e"), query="ab")] == ["two"]
    store.put(("d",), "chosen", {"title": "aaa", "body": "qqq"}, index=["body"])
    assert scores(store, "q")["chosen"] == 1.0 and scores(store, "a")["chosen"] == 0.0


def test_vectors_are_stored_with_their_item(memory: Memory) -> None:
    store = indexed(memory)
    assert store.index_config is not None and store.index_config["dims"] == 26
    store.put(("d",), "k", {"text": "aaa"})
    first = scores(store, "bbb")["k"]
    store.put(("d",), "k", {"text": "bbb"})
    second = scores(indexed(memory), "bbb")["k"]
    assert first is not None and second is not None and second > first
    store.put(("d",), "k", {"text": "bbb"}, index=False)
    assert scores(store, "bbb") == {"k": None}
    store.delete(("d",), "k")
    assert scores(store, "bbb") == {}
    CogniGraphStore(memory).put(("d",), "old", {"text": "bbb"})  # before there was an index
    assert scores(store, "bbb") == {"old": None}
    store.put(("d",), "old", {"text": "bbb"})
    assert scores(store, "bbb")["old"] == second


def test_an_index_takes_asynchronous_embeddings_and_refuses_other_dimensions(
    memory: Memory,
) -> None:
    async def later(texts: list[str]) -> list[list[float]]:
        return letters(texts)

    async def run() -> list[float | None]:
        store = CogniGraphStore(memory, index={"dims": 26, "embed": later, "fields": ["text"]})
        await store.aput(("d",), "k", {"text": "ab"})
        return [item.score for item in await store.asearch(("d",), query="a")]

    assert asyncio.run(run()) == [pytest.approx(0.5**0.5, abs=1e-6)]
    wrong = CogniGraphStore(memory, index={"dims": 7, "embed": letters})
    with pytest.raises(ValueError, match=r"26 numbers, and index\['dims'\] is 7"):
        wrong.put(("d",), "k", {"text": "ab"})
    assert memory.get("k", "store:d").raw["value"] == {"text": "ab"}  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["a') OR 1=1 --", "", "a b", "$.a", 'a"b'])
def test_a_filter_key_that_is_no_field_is_refused(store: CogniGraphStore, key: str) -> None:
    for query in (None, "a"):
        with pytest.raises(ValueError, match="Invalid filter key"):
            store.search(("f",), query=query, filter={key: 1})
    store.put(("f",), "a", {"access-level": "x", "user": {"1st_größe": 2}})
    assert store.search(("f",), filter={"access-level": "x", "user.1st_größe": 2})


def test_a_dump_of_another_store_is_found_below_its_namespaces(
    store: CogniGraphStore, memory: Memory
) -> None:
    path = Path(__file__).parents[1] / "data" / "imports" / "langmem.jsonl"
    report = memory.files.import_file(path, skip_invalid=True)
    assert (report.formats, report.new, report.rejected_count) == (("langgraph",), 2, 1)
    (found,) = store.search(("memories", "ann"), query="Where does she live?")
    assert (found.key, found.value["content"]) == ("5f0c", {"content": "Ann moved to Oslo in May."})
    assert found.updated_at > found.created_at == datetime(2026, 5, 20, 9, tzinfo=UTC)
    assert [item.key for item in store.search(("memories",), filter={"stars": {"$gt": 3}})] == [
        "77"
    ]
    store.put(("memories", "ann"), "5f0c", found.value)
    assert len(memory.overview.versions("5f0c", "store:memories/ann")) == 1
    store.put(("memories", "ann"), "5f0c", {"kind": "Memory", "content": {"content": "Hamar."}})
    assert len(memory.overview.versions("5f0c", "store:memories/ann")) == 2

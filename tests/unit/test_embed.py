"""Embedders: what a user may plug in, what is checked, what runs offline."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognigraph import ConfigurationError, EmbeddingError, Memory
from cognigraph.embed import (
    CheckedEmbedder,
    Embedder,
    FastEmbedEmbedder,
    FunctionEmbedder,
    WordLlamaEmbedder,
    resolve,
    word_vectors,
)
from cognigraph.testing import HashEmbedder
from tests.cases import each


class Broken:
    """An embedder of 3 dimensions whose answer a test chooses."""

    name = "broken"
    dimension = 3

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        return self.answer(texts) if callable(self.answer) else self.answer

    def embed_query(self, text: str) -> Any:
        return self.embed([text])[0]


# --- Functions


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[text.count("a"), text.count("b"), 1.0] for text in texts]


def test_a_function_is_an_embedder():
    embedder = CheckedEmbedder(resolve(letters))
    assert (embedder.identity.name, embedder.identity.dimension) == ("letters", 3)
    found = embedder.embed(["aab", "b"])
    assert found.dtype == np.float32
    assert found.tolist() == [
        pytest.approx([2 / 6**0.5, 1 / 6**0.5, 1 / 6**0.5]),
        pytest.approx([0.0, 0.5**0.5, 0.5**0.5]),
    ]
    assert embedder.embed_query("b").tolist() == pytest.approx(found[1].tolist())
    assert embedder.embed([]).shape == (0, 3)


def test_a_function_can_be_named():
    assert FunctionEmbedder(letters, "mine").name == "mine"


def test_a_memory_takes_a_function(tmp_path):
    with Memory(tmp_path / "m.db", embedder=letters, enrich="manual") as memory:
        memory.add("banana", id="m1")
        memory.add("bbb", id="m2")
        assert memory.search("aaaa")[0].id == "m1"
        assert memory.info.embedder.name == "letters"


@each("wrong", ["open-ai", "wordlama", "", ":", "fastembedd:x"])
def test_unknown_names(wrong):
    with pytest.raises(ConfigurationError, match=r"unknown embedder.*wordllama"):
        resolve(wrong)


@pytest.mark.parametrize("wrong", [None, 7, object()])
def test_an_object_that_is_not_an_embedder_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="not an embedder"):
        resolve(wrong)


def test_an_embedder_is_taken_as_it_is():
    own = HashEmbedder(16)
    assert isinstance(own, Embedder)
    assert resolve(own) is own


# --- Checks


@pytest.mark.parametrize(
    "answer",
    [
        np.ones(3),
        np.ones((1, 4)),
        np.ones((1, 3, 1)),
        np.ones((2, 3)),
        np.ones((0, 3)),
        [[1.0, 2.0], [1.0]],
        [["a", "b", "c"]],
        None,
        7.0,
        [[None, 1.0, 2.0]],
    ],
    ids=repr,
)
def test_wrong_answers_are_embedding_errors(answer):
    embedder = CheckedEmbedder(Broken(answer))
    with pytest.raises(EmbeddingError, match="broken"):
        embedder.embed(["x"])


@pytest.mark.parametrize("answer", [7.0, [["a"] * 3], [[1.0, 2.0]], [[[1.0] * 3]]], ids=repr)
def test_wrong_answers_to_a_question_are_embedding_errors(answer):
    embedder = Broken(answer)
    embedder.embed_query = lambda text: answer if np.isscalar(answer) else answer[0]
    with pytest.raises(EmbeddingError, match="broken"):
        CheckedEmbedder(embedder).embed_query("x")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(bad):
    embedder = CheckedEmbedder(Broken([[1.0, bad, 0.0]]))
    with pytest.raises(EmbeddingError, match="NaN or infinity"):
        embedder.embed(["x"])
    with pytest.raises(EmbeddingError, match="NaN or infinity"):
        embedder.embed_query("x")


@each("scale", [1e-30, 1e-3, 1e3, 1e25, 1e38])
def test_vectors_of_any_length_become_unit_vectors(scale):
    embedder = CheckedEmbedder(Broken(np.array([[3.0, 0.0, 4.0]]) / 5 * scale))
    assert embedder.embed(["x"])[0].tolist() == pytest.approx([0.6, 0.0, 0.8], abs=1e-5)


def test_a_zero_vector_stays_zero():
    assert CheckedEmbedder(Broken(np.zeros((1, 3)))).embed(["x"]).tolist() == [[0.0, 0.0, 0.0]]


def test_failures_name_the_embedder_and_store_nothing(tmp_path):
    def failing(texts: Sequence[str]) -> list[list[float]]:
        if "poison" in texts[0]:
            raise ConnectionError("no route")
        return [[1.0, 2.0]] * len(texts)

    with Memory(tmp_path / "m.db", embedder=failing, enrich="manual") as memory:
        memory.add("fine", id="m1")
        with pytest.raises(EmbeddingError, match=r"failing.*ConnectionError: no route") as caught:
            memory.add("poison", id="m2")
        assert isinstance(caught.value.__cause__, ConnectionError)
        with pytest.raises(EmbeddingError, match="no route"):
            memory.search("poison")
        assert memory.stats().messages == 1


@each(
    "answer", [ConnectionError("no route"), 7.0, [], None], ids=["raises", "scalar", "[]", "None"]
)
def test_a_function_that_cannot_be_probed_is_an_embedding_error(answer):
    def function(texts: Sequence[str]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(EmbeddingError):
        CheckedEmbedder(resolve(function))


def test_texts_go_in_batches():
    sizes: list[int] = []

    class InFours(Broken):
        batch = 4

    def answer(texts: Sequence[str]) -> list[list[float]]:
        sizes.append(len(texts))
        return [[float(len(text)), 1.0, 0.0] for text in texts]

    embedder = CheckedEmbedder(InFours(answer))
    texts = ["x" * n for n in range(10)]
    together = embedder.embed(texts)
    assert sizes == [4, 4, 2]
    assert together.tolist() == [embedder.embed([text])[0].tolist() for text in texts]


def test_a_text_is_embedded_once():
    calls: list[list[str]] = []

    def lengths(texts: Sequence[str]) -> list[list[float]]:
        calls.append(list(texts))
        return [[float(len(text)), 1.0] for text in texts]

    embedder = CheckedEmbedder(FunctionEmbedder(lengths))
    calls.clear()
    first = embedder.embed(["bread", "sea", "bread"])
    again = embedder.embed(["sea", "kayaks", "bread"])
    assert calls == [["bread", "sea"], ["kayaks"]]
    assert first[0].tolist() == first[2].tolist() == again[2].tolist()
    assert again.tolist() == [
        pytest.approx([size / (size**2 + 1) ** 0.5, 1 / (size**2 + 1) ** 0.5]) for size in (3, 6, 5)
    ]


def test_the_vectors_that_are_kept_are_bounded(monkeypatch):
    monkeypatch.setattr("cognigraph.embed.embedder._KEPT_BYTES", 2 * 4 * 3)
    inner = Broken(lambda texts: [[len(text), 1.0, 0.0] for text in texts])
    embedder = CheckedEmbedder(inner)
    embedder.embed(["a", "bb"])
    embedder.embed(["a"])  # used again: "bb" is now the oldest
    embedder.embed(["ccc"])
    assert inner.calls == 2
    embedder.embed(["a", "ccc"])
    assert inner.calls == 2
    embedder.embed(["bb"])
    assert inner.calls == 3


def test_repeated_questions_cost_nothing():
    inner = Broken(lambda texts: [[len(texts[0]), 1.0, 0.0]])
    embedder = CheckedEmbedder(inner, query_cache=2)
    first = embedder.embed_query("a")
    assert np.array_equal(embedder.embed_query("a"), first)
    assert inner.calls == 1
    embedder.embed_query("bb")
    embedder.embed_query("a")  # used again: "bb" is now the oldest
    embedder.embed_query("ccc")
    assert inner.calls == 3
    embedder.embed_query("a")
    assert inner.calls == 3
    embedder.embed_query("bb")
    assert inner.calls == 4


def test_several_questions_are_embedded_in_one_call():
    calls: list[list[str]] = []

    def lengths(texts: Sequence[str]) -> list[list[float]]:
        calls.append(list(texts))
        return [[float(len(text)), 1.0] for text in texts]

    embedder = CheckedEmbedder(FunctionEmbedder(lengths))
    calls.clear()
    embedder.embed_query("one")
    embedder.embed_queries(["one", "three", "seven", "three"])
    assert calls == [["one"], ["three", "seven"]]
    assert embedder.embed_query("three").tolist() == pytest.approx([5 / 26**0.5, 1 / 26**0.5])
    assert len(calls) == 2


class Questions(Broken):
    """Embeds questions in a way of its own."""

    def embed_queries(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        return np.array([[0.0, float(len(text)), 0.0] for text in texts])


def test_questions_are_embedded_as_questions():
    passages = np.array([[1.0, 0.0, 0.0]])
    own = CheckedEmbedder(Questions(passages))
    own.embed_queries(["one", "three"])
    assert own.inner.calls == 1
    assert own.embed_query("three").tolist() == [0.0, 1.0, 0.0]
    assert own.inner.calls == 1
    one_by_one = CheckedEmbedder(Broken(passages))
    one_by_one.embed_queries(["one", "three"])
    assert one_by_one.inner.calls == 0


def test_a_failed_question_is_not_remembered():
    inner = Broken([[np.nan] * 3])
    embedder = CheckedEmbedder(inner)
    with pytest.raises(EmbeddingError):
        embedder.embed_query("a")
    inner.answer = [[1.0, 0.0, 0.0]]
    assert embedder.embed_query("a").tolist() == [1.0, 0.0, 0.0]


# --- wordllama


def test_wordllama_is_what_it_says():
    embedder = CheckedEmbedder(WordLlamaEmbedder())
    assert (embedder.identity.name, embedder.identity.dimension) == ("wordllama-l2-256", 256)
    cat, kitten, law = embedder.embed(["my cat sleeps", "a kitten naps", "the tax law changed"])
    assert float(cat @ kitten) > float(cat @ law) + 0.1
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(embedder.embed_query("my cat sleeps"), cat)


def test_wordllama_gives_one_vector_whatever_the_batch():
    embedder = CheckedEmbedder(WordLlamaEmbedder())
    texts = ["short", "a much longer text about boats and the sea " * 20, "", "猫"]
    together = embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert embedder.embed([text])[0].tolist() == pytest.approx(vector.tolist(), abs=1e-6)


@pytest.mark.slow
def test_threads_wait_for_one_loading(monkeypatch):
    shared: list[word_vectors.TokenMeans] = []
    monkeypatch.setattr(word_vectors, "_shared", shared)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(WordLlamaEmbedder().embed, [["bread"]] * 8))
    assert len(shared) == 1
    assert all(np.array_equal(vector, found[0]) for vector in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_WEIGHTS", "_TOKENIZER"])
def test_a_wordllama_without_the_model_is_refused(monkeypatch, name):
    assert isinstance(word_vectors.load().vectors.base, np.memmap)  # not in each process's memory
    monkeypatch.setattr(word_vectors, name, "elsewhere")
    with pytest.raises(ConfigurationError, match=r"the installed wordllama lacks .*elsewhere"):
        word_vectors.load()


@each("text", ["", " ", "\n" * 3000, "\0", "\u200b", "🙂", "x" * 50_000])
def test_wordllama_embeds_any_text(text):
    vector = CheckedEmbedder(WordLlamaEmbedder()).embed([text])[0]
    assert np.isfinite(vector).all()


_OFFLINE = """
import socket
def refuse(*a, **k): raise AssertionError("network used")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from cognigraph.embed import CheckedEmbedder, WordLlamaEmbedder
print(CheckedEmbedder(WordLlamaEmbedder()).embed(["hello"]).shape)
import sys
assert {"wordllama", "requests"}.isdisjoint(sys.modules), "they take memory and time"
"""


@pytest.mark.slow
def test_wordllama_needs_no_network_and_no_home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", _OFFLINE], env=environment, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "(1, 256)"), done.stderr
    assert [path for path in home.rglob("*") if path.is_file()] == []


# --- fastembed


def test_fastembed_without_the_extra_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ConfigurationError, match=r"cognigraph-memory\[fastembed\]"):
        resolve("fastembed")


@pytest.mark.slow
def test_fastembed_with_a_folder_that_is_no_model(tmp_path: Path):
    pytest.importorskip("fastembed")
    with pytest.raises(
        ConfigurationError, match=r"must contain tokenizer\.json and model_optimized\.onnx or"
    ):
        resolve(f"fastembed:{tmp_path}")


@pytest.mark.slow
def test_fastembed_with_an_unknown_name(monkeypatch):
    pytest.importorskip("fastembed")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("network used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(ConfigurationError, match="neither a folder nor a model"):
        FastEmbedEmbedder("no/such-model")


# --- The test double


def test_the_hash_embedder_is_stable_and_additive():
    embedder = HashEmbedder()
    assert (embedder.name, embedder.dimension) == ("hash-64", 64)
    one = embedder.embed(["oslo"])[0]
    # Pinned: the same on every machine, whatever PYTHONHASHSEED is.
    assert np.flatnonzero(one).tolist() == [35]
    assert one.sum() == 1.0
    assert np.array_equal(embedder.embed(["Oslo's OSLO"])[0], 2 * one)
    both = embedder.embed(["oslo fjord oslo"])[0]
    assert np.array_equal(both, 2 * one + embedder.embed(["fjord"])[0])
    checked = CheckedEmbedder(embedder)
    near, far = checked.embed(["moving to Oslo", "bread"]) @ checked.embed_query("she moved")
    assert near > 0.3 > far
    with pytest.raises(ConfigurationError):
        HashEmbedder(0)

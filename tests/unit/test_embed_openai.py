"""Embeddings over HTTP, against a server that also misbehaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ConfigurationError, EmbeddingError, Memory
from cognigraph.embed import resolve
from tests.servers import embedding_server as server_module
from tests.servers.embedding_server import EmbeddingServer, embedding_server, says, status

pytest.importorskip("openai", reason="the extra openai is not installed")

from cognigraph.embed.openai import OpenAIEmbedder, _parts, parse
from cognigraph.llm.limits import Limiter

TEXTS = ["I moved to Oslo.", "The fjord is cold.", "bread", "kayak", "piano"]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def embedder(server: EmbeddingServer, slept: list[float]) -> Iterator[OpenAIEmbedder]:
    made = client(server, slept)
    yield made
    made.close()


def client(server: EmbeddingServer, slept: list[float], **options: Any) -> OpenAIEmbedder:
    limiter = Limiter(sleep=slept.append, clock=lambda: sum(slept))
    defaults = {"base_url": server.url, "sleep": slept.append, "random": lambda: 0.5}
    return OpenAIEmbedder("tiny", limiter=limiter, **(defaults | options))


def expected(server: EmbeddingServer, texts: list[str]) -> Any:
    return server.embedder.embed(texts)


def test_vectors_come_in_the_order_of_the_texts(server, embedder):
    server.misbehave = [server_module.backwards, server_module.without_index]
    for _ in range(3):
        np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))
    assert len(server.requests) == 3
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].body["input"] == TEXTS


def test_base64_is_understood(server, embedder):
    server.always = server_module.as_base64
    np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))


def test_batches_by_count_and_size(server, slept):
    embedder = client(server, slept, batch=2)
    np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))
    assert [len(request.body["input"]) for request in server.requests] == [2, 2, 1]
    embedder.close()
    assert [len(part) for part in _parts(["x" * 90_000] * 5, 128)] == [2, 2, 1]
    assert [len(part) for part in _parts(["x" * 900_000, "y"], 128)] == [1, 1]


def test_a_server_for_which_a_batch_is_too_large_gets_halves(server, embedder):
    def at_most_two(request: Any, items: list[Any]) -> Any:
        if len(items) > 2:
            return server_module.Response(413, b"too many")
        return None

    server.always = at_most_two
    np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))
    server.always = status(413, "one text is too long")
    with pytest.raises(EmbeddingError, match=r"refused a text.*too long"):
        embedder.embed(["long"])


def test_it_tries_again_and_heeds_retry_after(server, embedder, slept):
    server.misbehave = [status(503), status(429, Retry_After="7"), says(b"<html>gateway</html>")]
    np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))
    assert len(server.requests) == 4
    first, second, third = slept
    assert first == pytest.approx(0.25)
    assert second == pytest.approx(7 + 0.5)  # the pause, and jitter on top
    assert third == pytest.approx(1.0)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b'{"data": 3}', b'{"data": []}', b'{"data": [3, 3]}', b"[" * 100_000,
        b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 5, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [1, null]}, {"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, NaN]}, {"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, "2"]}, {"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": [0], "embedding": [1]}, {"index": {}, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e300]}, {"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [Infinity]}, {"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": "!"}, {"index": 1, "embedding": "!"}]}',
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_asked_for_again(server, slept, body):
    embedder = client(server, slept, dimensions=16, attempts=2)
    server.misbehave = [says(body)]
    np.testing.assert_allclose(embedder.embed(TEXTS[:2]), expected(server, TEXTS[:2]))
    server.always = says(body)
    with pytest.raises(EmbeddingError, match=r"unusable answer.*can be repeated"):
        embedder.embed(TEXTS[:2])
    embedder.close()


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["data", "index", "embedding", "x"]), inner, max_size=3),
    max_leaves=12,
))  # fmt: skip
def test_any_json_is_vectors_or_a_value_error(answer):
    try:
        vectors = parse(json.dumps(answer).encode(), 1)
    except ValueError:
        return
    assert vectors.dtype == np.float32 and vectors.shape[0] == 1
    assert np.isfinite(vectors).all()


def test_what_will_never_work_is_not_tried_again(server, slept):
    embedder = client(server, slept, api_key="secret-key")
    server.always = status(401, "bad key secret-key")
    with pytest.raises(EmbeddingError, match="check the API key") as caught:
        embedder.embed(TEXTS)
    assert "secret-key" not in str(caught.value) and "***" in str(caught.value)
    assert server.requests[0].key == "secret-key"
    server.always = status(404, "no such model")
    with pytest.raises(EmbeddingError, match=r"model's name.*/v1"):
        embedder.embed(TEXTS)
    server.always = status(429, "insufficient_quota")
    with pytest.raises(EmbeddingError, match="insufficient_quota"):
        embedder.embed(TEXTS)
    assert len(server.requests) == 3
    assert slept == []
    embedder.close()


@pytest.mark.slow
def test_a_server_that_drips_or_is_gone_ends_in_an_error(server, slept):
    embedder = client(server, slept, timeout=timedelta(seconds=0.3), attempts=2)
    server.misbehave = [server_module.drip]
    np.testing.assert_allclose(embedder.embed(TEXTS), expected(server, TEXTS))
    server.always = server_module.drip
    with pytest.raises(EmbeddingError, match=r"no (complete )?answer within"):
        embedder.embed(TEXTS)
    embedder.close()
    gone = client(server, slept, base_url="http://127.0.0.1:9/v1", attempts=2)
    with pytest.raises(EmbeddingError, match="not available"):
        gone.embed(TEXTS)
    gone.close()


def test_the_dimension_is_asked_for_known_or_measured(server, slept, embedder):
    assert embedder.dimension == 16
    shorter = client(server, slept, dimensions=4)
    assert (shorter.dimension, shorter.name) == (4, "openai:tiny@4")
    assert shorter.embed(["bread"]).shape == (1, 4)
    assert server.requests[-1].body["dimensions"] == 4
    server.always = server_module.shorter
    with pytest.raises(EmbeddingError, match="5 dimensions, not 16"):
        embedder.embed(TEXTS)
    shorter.close()
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIEmbedder("text-embedding-3-small")
    assert OpenAIEmbedder("text-embedding-3-small", api_key="k").dimension == 1536


def test_prefixes_go_before_questions_and_passages(server, slept):
    embedder = client(server, slept)
    assert embedder.name == "openai:tiny"
    other = OpenAIEmbedder("intfloat/e5-small-v2", base_url=server.url)
    other.embed(["passage text"])
    other.embed_query("question text")
    sent = [request.body["input"] for request in server.requests]
    assert sent == [["passage: passage text"], ["query: question text"]]
    assert other.name == "openai:intfloat/e5-small-v2 after 'passage: '"
    other.close()
    embedder.close()


@pytest.mark.slow
def test_a_memory_by_name_and_environment(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Memory(tmp_path / "m.db", embedder="openai:tiny", enrich="manual") as memory:
        memory.add_many({"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS))
        hits = memory.search("How cold is the fjord?")
        assert hits[0].id == "m1"
        assert hits[0].why.signals["vector"] > 0.3
        memory.admin.reindex("wordllama")
        assert memory.info.embedder.name.startswith("wordllama")
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(ConfigurationError, match="OPENAI_BASE_URL"):
        resolve("openai:tiny")
    with pytest.raises(ConfigurationError, match="http"):
        OpenAIEmbedder("tiny", base_url="localhost:11434/v1")
    with pytest.raises(ConfigurationError, match="must be a URL such as"):
        OpenAIEmbedder("tiny", base_url="http://[::1/v1")

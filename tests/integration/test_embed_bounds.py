"""Embedding endpoints that send too much, or send the client elsewhere."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("openai")

from cognigraph import EmbeddingError
from cognigraph.embed.openai import OpenAIEmbedder
from tests.servers.model_server import Behaviour, ModelServer, endless, raw, redirect

pytestmark = pytest.mark.slow
MEGABYTE = 1_000_000


def embedder(server: ModelServer, **options) -> OpenAIEmbedder:
    return OpenAIEmbedder("tiny", base_url=server.url, attempts=1, api_key="sk-1", **options)


def vectors(count: int, dimension: int, number: str = "0.1234567890123456789") -> bytes:
    item = ",\n        ".join([number] * dimension)
    rows = (f'{{"index": {n}, "embedding": [{item}]}}' for n in range(count))
    return f'{{"data": [{", ".join(rows)}]}}'.encode()


@pytest.mark.parametrize(
    "behaviour",
    [
        endless(b" " * 65_536),
        endless(b" " * 65_536, code=429),
        endless(b"1.0," * 16_384, first=b'{"data": [{"index": 0, "embedding": ['),
        endless(b"AAAA" * 16_384, first=b'{"data": [{"index": 0, "embedding": "'),
        raw(vectors(1, 100_000)),
        raw(vectors(20_000, 1)),
    ],
    ids=["spaces", "error", "numbers", "base64", "dimension", "count"],
)
def test_a_reply_is_no_larger_than_its_vectors(behaviour: Behaviour):
    with ModelServer(behaviour) as server:
        client = embedder(server, dimensions=16)
        tracemalloc.start()
        try:
            with pytest.raises(EmbeddingError, match="reply is larger than 257,640 bytes"):
                client.embed(["a"])
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            client.close()
        assert peak < 20 * MEGABYTE
        assert server.calls == 1


def test_indented_vectors_of_a_large_model_are_within_the_limit():
    with ModelServer(raw(vectors(64, 4096))) as server:
        client = embedder(server)
        found = client.embed(["a"] * 64)
        client.close()
    assert found.shape == (64, 4096)
    assert np.allclose(found, 0.1234567)


def test_no_text_goes_to_another_server():
    with ModelServer(raw(vectors(1, 16))) as elsewhere:
        with ModelServer(redirect(f"{elsewhere.url}/embeddings")) as server:
            client = OpenAIEmbedder("tiny", base_url=server.url, attempts=4)
            with pytest.raises(EmbeddingError, match="redirects to another server") as caught:
                client.embed(["a secret"])
            client.close()
            assert server.calls == 1
        assert elsewhere.calls == 0
    assert "set it as the base URL" in str(caught.value)


def test_a_redirect_within_the_server_is_followed():
    with ModelServer(redirect("/other/embeddings"), raw(vectors(1, 16))) as server:
        client = embedder(server)
        assert client.embed(["a"]).shape == (1, 16)
        client.close()
        assert [request.path for request in server.requests] == [
            "/v1/embeddings", "/other/embeddings",
        ]  # fmt: skip
        assert json.dumps(server.requests[1].body) == json.dumps(server.requests[0].body)

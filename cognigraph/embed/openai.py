"""Embeddings from an OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, TEI, LiteLLM)."""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Vector
from cognigraph.embed.models import chosen, identity
from cognigraph.errors import ConfigurationError, EmbeddingError
from cognigraph.llm.endpoint import OPENAI_URL, Endpoint, Reply, check_credentials, shared_loop
from cognigraph.llm.limits import Limiter, wait_before_retry
from cognigraph.llm.replies import LATER, retry_after

logger = logging.getLogger("cognigraph.embed")

_TOO_LARGE = frozenset({400, 413, 422})
"""What servers answer to a request that is too large for them, or that has a text they refuse."""
_MOST_CHARACTERS = 200_000
_REPLY_ROOM, _ITEM_BYTES, _NUMBER_BYTES = 256_000, 1_000, 40
"""Bytes allowed per reply, per vector, and per number (22 digits, indented)."""
_MAX_DIMENSION = 8192
"""Dimension assumed when limiting the reply of a model whose dimension is not known yet."""
_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class _TooLargeError(Exception):
    """The endpoint rejects a request because of its size, or because of one of its texts."""


class _EmbeddingEndpoint(Endpoint):
    """An endpoint as for language models that also serves embeddings."""

    def embeddings(self, request: Mapping[str, Any], timeout: float, most: int) -> Reply:
        """Send one request; the reply takes at most ``timeout`` seconds and ``most`` bytes."""
        create = self._open().embeddings.with_raw_response.create

        async def ask(*, messages: Any, **options: Any) -> Any:
            return await create(input=messages, encoding_format="float", **options)

        return shared_loop().run(self._post(ask, request, timeout, most))


class OpenAIEmbedder:
    """A model behind ``/v1/embeddings``. Thread-safe.

    Args:
        model: name of the model at the endpoint.
        base_url: base URL of the API, such as ``http://localhost:11434/v1``; OpenAI's by default.
        api_key: not needed for a server without keys.
        dimensions: request shorter vectors, if the model supports it.
        query_prefix, passage_prefix: replace the prefixes of the model's family.
        batch: texts per request. No request has more than 200,000 characters, except for a single
            longer text; a request that the server finds too large is halved.
        timeout: for one whole request.
        attempts: maximum number of requests, with back-off and jitter; Retry-After is respected.
        limiter: by default one that the process shares for this endpoint, also with language
            models.
        sleep, random: for tests.

    Raises:
        ConfigurationError: an argument is invalid, or the extra ``openai`` is not installed.
        EmbeddingError: from :meth:`embed`, if no usable answer was obtained; nothing is lost.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        batch: int = 128,
        timeout: timedelta = timedelta(seconds=60),
        attempts: int = 5,
        limiter: Limiter | None = None,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        if not model:
            raise ConfigurationError("name a model, such as openai:text-embedding-3-small")
        check_credentials(base_url, api_key)
        if batch < 1 or attempts < 1 or timeout <= timedelta(0):
            raise ConfigurationError("batch, attempts and timeout must be positive")
        self.batch = batch
        self._model = model
        self._asked = dimensions
        self._dimension = dimensions or _DIMENSIONS.get(model)
        self._prefixes = chosen(model, query_prefix, passage_prefix)
        shown = f"openai:{model}" + (f"@{dimensions}" if dimensions else "")
        self.name = identity(shown, self._prefixes)
        self._endpoint = _EmbeddingEndpoint(OPENAI_URL if base_url is None else base_url, api_key)
        self._limiter = limiter or Limiter.shared(self._endpoint.base_url)
        self._timeout = timeout.total_seconds()
        self._attempts = attempts
        self._sleep = sleep
        self._random = random

    @classmethod
    def from_environment(
        cls, model: str, environ: Mapping[str, str] | None = None, **options: Any
    ) -> OpenAIEmbedder:
        """Create an embedder that uses ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` if set."""
        environ = os.environ if environ is None else environ
        options.setdefault("base_url", environ.get("OPENAI_BASE_URL", "").strip() or None)
        options.setdefault("api_key", environ.get("OPENAI_API_KEY", "").strip() or None)
        return cls(model, **options)

    @property
    def dimension(self) -> int:
        """Length of a vector; for an unknown model, measured by one request."""
        if self._dimension is None:
            self._dimension = self._request(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        return self._embed([self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        return np.asarray(self.embed_queries([text])[0])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of several questions, in one request."""
        return self._embed([self._prefixes.query + text for text in texts])

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._endpoint.close()

    def _embed(self, texts: list[str]) -> Vector:
        parts = [self._embed_batch(part) for part in _parts(texts, self.batch)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def _embed_batch(self, texts: list[str]) -> Vector:
        try:
            vectors = self._request(texts)
        except _TooLargeError as error:
            if len(texts) == 1:
                raise EmbeddingError(f"{self._where} refused a text: {error}") from None
            middle = len(texts) // 2
            return np.concatenate(
                [self._embed_batch(texts[:middle]), self._embed_batch(texts[middle:])]
            )
        if self._dimension is not None and vectors.shape[1] != self._dimension:
            raise EmbeddingError(
                f"{self._where} returned vectors of {vectors.shape[1]} dimensions, not "
                f"{self._dimension}; has the model behind that name changed?"
            )
        return vectors

    @property
    def _where(self) -> str:
        return f"{self._model} at {self._endpoint.base_url}"

    def _request(self, texts: list[str]) -> Vector:
        # Some servers reject empty inputs.
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [text if text.strip() else "-" for text in texts],
        }
        if self._asked:
            request["dimensions"] = self._asked
        for failed in range(1, self._attempts + 1):
            with self._limiter.slot():
                reply = self._endpoint.embeddings(request, self._timeout, self._most(len(texts)))
            problem, again = _problem(reply, self._endpoint.quoted)
            if not problem:
                try:
                    return parse(reply.body, len(texts))
                except ValueError as error:  # such as a gateway's error page with status 200
                    problem, again = f"unusable answer: {error}", True
            if not again:
                raise self._final(reply, problem)
            if failed < self._attempts:
                self._wait(reply, problem, failed)
        raise EmbeddingError(
            f"{self._where} is not available: {problem}; nothing was stored; the "
            "same call can be repeated"
        )

    def _most(self, texts: int) -> int:
        """Limit on the reply to a request with this number of texts, in bytes."""
        numbers = self._dimension or _MAX_DIMENSION
        return _REPLY_ROOM + texts * (_ITEM_BYTES + numbers * _NUMBER_BYTES)

    def _final(self, reply: Reply, problem: str) -> Exception:
        if reply.status in _TOO_LARGE:
            return _TooLargeError(problem)
        advice = "check the model's name and the base URL, which usually ends in /v1"
        if reply.failure == "redirect":
            advice = "if that is the intended server, set it as the base URL"
        elif reply.status in (401, 403):
            advice = "check the API key (OPENAI_API_KEY)"
        return EmbeddingError(f"{self._where} refused: {problem}; {advice}")

    def _wait(self, reply: Reply, problem: str, failed: int) -> None:
        wait = wait_before_retry(self._limiter, failed, retry_after(reply.headers), self._random)
        logger.info("%s: %s; trying again in %.1f s", self._model, problem, wait)
        self._sleep(wait)


def _parts(texts: Sequence[str], count: int) -> Iterator[list[str]]:
    """Batches of at most ``count`` texts and 200,000 characters; a longer text is a batch alone."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and (len(part) >= count or size + len(text) > _MOST_CHARACTERS):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _problem(reply: Reply, quote: Callable[[str], str]) -> tuple[str, bool]:
    """The problem with a reply (empty if there is none), and whether to retry."""
    if reply.failure:
        return reply.reason, reply.failure != "redirect"
    if reply.status < 300:
        return "", False
    said = reply.body.decode("utf-8", "replace")
    later = reply.status in LATER or reply.status >= 500
    credit = "insufficient_quota" in said
    return f"HTTP {reply.status}: {quote(said)}", later and not credit


def parse(body: bytes, count: int) -> Vector:
    """The vectors (count, dimension) in a reply, in the order of the texts.

    Raises:
        ValueError: the reply is not JSON, is incomplete, or has vectors of different lengths.
    """
    try:
        answer = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError("no list of embeddings")
    if not all(isinstance(item.get("index", 0), int) for item in data):
        raise ValueError("an index is not a whole number")
    # Servers may answer in any order; without an index, the order is that of the texts.
    placed = {item.get("index", index): item.get("embedding") for index, item in enumerate(data)}
    if len(data) != count or set(placed) != set(range(count)):
        raise ValueError(f"{len(data)} embeddings for {count} texts, or indices that do not match")
    rows = [_numbers(placed[index]) for index in range(count)]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise ValueError("vectors of different lengths, or empty")
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise ValueError("NaN or infinity")
    return vectors


def _numbers(value: Any) -> Vector:
    if isinstance(value, str):  # some servers send base64 regardless of the requested format
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
    if not isinstance(value, list) or not all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in value
    ):
        raise ValueError("a vector is not a list of numbers")
    try:
        with np.errstate(over="ignore"):  # an overflow becomes infinity, which is rejected
            return np.asarray(value, np.float32)
    except OverflowError as error:
        raise ValueError("a number is too large") from error

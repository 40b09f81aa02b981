"""Embeddings of any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, TEI, LiteLLM)."""

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
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Vector
from cognigraph.embed.prefixes import chosen, identity
from cognigraph.errors import ConfigurationError, EmbeddingError
from cognigraph.llm.classify_reply import retry_after
from cognigraph.llm.endpoint import OPENAI_URL, Endpoint, Reply, shared_loop
from cognigraph.llm.limiter import Limiter

logger = logging.getLogger("cognigraph.embed")

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 20.0
_LATER = frozenset({408, 409, 425, 429})
_TOO_LARGE = frozenset({400, 413, 422})
_MOST_CHARACTERS = 200_000
_EXCERPT = 300
_REPLY_ROOM, _ITEM_BYTES, _NUMBER_BYTES = 256_000, 1_000, 40
"""Bytes around the vectors, around one vector, and of one number (22 digits, indented)."""
_MAX_DIMENSION = 8192
"""Of a model whose dimension is not known yet."""
_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


class _TooLargeError(Exception):
    """The endpoint does not take so much at a time, or one of the texts."""


class _EmbeddingEndpoint(Endpoint):
    """The endpoint of the language models, asked for embeddings."""

    def embeddings(self, request: Mapping[str, Any], timeout: float, most: int) -> Reply:
        """One request; the reply, of at most ``most`` bytes, comes within ``timeout`` seconds."""
        create = self._open().embeddings.with_raw_response.create

        async def ask(*, messages: Any, **options: Any) -> Any:
            return await create(input=messages, encoding_format="float", **options)

        return shared_loop().run(self._post(ask, request, timeout, most))


class OpenAIEmbedder:
    """A model behind ``/v1/embeddings``. Thread-safe.

    Args:
        model: its name at the endpoint.
        base_url: where the API begins, as in ``http://localhost:11434/v1``; OpenAI's by default.
        api_key: not needed where the server asks for none.
        dimensions: ask for shorter vectors, where the model can.
        query_prefix, passage_prefix: instead of those of the model's family.
        batch: texts in a request; no request has more than 200,000 characters, and one that the
            server finds too large is halved.
        timeout: for one whole request.
        attempts: requests before giving up; they back off with jitter, and heed Retry-After.
        max_reply_bytes: a reply that is larger, unpacked, is refused as it arrives. By default as
            much as the vectors that were asked for need, and some room.
        limiter: one for the process and endpoint by default, shared with language models.
        sleep, random: for tests.

    Raises:
        ConfigurationError: an argument is wrong, or the extra ``openai`` is not installed.
        EmbeddingError: from :meth:`embed`, when there is no usable answer; nothing is lost.
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
        max_reply_bytes: int | None = None,
        limiter: Limiter | None = None,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        _check(model, base_url, api_key)
        if batch < 1 or attempts < 1 or timeout <= timedelta(0):
            raise ConfigurationError("batch, attempts and timeout must be positive")
        self.batch = batch
        self._model = model
        self._asked = dimensions
        self._dimension = dimensions or _DIMENSIONS.get(model)
        self._prefixes = chosen(model, query_prefix, passage_prefix)
        shown = f"openai:{model}" + (f"@{dimensions}" if dimensions else "")
        self.name = identity(shown, self._prefixes)
        self._key = api_key
        if max_reply_bytes is not None and max_reply_bytes < 1:
            raise ConfigurationError("max_reply_bytes must be positive")
        self._max_reply_bytes = max_reply_bytes
        self._endpoint = _EmbeddingEndpoint(base_url or OPENAI_URL, api_key)
        self._limiter = limiter or Limiter.shared(self._endpoint.base_url)
        self._timeout = timeout.total_seconds()
        self._attempts = attempts
        self._sleep = sleep
        self._random = random

    @classmethod
    def from_environment(
        cls, model: str, environ: Mapping[str, str] | None = None, **options: Any
    ) -> OpenAIEmbedder:
        """A model at ``OPENAI_BASE_URL`` with ``OPENAI_API_KEY``, as far as they are set."""
        environ = os.environ if environ is None else environ
        options.setdefault("base_url", environ.get("OPENAI_BASE_URL", "").strip() or None)
        options.setdefault("api_key", environ.get("OPENAI_API_KEY", "").strip() or None)
        return cls(model, **options)

    @property
    def dimension(self) -> int:
        """Length of a vector; for a model that is not known, asked of the endpoint once."""
        if self._dimension is None:
            self._dimension = self._request(["dimension"]).shape[1]
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        return self._all([self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        return np.asarray(self._all([self._prefixes.query + text])[0])

    def close(self) -> None:
        """Close its connections."""
        self._endpoint.close()

    def _all(self, texts: list[str]) -> Vector:
        parts = [self._some(part) for part in _parts(texts, self.batch)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def _some(self, texts: list[str]) -> Vector:
        try:
            vectors = self._request(texts)
        except _TooLargeError as error:
            if len(texts) == 1:
                raise EmbeddingError(f"{self._where} refused a text: {error}") from None
            middle = len(texts) // 2
            return np.concatenate([self._some(texts[:middle]), self._some(texts[middle:])])
        if self._dimension is not None and vectors.shape[1] != self._dimension:
            raise EmbeddingError(
                f"{self._where} gave vectors of {vectors.shape[1]} dimensions, not "
                f"{self._dimension}; was the model behind that name changed?"
            )
        return vectors

    @property
    def _where(self) -> str:
        return f"{self._model} at {self._endpoint.shown}"

    def _request(self, texts: list[str]) -> Vector:
        # Empty inputs are refused by some servers.
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [text if text.strip() else "-" for text in texts],
        }
        if self._asked:
            request["dimensions"] = self._asked
        for failed in range(1, self._attempts + 1):
            with self._limiter.slot():
                reply = self._endpoint.embeddings(request, self._timeout, self._most(len(texts)))
            problem, again = _problem(reply)
            if not problem:
                try:
                    return parse(reply.body, len(texts))
                except ValueError as error:  # a gateway's page, or a server out of its mind
                    problem, again = f"unusable answer: {error}", True
            if not again:
                raise self._final(reply, problem, len(texts))
            if failed < self._attempts:
                self._wait(reply, problem, failed)
        raise EmbeddingError(
            f"{self._where} is not available: {self._redacted(problem)}; nothing was stored, the "
            "same call can be repeated"
        )

    def _most(self, texts: int) -> int:
        """The largest reply to a request of so many texts, in bytes."""
        if self._max_reply_bytes is not None:
            return self._max_reply_bytes
        numbers = self._dimension or _MAX_DIMENSION
        return _REPLY_ROOM + texts * (_ITEM_BYTES + numbers * _NUMBER_BYTES)

    def _final(self, reply: Reply, problem: str, texts: int) -> Exception:
        if reply.status == 413 or (reply.status in _TOO_LARGE and texts > 1):
            return _TooLargeError(self._redacted(problem))
        advice = "check the model's name and that the base URL ends where the API begins (/v1)"
        if reply.failure == "redirect":
            advice = "if that is the server you mean, make it the base URL"
        elif reply.status in (401, 403):
            advice = "check the API key (OPENAI_API_KEY)"
        elif reply.status in _TOO_LARGE:
            return _TooLargeError(self._redacted(problem))
        return EmbeddingError(f"{self._where} refused: {self._redacted(problem)}; {advice}")

    def _wait(self, reply: Reply, problem: str, failed: int) -> None:
        """Full jitter; a pause that the server asks for holds for all who call it."""
        wait = self._random() * min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (failed - 1))
        if (asked := retry_after(reply.headers)) is not None:
            self._limiter.pause(asked)
            wait += self._limiter.waiting()
        logger.info("%s: %s; trying again in %.1f s", self._model, self._redacted(problem), wait)
        self._sleep(wait)

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _check(model: str, base_url: str | None, api_key: str | None) -> None:
    if not model:
        raise ConfigurationError("name a model, as in openai:text-embedding-3-small")
    if base_url is None and not api_key:
        raise ConfigurationError(
            "OpenAI needs a key (api_key=..., or OPENAI_API_KEY); a server without keys needs "
            "base_url=... (or OPENAI_BASE_URL), as in http://localhost:11434/v1"
        )
    if base_url is not None and (
        urlsplit(base_url).scheme not in ("http", "https") or not urlsplit(base_url).netloc
    ):
        raise ConfigurationError("a base URL looks like http://localhost:11434/v1")


def _parts(texts: Sequence[str], count: int) -> Iterator[list[str]]:
    """At most ``count`` texts, and not too many characters, at a time; a long text goes alone."""
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


def _problem(reply: Reply) -> tuple[str, bool]:
    """What is wrong with a reply ('' for nothing), and whether to ask again."""
    if reply.failure:
        return reply.reason, reply.failure != "redirect"
    if reply.status < 300:
        return "", False
    said = " ".join(reply.body.decode("utf-8", "replace").split())[:_EXCERPT]
    later = reply.status in _LATER or reply.status >= 500
    credit = "insufficient_quota" in said
    return f"HTTP {reply.status}: {said}", later and not credit


def parse(body: bytes, count: int) -> Vector:
    """The vectors (count, dimension) of an answer, in the order of the texts.

    Raises:
        ValueError: it is not JSON, not complete, or not numbers of one length.
    """
    try:
        answer = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError("no list of embeddings")
    if not all(isinstance(item.get("index", 0), int) for item in data):
        raise ValueError("an index that is not a whole number")
    # Servers need not answer in order; those that leave the index out do.
    placed = {item.get("index", place): item.get("embedding") for place, item in enumerate(data)}
    if len(data) != count or set(placed) != set(range(count)):
        raise ValueError(f"{len(data)} embeddings for {count} texts, or not one for each")
    rows = [_numbers(placed[place]) for place in range(count)]
    if len({len(row) for row in rows}) != 1 or not len(rows[0]):
        raise ValueError("vectors of different lengths, or empty")
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise ValueError("NaN or infinity")
    return vectors


def _numbers(value: Any) -> Vector:
    if isinstance(value, str):  # some servers always send base64
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
    if not isinstance(value, list) or not all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in value
    ):
        raise ValueError("a vector that is not a list of numbers")
    try:
        with np.errstate(over="ignore"):  # becomes infinity, which is refused
            return np.asarray(value, np.float32)
    except OverflowError as error:
        raise ValueError("a number too large") from error

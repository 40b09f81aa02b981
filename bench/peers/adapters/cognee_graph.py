"""cognee: a document for each message, then ``cognify``; SQLite, LanceDB and its graph in a folder.

Each document begins with the speaker; a chunk that is found is traced to its message by its text.
``search_type`` is cognee's; ``CHUNKS`` returns text without a model.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from line_protocol import serve


class Adapter:
    """One cognee; a space is a dataset."""

    def __init__(self, settings: dict[str, Any]) -> None:
        folder = Path(settings["folder"])
        os.environ.update(
            DATA_ROOT_DIRECTORY=str(folder / "data"),
            SYSTEM_ROOT_DIRECTORY=str(folder / "system"),
            COGNEE_LOGS_DIR=str(folder / "logs"),
            LOG_LEVEL="ERROR",
            LLM_PROVIDER="custom",
            # A name that litellm knows, so that answers are asked for by JSON schema.
            LLM_MODEL="openai/gpt-4o-mini",
            LLM_ENDPOINT=settings["url"],
            LLM_API_KEY="none",
            EMBEDDING_PROVIDER="openai_compatible",
            EMBEDDING_MODEL=settings["embedder"],
            EMBEDDING_ENDPOINT=settings["url"],
            EMBEDDING_API_KEY="none",
            EMBEDDING_DIMENSIONS=str(settings["dimension"]),
            ENABLE_BACKEND_ACCESS_CONTROL="false",
            COGNEE_SKIP_CONNECTION_TEST="true",
            # The vocabulary that cognee would download; litellm, which it needs, brings a copy.
            TIKTOKEN_CACHE_DIR=str(_of_litellm()),
        )
        self._type = settings["search_type"]

    async def prepare(self) -> None:
        """Import it."""
        import cognee
        from cognee.api.v1.search import SearchType

        self._cognee, self._types = cognee, SearchType

    async def add(self, space: str, message: dict[str, Any]) -> None:
        """Add a document and build its part of the graph."""
        await self.add_batch(space, [message])

    async def add_batch(self, space: str, messages: list[dict[str, Any]]) -> None:
        """Add a document for each message, and build their part of the graph together."""
        texts = [f"{message['speaker']}: {message['text']}" for message in messages]
        await self._cognee.add(texts, dataset_name=space)
        await self._cognee.cognify(datasets=[space])

    async def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the text of chunks."""
        found = await self._cognee.search(
            query_text=question, query_type=self._types[self._type], datasets=[space], top_k=k
        )
        return [{"text": text} for text in _texts(found)]

    async def stored(self, space: str) -> dict[str, Any]:
        """Return the texts of all chunks that a search can find."""
        found = await self.search(space, "what was said", 10_000, "")
        return {"texts": [hit["text"] for hit in found]}


def _of_litellm() -> Path:
    package = find_spec("litellm")
    assert package is not None and package.origin is not None
    return Path(package.origin).parent / "litellm_core_utils" / "tokenizers"


def _texts(found: Any) -> list[str]:
    """Return every text in a result, whose shape depends on the search type."""
    if isinstance(found, str):
        return [found]
    if isinstance(found, dict):
        if "text" in found:
            return [str(found["text"])]
        return [text for value in found.values() for text in _texts(value)]
    if isinstance(found, (list, tuple)):
        return [text for value in found for text in _texts(value)]
    result = getattr(found, "search_result", None)
    return _texts(result) if result is not None else []


serve(Adapter)

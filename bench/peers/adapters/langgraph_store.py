"""LangGraph's store: ``InMemoryStore`` or, with ``durable``, ``SqliteStore``; no model.

One item for each message, under the message's id; its text is embedded. A search takes the first k.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from langchain_openai import OpenAIEmbeddings
from langgraph.store.memory import InMemoryStore
from line_protocol import serve


class Adapter:
    """A store with one namespace for each space."""

    def __init__(self, settings: dict[str, Any]) -> None:
        index = {
            "dims": settings["dimension"],
            "embed": OpenAIEmbeddings(
                model=settings["embedder"],
                base_url=settings["url"],
                api_key="none",
                check_embedding_ctx_length=False,  # the endpoint takes text, not token numbers
            ),
            "fields": ["text"],
        }
        self._lock = threading.Lock()
        if settings.get("durable"):
            import sqlite3

            if not hasattr(sqlite3.Connection, "enable_load_extension"):
                # Some Pythons are built without extensions of SQLite, which this store needs.
                import pysqlite3 as sqlite3
            from langgraph.store.sqlite import SqliteStore

            connection = sqlite3.connect(
                Path(settings["folder"]) / "store.db", check_same_thread=False, isolation_level=None
            )
            self._store: Any = SqliteStore(connection, index=index)
            self._store.setup()
        else:
            self._store = InMemoryStore(index=index)

    def add(self, space: str, message: dict[str, Any]) -> None:
        """Put the message under its id."""
        text = f"{message['speaker']}: {message['text']}"
        self._store.put((space,), message["id"], {**message, "text": text})

    def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the most similar items."""
        return [
            {"ids": [item.key]} for item in self._store.search((space,), query=question, limit=k)
        ]

    def stored(self, space: str) -> dict[str, Any]:
        """Return the keys."""
        return {"ids": [item.key for item in self._store.search((space,), limit=100_000)]}


serve(Adapter)

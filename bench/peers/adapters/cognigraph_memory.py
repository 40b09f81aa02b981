"""cognigraph, in a file or, with ``neo4j``, on the same server as the others.

``extractor`` is ``rules`` or ``openai``; with ``in_process`` the embedder is the default one,
without the endpoint. ``add`` returns when the message can be searched; the facts are extracted
afterwards (``settle``), whose time is measured apart.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from line_protocol import serve


class Adapter:
    """One memory; a space is a space."""

    def __init__(self, settings: dict[str, Any]) -> None:
        os.environ.update(
            COGNIGRAPH_MODEL=settings["model"],
            OPENAI_BASE_URL=settings["url"],
            OPENAI_API_KEY="none",
        )
        from cognigraph import Memory

        in_process = settings.get("in_process")
        server = settings["neo4j"] if settings.get("on_neo4j") else None
        self._memory = Memory(
            server or Path(settings["folder"]) / "memory.db",
            embedder="wordllama" if in_process else f"openai:{settings['embedder']}",
            extractor=settings["extractor"],
            enrich="manual",
        )

    def add(self, space: str, message: dict[str, Any]) -> None:
        """Add the message."""
        self._memory.space(space).add(**message)

    def settle(self, space: str, seconds: float) -> None:
        """Extract facts and summaries of everything that is queued."""
        self._memory.space(space).flush(timeout=seconds)

    def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the hits."""
        hits = self._memory.space(space).search(question, k=k, now=now)
        return [{"ids": [hit.id]} for hit in hits]

    def stored(self, space: str) -> dict[str, Any]:
        """Return the ids of the messages and the names of the entities."""
        own = self._memory.space(space)
        ids = [message.id for message in own.messages(limit=1000)]
        names = Counter(entity.name for entity in own.entities(limit=1000))
        pending = own.stats().pending + own.stats().failed
        return {"ids": ids, "names": list(names.elements()), "pending": pending}

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()


serve(Adapter)

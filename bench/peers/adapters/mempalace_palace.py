"""MemPalace: a drawer for each message, through the functions behind its MCP tools; no model.

The wing is the space, the room the session; the message's id stands for the source file. With
``strategy`` ``union`` a search adds keyword candidates to those of the vector index, which is all
that the default, ``vector``, looks at.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from line_protocol import serve


class Adapter:
    """One palace."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._path = str(Path(settings["folder"]) / "palace")
        os.environ.update(
            MEMPALACE_CONFIG_DIR=str(Path(settings["folder"]) / "config"),
            MEMPALACE_PALACE_PATH=self._path,
            MEMPALACE_EMBEDDING_MODEL="openai-compat",
            MEMPALACE_EMBEDDING_API_URL=settings["url"],
            MEMPALACE_EMBEDDING_API_MODEL=settings["embedder"],
        )
        from mempalace import mcp_server
        from mempalace.palace import get_collection
        from mempalace.searcher import search_memories

        self._tools, self._search = mcp_server, search_memories
        self._open = get_collection
        self._open(self._path)
        self.tune(settings)

    def tune(self, settings: dict[str, Any]) -> None:
        """Choose the strategy of the search."""
        self._strategy = settings["strategy"]

    def add(self, space: str, message: dict[str, Any]) -> None:
        """File a drawer."""
        done = self._tools.tool_add_drawer(
            wing=space,
            room=f"session-{message['session']}",
            content=f"{message['speaker']}: {message['text']}",
            source_file=f"/messages/{message['id']}",
            added_by="bench",
        )
        if not done.get("success"):
            raise RuntimeError(str(done)[:300])

    def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the drawers."""
        found = self._search(
            question, self._path, wing=space, n_results=k, candidate_strategy=self._strategy
        )
        if "error" in found:
            raise RuntimeError(str(found["error"])[:300])
        return [{"ids": [_id(hit)]} for hit in found["results"]]

    def stored(self, space: str) -> dict[str, Any]:
        """Return the message of each drawer."""
        # Opened anew: after a failed add, MemPalace replaces its client and older handles are dead.
        found = self._open(self._path).get(where={"wing": space}, include=["metadatas"])
        metadatas = found["metadatas"] if isinstance(found, dict) else found.metadatas
        # A long message is several drawers: one for each message and chunk index.
        return {"ids": [_id(each) for each in metadatas if not each.get("chunk_index")]}


def _id(hit: dict[str, Any]) -> str:
    return str(hit["source_file"]).rpartition("/")[2]


serve(Adapter)

"""mem0, its open-source ``Memory`` with the default vector store (Qdrant, in a folder).

``infer`` is mem0's own: True has a model extract facts (the default), False stores the text. The
message's id is part of the metadata, which mem0 copies to each fact of the message.
``keywords`` is mem0's BM25 signal. It needs a list of stop words that is downloaded from the hub at
first use; the adapter puts an English list where the download would be.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from line_protocol import serve

STOP_WORDS = """
a about above after again against all am an and any are as at be because been before being below
between both but by can did do does doing don down during each few for from further had has have
having he her here hers herself him himself his how i if in into is it its itself just me more most
my myself no nor not now of off on once only or other our ours ourselves out over own s same she
should so some such t than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with
you your yours yourself yourselves
""".split()


class Adapter:
    """One mem0 memory; a space is a ``user_id``."""

    def __init__(self, settings: dict[str, Any]) -> None:
        folder = Path(settings["folder"])
        os.environ["MEM0_DIR"] = str(folder)
        if settings.get("keywords"):
            _stop_words(folder / "fastembed")
        from mem0 import Memory

        self._infer = settings["infer"]
        self._memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "collection_name": "bench",
                        "path": str(folder / "qdrant"),
                        "on_disk": True,
                        "embedding_model_dims": settings["dimension"],
                    },
                },
                "llm": {
                    "provider": "openai",
                    "config": {
                        "model": settings["model"],
                        "openai_base_url": settings["url"],
                        "api_key": "none",
                    },
                },
                "embedder": {
                    "provider": "openai",
                    "config": {
                        "model": settings["embedder"],
                        "openai_base_url": settings["url"],
                        "api_key": "none",
                        "embedding_dims": settings["dimension"],
                    },
                },
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, space: str, message: dict[str, Any]) -> None:
        """Add one message as mem0's own LoCoMo evaluation does, the speaker before the text."""
        self._memory.add(
            [{"role": "user", "content": f"{message['speaker']}: {message['text']}"}],
            user_id=space,
            metadata={"message": message["id"], "session": message["session"], "at": message["at"]},
            infer=self._infer,
        )

    def search(self, space: str, question: str, k: int, now: str) -> list[dict[str, Any]]:
        """Return the messages of the memories that are found, in mem0's order."""
        found = self._memory.search(question, top_k=max(k, 20), filters={"user_id": space})
        return [{"ids": [memory["metadata"]["message"]]} for memory in found["results"]]

    def stored(self, space: str) -> dict[str, Any]:
        """Return the messages of all memories: of facts, each message once; of texts, each copy."""
        found = self._memory.get_all(filters={"user_id": space}, top_k=100_000)["results"]
        ids = [memory["metadata"]["message"] for memory in found]
        if self._infer:
            # Facts of one message that have the same words are copies.
            texts = {(memory["metadata"]["message"], memory["memory"]): 0 for memory in found}
            for memory in found:
                texts[memory["metadata"]["message"], memory["memory"]] += 1
            copies: dict[str, int] = {}
            for (id, _), count in texts.items():
                copies[id] = max(copies.get(id, 0), count)
            ids = [id for id, count in copies.items() for _ in range(count)]
        return {"ids": ids}


def _stop_words(folder: Path) -> None:
    os.environ.update(HF_HUB_OFFLINE="1", FASTEMBED_CACHE_PATH=str(folder))
    snapshot = folder / "models--Qdrant--bm25" / "snapshots" / "local"
    snapshot.mkdir(parents=True, exist_ok=True)
    (snapshot / "english.txt").write_text("\n".join(STOP_WORDS), "utf-8")
    (snapshot / "mock.file").touch()
    names = folder / "models--Qdrant--bm25" / "refs" / "main"
    names.parent.mkdir(exist_ok=True)
    names.write_text("local", "utf-8")


serve(Adapter)

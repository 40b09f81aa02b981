"""An embedder that keeps its vectors in a file, so that the benchmarks embed each text once.

BGE-small needs minutes for the long messages of two histories, and a benchmark runs over the same
messages for each setting. Several processes may share a file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from cognigraph.embed import Embedder, resolve

Rows = npt.NDArray[np.floating]


class KeptVectors:
    """Wraps an embedder; a text is embedded alone, so its vector does not depend on a batch.

    The vectors of questions are kept only with ``questions``: whoever measures the time of a search
    must not skip them.
    """

    varies = False

    def __init__(self, embedder: Embedder, file: Path, *, questions: bool = False) -> None:
        self._inner = embedder
        self._questions = questions
        self._lock = Lock()
        self._file = sqlite3.connect(file, timeout=600, check_same_thread=False)
        with self._file:  # what a crash of the machine loses is embedded again
            self._file.execute("PRAGMA synchronous = OFF")
            self._file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, v BLOB)")
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.static = bool(getattr(embedder, "static", False))

    def embed(self, texts: Sequence[str]) -> Rows:
        """Vectors of passages, from the file where it has them."""
        return np.stack([self._kept("passage", text, self._passage) for text in texts])

    def embed_query(self, text: str) -> Rows:
        """Vector of a question."""
        return self._kept("question", text, self._query) if self._questions else self._query(text)

    def _passage(self, text: str) -> Rows:
        return self._inner.embed([text])[0]

    def _query(self, text: str) -> Rows:
        own: Callable[[str], Rows] | None = getattr(self._inner, "embed_query", None)
        return self._passage(text) if own is None else own(text)

    def _kept(self, use: str, text: str, embed: Callable[[str], Rows]) -> Rows:
        key = blake2b("\0".join((self.name, use, text)).encode(), digest_size=16).digest()
        with self._lock:
            row = self._file.execute("SELECT v FROM vector WHERE key = ?", [key]).fetchone()
        if row is not None:
            return np.frombuffer(row[0], np.float32)
        vector = np.asarray(embed(text), np.float32)
        with self._lock, self._file:
            self._file.execute(
                "INSERT OR IGNORE INTO vector VALUES (?, ?)", [key, vector.tobytes()]
            )
        return vector


def embedder_for(name: str, file: str | None, *, questions: bool = False) -> Embedder:
    """Return the embedder of a name; with a file, one that keeps its vectors there."""
    inner = resolve(name)
    return KeptVectors(inner, Path(file), questions=questions) if file else inner

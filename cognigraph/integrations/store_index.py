"""The ``index`` of a LangGraph store: vectors of items and queries by the program's embeddings.

Without it, items are ranked as all other messages are. With it, the score of an item is the largest
cosine between the query and one of its texts, as in LangGraph's own stores.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognigraph.integrations.requirement import requirement

with requirement("langgraph"):
    from langgraph.store.base import (
        IndexConfig,
        Op,
        PutOp,
        SearchOp,
        ensure_embeddings,
        get_text_at_path,
    )

Vector = NDArray[np.float32]
_WHOLE = "$"
_DECIMALS = 6  # as precise as the vectors are stored


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one batch, by text. Models may embed queries and documents differently."""

    queries: dict[str, Vector] = field(default_factory=dict)
    documents: dict[str, Vector] = field(default_factory=dict)


class ItemIndex:
    """Embeds the items and queries of a batch, as LangGraph's ``IndexConfig`` describes."""

    def __init__(self, config: IndexConfig) -> None:
        self.config = config.copy()
        self.fields: tuple[str, ...] = tuple(config.get("fields") or (_WHOLE,))
        self.embeddings = ensure_embeddings(config["embed"])
        self._dims: int = config["dims"]

    def embed(self, ops: Sequence[Op]) -> Vectors:
        """Embed what a batch writes and asks for."""
        queries, texts = _queries(ops), self._documents(ops)
        return Vectors(
            {text: self._checked(self.embeddings.embed_query(text)) for text in queries},
            self._by_text(texts, self.embeddings.embed_documents(texts) if texts else []),
        )

    async def aembed(self, ops: Sequence[Op]) -> Vectors:
        """As :meth:`embed`, with the asynchronous calls of the embeddings."""
        queries, texts = _queries(ops), self._documents(ops)
        return Vectors(
            {text: self._checked(await self.embeddings.aembed_query(text)) for text in queries},
            self._by_text(texts, await self.embeddings.aembed_documents(texts) if texts else []),
        )

    def encoded(self, op: PutOp, vectors: Vectors) -> dict[str, Any] | None:
        """The vectors of an item as its payload holds them."""
        found = [vectors.documents[text] for text in self._texts(op)]
        if not found:
            return None
        return {
            "dims": self._dims,
            "float32": base64.b64encode(np.stack(found).tobytes()).decode("ascii"),
        }

    def score(self, payload: Mapping[str, Any], query: Vector) -> float | None:
        """The cosine of the text that is nearest to a query; ``None`` if there are no vectors."""
        stored = payload.get("vectors")
        if stored is None or stored["dims"] != self._dims:
            return None
        data = np.frombuffer(base64.b64decode(stored["float32"]), np.float32)
        vectors = data.reshape(-1, self._dims).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query.astype(np.float64))
        products = vectors @ query.astype(np.float64)
        cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return round(float(cosines.max()), _DECIMALS)

    def _documents(self, ops: Sequence[Op]) -> list[str]:
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        return list(dict.fromkeys(text for op in last.values() for text in self._texts(op)))

    def _texts(self, op: PutOp) -> list[str]:
        if op.value is None or op.index is False:
            return []
        paths = op.index or self.fields
        found = (text for path in paths for text in get_text_at_path(op.value, path))
        return [text for text in found if text.strip()]

    def _by_text(
        self, texts: Sequence[str], vectors: Sequence[Sequence[float]]
    ) -> dict[str, Vector]:
        if len(texts) != len(vectors):
            raise ValueError(f"the embeddings made {len(vectors)} vectors of {len(texts)} texts")
        return dict(zip(texts, map(self._checked, vectors), strict=True))

    def _checked(self, vector: Sequence[float]) -> Vector:
        found = np.asarray(vector, np.float32)
        if found.shape != (self._dims,):
            raise ValueError(
                f"the embeddings made a vector of {found.size} numbers, and index['dims'] is "
                f"{self._dims}; give the number of dimensions of the model"
            )
        return found


def _queries(ops: Sequence[Op]) -> list[str]:
    return list(dict.fromkeys(op.query for op in ops if isinstance(op, SearchOp) and op.query))

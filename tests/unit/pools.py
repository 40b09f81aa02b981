"""Hand-made candidates, as a store would return them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cognigraph.model.messages import role_of
from cognigraph.stores.candidates import (
    Candidates,
    ChunkCandidates,
    Evidence,
    SessionCandidates,
    TripleCandidates,
)
from cognigraph.text.word_book import Lexicon

NAN = float("nan")


def chunk_pool(cosine: Sequence[float], **columns: Any) -> ChunkCandidates:
    """Chunks of one session in a NEXT chain, with no matching words, unless told otherwise."""
    n = len(cosine)
    rows = np.arange(n)
    session = np.asarray(columns.pop("session", np.zeros(n, int)))
    same_before = np.r_[False, session[1:] == session[:-1]] if n else np.empty(0, bool)
    same_after = np.r_[session[1:] == session[:-1], False] if n else np.empty(0, bool)
    defaults: dict[str, Any] = {
        "uids": tuple(f"c{n:02}" for n in rows),
        "matches": np.zeros((n, 1)),
        "length": np.full(n, 5.0),
        "at": np.zeros(n),
        "previous": np.where(same_before, rows - 1, -1),
        "following": np.where(same_after, rows + 1, -1),
        "question": np.zeros(n, bool),
        "by_vector": np.ones(n, bool),
        "by_terms": np.zeros(n, bool),
        "speakers": (None,) * n,
    }
    given = {name: np.asarray(value) if isinstance(value, list) else value
             for name, value in columns.items()}  # fmt: skip
    columns = defaults | given
    columns.setdefault("roles", tuple(map(role_of, columns["speakers"])))
    return ChunkCandidates(cosine=np.asarray(cosine, float), session=session, **columns)


def triple_pool(
    cosine: Sequence[float] = (), evidence: Sequence[Sequence[int]] = (), **columns: Any
) -> TripleCandidates:
    """Triples with the given chunk rows as evidence."""
    m = len(cosine)
    terms = columns.pop("terms", 1)
    defaults: dict[str, Any] = {
        "uids": tuple(f"t{n:02}" for n in range(m)),
        "matches": np.zeros((m, terms)),
        "length": np.full(m, 4.0),
        "at": np.zeros(m),
        "session": np.zeros(m, int),
        "evidence": Evidence.of([[*rows] for rows in evidence]),
        "by_vector": np.ones(m, bool),
        "by_terms": np.zeros(m, bool),
        "by_anchor": np.zeros(m, bool),
    }
    given = {name: np.asarray(value) for name, value in columns.items()}
    return TripleCandidates(cosine=np.asarray(cosine, float), **(defaults | given))


def session_pool(theme: Sequence[float] = (NAN,), **columns: Any) -> SessionCandidates:
    """Sessions with the given theme cosines and no keys."""
    s = len(theme)
    terms = columns.pop("terms", 1)
    defaults: dict[str, Any] = {
        "uids": tuple(f"s{n:02}" for n in range(s)),
        "ids": tuple(f"session {n}" for n in range(s)),
        "keys": np.empty((s, 0)),
        "matches": np.zeros((s, terms)),
        "length": np.zeros(s),
    }
    given = {name: np.asarray(value, float) for name, value in columns.items()}
    return SessionCandidates(theme=np.asarray(theme, float), **(defaults | given))


def candidates(
    chunks: ChunkCandidates,
    triples: TripleCandidates | None = None,
    sessions: SessionCandidates | None = None,
    frequencies: Mapping[str, int] | None = None,
) -> Candidates:
    """All three layers, in a space of 100 chunks of 5 terms on average."""
    return Candidates(
        lexicon=Lexicon(100, 5.0, frequencies or {}),
        chunks=chunks,
        triples=triple_pool() if triples is None else triples,
        sessions=session_pool() if sessions is None else sessions,
    )

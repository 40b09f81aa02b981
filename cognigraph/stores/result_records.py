"""What the result of a search is made of: messages, the facts they state, and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cognigraph.model import Session, Triple
from cognigraph.stores.candidates import ChunkRecord, NewestSources


@dataclass(frozen=True, slots=True)
class ResultQuery:
    """Which records of a space to read in one call.

    ``chunks`` are uids of chunks, and ``stating`` of those whose facts are read too. ``triples``
    are uids of further facts, ``sessions`` the callers' ids. ``newest`` says which sources of the
    facts are read.
    """

    chunks: Sequence[str] = ()
    stating: Sequence[str] = ()
    triples: Sequence[str] = ()
    sessions: Sequence[str] = ()
    newest: NewestSources = field(default_factory=NewestSources)

    def __bool__(self) -> bool:
        return any((self.chunks, self.stating, self.triples, self.sessions))


@dataclass(frozen=True, slots=True)
class ResultRecords:
    """Records by uid, sessions by the caller's id; what does not exist is missing.

    ``stated`` are the sorted uids of the facts for which a chunk is evidence. ``often`` are the
    facts that have more sources than the newest of the query, so that those listed depend on its
    chunks.
    """

    chunks: Mapping[str, ChunkRecord] = field(default_factory=dict)
    stated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    triples: Mapping[str, Triple] = field(default_factory=dict)
    often: frozenset[str] = frozenset()
    sessions: Mapping[str, Session] = field(default_factory=dict)

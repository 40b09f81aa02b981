"""Information about a store: its location, schema and embedder, and the results of checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check of ``doctor``, with advice if it failed."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """How the background worker of a memory is doing.

    ``last_step`` is the number of seconds since it has last enriched a batch, or since it was
    started; it grows while there is nothing to do. ``restarts`` counts how often it ended
    unexpectedly and was started again. ``problem`` says what is wrong with it, without a text of
    messages, a name or an address; ``None`` if nothing is.
    """

    last_step: float
    restarts: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The embedder recorded in a store; vectors of another embedder are not comparable."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Where the data of a store is, and with which schema and embedder it was written.

    ``is_read_only``: the file is on a read-only disk, or this user may not write it or its folder.
    Searches and everything else that only reads work; nothing can be added or enriched.
    """

    kind: str
    location: str
    schema_version: int
    embedder: EmbedderIdentity
    details: Mapping[str, str] = field(default_factory=dict)
    is_read_only: bool = False

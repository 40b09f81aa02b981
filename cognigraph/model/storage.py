"""What a store says of itself: where it is, what wrote it, whether it is healthy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``doctor``: what was looked at, whether it is fine, and what to do if not."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What a store records of its embedder: vectors of another one are not comparable."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Where the data is and what wrote it."""

    kind: str
    location: str
    schema_version: int
    embedder: EmbedderIdentity
    details: Mapping[str, str] = field(default_factory=dict)

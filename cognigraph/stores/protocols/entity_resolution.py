"""The role that merges and splits entities, and lists those that may be the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cognigraph.model import (
    Merge,
    SuspectedDuplicate,
)
from cognigraph.stores.records import (
    EntityNames,
)


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An extracted entity; ``canonical`` is the uid of the canonical entity of its group."""

    uid: str
    name: str
    type: str
    canonical: str


class EntityResolution(Protocol):
    """Merges and splits of entities by users, suspected duplicates, and the history of merges."""

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Extracted entities with this normalised name, or with an alias of it in the text."""
        ...

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's decision that two entities are the same; ``into`` is canonical."""
        ...

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Undo a user's merge of an entity, or separate it from its group.

        With ``apart_from``, separate these two entities. False if the entity is in no group. See
        :func:`cognigraph.resolution.incremental.split`.
        """
        ...

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs whose names are spelled so alike that they may be one, but that are not merged.

        The most similar pairs come first.
        """
        ...

    def names(self, space: str) -> EntityNames:
        """All extracted entities whose names have vectors."""
        ...

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs of entities that a comparison of their spelling, or a user, has already judged.

        Both entities of a pair are among ``uids``; the smaller uid comes first.
        """
        ...

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges by rules and by users, undone and in force, newest first."""
        ...

"""``StateStore``: the role of a store that knows which facts are current."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from cognigraph.model import Triple
from cognigraph.states.succession import NewRuling, Ruling, Standing
from cognigraph.stores.readings import NamedRuling


class StateStore(Protocol):
    """What users say of facts, and which facts share a slot; see :mod:`cognigraph.states`."""

    def rule(self, space: str, *rulings: NewRuling) -> None:
        """Record what a user said of triples, and decide their slots again, in one transaction.

        It outlives the triples: one that is read again is ruled again. ``by`` is the uid of the
        triple that supersedes it, ``at`` when it ended. A later word takes the place of an earlier
        one. :class:`NotFoundError` if there is no such triple; then nothing is recorded.
        """
        ...

    def rulings(self, space: str) -> list[NamedRuling]:
        """What users said of the facts of a space that exist, in that order."""
        ...

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        """Record what users said before, of facts that exist or will be read later."""
        ...

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:
        """What was known at ``as_of`` of triples that have a slot or were ruled on.

        Triples that share a slot with them may be among the answer, too.
        """
        ...

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        """Triples about slots of an entity, and those of it that were ruled on, oldest first."""
        ...

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        """Current triples that share a slot of one value, by slot, newest observation first.

        They may name the same value in different words.
        """
        ...

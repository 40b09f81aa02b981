"""``Facts``: the operations of a space on its facts, as they are and as they were."""

from __future__ import annotations

from datetime import datetime

from cognigraph.engine import Engine
from cognigraph.ids import normalise
from cognigraph.model import Entity, EntityProfile, Filter, History, Session, Stats, Status, Triple
from cognigraph.model.listing import TripleQuery
from cognigraph.operations import entity_profiles, fact_list, fact_states
from cognigraph.operations.searching import in_utc
from cognigraph.times import to_utc
from cognigraph.validation import checked


class Facts:
    """One tenant, as far as its facts are listed."""

    _engine: Engine
    _name: str

    @checked
    def sessions(
        self, limit: int = 100, offset: int = 0, *, as_of: datetime | str | None = None
    ) -> list[Session]:
        """List sessions with their keys and summaries, newest first.

        With ``as_of`` as far as they had gone at that time; a session that went on later has the
        keys and summary of its newest revision that was written by then, if one is kept.
        """
        return self._engine.store.graph.sessions(
            self._name, limit=limit, offset=offset, as_of=self._utc(as_of)
        )

    @checked
    def entities(
        self,
        match: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
    ) -> list[Entity]:
        """List entities, those with the most triples first.

        With ``match`` only those with that text in their name or an alias. With ``as_of`` only
        what had been said at that time counts; entities are merged as they are now.
        """
        return self._engine.store.graph.entities(
            self._name, match=match, limit=limit, offset=offset, as_of=self._utc(as_of)
        )

    @checked
    def stats(self, *, as_of: datetime | str | None = None) -> Stats:
        """Count the content of this space, and how much of it waits to be enriched.

        With ``as_of`` only what had been said at that time counts; what waits is that part of it
        which waits now.
        """
        return self._engine.store.graph.stats(self._name, as_of=self._utc(as_of))

    @checked
    def triples(
        self,
        entity: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        status: Status | None = None,
        slot: str | None = None,
        text: str | None = None,
        where: Filter | None = None,
    ) -> list[Triple]:
        """List triples with their sources, newest first; those that meet all conditions.

        Args:
            entity: a whole name or alias; only triples of that entity.
            limit: the largest number of triples.
            offset: how many to leave out at the beginning.
            as_of: only what was known at this time: later triples, and later evidence, are left
                out, and a triple that was superseded later is current.
            valid_at: only what is true at this time, as known now (or at ``as_of``). A triple
                without a time of its own counts from when it was first said.
            status: ``"current"``, ``"superseded"`` or ``"retracted"``.
            slot: what the triples are about, as :meth:`history` calls it: ``"home"``, ``"work"``.
            text: a part of the triple in words, in any case.
            where: which messages count as sources; a triple must have one that passes.
        """
        query = TripleQuery(
            entity=entity,
            limit=limit,
            offset=offset,
            as_of=self._utc(as_of),
            valid_at=self._utc(valid_at),
            status=status,
            slot=None if slot is None else normalise(slot),
            text=None if text is None else normalise(text),
            where=None if where is None else in_utc(where, self._engine.zone),
        )
        return fact_list.listed(self._engine.store, self._name, query)

    @checked
    def history(
        self,
        entity: str,
        relation: str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> list[History]:
        """List what was said about each slot of an entity, oldest first, and what ended it.

        A slot is what a fact is about: "lives in Oslo" and "moved to Bergen" are about ``home``.

        Args:
            entity: a whole name or alias.
            relation: a relation or a slot; only the slots that have it.
            as_of: only what was known at this time, and what was current then.
            valid_at: only the facts that are true at this time.
        """
        return fact_states.history(
            self._engine.store, self._name, entity, relation,
            as_of=self._utc(as_of), valid_at=self._utc(valid_at),
        )  # fmt: skip

    @checked
    def profile(
        self,
        entity: str,
        *,
        earlier: bool = False,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> EntityProfile:
        """Collect what is true of an entity, by slot, with its types and aliases.

        Facts of what is called its own ("Ann's rent") are included. Each has its sources and says
        since when it is true.

        Args:
            entity: a whole name or alias.
            earlier: also give the facts that are over.
            as_of: only what was known at this time.
            valid_at: what is true at this time, instead of now.

        Raises:
            NotFoundError: there is no entity of that name.
        """
        return entity_profiles.profile(
            self._engine.store,
            self._name,
            entity,
            at=self._utc(valid_at) or self._utc(as_of) or self._engine.clock(),
            as_of=self._utc(as_of),
            earlier=earlier,
        )

    def _utc(self, at: datetime | str | None) -> datetime | None:
        return None if at is None else to_utc(at, self._engine.zone)

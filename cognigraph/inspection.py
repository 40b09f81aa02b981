"""``Inspection``: the operations of a space that read its content without a question."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cognigraph import entity_verbs, state_verbs
from cognigraph.cypher import named_query
from cognigraph.cypher.guard.query_limits import check_parameters_size
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.model import (
    Conflict,
    Entity,
    History,
    Merge,
    Session,
    Stats,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.retrieve.timeline import seen_from
from cognigraph.times import to_utc
from cognigraph.validation import check_parameters, checked


class Inspection:
    """The base of ``Space``: its read operations other than search."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    @property
    def name(self) -> str:
        """The tenant's name."""
        return self._name

    def __repr__(self) -> str:
        return f"<Space {self._name!r} in {self._engine.store.info.location}>"

    @checked
    def get(self, id: str, session: str | None = None) -> StoredMessage | None:
        """Get one whole message by its id; ``None`` if there is none.

        If messages of several sessions have the id, the newest is returned unless ``session`` is
        given.
        """
        return self._engine.store.graph.message(self._name, id, session)

    @checked
    def summaries(self, session: str) -> list[Summary]:
        """List the stored revisions of a session's keys and summary, newest first."""
        return self._engine.store.graph.summaries(self._name, session)

    @checked
    def sessions(self, limit: int = 100, offset: int = 0) -> list[Session]:
        """List sessions with their keys and summaries, newest first."""
        return self._engine.store.graph.sessions(self._name, limit=limit, offset=offset)

    @checked
    def entities(self, match: str | None = None, limit: int = 100, offset: int = 0) -> list[Entity]:
        """List entities, those with the most triples first.

        With ``match`` only those with that text in their name or an alias.
        """
        return self._engine.store.graph.entities(
            self._name, match=match, limit=limit, offset=offset
        )

    @checked
    def triples(
        self,
        entity: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
    ) -> list[Triple]:
        """List triples with their sources, newest first.

        With ``entity``, a whole name or alias, only the triples of that entity. With ``as_of``
        only what was known at that time: later triples, and later evidence, are left out.
        """
        until = None if as_of is None else to_utc(as_of, self._engine.zone)
        found = self._engine.store.graph.triples(
            self._name, entity=entity, limit=limit, offset=offset, as_of=until
        )
        known = [seen_from(triple, until) for triple in found]
        return sorted(known, key=lambda triple: triple.last_observed, reverse=True)

    @checked
    def history(self, entity: str, relation: str | None = None) -> list[History]:
        """List what was said about each slot of an entity, oldest first, and what ended it.

        A slot is what a fact is about: "lives in Oslo" and "moved to Bergen" are about ``home``.
        With ``relation``, a relation or a slot, only the slots that have it.
        """
        return state_verbs.history(self._engine.store, self._name, entity, relation)

    @checked
    def conflicts(self, limit: int = 100) -> list[Conflict]:
        """List current triples of which only one can be true, the newest conflict first.

        They were said at the same time, or a user restored one of them. Decide with
        :meth:`supersede` or :meth:`retract`.
        """
        return state_verbs.conflicts(self._engine.store, self._name, limit)

    @checked
    def suspected_duplicates(self, limit: int = 100, offset: int = 0) -> list[SuspectedDuplicate]:
        """List pairs of entities that may be the same but are not merged, most similar first.

        Pairs with similar spelling come first, then pairs with similar vectors ("nature's beauty",
        "beauty of nature"), then equal names of which one has no specific type. Decide a pair with
        :meth:`merge`, or with ``split(a, apart_from=b)``.
        """
        find = entity_verbs.suspected
        return self._engine.use(lambda store, _: find(store, self._name, limit, offset))

    @checked
    def merges(self, limit: int = 100, offset: int = 0) -> list[Merge]:
        """List all merges by rules and users, newest first; an undone merge has ``undone_at``."""
        return self._engine.store.resolution.merges(self._name, limit=limit, offset=offset)

    @checked
    def stats(self) -> Stats:
        """Count the content of this space, and how much of it waits to be enriched."""
        return self._engine.store.graph.stats(self._name)

    @checked
    def cypher(
        self,
        query: str | None = None,
        /,
        *,
        name: str | None = None,
        limit: int = 1000,
        timeout: float = 30.0,
        parameters: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """Run a read-only Cypher query that sees only this space; returns rows as dicts.

        Args:
            query: the query. SQLite files understand a subset of Cypher.
            name: instead of a query, the name of one that comes with cognigraph;
                ``cognigraph.cypher.named_queries()`` lists them.
            limit: the largest number of rows to return.
            timeout: seconds after which the query is stopped.
            parameters: values of the query's parameters. Most can also be given as keywords.
            more: parameters as keywords.

        Raises:
            QueryError: the query writes, is not understood, or took too long.
        """
        values = {**(parameters or {}), **more}
        check_parameters_size(values, self._engine.settings.query)
        check_parameters(values)
        if (query is None) == (name is None):
            raise ConfigurationError("give either a query or name='...', not both")
        if name is not None:
            chosen = named_query(name)
            query, values = chosen.text, chosen.arguments(values)
        assert query is not None
        run, limits = self._engine.store.graph.cypher, self._engine.settings.query
        return run(self._name, query, values, limit=limit, timeout=timeout, limits=limits)

"""``Inspection``: the operations of a space that read its content without a question."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from cognigraph.cypher import check_own_query, named_query
from cognigraph.cypher.guard.query_limits import check_call, check_parameters_size
from cognigraph.cypher.guard.unknown_names import unknown_names
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.model import (
    Conflict,
    CoreProfile,
    Episode,
    Merge,
    Procedure,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
)
from cognigraph.operations import entities, fact_states, named_at, procedures
from cognigraph.operations.facts import Facts
from cognigraph.validation import check_parameters, checked

logger = logging.getLogger("cognigraph.cypher")


class Inspection(Facts):
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
    def episodes(
        self, session: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[Episode]:
        """List episodes with the messages that they cover, the one that ended last first.

        An episode is a part of a session that is about one thing. With ``session`` only those of
        this session. Sessions that were enriched by a version without episodes have none until
        they are enriched again (:meth:`redo`).
        """
        return self._engine.store.graph.episodes(
            self._name, session=session, limit=limit, offset=offset
        )

    @checked
    def core_profile(self, version: int | None = None) -> CoreProfile | None:
        """The core profile: what is known of the user in general, as one text.

        It is kept by the writers (``extractor="membuilder"``); without them there is none. Earlier
        versions stay, and ``version`` (from 1) reads one of them.
        """
        return procedures.core_profile(self._engine.store.graph.written(self._name), version)

    @checked
    def procedures(self, *, versions: bool = False) -> list[Procedure]:
        """List how things are done, step by step, by title; with ``versions`` earlier ones too.

        Procedures are kept by the writers (``extractor="membuilder"``).
        """
        written = self._engine.store.graph.written(self._name)
        return procedures.procedures(written, versions=versions)

    @checked
    def conflicts(self, limit: int = 100) -> list[Conflict]:
        """List current triples of which only one can be true, the newest conflict first.

        They were said at the same time, or a user restored one of them. Decide with
        :meth:`supersede` or :meth:`retract`.
        """
        return fact_states.conflicts(self._engine.store, self._name, limit)

    @checked
    def suspected_duplicates(self, limit: int = 100, offset: int = 0) -> list[SuspectedDuplicate]:
        """List pairs of entities that may be the same but are not merged, most similar first.

        Pairs with similar spelling come first, then pairs with similar vectors ("nature's beauty",
        "beauty of nature"), then equal names of which one has no specific type. Decide a pair with
        :meth:`merge`, or with ``split(a, apart_from=b)``.
        """
        find = entities.suspected
        return self._engine.use(lambda store, _: find(store, self._name, limit, offset))

    @checked
    def merges(self, limit: int = 100, offset: int = 0) -> list[Merge]:
        """List all merges by rules and users, newest first; an undone merge has ``undone_at``."""
        return self._engine.store.resolution.merges(self._name, limit=limit, offset=offset)

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

        A label or relationship type that no memory has is logged as a warning.
        Every named query takes ``as_of``, a time: what was said later is left out. A query of your
        own sees what is stored now; it can compare ``first_observed``, ``valid_from`` and
        ``valid_to`` of triples and ``at`` of chunks.

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
        store, limits = self._engine.store, self._engine.settings.query
        if name is not None:
            chosen = named_query(name)
            query, values = chosen.text, chosen.arguments(values)
            as_of = self._utc(values.pop("as_of", None))
            if as_of is not None:
                check_call(limit, timeout)
                return named_at.rows_at(
                    store, self._name, chosen, values, as_of,
                    limit=limit, timeout=timeout, limits=limits,
                )  # fmt: skip
        assert query is not None
        check_own_query(query, values)
        for problem in unknown_names(query):
            logger.warning("%s; the query finds nothing there", problem)
        return store.graph.cypher(
            self._name, query, values, limit=limit, timeout=timeout, limits=limits
        )

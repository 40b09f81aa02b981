"""Named queries as of a time: what they would have returned from what had been said by then.

Most have lines for it, or a second statement (``cypher/inspect_at``). What was current, and which
keys and themes a session had, is not in the graph of today, so these queries are answered by other
operations.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cognigraph.cypher import NamedQuery, check_own_query, named_query, statement_at
from cognigraph.cypher.guard.query_limits import check_call, check_parameters_size
from cognigraph.cypher.guard.unknown_names import unknown_names
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.model import Session, Triple
from cognigraph.model.filters import TripleQuery
from cognigraph.operations import facts
from cognigraph.settings import QuerySettings
from cognigraph.stores.protocols import Store
from cognigraph.times import to_utc
from cognigraph.validation import check_parameters

logger = logging.getLogger("cognigraph.cypher")
Row = dict[str, Any]

_PAGE = 500
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class _Known:
    """A space as it was known at a time."""

    store: Store
    space: str
    as_of: datetime

    def sessions(self) -> Iterator[Session]:
        """All sessions that had begun, with what had been said in them by then."""
        offset, read = 0, self.store.graph.sessions
        while page := read(self.space, limit=_PAGE, offset=offset, as_of=self.as_of):
            yield from page
            offset += _PAGE

    def session(self, id: str) -> Session | None:
        return next(iter(self.sessions_of([id])), None)

    def sessions_of(self, ids: Sequence[str]) -> list[Session]:
        """Some sessions, with what had been said in them by then."""
        if not ids:
            return []
        return self.store.graph.sessions(
            self.space, limit=len(ids), offset=0, as_of=self.as_of, ids=ids
        )

    def triples(self, **choice: Any) -> list[Triple]:
        query = TripleQuery(limit=_ALL, offset=0, as_of=self.as_of, **choice)
        return facts.listed(self.store, self.space, query)


def rows_at(
    store: Store,
    space: str,
    query: NamedQuery,
    arguments: Mapping[str, Any],
    as_of: datetime,
    *,
    limit: int,
    timeout: float,
    limits: QuerySettings,
) -> list[Row]:
    """Return at most ``limit`` rows of a named query, of what had been said at ``as_of``."""
    known = _Known(store, space, as_of)
    if query.name in _WITHOUT_STATEMENT:
        rows = _WITHOUT_STATEMENT[query.name](known, arguments)
        return rows[: min(limit, arguments.get("top", limit))]
    values = {**arguments, "as_of": as_of}
    text = statement_at(query.name)
    rows = store.graph.cypher(space, text, values, limit=limit, timeout=timeout, limits=limits)
    if query.name == "keys":
        return rows or _earlier_keys(known, arguments["session"])[:limit]
    return _until(known, rows) if query.name == "sessions-about" else rows


def _until(known: _Known, rows: list[Row]) -> list[Row]:
    """Let sessions end with the last message that had been said."""
    said = dict.fromkeys(row["session"] for row in rows)
    ended = {session.id: session.ended_at for session in known.sessions_of([*said])}
    return [{**row, "ended_at": ended[row["session"]]} for row in rows]


def _timeline(known: _Known, arguments: Mapping[str, Any]) -> list[Row]:
    name = arguments["entity"].lower()
    return [
        {
            "when": None if triple.when is None else triple.when.text,
            "valid_from": triple.valid_from,
            "valid_to": triple.valid_to,
            "subject": triple.subject,
            "relation": triple.relation,
            "object": triple.object,
            "negated": triple.negated,
        }
        for triple in sorted(known.triples(entity=arguments["entity"]), key=_beginning)
        if triple.valid_from and name in (triple.subject.lower(), triple.object.lower())
    ]


def _beginning(triple: Triple) -> tuple[Any, ...]:
    ends = triple.valid_to
    words = (triple.subject, triple.relation, triple.object)
    return triple.since, ends is None, ends, *words


def _superseded(known: _Known, arguments: Mapping[str, Any]) -> list[Row]:
    over = [triple for triple in known.triples(status="superseded") if triple.superseded_by]
    store, space = known.store, known.space
    standings = store.states.standings_at(space, [item.uid for item in over], known.as_of)
    newer = store.search.triples_by_uid(space, [item.superseded_by or "" for item in over])
    rows = [
        {
            "old": item.object,
            "relation": item.relation,
            "subject": item.subject,
            "new": newer[item.superseded_by or ""].object,
            "new_relation": newer[item.superseded_by or ""].relation,
            "at": item.superseded_at,
            "by": standings[item.uid].by,
            "reason": item.reason,
        }
        for item in over
    ]
    rows.sort(key=lambda row: (row["subject"], row["relation"], row["old"]))
    return sorted(rows, key=lambda row: row["at"], reverse=True)


def _earlier_keys(known: _Known, id: str) -> list[Row]:
    """The keys that a session had before it went on, whose weights are not kept."""
    session = known.session(id)
    return [{"key": key, "weight": None} for key in (session.keys if session else ())]


def _themes(known: _Known, arguments: Mapping[str, Any]) -> list[Row]:
    session = known.session(arguments["session"])
    themes = sorted((item.title, item.summary) for item in (session.themes if session else ()))
    return [{"title": title, "summary": summary} for title, summary in themes]


def _shared_keys(known: _Known, arguments: Mapping[str, Any]) -> list[Row]:
    by_key: dict[str, list[str]] = {}
    for session in known.sessions():
        for key in session.keys:
            by_key.setdefault(key, []).append(session.id)
    shared = sorted((-len(ids), key, sorted(ids)) for key, ids in by_key.items() if len(ids) > 1)
    return [{"key": key, "sessions": ids, "count": -count} for count, key, ids in shared]


_WITHOUT_STATEMENT: Mapping[str, Callable[[_Known, Mapping[str, Any]], list[Row]]] = {
    "shared-keys": _shared_keys,
    "superseded": _superseded,
    "themes": _themes,
    "timeline": _timeline,
}


def run_query(
    engine: Engine,
    space: str,
    query: str | None,
    values: dict[str, Any],
    *,
    name: str | None,
    limit: int,
    timeout: float,
) -> list[Row]:
    """Run a query of a user, or a named one; see :meth:`cognigraph.Space.cypher`."""
    limits = engine.settings.query
    check_parameters_size(values)
    check_parameters(values)
    if (query is None) == (name is None):
        raise ConfigurationError("give either a query or name='...', not both")
    if name is not None:
        chosen = named_query(name)
        query, values = chosen.text, chosen.arguments(values)
        as_of = values.pop("as_of", None)
        if as_of is not None:
            check_call(limit, timeout)
            return rows_at(
                engine.store, space, chosen, values, to_utc(as_of, engine.zone),
                limit=limit, timeout=timeout, limits=limits,
            )  # fmt: skip
    assert query is not None
    check_own_query(query, values)
    for problem in unknown_names(query):
        logger.warning("%s; the query finds nothing there", problem)
    return engine.store.graph.cypher(
        space, query, values, limit=limit, timeout=timeout, limits=limits
    )

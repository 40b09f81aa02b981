"""The merge ledger on Neo4j: pairs, rulings and merges of one space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import uuid4

from cognigraph.ingest.groups import Link, Pair, Ruling
from cognigraph.ingest.resolve import Relation
from cognigraph.stores.neo4j.blocks import Neo4jBlocks
from cognigraph.stores.neo4j.connection import Transaction
from cognigraph.stores.neo4j.fold import show


class Neo4jLedger(Neo4jBlocks):
    """See :class:`cognigraph.ingest.merging.Ledger`.

    ``labels`` are those of the space's own triple index.
    """

    def __init__(self, tx: Transaction, space: str, labels: Sequence[str], now: datetime) -> None:
        super().__init__(tx, space)
        self._labels = list(labels)
        self._now = now

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Every pair with one of these ends."""
        return [
            Pair(a, b, Relation(*relation), verdict)
            for a, b, *relation, verdict in self._rows("pairs", uids=sorted(uids))
        ]

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs."""
        rows = [
            {"a": p.a, "b": p.b, "properties": asdict(p.relation) | {"verdict": p.verdict}}
            for p in sorted(pairs, key=lambda pair: pair.ends)
        ]
        self._rows("write_pairs", pairs=rows)

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs."""
        self._rows("drop_pairs", pairs=[list(pair.ends) for pair in pairs])

    def rulings(self, uids: Collection[str]) -> list[Ruling]:
        """Every ruling with one of these ends."""
        return [Ruling(*row) for row in self._rows("rulings", uids=sorted(uids))]

    def rule(self, rulings: Sequence[Ruling]) -> None:
        """Insert or overwrite rulings."""
        rows = [
            {
                "a": rule.a,
                "b": rule.b,
                "properties": {"verdict": rule.verdict, "into": rule.into, "at": rule.at},
            }
            for rule in rulings
        ]
        self._rows("rule", rulings=rows)

    def unrule(self, rulings: Sequence[Ruling]) -> None:
        """Delete rulings."""
        self._rows("unrule", rulings=[[rule.a, rule.b] for rule in rulings])

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        """Members of the groups these entities are in."""
        rows = self._rows("groups", uids=sorted(uids))
        return {member: shown for shown, members in rows for member in members}

    def links(self, uids: Collection[str]) -> list[Link]:
        """Merges in force with one of these ends."""
        return [Link(*row) for row in self._rows("links", uids=sorted(uids))]

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        """Record that merges ended and began."""
        self._rows("unlink", links=[asdict(link) for link in gone], now=self._now)
        rows = [asdict(link) | {"uid": uuid4().hex} for link in new]
        self._rows("link", space=self._space, links=rows, now=self._now)

    def regroup(self, shown: Mapping[str, str | None]) -> None:
        """Show entities as others, with all their facts."""
        show(self._tx, self._space, self._labels, shown)

"""``Neo4jEntityMap``: blocks, pairs, constraints and groups of entities, and their facts.

A triple keeps the entities it was extracted with (``raw_subject``, ``raw_object``) and is connected
to their canonical entities. Of the triples that are then equal, the one with the smallest uid gets
all evidence (``raw`` on EVIDENCE is the triple it was extracted for) and the others are its
duplicates. A duplicate has the label ``TripleVariant`` instead of ``Triple``, and an entity that is
not canonical has the label ``Alias`` instead of ``Entity``, so that queries need not exclude them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import uuid4

from cognigraph import ids
from cognigraph.resolution.cluster import Constraint, Link, Pair
from cognigraph.resolution.compare import EntityName, PairVerdict
from cognigraph.resolution.name_forms import is_proper
from cognigraph.stores.neo4j.connection import Row, Transaction
from cognigraph.stores.neo4j.states import TouchedFacts

_BATCH = 1000
_RULED = (":RESEMBLES", ":RULED")
"""What makes statements about pairs of similar entities those about users' constraints."""


class Neo4jEntityMap:
    """See :class:`cognigraph.resolution.incremental.EntityMap`. The caller locks the space first.

    ``labels`` holds the labels of the space's own triple index.
    """

    def __init__(self, tx: Transaction, space: str, labels: Sequence[str], now: datetime) -> None:
        self._tx = tx
        self._space = space
        self._labels = list(labels)
        self._now = now
        self.touched = TouchedFacts(tx)
        """Facts whose ends have changed."""

    def _rows(self, name: str, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        if any(isinstance(value, list) and not value for value in parameters.values()):
            return []
        return self._tx.rows(f"resolve/{name}", *replace, **parameters)

    def _block(self, key: int) -> str:
        return ids.uid("Block", self._space, str(key))

    def named(self, uids: Collection[str]) -> list[EntityName]:
        return [
            EntityName(uid, name, type, frozenset(aliases), is_proper(spelling))
            for uid, name, type, aliases, _, spelling in self._rows("named", uids=sorted(uids))
        ]

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        return self._change("enter", keys)

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        return self._change("leave", keys)

    def _change(
        self, statement: str, keys: Mapping[str, Collection[int]]
    ) -> dict[int, tuple[int, int]]:
        key_of = {self._block(key): key for own in keys.values() for key in own}
        rows = [
            {"uid": uid, "blocks": sorted(map(self._block, own))}
            for uid, own in sorted(keys.items())
            if own
        ]
        changed = self._rows(statement, rows=rows)
        return {key_of[block]: (size, count) for block, size, count in changed}

    def sizes(self, keys: Collection[int]) -> dict[int, int]:
        of = {self._block(key): key for key in keys}
        return {of[block]: size for block, size in self._rows("sizes", blocks=sorted(of))}

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        of = {self._block(key): key for key in keys}
        found: dict[int, list[str]] = {key: [] for key in keys}
        found.update(
            {of[block]: members for block, members in self._rows("blocks", blocks=sorted(of))}
        )
        return found

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        return [
            Pair(a, b, PairVerdict(*relation), verdict)
            for a, b, *relation, verdict in self._rows("pairs", uids=sorted(uids))
        ]

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        rows = [
            {"a": p.a, "b": p.b, "properties": asdict(p.relation) | {"verdict": p.verdict}}
            for p in sorted(pairs, key=lambda pair: pair.ends)
        ]
        self._rows("write_pairs", pairs=rows)

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        self._rows("drop_pairs", pairs=[list(pair.ends) for pair in pairs])

    def constraints(self, uids: Collection[str]) -> list[Constraint]:
        return [Constraint(*row) for row in self._rows("constraints", uids=sorted(uids))]

    def constrain(self, constraints: Sequence[Constraint]) -> None:
        rows = [
            {
                "a": rule.a,
                "b": rule.b,
                "properties": {"verdict": rule.verdict, "into": rule.into, "at": rule.at},
            }
            for rule in constraints
        ]
        self._rows("write_pairs", _RULED, pairs=rows)

    def lift(self, constraints: Sequence[Constraint]) -> None:
        self._rows("drop_pairs", _RULED, pairs=[[rule.a, rule.b] for rule in constraints])

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        rows = self._rows("groups", uids=sorted(uids))
        return {member: canonical for canonical, members in rows for member in members}

    def links(self, uids: Collection[str]) -> list[Link]:
        return [Link(*row) for row in self._rows("links", uids=sorted(uids))]

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        self._rows("unlink", links=[asdict(link) for link in gone], now=self._now)
        rows = [asdict(link) | {"uid": uuid4().hex} for link in new]
        self._rows("link", space=self._space, links=rows, now=self._now)

    def regroup(self, canonical: Mapping[str, str | None]) -> None:
        set_canonical(self._tx, self._space, self._labels, canonical, self.touched.add)


def set_canonical(
    tx: Transaction,
    space: str,
    labels: Sequence[str],
    canonical: Mapping[str, str | None],
    touch: Callable[[Collection[str]], None],
) -> None:
    """Set the canonical entity of extracted entities, and move their mentions and triples there.

    ``None`` takes an entity out of its group: it is canonical itself.

    ``touch`` gets the triples that change, before they do.
    """
    before = {row[0]: row[4] for row in tx.rows("resolve/named", uids=sorted(canonical))}
    rows = [
        {"uid": uid, "old": before[uid] or uid, "shown": new}
        for uid, new in sorted(canonical.items(), key=lambda pair: pair[0])
    ]
    triples = [row[0] for row in tx.rows("resolve/triples_of", rows=rows)]
    touch(triples)
    tx.rows("resolve/canonical", rows=rows)
    tx.rows("resolve/same_as", rows=rows)
    tx.rows("resolve/mentions", rows=rows)
    deduplicate(tx, space, labels, triples)


def deduplicate(tx: Transaction, space: str, labels: Sequence[str], triples: Sequence[str]) -> None:
    """Recompute the canonical subject, object and duplicates of some triples."""
    wanted = sorted(triples)
    for start in range(0, len(wanted), _BATCH):
        _deduplicate(tx, space, list(labels), wanted[start : start + _BATCH])


def _deduplicate(tx: Transaction, space: str, labels: list[str], triples: list[str]) -> None:
    alone: list[str] = []
    keys: set[str] = set()
    changed: list[dict[str, Any]] = []
    for uid, old, relation, when, negated, *ends in tx.rows("resolve/ends", triples=triples):
        subject, object, canonical_subject, canonical_object = ends
        new = None
        if canonical_subject or canonical_object:
            new = ids.triple_uid(
                space,
                canonical_subject or subject,
                relation,
                canonical_object or object,
                when,
                negated,
            )
        else:
            alone.append(uid)
        keys.update(key for key in (old, new) if key is not None)
        if new != old:
            changed.append({"uid": uid, "fold": new})
    if changed:
        tx.rows("resolve/duplicate_key", rows=changed)
    into = {uid: uid for uid in alone}
    for _, members in tx.rows("resolve/duplicates", keys=sorted(keys)) if keys else []:
        into.update(dict.fromkeys(members, members[0]))
    _index(tx, labels, into)


def _index(tx: Transaction, labels: list[str], into: Mapping[str, str]) -> None:
    rows = [{"uid": uid, "into": other} for uid, other in sorted(into.items())]
    if not rows:
        return
    tx.rows("resolve/detach", rows=rows)
    duplicate = [row for row in rows if row["uid"] != row["into"]]
    if duplicate:
        tx.rows("resolve/hide", rows=duplicate, labels=labels)
    kept = [uid for uid, other in into.items() if uid == other]
    ends = [
        {"uid": uid, "subject": canonical_subject or subject, "object": canonical_object or object}
        for uid, _, _, _, _, subject, object, canonical_subject, canonical_object in tx.rows(
            "resolve/ends", triples=sorted(kept)
        )
    ]
    tx.rows("resolve/show", rows=ends, labels=labels)

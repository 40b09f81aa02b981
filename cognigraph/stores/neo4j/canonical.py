"""Keeps canonical entities and duplicate triples up to date after entities merge or split.

A triple keeps the entities it was extracted with (``raw_subject``, ``raw_object``) and is connected
to their canonical entities. Of the triples that are then equal, the one with the smallest uid gets
all evidence (``raw`` on EVIDENCE is the triple it was extracted for) and the others are its
duplicates. A duplicate has the label ``TripleVariant`` instead of ``Triple``, and an entity that is
not canonical has the label ``Alias`` instead of ``Entity``, so that queries need not exclude them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from cognigraph import ids
from cognigraph.stores.neo4j.connection import Transaction

_BATCH = 1000


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

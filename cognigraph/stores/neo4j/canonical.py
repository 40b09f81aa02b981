"""What is shown of the facts that were read: the ends of triples, and triples that say the same.

A triple keeps the entities it was read with (``raw_subject``, ``raw_object``). It is shown at the
entities these are shown as; triples that are then equal are folded into the one with the smallest
uid, which has all their evidence (``raw`` on EVIDENCE says whose it is). A folded triple has the
label ``TripleVariant`` instead of ``Triple``, an entity that is shown as another ``Alias`` instead
of ``Entity``, so that nothing that reads the graph has to know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph import ids
from cognigraph.stores.neo4j.connection import Transaction

_BATCH = 1000


def set_canonical(
    tx: Transaction, space: str, labels: Sequence[str], canonical: Mapping[str, str | None]
) -> None:
    """Show raw entities as others (None: as themselves, alone), with mentions and triples."""
    before = {row[0]: row[4] for row in tx.rows("resolve/named", uids=sorted(canonical))}
    rows = [
        {"uid": uid, "old": before[uid] or uid, "shown": new}
        for uid, new in sorted(canonical.items(), key=lambda pair: pair[0])
    ]
    triples = [row[0] for row in tx.rows("resolve/triples_of", rows=rows)]
    tx.rows("resolve/shown", rows=rows)
    tx.rows("resolve/same_as", rows=rows)
    tx.rows("resolve/mentions", rows=rows)
    deduplicate(tx, space, labels, triples)


def deduplicate(tx: Transaction, space: str, labels: Sequence[str], triples: Sequence[str]) -> None:
    """Bring the shown ends and the folding of some triples up to date."""
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
        tx.rows("resolve/fold", rows=changed)
    into = {uid: uid for uid in alone}
    for _, members in tx.rows("resolve/folds", keys=sorted(keys)) if keys else []:
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

"""Removes the facts extracted from chunks before, when the chunks are extracted again.

The functions run inside the transaction of a derivation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from cognigraph.resolution.incremental import EntityMap, forget
from cognigraph.resolution.spelling import UNSPELLED
from cognigraph.stores.neo4j.canonical import deduplicate
from cognigraph.stores.neo4j.connection import Transaction
from cognigraph.stores.neo4j.spellings import respell


@dataclass(frozen=True, slots=True)
class Affected:
    """Uids of extracted nodes that lost evidence, a mention or a source, and may have none left."""

    triples: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()
    """Entities whose name changed, because the remaining chunks spell it differently."""


class Dropped(NamedTuple):
    """The number of deleted triples, and their total length in terms."""

    triples: int
    length: int


def drop_support(tx: Transaction, chunks: Mapping[str, datetime]) -> Affected:
    """Delete the evidence, mentions and alias sources of chunks, which are given with their times.

    A node that other chunks support takes their earliest spelling. A node that none supports is
    marked as unspelled, so that the next chunk that mentions it determines its spelling.
    """
    rows = tx.rows("redo/drop_support", chunks=sorted(chunks))
    triples, entities, aliases = (
        frozenset(uid for row in rows for uid in row[index]) for index in range(3)
    )
    bare = []
    if triples:
        for uid, _, subject, object, supported in tx.rows("redo/evidence", triples=sorted(triples)):
            entities |= {subject, object}
            if not supported:
                bare.append(uid)
    unsupported = [row[0] for row in tx.rows("redo/unsupported", entities=sorted(entities))]
    tx.rows(
        "redo/unspell",
        triples=bare,
        entities=unsupported,
        aliases=sorted(aliases),
        spelled=UNSPELLED,
    )
    renamed = respell(tx, chunks.values(), triples=triples, entities=entities, aliases=aliases)
    return Affected(triples, entities, aliases, renamed)


def prune_aliases(
    tx: Transaction, affected: Affected, kept: Collection[str]
) -> dict[str, set[str]]:
    """Delete aliases that no chunk states any more; return them by the uid of their entity.

    ``kept`` holds uids of aliases that this derivation states again.
    """
    lost: dict[str, set[str]] = {}
    if candidates := sorted(affected.aliases.difference(kept)):
        for entity, alias in tx.rows("redo/prune_aliases", aliases=candidates):
            lost.setdefault(entity, set()).add(alias)
    return lost


def prune(
    tx: Transaction, entity_map: EntityMap, space: str, labels: Sequence[str], affected: Affected
) -> Dropped:
    """Delete nodes without support, and update the observed times of the other triples."""
    dropped = _prune_triples(tx, space, labels, affected)
    if affected.entities:
        rows = tx.rows("redo/unsupported", entities=sorted(affected.entities))
        gone = [uid for uid, spoken_of in rows if not spoken_of]
        forget(entity_map, gone)
        if gone:
            tx.rows("redo/drop_entities", entities=sorted(gone))
    return dropped


def _prune_triples(
    tx: Transaction, space: str, labels: Sequence[str], affected: Affected
) -> Dropped:
    if not affected.triples:
        return Dropped(0, 0)
    rows = tx.rows("redo/evidence", triples=sorted(affected.triples))
    gone = {uid: key for uid, key, _, _, supported in rows if not supported}
    changed = set(affected.triples)
    if keys := sorted({key for key in gone.values() if key is not None}):
        # Their duplicates must not point to them, nor count them among themselves.
        for _, members in tx.rows("resolve/duplicates", keys=keys):
            changed.update(members)
        tx.rows("resolve/duplicate_key", rows=[{"uid": uid, "fold": None} for uid in sorted(gone)])
    deduplicate(tx, space, labels, sorted(changed.difference(gone)))
    if not gone:
        return Dropped(0, 0)
    row = tx.row("redo/drop_triples", triples=sorted(gone))
    assert row is not None
    return Dropped(*row)

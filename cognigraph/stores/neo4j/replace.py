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
class Loose:
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


def untie(tx: Transaction, chunks: Mapping[str, datetime]) -> Loose:
    """Delete the evidence, mentions and alias sources of chunks, which are given with their times.

    A node that other chunks support takes their earliest spelling. A node that none supports is
    marked as unspelled, so that the next chunk that mentions it determines its spelling.
    """
    rows = tx.rows("redo/untie", chunks=sorted(chunks))
    triples, entities, aliases = (
        frozenset(uid for row in rows for uid in row[index]) for index in range(3)
    )
    bare = []
    if triples:
        for uid, _, subject, object, supported in tx.rows("redo/evidence", triples=sorted(triples)):
            entities |= {subject, object}
            if not supported:
                bare.append(uid)
    unsaid = [row[0] for row in tx.rows("redo/unsaid", entities=sorted(entities))]
    tx.rows(
        "redo/unspell",
        triples=bare,
        entities=unsaid,
        aliases=sorted(aliases),
        spelled=UNSPELLED,
    )
    renamed = respell(tx, chunks.values(), triples=triples, entities=entities, aliases=aliases)
    return Loose(triples, entities, aliases, renamed)


def prune_aliases(tx: Transaction, loose: Loose, kept: Collection[str]) -> dict[str, set[str]]:
    """Delete aliases that no chunk states any more; return them by the uid of their entity.

    ``kept`` holds uids of aliases that this derivation states again.
    """
    lost: dict[str, set[str]] = {}
    if candidates := sorted(loose.aliases.difference(kept)):
        for entity, alias in tx.rows("redo/prune_aliases", aliases=candidates):
            lost.setdefault(entity, set()).add(alias)
    return lost


def prune(
    tx: Transaction, entity_map: EntityMap, space: str, labels: Sequence[str], loose: Loose
) -> Dropped:
    """Delete nodes without support, and update the observed times of the other triples."""
    dropped = _prune_triples(tx, space, labels, loose)
    if loose.entities:
        rows = tx.rows("redo/unsaid", entities=sorted(loose.entities))
        gone = [uid for uid, spoken_of in rows if not spoken_of]
        forget(entity_map, gone)
        if gone:
            tx.rows("redo/drop_entities", entities=sorted(gone))
    return dropped


def _prune_triples(tx: Transaction, space: str, labels: Sequence[str], loose: Loose) -> Dropped:
    if not loose.triples:
        return Dropped(0, 0)
    rows = tx.rows("redo/evidence", triples=sorted(loose.triples))
    gone = {uid: key for uid, key, _, _, supported in rows if not supported}
    changed = set(loose.triples)
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

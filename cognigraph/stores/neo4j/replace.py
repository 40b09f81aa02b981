"""Removing what was extracted from chunks, when they are extracted again or forgotten.

The functions run inside the transaction of a derivation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from cognigraph.ids import normalise
from cognigraph.resolution.incremental import EntityMap, forget
from cognigraph.resolution.name_forms import UNSPELLED, first, given, instant
from cognigraph.stores.neo4j.connection import Transaction
from cognigraph.stores.neo4j.entity_map import deduplicate


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


def respell(
    tx: Transaction,
    moments: Iterable[datetime],
    *,
    triples: Collection[str],
    entities: Collection[str],
    aliases: Collection[str],
) -> frozenset[str]:
    """Recompute the spellings that chunks of these times determined; their evidence is deleted.

    Each node takes the earliest spelling of the chunks that still mention it. Return the uids of
    the entities whose name changes.
    """
    instants = sorted({instant(at) for at in moments})
    named, renamed = _entities(tx, instants, entities)
    rows = {
        "triples": _triples(tx, instants, triples),
        "entities": named,
        "aliases": _aliases(tx, instants, aliases),
    }
    if any(rows.values()):
        tx.rows("redo/respell", **rows)
    if renamed:
        tx.rows("resolve/rename", uids=sorted(renamed))
    return renamed


def _entities(
    tx: Transaction, instants: list[str], uids: Collection[str]
) -> tuple[list[dict[str, Any]], frozenset[str]]:
    found = []
    renamed = set()
    rows = tx.rows("redo/entity_spellings", entities=sorted(uids), instants=instants)
    for uid, normalised, name, mentions, ends in rows:
        spellings = [(at, given(text, [normalised], [name])) for at, text in mentions]
        for at, text, is_subject, is_object in ends:
            subject, _, object = given(text, [normalised] * 3, [name] * 3)
            spellings += [(at, (subject,))] * is_subject + [(at, (object,))] * is_object
        if spellings:
            spelled, (new,) = first(spellings)
            found.append({"uid": uid, "spelled": spelled, "name": new})
            if new != name:
                renamed.add(uid)
    return found, frozenset(renamed)


def _triples(tx: Transaction, instants: list[str], uids: Collection[str]) -> list[dict[str, Any]]:
    found = []
    rows = tx.rows("redo/triple_spellings", triples=sorted(uids), instants=instants)
    for uid, normal_subject, normal_object, subject, relation, object, texts in rows:
        names = subject, relation, object
        normal = normal_subject, normalise(relation), normal_object
        spelled, (subject, relation, object) = first(
            (at, given(text, normal, names)) for at, text in texts
        )
        found.append(
            {
                "uid": uid,
                "spelled": spelled,
                "subject": subject,
                "relation": relation,
                "object": object,
            }
        )
    return found


def _aliases(tx: Transaction, instants: list[str], uids: Collection[str]) -> list[dict[str, Any]]:
    found = []
    rows = tx.rows("redo/alias_spellings", aliases=sorted(uids), instants=instants)
    for uid, normalised, name, texts in rows:
        spelled, (new,) = first((at, given(text, [normalised], [name])) for at, text in texts)
        found.append({"uid": uid, "spelled": spelled, "name": new})
    return found

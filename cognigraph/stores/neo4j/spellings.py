"""Recomputes canonical spellings from the remaining chunks when a chunk is extracted again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from cognigraph.ids import normalise
from cognigraph.resolution.spelling import first, given, instant
from cognigraph.stores.neo4j.connection import Transaction


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

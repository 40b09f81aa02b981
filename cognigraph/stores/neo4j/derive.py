"""Writes a derivation to Neo4j: entities, triples, evidence, mentions, keys and themes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cognigraph.ids import normalise, revision_uid
from cognigraph.resolution.incremental import settle
from cognigraph.stores.neo4j import summaries, tokens
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap, deduplicate
from cognigraph.stores.neo4j.index.packed import pack
from cognigraph.stores.neo4j.replace import Affected, Dropped, drop_support, prune, prune_aliases
from cognigraph.stores.neo4j.statements import vector_property
from cognigraph.stores.neo4j.states import rule_unruled
from cognigraph.stores.neo4j.summaries import write_covers
from cognigraph.stores.neo4j.values import pack_name_vector, spread, vector
from cognigraph.stores.records import (
    AliasRow,
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    ThemeRow,
    TripleRow,
)
from cognigraph.times import to_micros


class Totals(NamedTuple):
    """Numbers of triples and themes of the space after a write, and whether each has an index."""

    triples: int
    triples_indexed: bool
    themes: int
    themes_indexed: bool


class _LeaseLostError(Exception):
    """Raised to roll back when another worker has taken over the lease."""


def complete(
    connection: Connection, lease: Lease, derivation: Derivation, now: datetime
) -> Totals | None:
    """Write a derivation; ``None``, changing nothing, if the lease is lost."""
    try:
        return connection.write(_Write(lease, derivation, connection.generation, now).run)
    except _LeaseLostError:
        return None


class _Write:
    """The write transaction of one derivation.

    It takes locks in the order: facts of the space, entities, triples, session, chunks. An insert
    also locks its session before its chunks, so the two cannot deadlock. An insert waits only for
    the second half of this transaction, because the session is locked as late as possible.
    """

    def __init__(
        self, lease: Lease, derivation: Derivation, generation: int, now: datetime
    ) -> None:
        self._generation = generation
        self._lease = lease
        self._now = now
        self._space = lease.space
        self._derivation = derivation

    def run(self, tx: Transaction) -> Totals:
        derivation, lease = self._derivation, self._lease
        themes = derivation.themes
        row = tx.row(
            "derive/lock",
            space=self._space,
            generation=self._generation,
            session=lease.session_uid,
            token=lease.token,
            triples=[triple.uid for triple in derivation.triples],
            count=len(derivation.triples) + len(themes or ()),
        )
        if row is None:
            tx.check_generation()
        seq, triple_labels, theme_labels, known = _require(row)
        new = [triple for triple in derivation.triples if triple.uid not in set(known)]
        dropped = self._write_facts(tx, new, triple_labels, seq)
        if derivation.keys is not None:
            self._replace_keys(tx, derivation.keys)
        replaced = 0
        if themes is not None:
            dropped_themes = tx.row("derive/drop_themes", session=lease.session_uid)
            replaced, made_of = _require(dropped_themes)
            first = seq + len(derivation.triples) + 1
            self._write_themes(tx, themes, theme_labels, first)
            if made_of:
                tx.rows("derive/derived_from", pairs=made_of)
        summaries.write_written(tx, self._space, lease.session_uid, derivation.written)
        replaces = derivation.keys is not None or themes is not None
        revised = replaces and not derivation.provisional
        noted = replaces or derivation.state or not lease.chunks
        totals = Totals(
            *_require(
                tx.row(
                    "derive/finish",
                    space=self._space,
                    session=lease.session_uid,
                    chunks=sorted(chunk.uid for chunk in lease.chunks),
                    extractor=derivation.extractor,
                    held=derivation.held,
                    replaced=replaces,
                    revised=revised,
                    state=derivation.state,
                    summary_due=derivation.summary_due if noted else None,
                    triples=len(new) - dropped.triples,
                    length=sum(sum(triple.terms.values()) for triple in new) - dropped.length,
                    themes=len(themes or ()) - replaced,
                )
            )
        )
        if revised:
            self._keep_revision(tx)
        return totals

    def _write_facts(
        self, tx: Transaction, new: list[TripleRow], labels: list[str], seq: int
    ) -> Dropped:
        """Write entities and triples; return the counts of replaced triples that were deleted."""
        entity_map = Neo4jEntityMap(tx, self._space, labels, self._now)
        affected = self._drop_support(tx)
        entity_map.touched.add(affected.triples if affected else ())
        canonical = self._merge_entities(tx, entity_map, affected)
        if new:
            triples = [
                self._triple(row, seq + position, canonical) for position, row in enumerate(new, 1)
            ]
            tx.rows("derive/triples", labels=labels, triples=triples)
        created = {triple.uid for triple in new}
        if again := [
            self._spelling(triple, canonical)
            for triple in self._derivation.triples
            if triple.uid not in created
        ]:
            waiting = vector_property(self._generation + 1)
            tx.rows("resolve/spelled", triples=again, waiting=waiting)
        _require(tx.row("derive/hold", session=self._lease.session_uid, token=self._lease.token))
        self._link_to_chunks(tx, canonical)
        merged = [t.uid for t in new if canonical[t.subject_uid] or canonical[t.object_uid]]
        deduplicate(tx, self._space, labels, merged)
        entity_map.touched.add([triple.uid for triple in self._derivation.triples])
        dropped = Dropped(0, 0)
        if affected is not None:
            dropped = prune(tx, entity_map, self._space, labels, affected)
        if self._derivation.rulings:
            ruled = rule_unruled(tx, self._space, self._derivation.rulings, to_micros(self._now))
            entity_map.touched.add(ruled)
        entity_map.touched.decide()
        return dropped

    def _keep_revision(self, tx: Transaction) -> None:
        session, version = self._lease.session_uid, self._lease.notes.version + 1
        tx.rows(
            "derive/revise",
            session=session,
            uid=revision_uid(session, version),
            at=self._now,
            extractor=self._derivation.extractor,
            keep=self._derivation.keep_revisions,
        )

    def _drop_support(self, tx: Transaction) -> Affected | None:
        """Remove the facts extracted before from the chunks; ``None`` if all chunks are new."""
        before = {c.uid: c.at for c in self._lease.chunks if c.extractor is not None}
        if not before:
            return None
        # Lock the session before its chunks, as an insert does.
        _require(tx.row("derive/hold", session=self._lease.session_uid, token=self._lease.token))
        return drop_support(tx, before)

    def _merge_entities(
        self, tx: Transaction, entity_map: Neo4jEntityMap, affected: Affected | None
    ) -> dict[str, str | None]:
        """Write and resolve entities; return their canonical uids, ``None`` outside any group."""
        entities, aliases = self._derivation.entities, self._derivation.aliases
        lost = prune_aliases(tx, affected, [alias.uid for alias in aliases]) if affected else {}
        respelled = affected.renamed if affected else frozenset()
        if not entities:
            settle(entity_map, sorted(respelled), lost)
            return {}
        uids = sorted(entity.uid for entity in entities)
        known = {row[0] for row in tx.rows("resolve/named", uids=uids)}
        rows = [entity_row(self._space, entity) for entity in entities]
        rows.sort(key=lambda row: str(row["entity"]["uid"]))
        renamed = tx.rows("derive/entities", entities=rows)
        if heads := [uid for uid, canonical in renamed if canonical]:
            tx.rows("resolve/rename", uids=heads)
        touched = {*uids} - known | {row[0] for row in renamed} | respelled
        if aliases:
            named = tx.rows("resolve/aliases", aliases=[self._alias(alias) for alias in aliases])
            touched.update(row[0] for row in named)
        settle(entity_map, sorted(touched), lost)
        return {row[0]: row[4] for row in tx.rows("resolve/named", uids=uids)}

    def _link_to_chunks(self, tx: Transaction, canonical: Mapping[str, str | None]) -> None:
        derivation = self._derivation
        spellings = derivation.spellings
        evidence = sorted(
            (
                [
                    t.uid,
                    chunk,
                    t.said_by.get(chunk),
                    spellings.get((chunk, t.uid)),
                    (chunk in t.replaces) or None,
                ]
                for t in derivation.triples
                for chunk in t.evidence
            ),
            key=lambda row: row[:2],
        )
        if evidence:
            tx.rows("derive/evidence", session=self._lease.session_uid, evidence=evidence)
        if derivation.mentions:
            rows = [
                [chunk, uid, canonical[uid] or uid, spellings.get((chunk, uid))]
                for chunk, uid in sorted(derivation.mentions)
            ]
            tx.rows("derive/mentions", mentions=rows)
        if derivation.aliases:
            ties = sorted((a.uid, chunk) for a in derivation.aliases for chunk in a.evidence)
            sources = [[uid, chunk, spellings.get((chunk, uid))] for uid, chunk in ties]
            tx.rows("derive/sources", sources=sources)

    def _replace_keys(self, tx: Transaction, keys: tuple[KeyRow, ...]) -> None:
        session = self._lease.session_uid
        old = set(_require(tx.row("derive/drop_keys", session=session))[0])
        rows = [
            {"uid": key.uid, "name": key.name, "weight": key.weight, "vector": vector(key.vector)}
            for key in sorted(keys, key=lambda key: key.uid)
        ]
        if rows:
            tx.rows("derive/keys", space=self._space, session=session, keys=rows)
        if gone := sorted(old - {key.uid for key in keys}):
            tx.rows("derive/prune_keys", keys=gone)

    def _write_themes(
        self, tx: Transaction, themes: tuple[ThemeRow, ...], labels: list[str], first: int
    ) -> None:
        session = self._lease.session_uid
        rows = [
            {
                "properties": {
                    "uid": theme.uid,
                    "space": self._space,
                    "session_uid": session,
                    "place": position,
                    "seq": first + position,
                    "title": theme.title,
                    "summary": theme.summary,
                    "reason": theme.reason,
                    "length": sum(theme.terms.values()),
                    "terms": spread(theme.terms),
                },
                "vector": vector(theme.vector),
                "ranking": pack(self._space, theme.uid, theme.terms, theme.vector, session=session),
            }
            for position, theme in enumerate(themes)
        ]
        if rows:
            tx.rows("derive/themes", session=session, labels=labels, themes=rows)
            write_covers(tx, session, themes)

    def _alias(self, alias: AliasRow) -> dict[str, Any]:
        return {"entity": alias.entity_uid, "properties": _named(self._space, alias)}

    def _spelling(self, triple: TripleRow, canonical: Mapping[str, str | None]) -> dict[str, Any]:
        return {
            "uid": triple.uid,
            "spelled": triple.spelled,
            "subject": triple.subject,
            "relation": triple.relation,
            "object": triple.object,
            "vector": vector(triple.vector),
            "ranking": pack(self._space, triple.uid, triple.terms, triple.vector),
            "subject_alone": canonical[triple.subject_uid] is None,
            "object_alone": canonical[triple.object_uid] is None,
        }

    def _triple(
        self, triple: TripleRow, seq: int, canonical: Mapping[str, str | None]
    ) -> dict[str, Any]:
        times = {chunk.uid: chunk.at for chunk in self._lease.chunks}
        observed = [times[uid] for uid in triple.evidence]
        when = triple.when
        subject = canonical[triple.subject_uid] or triple.subject_uid
        object = canonical[triple.object_uid] or triple.object_uid
        return {
            "subject": subject,
            "object": object,
            "vector": vector(triple.vector),
            "ranking": pack(self._space, triple.uid, triple.terms, triple.vector),
            "properties": {
                "uid": triple.uid,
                "space": self._space,
                "seq": seq,
                "subject_uid": subject,
                "object_uid": object,
                "raw_subject": triple.subject_uid,
                "raw_object": triple.object_uid,
                "spelled": triple.spelled,
                "subject": triple.subject,
                "said_subject": triple.subject,
                "relation": triple.relation,
                "object": triple.object,
                "said_object": triple.object,
                "when": when.text if when else None,
                "valid_from": when.start if when else None,
                "valid_to": when.end if when else None,
                "negated": triple.negated,
                "status": "current",
                "first_observed": min(observed),
                "last_observed": max(observed),
                "length": sum(triple.terms.values()),
                "terms": spread(triple.terms),
                "lexemes": tokens.lexemes(self._space, triple.terms),
            },
        }


def _require(row: Row | None) -> Row:
    """The row that a statement returns while the lease holds."""
    if row is None:
        raise _LeaseLostError
    return row


def entity_row(space: str, entity: EntityRow) -> dict[str, Any]:
    """Parameters of a statement that writes an entity."""
    vector = None if entity.vector is None else pack_name_vector(entity.vector)
    return {"entity": _named(space, entity) | {"type": entity.type}, "vector": vector}


def _named(space: str, row: EntityRow | AliasRow) -> dict[str, Any]:
    normalised = normalise(row.name)
    return {
        "uid": row.uid,
        "space": space,
        "name": row.name,
        "normalised": normalised,
        "key": row.key,
        "anchor": tokens.anchor_hash(space, row.key),
        "name_hash": tokens.name_hash(space, normalised),
        "spelled": row.spelled,
    }

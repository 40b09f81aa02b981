"""Writing what one lease led to: entities, triples, evidence, keys and themes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from cognigraph.ids import normalise, revision_uid
from cognigraph.stores.base import Derivation, EntityRow, KeyRow, Lease, ThemeRow, TripleRow
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.values import spread, vector


class Totals(NamedTuple):
    """Triples and themes of the space after a write, and whether each has its own index."""

    triples: int
    triples_indexed: bool
    themes: int
    themes_indexed: bool


class _Dropped(NamedTuple):
    """Triples that went, and their length in terms."""

    triples: int
    length: int


class _LeaseLostError(Exception):
    """Another worker has taken over: roll back."""


def complete(
    connection: Connection, lease: Lease, derivation: Derivation, now: datetime
) -> Totals | None:
    """Write a derivation; None, changing nothing, if the lease is lost."""
    try:
        return connection.write(_Write(lease, derivation, connection.generation, now).run)
    except _LeaseLostError:
        return None


class _Write:
    """One derivation as statements.

    Locks are taken in the order: the space's facts, entities, triples, session, chunks. An insert
    takes its session before its chunks too, so the two never wait for each other in a ring; and
    it waits only for the second half, because the session is locked as late as possible.
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
        seq, triple_labels, theme_labels, known = _held(row)
        new = [triple for triple in derivation.triples if triple.uid not in set(known)]
        if derivation.entities:
            rows = [self._entity(entity) for entity in derivation.entities]
            tx.rows("derive/entities", entities=sorted(rows, key=lambda row: row["uid"]))
        if new:
            triples = [self._triple(row, seq + place) for place, row in enumerate(new, 1)]
            tx.rows("derive/triples", labels=triple_labels, triples=triples)
        _held(tx.row("derive/hold", session=lease.session_uid, token=lease.token))
        dropped = self._retie(tx)
        if derivation.keys is not None:
            self._replace_keys(tx, derivation.keys)
        replaced = 0
        if themes is not None:
            replaced = _held(tx.row("derive/drop_themes", session=lease.session_uid))[0]
            first = seq + len(derivation.triples) + 1
            self._write_themes(tx, themes, theme_labels, first)
        revised = derivation.keys is not None or themes is not None
        totals = Totals(
            *_held(
                tx.row(
                    "derive/finish",
                    space=self._space,
                    session=lease.session_uid,
                    chunks=sorted(chunk.uid for chunk in lease.chunks),
                    extractor=derivation.extractor,
                    revised=revised,
                    state=derivation.state,
                    triples=len(new) - dropped.triples,
                    length=sum(sum(triple.terms.values()) for triple in new) - dropped.length,
                    themes=len(themes or ()) - replaced,
                )
            )
        )
        if revised:
            self._keep_revision(tx)
        return totals

    def _retie(self, tx: Transaction) -> _Dropped:
        """Tie chunks to what was read out of them, in place of what was read before."""
        before = sorted(chunk.uid for chunk in self._lease.chunks if chunk.extractor is not None)
        loose = tx.rows("redo/untie", chunks=before) if before else []
        self._tie(tx)
        if not loose:
            return _Dropped(0, 0)
        triples = sorted({uid for row in loose for uid in row[0]})
        entities = {uid for row in loose for uid in row[1]}
        dropped = _Dropped(0, 0)
        if gone := _held(tx.row("redo/retime", triples=triples))[0]:
            count, length, ends = _held(tx.row("redo/drop_triples", triples=sorted(gone)))
            dropped = _Dropped(count, length)
            entities.update(ends)
        tx.rows("redo/prune_entities", entities=sorted(entities))
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

    def _tie(self, tx: Transaction) -> None:
        derivation = self._derivation
        evidence = sorted([t.uid, chunk] for t in derivation.triples for chunk in t.evidence)
        if evidence:
            tx.rows("derive/evidence", session=self._lease.session_uid, evidence=evidence)
        if derivation.mentions:
            tx.rows("derive/mentions", mentions=sorted(map(list, derivation.mentions)))

    def _replace_keys(self, tx: Transaction, keys: tuple[KeyRow, ...]) -> None:
        session = self._lease.session_uid
        old = set(_held(tx.row("derive/drop_keys", session=session))[0])
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
                    "place": place,
                    "seq": first + place,
                    "title": theme.title,
                    "summary": theme.summary,
                    "length": sum(theme.terms.values()),
                    "terms": spread(theme.terms),
                },
                "vector": vector(theme.vector),
            }
            for place, theme in enumerate(themes)
        ]
        if rows:
            tx.rows("derive/themes", session=session, labels=labels, themes=rows)

    def _entity(self, entity: EntityRow) -> dict[str, Any]:
        normalised = normalise(entity.name)
        return {
            "uid": entity.uid,
            "space": self._space,
            "name": entity.name,
            "normalised": normalised,
            "type": entity.type,
            "key": entity.key,
            "anchor": tokens.anchor(self._space, entity.key),
            "name_hash": tokens.name_hash(self._space, normalised),
        }

    def _triple(self, triple: TripleRow, seq: int) -> dict[str, Any]:
        times = {chunk.uid: chunk.at for chunk in self._lease.chunks}
        observed = [times[uid] for uid in triple.evidence]
        when = triple.when
        return {
            "subject": triple.subject_uid,
            "object": triple.object_uid,
            "vector": vector(triple.vector),
            "properties": {
                "uid": triple.uid,
                "space": self._space,
                "seq": seq,
                "subject_uid": triple.subject_uid,
                "object_uid": triple.object_uid,
                "subject": triple.subject,
                "relation": triple.relation,
                "object": triple.object,
                "when": when.text if when else None,
                "valid_from": when.start if when else None,
                "valid_to": when.end if when else None,
                "negated": triple.negated,
                "first_observed": min(observed),
                "last_observed": max(observed),
                "length": sum(triple.terms.values()),
                "terms": spread(triple.terms),
                "lexemes": tokens.lexemes(self._space, triple.terms),
            },
        }


def _held(row: Row | None) -> Row:
    if row is None:
        raise _LeaseLostError
    return row

"""Writes what was extracted under a lease, in the transaction of ``SQLiteQueue.complete``."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cognigraph.ids import normalise
from cognigraph.resolution.incremental import settle
from cognigraph.stores.records import Derivation, EntityRow, Lease, TripleRow
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap, deduplicate
from cognigraph.stores.sqlite.messages import bump
from cognigraph.stores.sqlite.replace import drop_support, prune, prune_aliases
from cognigraph.stores.sqlite.rows import VectorFormat, pack_terms, pack_uid, select_in
from cognigraph.stores.sqlite.states import rule_unruled
from cognigraph.stores.sqlite.summaries import keep_revision, replace_themes, write_written
from cognigraph.times import to_micros

_INSERT_ENTITY = """
INSERT INTO entity (uid, space_id, name, normalised, type, key, spelled)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (uid) DO UPDATE SET name = excluded.name, spelled = excluded.spelled
WHERE excluded.spelled < spelled"""
_INSERT_ALIAS = """
INSERT INTO alias (uid, space_id, entity_id, name, normalised, key, spelled)
VALUES (?, ?, (SELECT id FROM entity WHERE uid = ?), ?, ?, ?, ?)
ON CONFLICT (uid) DO UPDATE SET name = excluded.name, spelled = excluded.spelled
WHERE excluded.spelled < spelled"""
_INSERT_TRIPLE = """
INSERT INTO triple (uid, space_id, subject_id, object_id, raw_subject_id, raw_object_id, spelled,
                    subject, relation, object, when_text, valid_from, valid_to, negated,
                    first_observed, last_observed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (uid) DO UPDATE SET
  first_observed = min(first_observed, excluded.first_observed),
  last_observed = max(last_observed, excluded.last_observed)
RETURNING id, first_observed, last_observed, spelled"""
_INDEX_TRIPLE = """
INSERT INTO triple_index VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (triple_id) DO UPDATE SET changed = excluded.changed,
  first_observed = excluded.first_observed, last_observed = excluded.last_observed,
  vector = CASE WHEN ? THEN excluded.vector ELSE vector END"""
_INSERT_EVIDENCE = """
INSERT INTO evidence (raw_id, chunk_id, triple_id, observed_at, said_by, spelled, replaces)
VALUES (?, ?, (SELECT coalesce(folded_into, id) FROM triple WHERE id = ?), ?, ?, ?, ?)
ON CONFLICT DO NOTHING"""

_End = tuple[int, int, bool]
"""Id of an entity, id of its canonical entity, and whether it is in a group."""


def write_derivation(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    lease: Lease,
    derivation: Derivation,
    now: int,
) -> None:
    """Write the derivation of a lease. The caller has checked that the lease still holds."""
    writer = _Writer(connection, vectors, lease, derivation)
    writer.write_facts(now)
    writer.write_summary(now)
    writer.finish()


def merge_entities(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    entities: Sequence[EntityRow],
) -> set[str]:
    """Insert entities or update their spelling; return the uids of those with a new name.

    An entity whose name has no vector yet gets one.
    """
    names = "SELECT uid, name FROM entity WHERE uid IN ({})"
    uids = [entity.uid for entity in entities]
    known = dict(select_in(connection, names, uids))
    connection.executemany(
        _INSERT_ENTITY,
        [
            (
                entity.uid, space_id, entity.name, normalise(entity.name), entity.type, entity.key,
                entity.spelled,
            )
            for entity in entities
        ],
    )  # fmt: skip
    connection.executemany(
        "INSERT OR IGNORE INTO name_vector SELECT id, ? FROM entity WHERE uid = ?",
        [
            (vectors.pack(entity.vector), entity.uid)
            for entity in entities
            if entity.vector is not None
        ],
    )
    return {uid for uid, name in select_in(connection, names, uids) if known.get(uid) != name}


class _Writer:
    """The writes of one derivation, in one transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        vectors: VectorFormat,
        lease: Lease,
        derivation: Derivation,
    ) -> None:
        self._connection = connection
        self._vectors = vectors
        self._lease = lease
        self._derivation = derivation
        self._space_id, self._revision = bump(connection, lease.space)
        (self._session_id,) = connection.execute(
            "SELECT id FROM session WHERE uid = ?", (lease.session_uid,)
        ).fetchone()
        self._times = {chunk.uid: to_micros(chunk.at) for chunk in lease.chunks}
        chunks = "SELECT uid, id FROM chunk WHERE uid IN ({})"
        self._chunk_ids: dict[str, int] = dict(select_in(connection, chunks, [*self._times]))

    # Facts

    def write_facts(self, now: int) -> None:
        """Replace what was extracted from the chunks before; resolve entities, decide facts."""
        connection, derivation, space = self._connection, self._derivation, self._lease.space
        read_before = [
            self._chunk_ids[chunk.uid]
            for chunk in self._lease.chunks
            if chunk.extractor is not None
        ]
        affected = drop_support(connection, read_before)
        entity_map = SQLiteEntityMap(connection, space, self._space_id, self._revision, now)
        entity_map.touched.add(affected.triples)
        renamed = merge_entities(connection, self._vectors, self._space_id, derivation.entities)
        renamed |= self._merge_aliases() | affected.renamed
        settle(entity_map, sorted(renamed), prune_aliases(connection, affected))
        ends = self._ends()
        stated: list[int] = []
        grouped: list[int] = []
        for triple in derivation.triples:
            id = self._merge_triple(triple, ends)
            self._add_evidence(id, triple)
            stated.append(id)
            if ends[triple.subject_uid][2] or ends[triple.object_uid][2]:
                grouped.append(id)
        deduplicate(connection, space, self._revision, grouped)
        entity_map.touched.add(stated)
        connection.executemany(
            "INSERT OR IGNORE INTO mention (chunk_id, raw_id, entity_id, spelled) "
            "VALUES (?, ?, ?, ?)",
            [
                (self._chunk_ids[chunk], *ends[uid][:2], derivation.spellings.get((chunk, uid)))
                for chunk, uid in derivation.mentions
            ],
        )
        if read_before:
            prune(connection, entity_map, space, self._space_id, self._revision, affected)
        if derivation.rulings:
            ruled = rule_unruled(connection, self._space_id, derivation.rulings, now)
            entity_map.touched.add_uids(ruled)
        entity_map.touched.decide()

    def _merge_aliases(self) -> set[str]:
        """Write aliases; return the uids of the entities that gain an alias."""
        aliases, spellings = self._derivation.aliases, self._derivation.spellings
        uids = [alias.uid for alias in aliases]
        rows = select_in(self._connection, "SELECT uid FROM alias WHERE uid IN ({})", uids)
        known = {uid for (uid,) in rows}
        self._connection.executemany(
            _INSERT_ALIAS,
            [
                (
                    alias.uid, self._space_id, alias.entity_uid, alias.name, normalise(alias.name),
                    alias.key, alias.spelled,
                )
                for alias in aliases
            ],
        )  # fmt: skip
        self._connection.executemany(
            "INSERT OR IGNORE INTO alias_source (alias_id, chunk_id, spelled) "
            "SELECT id, ?, ? FROM alias WHERE uid = ?",
            [
                (self._chunk_ids[chunk], spellings.get((chunk, alias.uid)), alias.uid)
                for alias in aliases
                for chunk in alias.evidence
            ],
        )
        return {alias.entity_uid for alias in aliases if alias.uid not in known}

    def _ends(self) -> dict[str, _End]:
        query = "SELECT id, coalesce(shown_id, id), shown_id IS NOT NULL FROM entity WHERE uid = ?"
        return {
            entity.uid: self._connection.execute(query, (entity.uid,)).fetchone()
            for entity in self._derivation.entities
        }

    def _merge_triple(self, triple: TripleRow, ends: dict[str, _End]) -> int:
        """Write a triple as extracted and return its id; its duplicates are found afterwards."""
        observed = [self._times[uid] for uid in triple.evidence]
        when = triple.when
        subject, canonical_subject, _ = ends[triple.subject_uid]
        object, canonical_object, _ = ends[triple.object_uid]
        triple_id, first, last, old = self._connection.execute(
            _INSERT_TRIPLE,
            (
                triple.uid, self._space_id, canonical_subject, canonical_object, subject, object,
                triple.spelled, triple.subject, triple.relation, triple.object,
                when.text if when else None,
                to_micros(when.start) if when else None, to_micros(when.end) if when else None,
                triple.negated, min(observed), max(observed),
            ),
        ).fetchone()  # fmt: skip
        if triple.spelled < old:
            self._connection.execute(
                "UPDATE triple SET spelled = ?, subject = ?, relation = ?, object = ? WHERE id = ?",
                (triple.spelled, triple.subject, triple.relation, triple.object, triple_id),
            )
            # A vector already made for the next embedder has the old spelling: it is made again.
            self._connection.execute("DELETE FROM triple_next WHERE id = ?", (triple_id,))
        self._connection.execute(
            _INDEX_TRIPLE,
            (
                triple_id, self._space_id, self._revision, canonical_subject, canonical_object,
                first, last, sum(triple.terms.values()), pack_uid(triple.uid),
                pack_terms(triple.terms), self._vectors.pack(triple.vector), triple.spelled < old,
            ),
        )  # fmt: skip
        return int(triple_id)

    def _add_evidence(self, triple_id: int, triple: TripleRow) -> None:
        self._connection.executemany(
            _INSERT_EVIDENCE,
            [
                (
                    triple_id, self._chunk_ids[uid], triple_id, self._times[uid],
                    triple.said_by.get(uid), self._derivation.spellings.get((uid, triple.uid)),
                    uid in triple.replaces,
                )
                for uid in triple.evidence
            ],
        )  # fmt: skip

    # The session

    def write_summary(self, now: int) -> None:
        """Replace the session's keys and themes, make a revision, and note whether more is due."""
        connection, derivation, session_id = self._connection, self._derivation, self._session_id
        if derivation.keys is not None:
            self._replace_keys()
        if derivation.themes is not None:
            themes = derivation.themes
            replace_themes(connection, self._vectors, self._space_id, session_id, themes)
        write_written(connection, self._lease.space, self._space_id, session_id, derivation.written)
        replaced = derivation.keys is not None or derivation.themes is not None
        revised = replaced and not derivation.provisional
        if replaced:
            connection.execute(
                "UPDATE session SET changed = ? WHERE id = ?", (self._revision, session_id)
            )
        if revised:
            connection.execute(
                "UPDATE session SET version = version + 1, renew = 0 WHERE id = ?", (session_id,)
            )
            keep_revision(connection, session_id, derivation, now)
        if replaced or derivation.state:
            connection.execute(
                "UPDATE session SET state = ? WHERE id = ?", (derivation.state, session_id)
            )
        if replaced or derivation.state or not self._lease.chunks:
            self._note_due_summary(revised)

    def _replace_keys(self) -> None:
        connection, session_id = self._connection, self._session_id
        old = connection.execute(
            "DELETE FROM session_key WHERE session_id = ? RETURNING key_id", (session_id,)
        ).fetchall()
        for key in self._derivation.keys or ():
            (key_id,) = connection.execute(
                """INSERT INTO key (uid, space_id, name, vector) VALUES (?, ?, ?, ?)
                   ON CONFLICT (uid) DO UPDATE SET uid = uid RETURNING id""",
                (key.uid, self._space_id, key.name, self._vectors.pack(key.vector)),
            ).fetchone()
            connection.execute(
                "INSERT OR REPLACE INTO session_key VALUES (?, ?, ?)",
                (session_id, key_id, key.weight),
            )
        connection.executemany(
            "DELETE FROM key WHERE id = ? AND NOT EXISTS "
            "(SELECT 1 FROM session_key WHERE key_id = key.id)",
            old,
        )

    def _note_due_summary(self, revised: bool) -> None:
        """Record whether a summary is due; a revision resets its failed attempts."""
        connection, session_id = self._connection, self._session_id
        if not self._derivation.summary_due:
            connection.execute("DELETE FROM behind WHERE session_id = ?", (session_id,))
            return
        connection.execute(
            """INSERT INTO behind (session_id, space_id)
               SELECT id, space_id FROM session WHERE id = ? ON CONFLICT DO NOTHING""",
            (session_id,),
        )
        if self._derivation.held:
            connection.execute(
                """UPDATE behind SET state = 0, attempts = CASE WHEN ? THEN 0 ELSE attempts END
                   WHERE session_id = ?""",
                (revised, session_id),
            )

    def finish(self) -> None:
        """Mark the chunks done."""
        self._connection.executemany(
            "UPDATE work SET state = 1, lease = NULL, reason = NULL, extractor = ?, outages = 0,"
            " deaths = 0, attempts = attempts + 1 WHERE chunk_id = ?",
            [(self._derivation.extractor, chunk_id) for chunk_id in self._chunk_ids.values()],
        )

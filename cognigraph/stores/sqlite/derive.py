"""SQL that writes a derivation; each function runs inside one write transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from cognigraph.ids import normalise
from cognigraph.resolution.incremental import settle
from cognigraph.stores.records import (
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    TripleRow,
)
from cognigraph.stores.sqlite import due_summaries, succession, written
from cognigraph.stores.sqlite.canonical import deduplicate
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.episodes import replace_themes
from cognigraph.stores.sqlite.insert import bump
from cognigraph.stores.sqlite.replace import drop_support, prune, prune_aliases
from cognigraph.stores.sqlite.revisions import keep
from cognigraph.stores.sqlite.vector_format import VectorFormat, pack_terms, pack_uid
from cognigraph.times import to_micros


def write_derivation(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    lease: Lease,
    derivation: Derivation,
    now: int,
) -> None:
    """Write the derivation of a lease. The caller has checked that the lease still holds."""
    space_id, revision = bump(connection, lease.space)
    (session_id,) = connection.execute(
        "SELECT id FROM session WHERE uid = ?", (lease.session_uid,)
    ).fetchone()
    chunks = {chunk.uid: chunk for chunk in lease.chunks}
    marks = ",".join("?" * len(chunks))
    chunk_ids = dict(
        connection.execute(f"SELECT uid, id FROM chunk WHERE uid IN ({marks})", tuple(chunks))
    )
    read_before = [chunk_ids[chunk.uid] for chunk in lease.chunks if chunk.extractor is not None]
    affected = drop_support(connection, read_before)
    entity_map = SQLiteEntityMap(connection, lease.space, space_id, revision, now)
    entity_map.touched.add(affected.triples)
    touched = merge_entities(connection, vectors, space_id, derivation.entities)
    touched |= _merge_aliases(connection, space_id, derivation, chunk_ids)
    touched |= affected.renamed
    settle(entity_map, sorted(touched), prune_aliases(connection, affected))
    ends = _ends(connection, derivation.entities)
    times = {uid: to_micros(chunk.at) for uid, chunk in chunks.items()}
    merged: list[int] = []
    stated: list[int] = []
    for triple in derivation.triples:
        id = _merge_triple(connection, vectors, space_id, revision, triple, ends, times)
        _add_evidence(connection, id, triple, derivation, chunk_ids, times)
        stated.append(id)
        if ends[triple.subject_uid][2] or ends[triple.object_uid][2]:
            merged.append(id)
    deduplicate(connection, lease.space, revision, merged)
    entity_map.touched.add(stated)
    connection.executemany(
        "INSERT OR IGNORE INTO mention (chunk_id, raw_id, entity_id, spelled) VALUES (?, ?, ?, ?)",
        [
            (chunk_ids[chunk], *ends[entity][:2], derivation.spellings.get((chunk, entity)))
            for chunk, entity in derivation.mentions
        ],
    )
    if read_before:
        prune(connection, entity_map, lease.space, space_id, revision, affected)
    succession.settle(connection, space_id, entity_map.touched)
    if derivation.keys is not None:
        _replace_keys(connection, vectors, space_id, session_id, derivation.keys)
    if derivation.themes is not None:
        replace_themes(connection, vectors, space_id, session_id, derivation.themes)
    written.write(connection, lease.space, space_id, session_id, derivation.written)
    replaced = derivation.keys is not None or derivation.themes is not None
    revised = replaced and not derivation.provisional
    if replaced:
        connection.execute("UPDATE session SET changed = ? WHERE id = ?", (revision, session_id))
    if revised:
        connection.execute(
            "UPDATE session SET version = version + 1, renew = 0 WHERE id = ?", (session_id,)
        )
        keep(connection, session_id, derivation, now)
    if replaced or derivation.state:
        connection.execute(
            "UPDATE session SET state = ? WHERE id = ?", (derivation.state, session_id)
        )
    if replaced or derivation.state or not lease.chunks:
        due_summaries.note(connection, session_id, derivation, revised=revised)
    connection.executemany(
        "UPDATE work SET state = 1, lease = NULL, reason = NULL, extractor = ?, outages = 0,"
        " deaths = 0, attempts = attempts + 1 WHERE chunk_id = ?",
        [(derivation.extractor, chunk_id) for chunk_id in chunk_ids.values()],
    )


def merge_entities(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    entities: Sequence[EntityRow],
) -> set[str]:
    """Insert entities or update their spelling; return the uids of those with a new name.

    An entity whose name has no vector yet gets one.
    """
    uids = [entity.uid for entity in entities]
    known = {uid: name for uid, name in _by_uid(connection, "entity", "uid, name", uids)}
    connection.executemany(
        """INSERT INTO entity (uid, space_id, name, normalised, type, key, spelled)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (uid) DO UPDATE SET name = excluded.name, spelled = excluded.spelled
           WHERE excluded.spelled < spelled""",
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
    now = _by_uid(connection, "entity", "uid, name", uids)
    return {uid for uid, name in now if known.get(uid) != name}


def _merge_aliases(
    connection: sqlite3.Connection,
    space_id: int,
    derivation: Derivation,
    chunk_ids: Mapping[str, int],
) -> set[str]:
    """Write aliases; return the uids of the entities that gain an alias."""
    aliases = derivation.aliases
    uids = [alias.uid for alias in aliases]
    known = {row[0] for row in _by_uid(connection, "alias", "uid", uids)}
    connection.executemany(
        """INSERT INTO alias (uid, space_id, entity_id, name, normalised, key, spelled)
           VALUES (?, ?, (SELECT id FROM entity WHERE uid = ?), ?, ?, ?, ?)
           ON CONFLICT (uid) DO UPDATE SET name = excluded.name, spelled = excluded.spelled
           WHERE excluded.spelled < spelled""",
        [
            (
                alias.uid, space_id, alias.entity_uid, alias.name, normalise(alias.name),
                alias.key, alias.spelled,
            )
            for alias in aliases
        ],
    )  # fmt: skip
    connection.executemany(
        "INSERT OR IGNORE INTO alias_source (alias_id, chunk_id, spelled) "
        "SELECT id, ?, ? FROM alias WHERE uid = ?",
        [
            (chunk_ids[chunk], derivation.spellings.get((chunk, alias.uid)), alias.uid)
            for alias in aliases
            for chunk in alias.evidence
        ],
    )
    return {alias.entity_uid for alias in aliases if alias.uid not in known}


def _by_uid(
    connection: sqlite3.Connection, table: str, columns: str, uids: Sequence[str]
) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for start in range(0, len(uids), 500):
        part = uids[start : start + 500]
        marks = ",".join("?" * len(part))
        found += connection.execute(f"SELECT {columns} FROM {table} WHERE uid IN ({marks})", part)
    return found


_End = tuple[int, int, bool]
"""Id of an entity, id of its canonical entity, and whether it is in a group."""


def _ends(connection: sqlite3.Connection, entities: Sequence[EntityRow]) -> dict[str, _End]:
    return {
        entity.uid: connection.execute(
            "SELECT id, coalesce(shown_id, id), shown_id IS NOT NULL FROM entity WHERE uid = ?",
            (entity.uid,),
        ).fetchone()
        for entity in entities
    }


def _merge_triple(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    revision: int,
    triple: TripleRow,
    ends: dict[str, _End],
    times: dict[str, int],
) -> int:
    """Write an extracted triple and return its id; :func:`deduplicate` settles the duplicates."""
    observed = [times[uid] for uid in triple.evidence]
    first, last = min(observed), max(observed)
    when = triple.when
    (subject, canonical_subject, _), (object, canonical_object, _) = (
        ends[triple.subject_uid], ends[triple.object_uid],
    )  # fmt: skip
    triple_id, first, last, old = connection.execute(
        """INSERT INTO triple (uid, space_id, subject_id, object_id, raw_subject_id, raw_object_id,
                               spelled, subject, relation, object, when_text, valid_from,
                               valid_to, negated, first_observed, last_observed)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (uid) DO UPDATE SET
             first_observed = min(first_observed, excluded.first_observed),
             last_observed = max(last_observed, excluded.last_observed)
           RETURNING id, first_observed, last_observed, spelled""",
        (
            triple.uid, space_id, canonical_subject, canonical_object, subject, object,
            triple.spelled, triple.subject, triple.relation, triple.object,
            when.text if when else None,
            to_micros(when.start) if when else None, to_micros(when.end) if when else None,
            triple.negated, first, last,
        ),
    ).fetchone()  # fmt: skip
    if triple.spelled < old:
        connection.execute(
            "UPDATE triple SET spelled = ?, subject = ?, relation = ?, object = ? WHERE id = ?",
            (triple.spelled, triple.subject, triple.relation, triple.object, triple_id),
        )
        # A vector already made for the next embedder has the old spelling, so it is made again.
        connection.execute("DELETE FROM triple_next WHERE id = ?", (triple_id,))
    connection.execute(
        """INSERT INTO triple_index VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (triple_id) DO UPDATE SET changed = excluded.changed,
             first_observed = excluded.first_observed, last_observed = excluded.last_observed,
             vector = CASE WHEN ? THEN excluded.vector ELSE vector END""",
        (
            triple_id, space_id, revision, canonical_subject, canonical_object, first, last,
            sum(triple.terms.values()), pack_uid(triple.uid), pack_terms(triple.terms),
            vectors.pack(triple.vector), triple.spelled < old,
        ),
    )  # fmt: skip
    return int(triple_id)


def _add_evidence(
    connection: sqlite3.Connection,
    triple_id: int,
    triple: TripleRow,
    derivation: Derivation,
    chunk_ids: Mapping[str, int],
    times: Mapping[str, int],
) -> None:
    connection.executemany(
        """INSERT INTO evidence (raw_id, chunk_id, triple_id, observed_at, said_by, spelled,
                                 replaces)
           VALUES (?, ?, (SELECT coalesce(folded_into, id) FROM triple WHERE id = ?), ?, ?, ?, ?)
           ON CONFLICT DO NOTHING""",
        [
            (
                triple_id, chunk_ids[uid], triple_id, times[uid], triple.said_by.get(uid),
                derivation.spellings.get((uid, triple.uid)), uid in triple.replaces,
            )
            for uid in triple.evidence
        ],
    )  # fmt: skip


def _replace_keys(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    session_id: int,
    keys: Sequence[KeyRow],
) -> None:
    old = [
        row[0]
        for row in connection.execute(
            "DELETE FROM session_key WHERE session_id = ? RETURNING key_id", (session_id,)
        ).fetchall()
    ]
    for key in keys:
        (key_id,) = connection.execute(
            """INSERT INTO key (uid, space_id, name, vector) VALUES (?, ?, ?, ?)
               ON CONFLICT (uid) DO UPDATE SET uid = uid RETURNING id""",
            (key.uid, space_id, key.name, vectors.pack(key.vector)),
        ).fetchone()
        connection.execute(
            "INSERT OR REPLACE INTO session_key VALUES (?, ?, ?)", (session_id, key_id, key.weight)
        )
    connection.executemany(
        "DELETE FROM key WHERE id = ? AND NOT EXISTS "
        "(SELECT 1 FROM session_key WHERE key_id = key.id)",
        [(key_id,) for key_id in old],
    )

"""Forgetting messages of a session, with all that was read out of them, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cognigraph.ids import normalise, session_uid
from cognigraph.resolution.incremental import EntityMap, settle
from cognigraph.resolution.incremental import forget as leave_groups
from cognigraph.stores.leaks import leaking, only_in, quoting
from cognigraph.stores.neo4j import succession, written
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap
from cognigraph.stores.neo4j.index import kept_words
from cognigraph.stores.neo4j.index.allowed import tag_mark
from cognigraph.stores.neo4j.index.fulltext import name_hash
from cognigraph.stores.neo4j.replace import Affected, Dropped, drop_support, prune, prune_aliases
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection

Rows = Connection | Transaction
"""What runs a statement: a read by itself, or one in a transaction."""

_BY_SPACE = ("Chunk(space, at, seq)", "chunk.space = $space AND chunk.at IS NOT NULL "
             "AND chunk.seq IS NOT NULL")  # fmt: skip


def choose(connection: Connection, space: str, selection: Selection) -> list[Chosen]:
    """Messages that match all criteria, by session."""
    session = None if selection.session is None else session_uid(space, selection.session)
    parameters: dict[str, Any] = {
        "space": space,
        "message": selection.message,
        "session": session,
        "speaker": selection.speaker,
        "before": selection.before,
        "role": selection.role,
        "mark": None if selection.tag is None else tag_mark(selection.tag),
        "expired": selection.expired,
    }
    rows = connection.rows("forget/choose", *_narrowed(selection), **parameters)
    if selection.entity is not None:
        about = _about(connection, space, selection.entity)
        rows = [row for row in rows if (row[1], row[4]) in about]
    by_session: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for name, owner, uid, part, _ in rows:
        by_session.setdefault((name, owner), []).append((uid, part))
    return [
        Chosen(
            *key,
            chunks=tuple(uid for uid, _ in chunks),
            messages=tuple(uid for uid, part in chunks if not part),
        )
        for key, chunks in by_session.items()
    ]


def _about(connection: Connection, space: str, entity: str) -> set[tuple[str, str]]:
    normalised = normalise(entity)
    rows = connection.rows(
        "forget/about", space=space, name_hash=name_hash(space, normalised), normalised=normalised
    )
    return {(session, message) for session, message in rows}


def _narrowed(selection: Selection) -> list[tuple[str, str]]:
    """Replacements that let the statement use the narrowest index."""
    if selection.message is not None:
        narrow = (
            "Chunk(space, message_id)",
            "chunk.space = $space AND chunk.message_id = $message",
        )
    elif selection.session is not None:
        narrow = ("Chunk(session_uid, at, seq)", "chunk.session_uid = $session "
                  "AND chunk.at IS NOT NULL AND chunk.seq IS NOT NULL")  # fmt: skip
    else:
        return []
    return list(zip(_BY_SPACE, narrow, strict=True))


@dataclass(frozen=True, slots=True)
class Losses:
    """A session's chunks that are to be forgotten, and what is known of them."""

    times: Mapping[str, datetime]
    length: int
    is_read: bool
    leaks: Sequence[str]
    """The session's other chunks out of which something was read that only these said."""


def losses(run: Rows, chosen: Chosen, chunks: int) -> Losses:
    """What the session of some messages loses with them; ``chunks`` are all that it has."""
    rows = run.rows("forget/chunks", chunks=list(chosen.chunks))
    times = {uid: at for uid, at, _, _ in rows}
    is_read = any(row[3] for row in rows)
    leaks = _leaks(run, chosen.session_uid, times) if is_read and len(times) < chunks else []
    return Losses(times, sum(row[2] for row in rows), is_read, leaks)


def _leaks(run: Rows, session: str, gone: Collection[str]) -> list[str]:
    texts = {uid: text for uid, text in run.rows("forget/texts", session=session)}
    left = [uid for uid in texts if uid not in gone]
    words = only_in([texts[uid] for uid in gone], [texts[uid] for uid in left])
    names = run.rows("forget/names", chunks=left) if words else []
    return leaking(words, {uid: [name for name in said if name] for uid, said in names})


def forget(
    connection: Connection, space: str, chosen: Chosen, *, remember: bool, now: datetime
) -> None:
    """Delete messages; see ``HousekeepingStore.forget``."""
    connection.write(Forgetting(space, chosen, remember=remember, now=now).run)


class Forgetting:
    """One transaction. Locks as a derivation does, and the space as an insert does."""

    def __init__(self, space: str, chosen: Chosen, *, remember: bool, now: datetime) -> None:
        self._space = space
        self._chosen = chosen
        self._remember = remember
        self._now = now
        self._chunks = 0

    def run(self, tx: Transaction) -> None:
        """Forget the messages, unless they are gone."""
        begun = self.begin(tx)
        if begun is None:
            return
        lost, labels = begun
        if self._remember:
            tx.rows("forget/remember", space=self._space, messages=list(self._chosen.messages))
        dropped = self.forget_derived(tx, lost, labels)
        self._drop_reasons(tx, lost)
        self.drop_chunks(tx, sorted(lost.times), lost.length)
        tx.rows("forget/drop_versions", messages=list(self._chosen.messages))
        self.refresh_session(tx, lost, dropped, ends=len(lost.times) == self._chunks)

    def begin(self, tx: Transaction) -> tuple[Losses, list[str]] | None:
        """Lock all that is concerned; returns the losses and the labels of the triples' index."""
        labels = tx.row("forget/lock", space=self._space)
        held = tx.row("forget/hold", session=self._chosen.session_uid)
        if labels is None or held is None:
            return None
        self._chunks = held[0]
        lost = losses(tx, self._chosen, self._chunks)
        return (lost, labels[0]) if lost.times else None

    def forget_derived(self, tx: Transaction, lost: Losses, labels: list[str]) -> Dropped:
        """Delete what was read out of the chunks, and only out of them."""
        written.drop(tx, self._space, lost.times)
        if not lost.is_read:
            return Dropped(0, 0)
        entity_map = Neo4jEntityMap(tx, self._space, labels, self._now)
        others = {row[0]: row[1] for row in tx.rows("forget/chunks", chunks=list(lost.leaks))}
        affected = drop_support(tx, {**lost.times, **others})
        entity_map.touched.add(affected.triples)
        settle(entity_map, sorted(affected.renamed), prune_aliases(tx, affected, ()))
        dropped = prune(tx, entity_map, self._space, labels, affected)
        _prune_spoken_of(tx, entity_map, affected)
        if affected.triples:
            rows = tx.rows("forget/drop_rulings", triples=sorted(affected.triples))
            entity_map.touched.add([uid for (uid,) in rows])
        succession.settle(tx, entity_map.touched)
        return dropped

    def _drop_reasons(self, tx: Transaction, lost: Losses) -> None:
        """Empty the reasons of users' words on facts that quote what is forgotten."""
        rows = tx.rows("forget/reasons", space=self._space)
        if not rows:
            return
        texts = {
            uid: text for uid, text in tx.rows("forget/texts", session=self._chosen.session_uid)
        }
        quotes = quoting(
            {uid: (reason, about) for uid, reason, about in rows},
            [text for uid, text in texts.items() if uid in lost.times],
            [text for uid, text in texts.items() if uid not in lost.times],
        )
        if quotes:
            touched = succession.Touched(tx)
            touched.add([uid for (uid,) in tx.rows("forget/drop_reasons", rulings=quotes)])
            succession.settle(tx, touched)

    def drop_chunks(self, tx: Transaction, uids: Sequence[str], length: int) -> None:
        """Delete chunks out of which nothing is read any more, and link those around them."""
        kept_words.drop(tx, self._space)
        links = bridges(tx.rows("forget/neighbours", chunks=list(uids)))
        tx.rows(
            "forget/drop_chunks", space=self._space, chunks=list(uids), count=len(uids),
            length=length,
        )  # fmt: skip
        tx.rows("insert/link", pairs=links)

    def refresh_session(
        self, tx: Transaction, lost: Losses, dropped: Dropped, *, ends: bool
    ) -> None:
        """Bring the session up to date; delete it if it ``ends``."""
        session = self._chosen.session_uid
        summing = None if ends else tx.row("forget/bounds", session=session)
        reread = lost.is_read or bool(summing and summing[0])
        themes = self._drop_summary(tx) if ends or reread else 0
        tx.rows(
            "forget/total", space=self._space, triples=dropped.triples, length=dropped.length,
            themes=themes,
        )  # fmt: skip
        if ends:
            tx.rows("forget/drop_session", session=session)
            return
        if reread:
            tx.rows("forget/reread", session=session)

    def _drop_summary(self, tx: Transaction) -> int:
        row = tx.row("forget/drop_summary", session=self._chosen.session_uid)
        assert row is not None
        themes, keys = row
        if keys:
            tx.rows("derive/prune_keys", keys=sorted(keys))
        return int(themes)


def _prune_spoken_of(tx: Transaction, entity_map: EntityMap, affected: Affected) -> None:
    """Delete entities that nothing mentions any more although a user merged or split them."""
    if not affected.entities:
        return
    gone = sorted(row[0] for row in tx.rows("redo/unsupported", entities=sorted(affected.entities)))
    if gone:
        entity_map.lift(entity_map.constraints(gone))
        leave_groups(entity_map, gone)
        tx.rows("redo/drop_entities", entities=gone)


def bridges(neighbours: Iterable[Row]) -> list[list[str]]:
    """The NEXT links to make over chunks that go: [uid before, uid after] of each gap.

    ``neighbours`` are [uid, uid before, uid after] of every chunk that goes.
    """
    after = {uid: follower for uid, _, follower in neighbours}
    starts = [(before, uid) for uid, before, _ in neighbours if before and before not in after]
    links: list[list[str]] = []
    for before, end in starts:
        while end in after:
            end = after[end]
        if end is not None:
            links.append([before, end])
    return links

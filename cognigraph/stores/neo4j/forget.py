"""Forgetting: messages with all that was read out of them, or whole spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cognigraph.ids import normalise, session_uid, uid
from cognigraph.model import Forgotten
from cognigraph.resolution.incremental import EntityMap, settle
from cognigraph.resolution.incremental import forget as leave_groups
from cognigraph.stores.forgetting import Counts, Preview, leaking, only_in, quoting
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.messages import chunk_row
from cognigraph.stores.neo4j.queue import start_over
from cognigraph.stores.neo4j.replace import Affected, Dropped, drop_support, prune, prune_aliases
from cognigraph.stores.neo4j.states import TouchedFacts
from cognigraph.stores.neo4j.summaries import drop_written
from cognigraph.stores.neo4j.tokens import name_hash, tag_mark
from cognigraph.stores.protocols import Chosen, Selection
from cognigraph.stores.records import MessageRow, with_uid
from cognigraph.times import Clock, from_micros

Rows = Connection | Transaction
"""What runs a statement: a read by itself, or one in a transaction."""

_BY_SPACE = ("Chunk(space, at, seq)", "chunk.space = $space AND chunk.at IS NOT NULL "
             "AND chunk.seq IS NOT NULL")  # fmt: skip


_REMOVED_AT_ONCE = 1000

_STEPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    # Without its session, a worker cannot write what it read.
    ("sessions", ()),
    ("nodes", ()),
    ("triples", ()),
    ("merges", ()),
    (
        "nodes",
        (
            ("node:Chunk", "node:Written"),
            ("(space, seq)", "(space, chain, version)"),
            (" AND node.seq <= $until", " AND node.chain IS NOT NULL AND node.version IS NOT NULL"),
        ),
    ),
    ("names", ()),
    ("names", (("entity:Entity", "entity:Alias"),)),
    *(
        (
            "nodes",
            (
                ("node:Chunk", f"node:{label}"),
                ("(space, seq)", "(space)"),
                (" AND node.seq <= $until", ""),
            ),
        )
        for label in ("Key", "Version", "Forgotten")
    ),
)
"""Statements, and what they replace, from what holds the others together on."""


class Neo4jForgetting:
    """The part of housekeeping that deletes and replaces: see ``HousekeepingStore``."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, clock: Clock) -> None:
        self._connection = connection
        self._indexes = indexes
        self._clock = clock

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        session = None if selection.session is None else session_uid(space, selection.session)
        rows = self._connection.rows(
            "forget/choose", *_narrowed(selection), space=space, message=selection.message,
            session=session, speaker=selection.speaker, before=selection.before,
            role=selection.role, mark=None if selection.tag is None else tag_mark(selection.tag),
            expired=selection.expired,
        )  # fmt: skip
        if selection.entity is not None:
            normalised = normalise(selection.entity)
            about = self._connection.rows(
                "forget/about", space=space, name_hash=name_hash(space, normalised),
                normalised=normalised,
            )  # fmt: skip
            messages = {(session, message) for session, message in about}
            rows = [row for row in rows if (row[1], row[4]) in messages]
        return Chosen.by_session((row[0], row[1], row[2], row[3]) for row in rows)

    def preview_forget(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        preview = Preview()
        for part in chosen:
            session = part.session_uid
            (chunks,) = self._connection.row("forget/chunks_of_session", session=session) or (0,)
            lost = losses(self._connection, part, chunks)
            preview.add(part, lost.times, chunks, lost.leaks, lost.is_read)
        triples, entities = _ties(self._connection, sorted(preview.gone | preview.leaks))
        return preview.forgotten(
            _counts(self._connection, "triples", triples),
            _counts(self._connection, "entities", entities),
            _session_counts(self._connection, preview.reset, preview.gone),
        )

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        self._connection.write(Forgetting(space, chosen, remember=remember, now=self._clock()).run)

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space, in bounded transactions."""
        self._remove(space, remember=remember)

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds, in bounded transactions."""
        self._remove(space, remember=False)

    def _remove(self, space: str, *, remember: bool, keep_forgotten: bool = False) -> None:
        """Delete all nodes of a space; after an interruption the same call goes on.

        With ``remember`` the keys of its messages are noted as forgotten, and stay. What is added
        to the space meanwhile stays too. With ``keep_forgotten`` only the keys noted before stay.
        """
        row = self._connection.write(lambda tx: tx.row("remove/begin", space=space))
        until = row[0] if row else 0
        if remember:
            chosen = self.choose(space, Selection())
            uids = [uid for part in chosen for uid in part.messages]
            for start in range(0, len(uids), _REMOVED_AT_ONCE):
                self.remember(space, uids[start : start + _REMOVED_AT_ONCE])
        for name, replace in _STEPS[:-1] if remember or keep_forgotten else _STEPS:
            while self._delete(name, replace, space, until) == _REMOVED_AT_ONCE:
                pass
        own = self._indexes.expected(space)
        self._indexes.drop_of(own)
        self._connection.write(lambda tx: tx.rows("remove/end", space=space))
        # A search that saw the space without its indexes may have created them again.
        self._indexes.drop_of(own)

    def _delete(
        self, name: str, replace: tuple[tuple[str, str], ...], space: str, until: int
    ) -> int:
        page = {"space": space, "until": until, "limit": _REMOVED_AT_ONCE}
        row = self._connection.write(lambda tx: tx.row(f"remove/{name}", *replace, **page))
        return int(row[0]) if row else 0

    def remember(self, space: str, uids: Sequence[str]) -> None:
        messages = list(uids)
        self._connection.write(
            lambda tx: tx.rows("forget/remember", space=space, messages=messages)
        )

    def forgotten(self, space: str) -> list[str]:
        return [uid for (uid,) in self._connection.rows("export/forgotten", space=space)]

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:

        def work(tx: Transaction) -> bool:
            tx.check_generation()
            tx.row("forget/lock", space=space)
            old = tx.rows("update/chunks", session=message.session_uid, space=space, id=message.id)
            if not old or old[0][2] == message.digest:
                return False
            _keep_version(tx, space, old, at)
            _Update(space, with_uid(message, old[0][0]), old, at).run(tx)
            return True

        return self._connection.write(work)

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        owner = session_uid(space, session)
        chunks = self._connection.rows("update/chunks", session=owner, space=space, id=id)
        if not chunks:
            return []
        rows = self._connection.rows("update/versions", message=chunks[0][0])
        return [(text, from_micros(at)) for text, at in rows]

    def versioned(self, space: str) -> set[str]:
        return {uid for (uid,) in self._connection.rows("export/versioned", space=space)}


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
        drop_written(tx, self._space, lost.times)
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
        entity_map.touched.decide()
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
            touched = TouchedFacts(tx)
            touched.add([uid for (uid,) in tx.rows("forget/drop_reasons", rulings=quotes)])
            touched.decide()

    def drop_chunks(self, tx: Transaction, uids: Sequence[str], length: int) -> None:
        """Delete chunks out of which nothing is read any more, and link those around them."""
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
        themes = 0
        if ends or reread:
            others = [uid for (uid,) in tx.rows("forget/made_of", session=session)]
            themes = _drop_summaries(tx, [*others, session])
            start_over(tx, others)
        tx.rows(
            "forget/total", space=self._space, triples=dropped.triples, length=dropped.length,
            themes=themes,
        )  # fmt: skip
        if ends:
            tx.rows("forget/drop_session", session=session)
            return
        if reread:
            start_over(tx, [session])


def _drop_summaries(tx: Transaction, sessions: Sequence[str]) -> int:
    """Delete keys, themes and revisions, which may quote what was forgotten; how many themes."""
    rows = tx.rows("forget/drop_summary", sessions=sorted(sessions))
    if keys := sorted({key for _, own in rows for key in own}):
        tx.rows("derive/prune_keys", keys=keys)
    return sum(themes for themes, _ in rows)


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


def _keep_version(tx: Transaction, space: str, old: Sequence[Row], now: datetime) -> None:
    first, _, digest = old[0][:3]
    number = len(tx.rows("update/versions", message=first)) + 1
    tx.rows(
        "update/keep",
        uid=uid("Version", first, str(number)),
        space=space,
        message=first,
        number=number,
        replaced_at=now,
        text="".join(row[1] for row in old),
        digest=digest,
    )


class _Update(Forgetting):
    """Forgets what was read out of the old text, and writes the new one in its place."""

    def __init__(self, space: str, message: MessageRow, old: Sequence[Row], now: datetime) -> None:
        uids = tuple(row[0] for row in old)
        chosen = Chosen(message.session, message.session_uid, uids, uids[:1])
        super().__init__(space, chosen, remember=False, now=now)
        self._message = message
        self._length = sum(row[3] for row in old)
        self._old = uids

    def run(self, tx: Transaction) -> None:
        """Replace the text."""
        begun = self.begin(tx)
        assert begun is not None  # the caller has read its chunks in this transaction
        lost, labels = begun
        dropped = self.forget_derived(tx, lost, labels)
        self._write(tx)
        self.refresh_session(tx, lost, dropped, ends=False)

    def _write(self, tx: Transaction) -> None:
        """Put the chunks in the place of the old ones; cut or lengthen the chain at their end."""
        rows = [self._row(position) for position in range(len(self._message.chunks))]
        kept, more = rows[: len(self._old)], rows[len(self._old) :]
        length = sum(row["properties"]["length"] for row in rows) - self._length
        tx.rows("update/write", space=self._space, chunks=kept, more=len(more), length=length)
        if extra := self._old[len(rows) :]:
            self.drop_chunks(tx, extra, 0)
        if more:
            tx.rows("update/append", space=self._space, last=kept[-1]["properties"]["uid"],
                    session=self._chosen.session_uid, chunks=more)  # fmt: skip

    def _row(self, position: int) -> dict[str, Any]:
        row = chunk_row(self._space, self._message, self._message.chunks[position], position)
        if position < len(self._old):
            row["old"] = self._old[position]
        return row


_BATCH = 500


def _ties(connection: Connection, chunks: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often these chunks say each triple, and mention each entity or state a fact of it."""
    triples: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    for batch in _batches(chunks):
        for said, named in connection.rows("forget/weigh_ties", chunks=batch):
            triples.update(said)
            entities.update(named)
    return triples, entities


def _counts(connection: Connection, kind: str, ties: Mapping[str, int]) -> Counts:
    """How many of some triples or entities go; those that other chunks say or mention stay."""
    kept = sum(
        total > ties[uid]
        for batch in _batches(sorted(ties))
        for uid, total in connection.rows(f"forget/weigh_{kind}", **{kind: batch})
    )
    return len(ties) - kept, kept


def _session_counts(
    connection: Connection, sessions: Sequence[str], gone: set[str]
) -> tuple[int, int, int, int]:
    """Keys, themes and revisions that go, and messages that are read again."""
    themes = revisions = reread = 0
    owners: dict[str, int] = {}
    lost: Counter[str] = Counter()
    for batch in _batches(sessions):
        for _, own_themes, own_revisions, keys, done in connection.rows(
            "forget/weigh_sessions", sessions=batch
        ):
            themes += own_themes
            revisions += own_revisions
            owners.update(keys)
            lost.update(uid for uid, _ in keys)
            reread += sum(uid not in gone for uid in done)
    return sum(owners[uid] == count for uid, count in lost.items()), themes, revisions, reread


def _batches(uids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(uids), _BATCH):
        yield list(uids[start : start + _BATCH])

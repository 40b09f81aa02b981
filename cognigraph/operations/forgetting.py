"""Forget messages: choose them, count what goes and what stays, delete them, erase their bytes."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import chain
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.importers.notes import TAG
from cognigraph.model import Forgotten, Message, MessageVersion, StoredMessage
from cognigraph.model.storage import AuditEntry
from cognigraph.operations.adding import as_stored, to_rows
from cognigraph.operations.tenant import Target
from cognigraph.settings import Retention
from cognigraph.stores.protocols import Chosen, Selection, Store

_BATCH = 500
"""Messages of a session that are forgotten in one transaction."""


def forget(
    engine: Engine,
    space: str,
    selection: Selection,
    *,
    dry_run: bool,
    allow_again: bool,
    by: str | None = None,
) -> Forgotten:
    """Forget the messages that match; see :meth:`cognigraph.Space.forget`."""
    store = engine.store
    if selection.entity is not None and not store.resolution.named(space, selection.entity):
        raise NotFoundError(f"no entity is called {selection.entity!r}")
    chosen = store.housekeeping.choose(space, selection)
    _check_one_message(selection, chosen)
    if selection == Selection() and chosen and not dry_run:
        report = store.housekeeping.preview_forget(space, chosen)
        removal = _Removal(by, ("everything",), remember=not allow_again)
        store.housekeeping.audit(removal.entry(engine, space, chosen, report))
        store.housekeeping.forget_all(space, remember=removal.remember)
        return _erased(engine, report)
    given = {field.name: getattr(selection, field.name) for field in fields(selection)}
    criteria = tuple(name for name, value in given.items() if value is not None)
    removal = _Removal(by, criteria, remember=not allow_again)
    return _forget_chosen(engine, space, chosen, removal, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Removal:
    """Who removes messages, by which criteria, and whether hashes of them stay."""

    by: str | None
    criteria: tuple[str, ...]
    remember: bool

    def entry(
        self, engine: Engine, space: str, chosen: Sequence[Chosen], report: Forgotten
    ) -> AuditEntry:
        """The entry of the audit log, which leaves no more of the messages than forgetting does."""
        uids = [uid for part in chosen for uid in part.messages] if self.remember else []
        counts = {name: getattr(report, name) for name in ("messages", "triples", "entities")}
        details = {"criteria": self.criteria, **counts}
        return AuditEntry(
            engine.clock(), space, "forget", self.by, tuple(uids[:_MOST_LISTED]), details
        )


_MOST_LISTED = 100


def _forget_chosen(
    engine: Engine, space: str, chosen: Sequence[Chosen], removal: _Removal, *, dry_run: bool
) -> Forgotten:
    """Forget messages, or with ``dry_run`` only count what would go and what would stay.

    The audit log has it before anything is deleted.
    """
    store = engine.store.housekeeping
    report = store.preview_forget(space, chosen)
    if dry_run:
        return replace(report, dry_run=True, listed=_listed(engine, space, chosen))
    if not report.chunks:
        return report
    store.audit(removal.entry(engine, space, chosen, report))
    for part in chain.from_iterable(map(_batches, chosen)):
        store.forget(space, part, remember=removal.remember)
    return _erased(engine, report)


def _listed(engine: Engine, space: str, chosen: Sequence[Chosen]) -> tuple[StoredMessage, ...]:
    """The first messages that would go."""
    uids = [uid for part in chosen for uid in part.messages][:_MOST_LISTED]
    chunks = engine.store.search.chunks(space, uids)
    found = (
        engine.store.graph.message(space, chunks[uid].message_id, chunks[uid].session)
        for uid in uids
        if uid in chunks
    )
    return tuple(message for message in found if message is not None)


def _erased(engine: Engine, report: Forgotten) -> Forgotten:
    """Remove the bytes, and cached answers; queue what is to be read again."""
    erased = engine.store.housekeeping.erase()
    cached = engine.forget_answers()
    if report.reread:
        engine.wake_worker()
    return replace(report, cached_answers=cached, is_erased=erased)


def _check_one_message(selection: Selection, chosen: Sequence[Chosen]) -> None:
    """Refuse an id that belongs to messages of several sessions."""
    if selection.message is not None and selection.session is None and len(chosen) > 1:
        names = ", ".join(repr(part.session) for part in chosen[:5])
        raise ConfigurationError(
            f"several sessions have a message {selection.message!r} ({names}); give the session"
        )


def _batches(chosen: Chosen) -> Iterator[Chosen]:
    """The messages of a session in parts, each small enough for one transaction."""
    if len(chosen.messages) <= _BATCH:
        yield chosen
        return
    firsts = set(chosen.messages[::_BATCH])
    parts: list[list[str]] = []
    for uid in chosen.chunks:
        if uid in firsts:
            parts.append([])
        parts[-1].append(uid)
    for index, chunks in enumerate(parts):
        messages = chosen.messages[index * _BATCH : (index + 1) * _BATCH]
        yield replace(chosen, chunks=tuple(chunks), messages=messages)


_PAGE = 500


def gone_sections(
    space: Target, session: str, file: str, folder: str | None, present: Collection[str]
) -> list[StoredMessage]:
    """The messages of a file's sections, but for those with the ids that are ``present``."""
    return [
        message
        for message in _notes(space, session, folder)
        if message.metadata.get("file") == file and message.id not in present
    ]


def gone_files(
    engine: Engine, space: Target, folder: str, present: Container[str]
) -> list[StoredMessage]:
    """The messages of files of a folder, but for those files that are ``present``."""
    found: list[StoredMessage] = []
    offset = 0
    while sessions := engine.store.graph.sessions(space.name, limit=_PAGE, offset=offset):
        offset += len(sessions)
        for session in sessions:
            if session.id not in present:
                found += [
                    message
                    for message in _notes(space, session.id, folder)
                    if message.metadata.get("file") not in present
                ]
    return found


def _notes(space: Target, session: str, folder: str | None) -> Iterator[StoredMessage]:
    page = space.messages(session=session, limit=_PAGE)
    while page:
        for message in page:
            if TAG in message.tags and message.metadata.get("folder") == folder:
                yield message
        page = space.messages(session=session, limit=_PAGE, after=page.cursor)


logger = logging.getLogger("cognigraph.expire")


def expire(engine: Engine, space: str, *, dry_run: bool, by: str | None = None) -> Forgotten:
    """Forget what is over by now; see :meth:`cognigraph.Space.forget`."""
    choose = engine.store.housekeeping.choose
    rules = engine.settings.retention.rules
    chosen = [
        item for selection in _over(rules, engine.clock()) for item in choose(space, selection)
    ]
    removal = _Removal(by, ("expired",), remember=True)
    return _forget_chosen(engine, space, _together(chosen), removal, dry_run=dry_run)


def expire_all(engine: Engine) -> None:
    """Forget what is over by now in every space."""
    for space in engine.store.spaces():
        report = expire(engine, space, dry_run=False)
        if report:
            logger.info("forgot %d messages of the space %r", report.messages, space)


def _over(rules: Iterable[Retention], now: datetime) -> Iterator[Selection]:
    yield Selection(expired=now)
    for rule in rules:
        yield Selection(before=now - rule.keep, role=rule.role, tag=rule.tag)


def _together(chosen: Iterable[Chosen]) -> list[Chosen]:
    """The messages of each session once, whichever rules apply to them."""
    chunks: dict[tuple[str, str], dict[str, None]] = {}
    messages: dict[tuple[str, str], dict[str, None]] = {}
    for item in chosen:
        key = item.session, item.session_uid
        chunks.setdefault(key, {}).update(dict.fromkeys(item.chunks))
        messages.setdefault(key, {}).update(dict.fromkeys(item.messages))
    return [
        Chosen(*key, chunks=tuple(found), messages=tuple(messages[key]))
        for key, found in chunks.items()
    ]


def update(
    engine: Engine, space: str, old: StoredMessage, text: str, raw: Any, by: str | None
) -> StoredMessage:
    """Replace the text of a message; see :meth:`cognigraph.Space.update`."""
    now = engine.clock()
    if uid := replace_text(engine, space, old, text, now, raw, by):
        engine.store.housekeeping.audit(AuditEntry(now, space, "update", by, (uid,)))
        engine.forget_answers()
        engine.wake_worker()
    found = engine.store.graph.message(space, old.id, old.session)
    if found is None:
        raise NotFoundError(f"the message {old.id!r} was forgotten meanwhile")
    return found


def replace_text(
    engine: Engine,
    space: str,
    old: StoredMessage,
    text: str,
    at: datetime,
    raw: Any = None,
    by: str | None = None,
) -> str | None:
    """Replace the text of a message at a time; ``None`` if it has this text, or is gone.

    Returns the uid of its first chunk, as it follows from its id.
    """
    given = Message(
        text=text, session=old.session, speaker=old.speaker, at=old.at, id=old.id, role=old.role,
        metadata=old.metadata or None, tags=old.tags, raw=raw, expires=old.expires,
    )  # fmt: skip
    message = as_stored(engine, space, given, Counter(), by=by)

    def store(store: Store, embedder: CheckedEmbedder) -> str | None:
        (row,) = to_rows(
            [message], space, engine.settings.insert, embedder, embed_later=engine.embeds_later
        )
        return row.chunks[0].uid if store.housekeeping.update(space, row, at) else None

    return engine.use(store)


def versions(engine: Engine, space: str, message: StoredMessage) -> list[MessageVersion]:
    """All texts of a message, oldest first."""
    earlier = engine.store.housekeeping.versions(space, message.session, message.id)
    found = [MessageVersion(number, text, at) for number, (text, at) in enumerate(earlier, 1)]
    return [*found, MessageVersion(len(found) + 1, message.text)]

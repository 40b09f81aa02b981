"""Add messages to a space: validate them, convert them to rows, store them, and report on each."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, ConflictError, InvalidMessageError
from cognigraph.ids import normalise
from cognigraph.ingest.insert.prepare import Clean, clean, to_rows
from cognigraph.ingest.stated import StoredFact, name_of, period, time_of
from cognigraph.model import AddResult, Message, Rejection
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import InsertStatus, MessageRow
from cognigraph.times import When, to_utc

Item = Message | Mapping[str, Any]

REMEDY = re.compile(r"; leave it out or pass skip_invalid=True")
"""What an error says to do, for one that is not left out."""
_TAKEN = "has the id {!r}, which already belongs to another text in its session"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch that is ready to be stored.

    ``rejected`` are the messages that were left out; ``invalid`` says which message ended the
    batch. The ``rows`` have the vectors of ``embedder``.
    """

    messages: list[Clean]
    rejected: list[Rejection]
    invalid: InvalidMessageError | None
    rows: list[MessageRow]
    embedder: CheckedEmbedder
    seconds: float


def add_batch(
    engine: Engine,
    space: str,
    batch: Sequence[Item],
    seen: Counter[str],
    *,
    facts: str | None = None,
    by: str | None = None,
) -> AddResult:
    """Store one batch in one transaction; ``facts`` (JSON) are stated with it, ``by`` stores it.

    Raises:
        InvalidMessageError: a message is invalid; all messages before it are stored.
        ConflictError: an id is already in use for another text; all other messages are stored.
    """
    return store(engine, space, prepare(engine, space, batch, seen, facts=facts, by=by))


def prepare(
    engine: Engine,
    space: str,
    batch: Sequence[Item],
    seen: Counter[str],
    *,
    first: int = 0,
    skip_invalid: bool = False,
    facts: str | None = None,
    by: str | None = None,
) -> Prepared:
    """Check the messages of a batch, split and embed them.

    ``seen`` counts equal messages without ids over all batches of a call; ``first`` is the index of
    this batch's first message in the call.
    """
    started = time.perf_counter()
    messages, rejected, invalid = _cleaned(
        engine, space, batch, seen, first=first, skip_invalid=skip_invalid, facts=facts, by=by
    )
    embedder = engine.embedder
    rows = to_rows(
        messages, space, engine.settings.insert, embedder, embed_later=engine.embeds_later
    )
    seconds = time.perf_counter() - started
    return Prepared(messages, rejected, invalid, rows, embedder, seconds)


def store(
    engine: Engine, space: str, prepared: Prepared, *, skip_invalid: bool = False
) -> AddResult:
    """Store a batch in one transaction.

    Raises:
        InvalidMessageError: as for :func:`add_batch`.
        ConflictError: as for :func:`add_batch`.
    """
    started = time.perf_counter()
    messages, rows, rejected = prepared.messages, prepared.rows, [*prepared.rejected]

    def insert(store: Store, embedder: CheckedEmbedder) -> list[InsertStatus]:
        nonlocal rows
        if embedder is not prepared.embedder:  # another thread has changed it
            rows = to_rows(
                messages, space, engine.settings.insert, embedder, embed_later=engine.embeds_later
            )
        return store.messages.insert(space, rows) if rows else []

    statuses = engine.use(insert)
    stored = time.perf_counter()
    if "new" in statuses:
        engine.written()
    conflicts = [m for m, status in zip(messages, statuses, strict=True) if status == "conflict"]
    if conflicts and not skip_invalid:
        raise _conflict(conflicts)
    rejected += [
        Rejection(message.index, f"message {message.index} {_TAKEN.format(message.id)}")
        for message in conflicts
    ]
    if prepared.invalid is not None:
        raise prepared.invalid
    return AddResult(
        ids=tuple(
            message.id
            for message, status in zip(messages, statuses, strict=True)
            if status != "conflict"
        ),
        new=tuple(
            message.id
            for message, status in zip(messages, statuses, strict=True)
            if status == "new"
        ),
        forgotten=tuple(
            message.id
            for message, status in zip(messages, statuses, strict=True)
            if status == "forgotten"
        ),
        chunks=sum(
            len(row.chunks) for row, status in zip(rows, statuses, strict=True) if status == "new"
        ),
        notes=tuple(
            f"message {message.id}: {message.replaced} lone surrogate(s) replaced by U+FFFD"
            for message in messages
            if message.replaced
        ),
        rejected=tuple(sorted(rejected, key=lambda rejection: rejection.index)),
        timings={
            "prepare_ms": round(prepared.seconds * 1000, 3),
            "store_ms": round((stored - started) * 1000, 3),
        },
    )


def check(engine: Engine, space: str, item: object, seen: Counter[str]) -> Clean:
    """The message as it would be stored, without storing it.

    Raises:
        InvalidMessageError: it cannot be stored.
    """
    return clean(
        Message.of(item),
        space=space,
        now=engine.clock(),
        zone=engine.zone,
        limit=engine.settings.insert.max_message_chars,
        seen=seen,
        index=0,
    )


def _cleaned(
    engine: Engine,
    space: str,
    batch: Sequence[Item],
    seen: Counter[str],
    *,
    first: int,
    skip_invalid: bool,
    facts: str | None,
    by: str | None,
) -> tuple[list[Clean], list[Rejection], InvalidMessageError | None]:
    messages: list[Clean] = []
    rejected: list[Rejection] = []
    now = engine.clock()
    for index, item in enumerate(batch, first):
        try:
            messages.append(
                clean(
                    Message.of(item, index=index),
                    space=space,
                    now=now,
                    zone=engine.zone,
                    limit=engine.settings.insert.max_message_chars,
                    seen=seen,
                    index=index,
                    facts=facts,
                    by=by,
                )
            )
        except InvalidMessageError as error:
            if not skip_invalid:
                return messages, rejected, error
            rejected.append(Rejection(index, REMEDY.sub("", str(error))))
    return messages, rejected, None


def _conflict(conflicts: Sequence[Clean]) -> ConflictError:
    first = conflicts[0]
    return ConflictError(
        f"message {first.index} {_TAKEN.format(first.id)}"
        + (f" (and {len(conflicts) - 1} more)" if len(conflicts) > 1 else "")
        + "; nothing was overwritten: give the new text another id",
        ids=tuple(message.id for message in conflicts),
        index=first.index,
    )


def total(results: Sequence[AddResult]) -> AddResult:
    """Combine the results of several batches into one."""
    timings: Counter[str] = Counter()
    for result in results:
        timings.update(result.timings)
    return replace(
        AddResult((), (), 0),
        ids=tuple(id for result in results for id in result.ids),
        new=tuple(id for result in results for id in result.new),
        forgotten=tuple(id for result in results for id in result.forgotten),
        chunks=sum(result.chunks for result in results),
        notes=tuple(note for result in results for note in result.notes),
        rejected=tuple(item for result in results for item in result.rejected),
        timings=dict(timings),
    )


Progress = Callable[[int], None]
"""Called after each transaction with the number of messages read so far."""


def add_all(
    engine: Engine,
    space: str,
    messages: Iterable[Item],
    *,
    on_progress: Progress | None,
    skip_invalid: bool,
    by: str | None = None,
) -> AddResult:
    """Store messages in batches; see ``Space.add_many``."""
    size = engine.settings.insert.batch
    seen: Counter[str] = Counter()
    read = 0
    with _Transactions(
        partial(store, engine, space, skip_invalid=skip_invalid), on_progress
    ) as transactions:
        items = transactions.reported_while(messages)
        while batch := list(islice(items, size)):
            prepared = prepare(
                engine, space, batch, seen, first=read, skip_invalid=skip_invalid, by=by
            )
            read += len(batch)
            is_last = len(batch) < size or prepared.invalid is not None
            transactions.run(prepared, read, wait=is_last or not engine.store.is_on_server)
    return total(transactions.results)


class _Transactions:
    """Stores batches one after the other, in a second thread if the caller does not wait.

    At most one batch is being stored. Its outcome is known before the next one begins and before
    the block ends, whatever ends it, so no message is stored after one that failed. The caller's
    thread reports on all of them.
    """

    def __init__(
        self, store: Callable[[Prepared], AddResult], on_progress: Progress | None
    ) -> None:
        self.results: list[AddResult] = []
        self._store = store
        self._on_progress = on_progress
        self._thread: ThreadPoolExecutor | None = None
        self._pending: tuple[Future[AddResult], int] | None = None

    def __enter__(self) -> _Transactions:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._finish()
        finally:
            if self._thread is not None:
                self._thread.shutdown()

    def run(self, batch: Prepared, read: int, *, wait: bool) -> None:
        """Store a batch after the one before it; ``read`` messages have been read by then."""
        self._finish()
        if wait:
            self._report(self._store(batch), read)
        else:
            self._pending = self._start(batch), read

    def reported_while(self, messages: Iterable[Item]) -> Iterator[Item]:
        """Yield the messages, which may take long to come, and report on what was stored."""
        for message in messages:
            if self._pending is not None and self._pending[0].done():
                self._finish()
            yield message

    def _start(self, batch: Prepared) -> Future[AddResult]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="cognigraph-store")
        try:
            return self._thread.submit(copy_context().run, self._store, batch)
        except RuntimeError:  # the interpreter is exiting and starts no more threads
            future: Future[AddResult] = Future()
            future.set_result(self._store(batch))
            return future

    def _finish(self) -> None:
        """Wait for the batch that is being stored, and report on it."""
        if self._pending is None:
            return
        future, read = self._pending
        try:
            result = future.result()
        finally:
            if future.done():  # not if this thread was interrupted
                self._pending = None
        self._report(result, read)

    def _report(self, result: AddResult, read: int) -> None:
        self.results.append(result)
        if self._on_progress is not None:
            self._on_progress(read)


FACTS = "facts"
"""The session of stated facts, unless another is given."""

_UNKNOWN = "object"
"""What extractors call the type of a name that nobody has said more of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stating:
    """What the application says of one fact and of where it is from."""

    subject: str
    relation: str
    object: str
    subject_type: str | None
    object_type: str | None
    when: str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    negated: bool
    replaces: bool
    source: str | None
    session: str
    at: datetime | str | None
    id: str | None
    metadata: Mapping[str, Any] | None
    tags: Iterable[str]
    expires: datetime | str | None


def state(engine: Engine, space: str, given: Stating, by: str | None = None) -> AddResult:
    """Store a fact; see :meth:`cognigraph.Space.add_fact`."""
    subject, relation, object = (
        name_of(name, getattr(given, name)) for name in ("subject", "relation", "object")
    )
    at = engine.clock() if given.at is None else to_utc(given.at, engine.zone)
    when = _when(given, at)
    fact = StoredFact(
        subject=subject,
        subject_type=given.subject_type or _type_of(engine.store, space, subject),
        relation=relation,
        object=object,
        object_type=given.object_type or _type_of(engine.store, space, object),
        when=when.text if when else None,
        negated=given.negated,
        source=given.source,
        replaces=given.replaces,
    )
    message = Message(
        text=f"{fact.text} ({when})" if when else fact.text,
        session=given.session,
        speaker=given.source,
        at=at,
        id=given.id,
        metadata=given.metadata,
        tags=given.tags,
        expires=given.expires,
    )
    return add_batch(engine, space, [message], Counter(), facts=fact.json, by=by)


def _type_of(store: Store, space: str, name: str) -> str:
    """The type of the entity that has this name, if there is only one."""
    found = [
        item
        for item in store.resolution.named(space, name)
        if normalise(item.name) == normalise(name) or item.type == "person"
    ]
    return found[0].type if len({item.type for item in found}) == 1 else _UNKNOWN


def _when(given: Stating, at: datetime) -> When | None:
    """When the fact is true.

    Raises:
        ConfigurationError: a time is not a date, or the times do not fit together.
    """
    if given.when is None:
        return period(given.valid_from, given.valid_to, at)
    if given.valid_from is not None or given.valid_to is not None:
        raise ConfigurationError("give either when, or valid_from and valid_to")
    return time_of("when", given.when)

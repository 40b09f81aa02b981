"""Add messages to a space: check them, convert them to rows, store them, and report on each."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice, repeat
from typing import Any

import numpy as np

from cognigraph import ids
from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConflictError, InvalidMessageError
from cognigraph.ingest.pieces import Part, fresh_pieces, parts
from cognigraph.ingest.stated import stated_with
from cognigraph.model import AddResult, Message, Rejection, Role
from cognigraph.model.messages import ROLES, as_role, role_of
from cognigraph.settings import InsertSettings
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import ChunkRow, InsertStatus, MessageData, MessageRow
from cognigraph.text.terms import (
    NAME_RULE,
    is_name,
    replace_surrogates,
    searched,
    term_counts,
)
from cognigraph.times import to_utc
from cognigraph.validation import shown

Item = Message | Mapping[str, Any]

REMEDY = "; leave it out or pass skip_invalid=True"
"""The end of an error about a message, which does not concern a message that was left out."""
_TAKEN = "has the id {!r}, which already belongs to another text in its session"


@dataclass(frozen=True, slots=True)
class CleanMessage:
    """A validated message with a UTC time, a storable text and its final id.

    ``replaced`` counts lone surrogates that were replaced in the text.
    """

    uid: str
    id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    replaced: int
    index: int
    role: Role | None = None
    data: MessageData | None = None


def clean_message(
    message: Message,
    *,
    space: str,
    now: datetime,
    zone: tzinfo | None,
    limit: int,
    seen: Counter[str],
    index: int,
    facts: str | None = None,
    by: str | None = None,
) -> CleanMessage:
    """Validate one message and assign its identity.

    ``facts`` (JSON) are stated with it, and ``by`` is who stores it. ``seen`` counts equal messages
    without an id in this call: two equal messages with the same time stay two messages, and a
    repeated call recognises both.

    Raises:
        InvalidMessageError: a field of the message is invalid.
    """
    text = _text(message.text, "text", index)
    if not text.strip() and message.raw is None:
        raise InvalidMessageError(f"message {index} has an empty text{REMEDY}", index=index)
    if len(text) > limit:
        raise InvalidMessageError(
            f"message {index} has {len(text):,} characters; the limit is {limit:,}; "
            "split it or raise InsertSettings.max_message_chars",
            index=index,
        )
    session = check_name(message.session, "session", index)
    speaker = check_name(message.speaker, "speaker", index) if message.speaker is not None else None
    role = _role(message.role, index) or role_of(speaker)
    speaker = speaker or role
    text, replaced = replace_surrogates(text)
    try:
        at = now if message.at is None else to_utc(message.at, zone)
    except InvalidMessageError as error:
        raise _invalid(index, str(error)) from error
    given = (message.facts, message.extract, message.session_summary)
    if facts is None and any(part is not None for part in given):
        facts = stated_with(message, speaker, at, index)
    data = message_data(message, index, zone, facts, by)
    if data is not None and data.expires is not None and data.expires <= at:
        raise _invalid(index, "expires is not later than the message itself")
    if message.id is not None:
        id = check_name(message.id, "id", index)
        uid = ids.message_uid(space, session, id)
    else:
        content = (space, session, speaker or "", content_of(text, data), at.isoformat())
        twin = ids.uid("Twin", *content)
        uid = ids.anonymous_message_uid(*content, seen[twin])
        seen[twin] += 1
        id = uid[:12]
    return CleanMessage(uid, id, session, speaker, at, text, replaced, index, role, data)


def _role(role: object, index: int) -> Role | None:
    if role is None:
        return None
    known = as_role(role) if isinstance(role, str) else None
    if known is None:
        raise _invalid(index, f"role must be one of {', '.join(ROLES)}, not {shown(role)}")
    return known


def content_of(text: str, data: MessageData | None) -> str:
    """What tells a message from others: its text, or the raw payload of one without a text."""
    return text if text.strip() or data is None else f"{text}\0{data.raw}"


def _text(value: object, what: str, index: int) -> str:
    if not isinstance(value, str):
        raise _invalid(index, f"{what} must be a string, not {type(value).__name__}")
    return value


def check_name(value: object, what: str, index: int = 0) -> str:
    """Return the session, speaker or id of a message if every store can hold it.

    Raises:
        InvalidMessageError: it is not such a string.
    """
    text = _text(value, what, index)
    if not is_name(text):
        raise _invalid(index, f"{what} must be {NAME_RULE}, not {shown(text)}")
    return text


# Check and encode what a message carries beside its text: metadata, tags and a raw payload.

MAX_METADATA = 64 * 1024
"""Largest size of a message's metadata, in bytes of UTF-8 JSON."""
MAX_RAW = 16 * 1024 * 1024
"""Largest size of a message's raw payload, in bytes of JSON."""
MAX_TAG = 100
"""Largest number of characters of a tag."""
MAX_TAGS = 100
"""Largest number of tags of a message."""
MAX_DEPTH = 200
"""Largest number of levels of lists and objects in metadata or a raw payload, so that all that is
stored can be read again, however deep the stack is then."""
_MAX_BITS = 1024
"""Python refuses to read numbers of thousands of digits."""


def message_data(
    message: Message,
    index: int,
    zone: tzinfo | None = None,
    facts: str | None = None,
    by: str | None = None,
) -> MessageData | None:
    """What is to be stored beside the text; ``None`` if there is nothing.

    ``zone`` is that of times that have none; ``facts`` (JSON) are those that are stated with the
    message, and ``by`` is who stores it.

    Raises:
        InvalidMessageError: something is of the wrong type, too large, or not JSON.
    """
    data = MessageData(
        metadata=_metadata(message.metadata, index),
        tags=_tags(message.tags, index),
        raw=None if message.raw is None else _encoded(message.raw, "raw", MAX_RAW, index),
        facts=facts,
        expires=_expires(message.expires, zone, index),
        written_by=by,
    )
    return None if data == MessageData() else data


def _expires(expires: object, zone: tzinfo | None, index: int) -> datetime | None:
    if expires is None:
        return None
    if not isinstance(expires, str | datetime):
        raise _invalid(index, f"expires must be a time, not {shown(expires)}")
    try:
        return to_utc(expires, zone)
    except InvalidMessageError as error:
        raise _invalid(index, f"expires: {error}") from error


def _metadata(metadata: object, index: int) -> str | None:
    if metadata is None or metadata == {}:
        return None
    if not isinstance(metadata, Mapping):
        raise _invalid(index, f"metadata must be a JSON object (a dict), not {shown(metadata)}")
    return _encoded(metadata, "metadata", MAX_METADATA, index, readable=True)


def _encoded(value: object, what: str, limit: int, index: int, *, readable: bool = False) -> str:
    """JSON text; a ``readable`` one has no escapes for letters, so that Cypher can search it."""
    try:
        text = json.dumps(_json(value, what, MAX_DEPTH), ensure_ascii=not readable)
    except RecursionError:
        raise _invalid(
            index, f"{what} is nested too deeply; the most is {MAX_DEPTH} levels"
        ) from None
    except _NotJson as error:
        raise _invalid(index, str(error)) from None
    text = replace_surrogates(text)[0] if readable else text
    size = len(text.encode())
    if size > limit:
        raise _invalid(index, f"{what} has {size:,} bytes as JSON; the limit is {limit:,}")
    return text


class _NotJson(Exception):
    """A value that JSON cannot hold."""


def _json(value: object, path: str, depth: int) -> Any:
    """The value in the types that JSON gives back; ``path`` names it in errors.

    Raises:
        RecursionError: it has more than ``depth`` levels.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise _NotJson(f"{path} must have at most {_MAX_BITS:,} bits, not {shown(value)}")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NotJson(f"{path} must be a finite number, not {value}")
        return value
    if not depth:
        raise RecursionError
    if isinstance(value, Mapping):
        odd = next((name for name in value if not isinstance(name, str)), None)
        if odd is not None:
            raise _NotJson(f"{path} must have strings as keys, not {shown(odd)}")
        return {name: _json(item, f"{path}.{name}", depth - 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, f"{path}[{number}]", depth - 1) for number, item in enumerate(value)]
    raise _NotJson(f"{path} must be of a type that JSON knows, not {shown(value)}")


def _tags(tags: object, index: int) -> tuple[str, ...]:
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise _invalid(index, f"tags must be a list of strings, not {shown(tags)}")
    given = list(tags)
    for tag in given:
        if not (isinstance(tag, str) and is_name(tag) and len(tag) <= MAX_TAG):
            raise _invalid(
                index,
                f"a tag must be 1 to {MAX_TAG} characters, without NUL or lone surrogates, "
                f"not {shown(tag)}",
            )
    different = sorted(set(given))
    if len(different) > MAX_TAGS:
        raise _invalid(index, f"{len(different)} tags; the limit is {MAX_TAGS}")
    return tuple(different)


def _invalid(index: int, problem: str) -> InvalidMessageError:
    return InvalidMessageError(f"message {index}: {problem}", index=index)


def to_rows(
    messages: Sequence[CleanMessage],
    space: str,
    settings: InsertSettings,
    embedder: CheckedEmbedder,
    *,
    embed_later: bool = False,
) -> list[MessageRow]:
    """Split the messages into chunks, embed all chunks in one call, and count their terms.

    With ``embed_later`` the chunks are marked, and get their vectors in the background. A message
    without a text gets one empty chunk, which no search finds. Prompt blocks that a message repeats
    are stored but not found either: they would rank before the messages that they quote.
    """
    pieces = [_pieces(message, settings.max_chunk_chars) for message in messages]
    texts = [
        searched(message.speaker, part.text, fresh)
        for message, own in zip(messages, pieces, strict=True)
        for part, fresh in own
    ]
    blank = np.zeros(embedder.identity.dimension, np.float32)
    vectors = repeat(blank) if embed_later else iter(embedder.embed(texts))
    return [
        MessageRow(
            uid=message.uid,
            id=message.id,
            session=message.session,
            session_uid=ids.session_uid(space, message.session),
            speaker=message.speaker,
            at=message.at,
            digest=ids.uid("Digest", message.speaker or "", content_of(message.text, message.data)),
            chunks=tuple(
                _chunk_row(message, number, part, fresh, next(vectors), embed_later)
                for number, (part, fresh) in enumerate(own)
            ),
            role=message.role,
            data=message.data,
        )
        for message, own in zip(messages, pieces, strict=True)
    ]


def _pieces(message: CleanMessage, limit: int) -> list[tuple[Part, str | None]]:
    """The parts of a message, each with what is new in it; ``None`` if all of it is."""
    own = parts(message.text, limit)
    if not message.text.strip():
        return [(part, "") for part in own]
    return list(zip(own, fresh_pieces(message.text, [part.text for part in own]), strict=True))


def _chunk_row(
    message: CleanMessage,
    number: int,
    part: Part,
    fresh: str | None,
    vector: Vector,
    embed_later: bool,
) -> ChunkRow:
    return ChunkRow(
        uid=ids.chunk_uid(message.uid, number),
        part=number,
        text=part.text,
        vector=np.zeros_like(vector) if fresh == "" else vector,
        terms=term_counts(searched(message.speaker, part.text, fresh)),
        fresh=fresh,
        heading=part.heading,
        unembedded=embed_later and fresh != "",
    )


# Store messages in batches, one transaction each.


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch that is ready to be stored.

    ``rejected`` are the messages that were left out; ``invalid`` says which message ended the
    batch. The ``rows`` have the vectors of ``embedder``.
    """

    messages: list[CleanMessage]
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
    return store_batch(engine, space, prepare_batch(engine, space, batch, seen, facts=facts, by=by))


def prepare_batch(
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
    started, now = time.perf_counter(), engine.clock()
    messages: list[CleanMessage] = []
    rejected: list[Rejection] = []
    invalid: InvalidMessageError | None = None
    for index, item in enumerate(batch, first):
        try:
            messages.append(
                as_stored(engine, space, item, seen, index=index, now=now, facts=facts, by=by)
            )
        except InvalidMessageError as error:
            if not skip_invalid:
                invalid = error
                break
            rejected.append(Rejection(index, str(error).replace(REMEDY, "")))
    embedder = engine.embedder
    rows = to_rows(
        messages, space, engine.settings.insert, embedder, embed_later=engine.embeds_later
    )
    seconds = time.perf_counter() - started
    return Prepared(messages, rejected, invalid, rows, embedder, seconds)


def store_batch(
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
        engine.wake_worker()

    def with_status(*wanted: InsertStatus) -> list[CleanMessage]:
        pairs = zip(messages, statuses, strict=True)
        return [message for message, status in pairs if status in wanted]

    conflicts = with_status("conflict")
    if conflicts and not skip_invalid:
        raise _conflict(conflicts)
    rejected += [
        Rejection(message.index, f"message {message.index} {_TAKEN.format(message.id)}")
        for message in conflicts
    ]
    if prepared.invalid is not None:
        raise prepared.invalid
    return AddResult(
        ids=tuple(message.id for message in with_status("new", "known", "forgotten")),
        new=tuple(message.id for message in with_status("new")),
        forgotten=tuple(message.id for message in with_status("forgotten")),
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


def as_stored(
    engine: Engine,
    space: str,
    item: object,
    seen: Counter[str],
    *,
    index: int = 0,
    now: datetime | None = None,
    facts: str | None = None,
    by: str | None = None,
) -> CleanMessage:
    """The message as it would be stored; nothing is stored.

    Raises:
        InvalidMessageError: it cannot be stored.
    """
    return clean_message(
        Message.of(item, index=index), space=space, now=now or engine.clock(), zone=engine.zone,
        limit=engine.settings.insert.max_message_chars, seen=seen, index=index, facts=facts, by=by,
    )  # fmt: skip


def _conflict(conflicts: Sequence[CleanMessage]) -> ConflictError:
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
    return AddResult(
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
        partial(store_batch, engine, space, skip_invalid=skip_invalid), on_progress
    ) as transactions:
        items = transactions.reported_while(messages)
        while batch := list(islice(items, size)):
            prepared = prepare_batch(
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

    def __exit__(self, *error: object) -> None:
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

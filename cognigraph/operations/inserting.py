"""Add messages to a space: validate them, convert them to rows, store them, and report on each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConflictError, InvalidMessageError
from cognigraph.ingest.insert.prepare import Clean, clean, to_rows
from cognigraph.model import AddResult, Message, Rejection
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import InsertStatus, MessageRow

Item = Message | Mapping[str, Any]

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
) -> AddResult:
    """Store one batch in one transaction; ``facts`` (JSON) are stated with it.

    Raises:
        InvalidMessageError: a message is invalid; all messages before it are stored.
        ConflictError: an id is already in use for another text; all other messages are stored.
    """
    return store(engine, space, prepare(engine, space, batch, seen, facts=facts))


def prepare(
    engine: Engine,
    space: str,
    batch: Sequence[Item],
    seen: Counter[str],
    *,
    first: int = 0,
    skip_invalid: bool = False,
    facts: str | None = None,
) -> Prepared:
    """Check the messages of a batch, split and embed them.

    ``seen`` counts equal messages without ids over all batches of a call; ``first`` is the index of
    this batch's first message in the call.
    """
    started = time.perf_counter()
    messages, rejected, invalid = _cleaned(
        engine, space, batch, seen, first=first, skip_invalid=skip_invalid, facts=facts
    )
    embedder = engine.embedder
    rows = to_rows(messages, space, engine.settings.insert, embedder)
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
            rows = to_rows(messages, space, engine.settings.insert, embedder)
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
                )
            )
        except InvalidMessageError as error:
            if not skip_invalid:
                return messages, rejected, error
            rejected.append(Rejection(index, str(error)))
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
        rejected=tuple(one for result in results for one in result.rejected),
        timings=dict(timings),
    )

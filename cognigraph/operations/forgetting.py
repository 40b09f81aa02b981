"""Forget messages: choose them, count what goes and what stays, delete them, erase their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.model import Forgotten
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection

_BATCH = 500
"""Messages of a session that are forgotten in one transaction."""


def forget(
    engine: Engine, space: str, selection: Selection, *, dry_run: bool, allow_again: bool
) -> Forgotten:
    """Forget the messages that match; see :meth:`cognigraph.Space.forget`."""
    store = engine.store
    if selection.entity is not None and not store.resolution.named(space, selection.entity):
        raise NotFoundError(f"no entity is called {selection.entity!r}")
    chosen = store.housekeeping.choose(space, selection)
    _check_one_message(selection, chosen)
    if selection == Selection() and chosen and not dry_run:
        report = store.housekeeping.weigh(space, chosen)
        store.housekeeping.forget_all(space, remember=not allow_again)
        return _erased(engine, report)
    return forget_chosen(engine, space, chosen, dry_run=dry_run, remember=not allow_again)


def forget_chosen(
    engine: Engine, space: str, chosen: Sequence[Chosen], *, dry_run: bool, remember: bool
) -> Forgotten:
    """Forget messages, or with ``dry_run`` only count what would go and what would stay."""
    store = engine.store.housekeeping
    report = store.weigh(space, chosen)
    if dry_run or not chosen:
        return replace(report, dry_run=dry_run)
    for part in chain.from_iterable(map(_batches, chosen)):
        store.forget(space, part, remember=remember)
    return _erased(engine, report)


def _erased(engine: Engine, report: Forgotten) -> Forgotten:
    """Remove the bytes, and cached answers; queue what is to be read again."""
    erased = engine.store.housekeeping.erase()
    cached = engine.forget_answers()
    if report.reread:
        engine.written()
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

"""Forget messages whose time is over: those that expire, and those that are kept for a while."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import datetime

from cognigraph.engine import Engine
from cognigraph.model import Forgotten
from cognigraph.operations.forgetting import forget_chosen
from cognigraph.settings import Retention
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection

logger = logging.getLogger("cognigraph.expire")


def expire(engine: Engine, space: str, *, dry_run: bool) -> Forgotten:
    """Forget what is over by now; see :meth:`cognigraph.Space.expire`."""
    choose = engine.store.housekeeping.choose
    rules = engine.settings.retention.rules
    chosen = [one for selection in _over(rules, engine.clock()) for one in choose(space, selection)]
    return forget_chosen(engine, space, _together(chosen), dry_run=dry_run, remember=True)


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
    for one in chosen:
        key = one.session, one.session_uid
        chunks.setdefault(key, {}).update(dict.fromkeys(one.chunks))
        messages.setdefault(key, {}).update(dict.fromkeys(one.messages))
    return [
        Chosen(*key, chunks=tuple(found), messages=tuple(messages[key]))
        for key, found in chunks.items()
    ]

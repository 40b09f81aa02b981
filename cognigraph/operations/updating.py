"""Replace the text of a message, and list the texts it has had."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import NotFoundError
from cognigraph.ingest.insert.prepare import clean, to_rows
from cognigraph.model import Message, MessageVersion, StoredMessage
from cognigraph.stores.protocols import Store


def update(
    engine: Engine, space: str, old: StoredMessage, text: str, raw: Any = None
) -> StoredMessage:
    """Replace the text of a message; see :meth:`cognigraph.Space.update`."""
    if replace_text(engine, space, old, text, engine.clock(), raw):
        engine.forget_answers()
        engine.written()
    found = engine.store.graph.message(space, old.id, old.session)
    if found is None:
        raise NotFoundError(f"the message {old.id!r} was forgotten meanwhile")
    return found


def replace_text(
    engine: Engine, space: str, old: StoredMessage, text: str, at: datetime, raw: Any = None
) -> bool:
    """Replace the text of a message at a time; False if it has this text, or is gone."""
    message = clean(
        Message(
            text=text,
            session=old.session,
            speaker=old.speaker,
            at=old.at,
            id=old.id,
            role=old.role,
            metadata=old.metadata or None,
            tags=old.tags,
            raw=raw,
            expires=old.expires,
        ),
        space=space,
        now=engine.clock(),
        zone=engine.zone,
        limit=engine.settings.insert.max_message_chars,
        seen=Counter(),
        index=0,
    )

    def store(store: Store, embedder: CheckedEmbedder) -> bool:
        (row,) = to_rows([message], space, engine.settings.insert, embedder)
        return store.housekeeping.update(space, row, at)

    return engine.use(store)


def versions(engine: Engine, space: str, message: StoredMessage) -> list[MessageVersion]:
    """All texts of a message, oldest first."""
    earlier = engine.store.housekeeping.versions(space, message.session, message.id)
    found = [MessageVersion(number, text, at) for number, (text, at) in enumerate(earlier, 1)]
    return [*found, MessageVersion(len(found) + 1, message.text)]

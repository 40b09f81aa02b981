"""Write a space as JSON lines: messages with their versions, users' decisions, derived rows.

Line by line: ``export`` (the header), then of each session its ``message`` lines and a ``session``
line, then ``decision``, ``ruling`` and ``forgotten`` lines, and ``end`` with a count of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from cognigraph.engine import Engine
from cognigraph.ids import chunk_uid, message_uid
from cognigraph.model import StoredMessage
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.readings import NamedRuling, Part, Reading, SessionReading

FORMAT = 1
_PAGE = 200


def lines(engine: Engine, space: str, *, derived: bool) -> Iterator[str]:
    """The lines of an export; they take memory for one session at most."""
    store, count = engine.store.housekeeping, 0
    yield _line("export", format=FORMAT, space=space, derived=derived)
    versioned, stated = store.versioned(space), store.stated(space)
    # Sessions that are not read to their end come last: an import reads the others first.
    for whole in (True, False) if derived else (None,):
        for session in _sessions(engine, space):
            reading = store.reading(space, session) if derived else None
            if reading is not None and reading.is_whole is not whole:
                continue
            for placed in _messages(engine, space, session):
                yield _message(engine, space, placed, versioned, reading, stated.get(placed.uid))
                count += 1
            yield _session(engine, space, session, reading)
    for decision in store.decisions(space):
        yield _line("decision", a=decision.a, b=decision.b, verdict=decision.verdict,
                    into=decision.into)  # fmt: skip
    if derived:
        for one in engine.store.graph.written(space):
            yield _line("written", version_of=one.chain, of_kind=one.kind, version=one.version,
                        at=one.at.isoformat(), text=one.text, title=one.title, steps=one.steps,
                        sources=one.sources)  # fmt: skip
    for ruling in engine.store.states.rulings(space):
        yield _ruling(ruling)
    for uid in store.forgotten(space):
        yield _line("forgotten", uid=uid)
    yield _line("end", messages=count)


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False) + "\n"


def _sessions(engine: Engine, space: str) -> Iterator[str]:
    offset = 0
    while page := engine.store.graph.sessions(space, limit=_PAGE, offset=offset):
        yield from (session.id for session in page)
        offset += len(page)


def _messages(engine: Engine, space: str, session: str) -> Iterator[Placed]:
    after = None
    while page := engine.store.housekeeping.messages(
        space, MessageQuery(session=session, limit=_PAGE, after=after)
    ):
        yield from page
        after = page[-1].position


def _message(
    engine: Engine,
    space: str,
    placed: Placed,
    versioned: set[str],
    reading: SessionReading | None,
    stated: str | None,
) -> str:
    message = placed.message
    fields: dict[str, Any] = {
        "id": message.id,
        "session": message.session,
        "speaker": message.speaker,
        "at": message.at.isoformat(),
        "text": message.text,
        "role": message.role,
        "metadata": dict(message.metadata) or None,
        "tags": list(message.tags) or None,
        "raw": message.raw,
        "expires": None if message.expires is None else message.expires.isoformat(),
        "facts": None if stated is None else json.loads(stated),
    }
    if placed.uid != chunk_uid(message_uid(space, message.session, message.id), 0):
        fields["anonymous"] = True
    if placed.uid in versioned:
        earlier = engine.store.housekeeping.versions(space, message.session, message.id)
        fields["versions"] = [[text, at.isoformat()] for text, at in earlier]
    is_read = stated is None or isinstance(fields["facts"], dict)  # not the words of one fact
    if reading is not None and reading.is_whole and is_read:
        fields["read"] = [_part(message, part, reading) for part in range(message.chunks)]
    return _line("message", **{name: value for name, value in fields.items() if value is not None})


def _part(message: StoredMessage, part: int, reading: SessionReading) -> dict[str, Any]:
    key: Part = message.id, part
    found = reading.parts.get(key, Reading())
    return {"mentions": found.mentions, "facts": found.facts}


def _ruling(ruling: NamedRuling) -> str:
    return _line(
        "ruling", verdict=ruling.kind, fact=astuple(ruling.fact),
        by=None if ruling.by is None else astuple(ruling.by),
        at=None if ruling.at is None else ruling.at.isoformat(), reason=ruling.reason,
        recorded=ruling.recorded,
    )  # fmt: skip


def _session(engine: Engine, space: str, session: str, reading: SessionReading | None) -> str:
    if reading is None or not reading.is_whole:
        return _line("session", id=session)
    notes = engine.store.housekeeping.notes(space, session)
    covered = sorted({uid for theme in notes.themes for uid in theme.covers})
    chunks = engine.store.search.chunks(space, covered)
    titles = {theme.uid: theme.title for theme in notes.themes}
    themes = [
        [theme.title, theme.summary, theme.reason,
         [[chunks[uid].message_id, chunks[uid].part] for uid in theme.covers if uid in chunks],
         [titles[uid] for uid in theme.derived_from if uid in titles], theme.uid]
        for theme in notes.themes
    ]  # fmt: skip
    # Uids name the space. Those in the summariser's state are replaced when they are read.
    uids = [[chunk.message_id, chunk.part, uid] for uid, chunk in sorted(chunks.items())]
    return _line(
        "session", id=session, extractor=reading.extractor, version=notes.version,
        keys=notes.keys, themes=themes, state=notes.state, uids=uids,
        revisions=_revisions(engine, space, session),
    )  # fmt: skip


def _revisions(engine: Engine, space: str, session: str) -> list[list[Any]]:
    return [
        [one.version, one.at.isoformat(), one.extractor, one.keys,
         [[theme.title, theme.summary] for theme in one.themes]]
        for one in engine.store.graph.summaries(space, session)
    ]  # fmt: skip

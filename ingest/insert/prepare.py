"""Turn the caller's messages into rows to store: validate, identify, split, embed, count terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import repeat

import numpy as np

from cognigraph import ids
from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder
from cognigraph.errors import InvalidMessageError
from cognigraph.ingest.insert.echo import fresh_pieces
from cognigraph.ingest.insert.payload import message_data
from cognigraph.ingest.insert.split import Part, parts
from cognigraph.ingest.stated import stated_with
from cognigraph.model import Message, Role
from cognigraph.model.messages import ROLES, as_role, role_of
from cognigraph.settings import InsertSettings
from cognigraph.stores.records import ChunkRow, MessageData, MessageRow
from cognigraph.text.terms import replace_surrogates, searched, term_counts
from cognigraph.times import to_utc
from cognigraph.validation import NAME_RULE, is_name, shown


@dataclass(frozen=True, slots=True)
class Clean:
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


def clean(
    message: Message,
    *,
    space: str,
    now: datetime,
    zone: tzinfo | None,
    limit: int,
    seen: Counter[str],
    index: int,
    facts: str | None = None,
) -> Clean:
    """Validate one message and assign its identity; ``facts`` (JSON) are stated with it.

    ``seen`` counts equal messages without an id in this call. Two equal messages with the same time
    therefore stay two messages, and a repeated call recognises both.

    Raises:
        InvalidMessageError: a field of the message is invalid.
    """
    text = _text(message.text, "text", index)
    data = message_data(message, index, zone, facts)
    has_payload = data is not None and data.raw is not None
    if not text.strip() and not has_payload:
        raise InvalidMessageError(
            f"message {index} has an empty text; leave it out or pass skip_invalid=True",
            index=index,
        )
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
        raise InvalidMessageError(f"message {index}: {error}", index=index) from error
    if facts is None and (given := stated_with(message, speaker, at, index)) is not None:
        data = replace(data or MessageData(), facts=given)
    if data is not None and data.expires is not None and data.expires <= at:
        raise InvalidMessageError(
            f"message {index}: expires is not later than the message itself", index=index
        )
    if message.id is not None:
        id = check_name(message.id, "id", index)
        uid = ids.message_uid(space, session, id)
    else:
        parts = (space, session, speaker or "", content_of(text, data), at.isoformat())
        twin = ids.uid("Twin", *parts)
        uid = ids.anonymous_message_uid(*parts, seen[twin])
        seen[twin] += 1
        id = uid[:12]
    return Clean(uid, id, session, speaker, at, text, replaced, index, role, data)


def _role(role: object, index: int) -> Role | None:
    if role is None:
        return None
    found = as_role(role) if isinstance(role, str) else None
    if found is None:
        raise InvalidMessageError(
            f"message {index}: role must be one of {', '.join(ROLES)}, not {shown(role)}",
            index=index,
        )
    return found


def content_of(text: str, data: MessageData | None) -> str:
    """What tells a message from others: its text, or the raw payload of one without a text."""
    return text if text.strip() or data is None else f"{text}\0{data.raw}"


def _text(value: object, what: str, index: int) -> str:
    if not isinstance(value, str):
        raise InvalidMessageError(
            f"message {index}: {what} must be a string, not {type(value).__name__}", index=index
        )
    return value


def check_name(value: object, what: str, index: int = 0) -> str:
    """Validate the session, speaker or id of a message.

    Raises:
        InvalidMessageError: it is not a string that every store can hold.
    """
    text = _text(value, what, index)
    if not is_name(text):
        raise InvalidMessageError(
            f"message {index}: {what} must be {NAME_RULE}, not {shown(text)}", index=index
        )
    return text


def to_rows(
    messages: Sequence[Clean],
    space: str,
    settings: InsertSettings,
    embedder: CheckedEmbedder,
    *,
    embed_later: bool = False,
) -> list[MessageRow]:
    """Split the messages, embed all texts in one call, and count terms.

    With ``embed_later`` the chunks are marked, and get their vectors in the background.

    A message without a text gets one empty chunk, which is not searchable. Recalled prompt blocks
    in a message are stored but not searchable: they would rank before the messages that they were
    recalled from.
    """
    pieces = [parts(message.text, settings.max_chunk_chars) for message in messages]
    rest = [
        fresh_pieces(message.text, [part.text for part in own]) if message.text.strip() else [""]
        for message, own in zip(messages, pieces, strict=True)
    ]
    texts = [
        searched(message.speaker, piece.text, fresh)
        for message, own, left in zip(messages, pieces, rest, strict=True)
        for piece, fresh in zip(own, left, strict=True)
    ]
    blank = np.zeros(embedder.identity.dimension, np.float32)
    vectors = repeat(blank) if embed_later else iter(embedder.embed(texts))
    rows: list[MessageRow] = []
    for message, own, left in zip(messages, pieces, rest, strict=True):
        chunks = tuple(
            _chunk_row(message, number, piece, fresh, next(vectors), embed_later)
            for number, (piece, fresh) in enumerate(zip(own, left, strict=True))
        )
        rows.append(
            MessageRow(
                uid=message.uid,
                id=message.id,
                session=message.session,
                session_uid=ids.session_uid(space, message.session),
                speaker=message.speaker,
                at=message.at,
                digest=ids.uid(
                    "Digest", message.speaker or "", content_of(message.text, message.data)
                ),
                chunks=chunks,
                role=message.role,
                data=message.data,
            )
        )
    return rows


def _chunk_row(
    message: Clean,
    part: int,
    piece: Part,
    fresh: str | None,
    vector: Vector,
    embed_later: bool,
) -> ChunkRow:
    return ChunkRow(
        uid=ids.chunk_uid(message.uid, part),
        part=part,
        text=piece.text,
        vector=np.zeros_like(vector) if fresh == "" else vector,
        terms=term_counts(searched(message.speaker, piece.text, fresh)),
        fresh=fresh,
        heading=piece.heading,
        unembedded=embed_later and fresh != "",
    )

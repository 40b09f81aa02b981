"""Prepare what a reader yields for the memory: our field names, a time, an id, a speaker."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Generator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime
from typing import Any, Self

from cognigraph.errors import ConfigurationError
from cognigraph.importers.record import Bad, Reader, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.model.chat import FIELDS
from cognigraph.text.terms import storable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"[+-]?\d{8,19}(\.\d+)?")
_UTC_NAME = re.compile(r"\s*(?:UTC|GMT|Z)$")
_SECONDS, _MILLISECONDS, _MICROSECONDS, _NANOSECONDS = 1e11, 1e14, 1e17, 1e20
"""Below these amounts a number counts seconds, milliseconds, and so on: until the year 5138."""


def iso(value: object, zone: tzinfo | None = None) -> str | None:
    """A time as ISO 8601; ``None`` if the value is not a time.

    A number, or a text of at least 8 digits, counts from 1970 in UTC, in the unit that fits
    its size. A time without an offset is taken to be in ``zone``; without ``zone`` it gets no
    offset.
    """
    moment = _moment(value)
    if moment is None:
        return None
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.isoformat()


def day_of(at: str, zone: tzinfo | None = None) -> str:
    """The day of a time in ISO 8601, in ``zone`` (UTC if absent) if the time has an offset."""
    moment = datetime.fromisoformat(at)
    return (moment.astimezone(zone or UTC) if moment.tzinfo else moment).date().isoformat()


def _moment(value: object) -> datetime | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _since_epoch(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _NUMBER.fullmatch(text) and not _is_compact_date(text):
        return _since_epoch(float(text) if "." in text else int(text))
    return _written(text)


def _is_compact_date(text: str) -> bool:
    """Whether eight digits are a date: 20260520."""
    return len(text) == 8 and _written(text) is not None


def _written(text: str) -> datetime | None:
    for read in (datetime.fromisoformat, _with_zone_name, parsedate_to_datetime):
        try:
            return read(text)
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _with_zone_name(text: str) -> datetime:
    """A time such as ``2026-05-20 09:00:00 UTC``."""
    bare, count = _UTC_NAME.subn("", text)
    if not count:
        raise ValueError(text)
    return datetime.fromisoformat(bare).replace(tzinfo=UTC)


def _since_epoch(number: float) -> datetime | None:
    size = abs(number)
    if not size < _NANOSECONDS:  # too far away, or not a number
        return None
    if size < _SECONDS:
        parts = 1_000_000 * number
    elif size < _MILLISECONDS:
        parts = 1_000 * number
    else:
        parts = number if size < _MICROSECONDS else number / 1_000
    try:
        return _EPOCH + timedelta(microseconds=round(parts))
    except OverflowError:
        return None


_OTHER_NAMES = {
    "text": ("message", "body", "msg"),
    "session": ("session_id", "conversation_id", "thread_id", "conversation", "thread"),
    "id": ("message_id", "uuid"),
    "at": ("timestamp", "created_at", "created", "date", "datetime", "time", "ts"),
    "speaker": ("author", "sender", "from", "username"),
}
"""Names of fields, the most usual one first."""
_NAMES_OF_TEXT = frozenset({"text", "content", "raw"})


def parse_columns(text: str | None) -> dict[str, str]:
    """Read ``text=body,at=sent``.

    Raises:
        ConfigurationError: it has another form, or names a field that messages do not have.
    """
    fields: dict[str, str] = {}
    for item in (text or "").split(","):
        name, equals, column = (part.strip() for part in item.partition("="))
        if not item.strip():
            continue
        if not (equals and column):
            raise ConfigurationError(f"{item!r} must be FIELD=COLUMN, such as text=body")
        check_columns({name: column})
        fields[name] = column
    return fields


def check_columns(columns: Mapping[str, str]) -> None:
    """Check that messages have the fields that are mapped.

    Raises:
        ConfigurationError: they do not.
    """
    for name in columns:
        if name not in FIELDS:
            raise ConfigurationError(
                f"a message has no field {name!r}; its fields are {', '.join(sorted(FIELDS))}"
            )


def with_our_names(given: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Rename the fields that stand for ours to our names. Times are left to :func:`with_times`."""
    fields = dict(given)
    for name, column in columns.items():
        if column in fields:
            fields[name] = fields.pop(column)
    for name in ("text", "session", "id", "speaker"):
        if name == "text" and not _NAMES_OF_TEXT.isdisjoint(fields):
            continue
        _rename(fields, name)
    return fields


def _rename(fields: dict[str, Any], name: str) -> None:
    if fields.get(name) is not None:
        return
    for other in _OTHER_NAMES[name]:
        value = fields.get(other)
        if isinstance(value, str) and value.strip():
            fields[name] = fields.pop(other)
            return
        if name in ("id", "session") and isinstance(value, int) and not isinstance(value, bool):
            fields[name] = str(fields.pop(other))
            return


def with_times(given: dict[str, Any]) -> dict[str, Any]:
    """Convert the times among the fields to a form that the memory can read.

    An ``at`` that is not a time stays as it is, so that the message is refused with a reason. Of
    the other fields, the first that holds a time becomes ``at``.
    """
    if given.get("expires") is not None:
        given = given | {"expires": iso(given["expires"]) or given["expires"]}
    if given.get("at") is not None:
        return given | {"at": iso(given["at"]) or given["at"]}
    for other in _OTHER_NAMES["at"]:
        at = iso(given.get(other))
        if at is not None:
            return {name: value for name, value in given.items() if name != other} | {"at": at}
    return given


_CHAT = ("role", "name", "content", "tool_calls", "function_call", "tool_call_id", "raw")
"""What tells chat messages apart, beside the fields that every message has."""
_SCHEMA = """
    CREATE TABLE seen (digest BLOB PRIMARY KEY, count INTEGER) WITHOUT ROWID;
    CREATE TABLE session (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_COUNT = """
    INSERT INTO seen VALUES (?, 1)
    ON CONFLICT (digest) DO UPDATE SET count = count + 1 RETURNING count
"""


class Identifier:
    """Assigns ids to messages that the memory would not recognise without one.

    These are messages without a time, and repetitions of an equal message with the same time. An
    id is a hash of the message and of how many equal ones there were before. The hashes are counted
    in a temporary file, since there may be more than fit into the memory of a machine.
    """

    def __init__(self) -> None:
        self._seen = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._seen.execute("PRAGMA journal_mode = OFF")
        self._seen.execute("PRAGMA synchronous = OFF")
        self._seen.execute("PRAGMA cache_size = -4000")
        self._seen.executescript(_SCHEMA)
        self._seen.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._seen.close()

    def identify(self, message: dict[str, Any]) -> None:
        """Set ``id`` if the message needs one. Ids are those of older versions of this package."""
        if message.get("id") is not None:
            return
        parts = [message.get(name) for name in ("session", "speaker", "text", "at")]
        chat = {name: message[name] for name in _CHAT if message.get(name) is not None}
        if chat:
            parts.append(chat)
        same = hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()
        count: int = self._seen.execute(_COUNT, (same,)).fetchone()[0]
        if message.get("at") is None or count > 1:
            digest = hashlib.blake2b(same, digest_size=8, salt=count.to_bytes(16))
            message["id"] = f"import-{digest.hexdigest()}"

    def note_session(self, name: str) -> None:
        """Count a session, once."""
        self._seen.execute("INSERT OR IGNORE INTO session VALUES (?)", (storable(name),))

    @property
    def sessions(self) -> int:
        """Number of different sessions."""
        count: int = self._seen.execute("SELECT count(*) FROM session").fetchone()[0]
        return count


def prepared(
    reader: Reader, file: Input, options: ReadOptions, identifier: Identifier
) -> Generator[Record, None, None]:
    """The messages of a file, each with what the memory needs to recognise it."""
    for record in reader.read(file, options):
        if isinstance(record.value, Bad):
            yield record
            continue
        message = with_our_names(record.value, options.columns)
        if options.session and not reader.names_session:
            message["session"] = options.session
        identifier.identify(message)  # before the time is converted: ids stay those of old versions
        message = with_times(message)
        if options.speaker and not any(message.get(n) for n in ("speaker", "role", "name")):
            message["speaker"] = options.speaker
        yield replace(record, value=message)

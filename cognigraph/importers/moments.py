"""Times as people's files have them: seconds or milliseconds since 1970, ISO 8601, mail dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime

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

"""Parse and convert times: aware datetimes in UTC, and event times with their given precision.

Two kinds of time are kept apart: the *observed* time is when something was said (a ``datetime``);
the *valid* time is when it is true in the world (a :class:`When` such as ``2023-05`` or
``2022-01-14/2022-01-20``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cognigraph.errors import ConfigurationError, InvalidMessageError

Clock = Callable[[], datetime]
"""Returns the current time, timezone-aware. Injected so that tests and replays control time."""

_WHEN = re.compile(
    r"(?P<date>\d{4}(?:-\d{2}(?:-\d{2})?)?)"
    r"(?:(?<=-\d\d-\d\d)[T ](?P<time>\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?"
    r"(?P<offset>Z|[+-]\d{2}:?\d{2})?)?"
)


def system_clock() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def zone(name: str | tzinfo | None) -> tzinfo | None:
    """The timezone with a name such as ``"Europe/Oslo"``; ``None`` stays ``None``.

    Raises:
        ConfigurationError: the name is unknown.
    """
    if name is None or isinstance(name, tzinfo):
        return name
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # OSError: "Europe" is a folder
        raise ConfigurationError(
            f"unknown timezone {name!r}; use an IANA name such as 'Europe/Oslo' or 'UTC'"
        ) from error


def to_utc(at: datetime | str, default_zone: tzinfo | None = None) -> datetime:
    """Convert a datetime or an ISO 8601 string to UTC.

    A naive time is taken to be in ``default_zone``. Without one it is rejected, because a wrongly
    guessed timezone would silently shift every later answer about time.

    Raises:
        InvalidMessageError: the time is malformed, has no timezone, or is out of range.
    """
    if isinstance(at, str):
        try:
            moment = datetime.fromisoformat(at.strip())
        except ValueError as error:
            raise InvalidMessageError(
                f"cannot read the time {at!r}; use ISO 8601, such as 2026-05-20T09:00:00+02:00"
            ) from error
    elif isinstance(at, datetime):
        moment = at
    else:
        raise InvalidMessageError(
            f"a time must be a datetime or an ISO 8601 string, not {type(at).__name__}"
        )
    if moment.tzinfo is None or moment.utcoffset() is None:
        if default_zone is None:
            raise InvalidMessageError(
                f"the time {at!s} has no timezone; add an offset (…+02:00, …Z) or open the "
                "memory with timezone='Europe/Oslo'"
            )
        moment = moment.replace(tzinfo=default_zone)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidMessageError(f"the time {at!s} is out of range in UTC") from error


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC, computed exactly in integers."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=4096)
def from_micros(micros: int) -> datetime:
    """The datetime for microseconds since 1970-01-01 UTC; the inverse of :func:`to_micros`.

    Those made last are remembered: a message, its facts and their sources have the same time.
    """
    return _EPOCH + timedelta(microseconds=micros)


def moment(micros: int | None) -> datetime | None:
    """As :func:`from_micros`; ``None`` stays."""
    return None if micros is None else from_micros(micros)


def micros(moment: datetime | None) -> int | None:
    """As :func:`to_micros`; ``None`` stays."""
    return None if moment is None else to_micros(moment)


@dataclass(frozen=True, slots=True)
class When:
    """An event time with its precision: the half-open interval ``[start, end)`` in UTC.

    ``text`` is the canonical form: ``2023``, ``2023-05``, ``2023-05-20``, ``2023-05-20T09:30``, or
    two of these joined by ``/`` (inclusive, as in ISO 8601 intervals): some time between them. Two
    that are joined by ``..`` are the whole time from one until the other.
    """

    text: str
    start: datetime
    end: datetime

    @property
    def is_period(self) -> bool:
        """Whether it is true during the whole of this time, and known to end."""
        return ".." in self.text

    def __str__(self) -> str:
        return self.text.replace("..", " until ")


def _point(text: str) -> tuple[str, datetime, datetime] | None:
    """A date or time: its canonical form, its start and its end; ``None`` if it is none."""
    # Digits of any script.
    plain = "".join(str(int(each)) if each.isdecimal() else each for each in text.strip())
    match = _WHEN.fullmatch(plain)
    if match is None:
        return None
    day = match["date"] + "-01" * ((10 - len(match["date"])) // 3)
    try:
        start = datetime.fromisoformat(
            f"{day}T{match['time'] or '00:00'}{match['offset'] or 'Z'}"
        ).astimezone(UTC)
        if match["time"]:
            end = start + timedelta(minutes=1)
        elif match["date"] == day:
            end = start + timedelta(days=1)
        else:
            last = start.month if "-" in match["date"] else 12
            end = datetime(start.year + last // 12, last % 12 + 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return start.isoformat()[:16] if match["time"] else match["date"], start, end


@lru_cache(maxsize=4096)
def parse_when(text: str | None) -> When | None:
    """Parse an event time; ``None`` if it is not a date (output of models is not trusted)."""
    if not text:
        return None
    joint = ".." if ".." in text else "/"
    parts = text.split(joint)
    if len(parts) > 2:
        return None
    points = [_point(part) for part in parts]
    first, last = points[0], points[-1]
    if first is None or last is None or last[2] <= first[1]:
        return None
    canonical = first[0] if len(parts) == 1 else f"{first[0]}{joint}{last[0]}"
    return When(canonical, first[1], last[2])

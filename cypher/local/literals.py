"""Write values as literals in grand-cypher's grammar, and times as text in chronological order."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Any

from cognigraph.errors import QueryError


class Moment(str):
    """A time as stored in a graph: fixed-width ISO 8601 in UTC, so text order is time order."""

    __slots__ = ()

    @classmethod
    def of(cls, moment: datetime) -> Moment:
        """Convert an aware datetime; :class:`QueryError` if it is naive."""
        if moment.utcoffset() is None:
            raise QueryError(f"the time {moment} has no timezone; give an aware datetime")
        return cls(moment.astimezone(UTC).isoformat(timespec="microseconds"))

    @property
    def value(self) -> datetime:
        """The time as an aware datetime in UTC."""
        return datetime.fromisoformat(str(self))


class Constants:
    """The strings and lists of a query, kept out of the text that grand-cypher parses.

    The parser needs time and memory for each character, so it gets a short placeholder for each
    string and each list, and the values are inserted after parsing. Since all strings are replaced,
    none can be mistaken for a placeholder.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._names: dict[str, str] = {}

    def text(self, value: str) -> str:
        """Return the placeholder of a string; equal strings share one."""
        if value not in self._names:
            self._names[value] = self._keep(value)
        return f'"{self._names[value]}"'

    def literal(self, value: Any, name: str) -> str:
        """Write the value of the parameter ``name`` as a literal: a scalar or a list of scalars."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, (str, date)):
            return self.text(_as_text(value))
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return _number(value, name)
        if isinstance(value, (list, tuple, set, frozenset)):
            members = frozenset(_member(item, name) for item in value)
            return f'["{self._keep(members)}"]'
        raise QueryError(
            f"the parameter ${name} is a {type(value).__name__}; the SQLite store takes strings, "
            "numbers, booleans, datetimes and lists of them"
        )

    def _keep(self, value: Any) -> str:
        name = f"k{len(self.values)}"
        self.values[name] = value
        return name


def _as_text(value: str | date) -> str:
    if isinstance(value, datetime):
        return Moment.of(value)
    # Not a subclass of str, whose methods could be anything.
    return value.isoformat() if isinstance(value, date) else str.__str__(value)


def _number(value: float, name: str) -> str:
    try:
        return repr(value)
    except ValueError:
        raise QueryError(f"the parameter ${name} has too many digits") from None


def _member(item: Any, name: str) -> Any:
    if isinstance(item, (str, date)):
        return _as_text(item)
    if isinstance(item, (bool, int)) or (isinstance(item, float) and math.isfinite(item)):
        return item
    raise QueryError(f"the parameter ${name} must be a list of plain values")


def moment_of(text: str) -> Moment | None:
    """Parse the argument of ``datetime("...")``; without an offset it is UTC, as in Neo4j.

    ``None`` if the text is not an ISO 8601 time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Moment.of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))

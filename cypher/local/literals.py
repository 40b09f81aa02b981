"""Values as literals of grand-cypher's grammar, and times as text that sorts like time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from cognigraph.cypher.guard.lexer import quote
from cognigraph.errors import QueryError


class Moment(str):
    """A time as a graph holds it: fixed-width ISO 8601 in UTC, so that text order is time order."""

    __slots__ = ()

    @classmethod
    def of(cls, moment: datetime) -> Moment:
        """Write an aware time."""
        if moment.utcoffset() is None:
            raise QueryError(f"the time {moment} has no timezone; give an aware datetime")
        return cls(moment.astimezone(UTC).isoformat(timespec="microseconds"))

    @property
    def value(self) -> datetime:
        """The time again."""
        return datetime.fromisoformat(str(self))


def literal(value: Any, name: str) -> str:
    """Write the value of the parameter ``name`` as a literal; lists of scalars are fine."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, datetime):
        return quoted(Moment.of(value))
    if isinstance(value, date):
        return quoted(value.isoformat())
    if isinstance(value, (list, tuple, set, frozenset)):
        if any(item is None or isinstance(item, (list, tuple, Mapping)) for item in value):
            raise QueryError(f"the parameter ${name} must be a list of plain values")
        return "[" + ", ".join(literal(item, name) for item in value) + "]"
    raise QueryError(
        f"the parameter ${name} is a {type(value).__name__}; the SQLite store takes strings, "
        "numbers, booleans, datetimes and lists of them"
    )


def quoted(text: str) -> str:
    """Write a string so that Python's own reader, which grand-cypher uses, gets it back."""
    if text.isprintable():
        return quote(text)
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def moment_of(text: str) -> Moment | None:
    """Read the argument of ``datetime("...")``; one without an offset is in UTC, as on Neo4j."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Moment.of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))

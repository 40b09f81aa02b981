"""Convert value objects to plain data: for ``--json``, and for the servers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from operator import methodcaller
from types import NoneType
from typing import Any

from cognigraph.model import Context, Episode, Explanation, Session, Triple
from cognigraph.times import When

COMPUTED: dict[type, tuple[str, ...]] = {
    Episode: ("text",),
    Explanation: ("verdict",),
    Session: ("summary",),
    Triple: ("text",),
}
"""Properties that are written beside the fields; all are texts."""


def plain(value: Any) -> Any:
    """Convert a value to dicts, lists, strings and numbers.

    Times become ISO 8601 strings, and numbers that are not finite become null.
    """
    kind = type(value)
    convert = _CONVERTERS.get(kind)
    if convert is None:
        convert = _CONVERTERS[kind] = _converter_for(kind)
    return convert(value)


_Converter = Callable[[Any], Any]
_CONVERTERS: dict[type, _Converter] = {}


def _converter_for(kind: type) -> _Converter:
    """How values of a type are converted. A search has thousands of values of a dozen types."""
    if issubclass(kind, Context):
        return _context
    if issubclass(kind, (NoneType, str, bool, int)):
        return _itself
    if issubclass(kind, float):
        return _number
    if issubclass(kind, (datetime, date)):
        return methodcaller("isoformat")
    if issubclass(kind, When):
        return str
    if is_dataclass(kind):
        names = (*(field.name for field in fields(kind)), *COMPUTED.get(kind, ()))
        return lambda value: {name: plain(getattr(value, name)) for name in names}
    if issubclass(kind, Mapping):
        return lambda value: {str(key): plain(item) for key, item in value.items()}
    if issubclass(kind, (Sequence, Set)) and not issubclass(kind, (bytes, bytearray)):
        return lambda value: [plain(item) for item in value]
    return str


def _itself(value: Any) -> Any:
    return value


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _context(value: Context) -> dict[str, Any]:
    return {
        "text": str(value),
        "tokens": value.tokens,
        "confidence": value.confidence,
        "citations": plain(value.citations),
        "notes": plain(value.notes),
        "hits": plain(value.hits),
    }

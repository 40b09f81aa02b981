"""Convert value objects to plain data: for ``--json``, and for the servers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime
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
    if isinstance(value, Context):
        return {
            "text": str(value),
            "tokens": value.tokens,
            "citations": plain(value.citations),
            "notes": plain(value.notes),
            "hits": plain(value.hits),
        }
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, When):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray)):
        return [plain(item) for item in value]
    return str(value)


def _fields(value: Any) -> dict[str, Any]:
    names = [field.name for field in fields(value)]
    names += COMPUTED.get(type(value), ())
    return {name: plain(getattr(value, name)) for name in names}

"""Find our fields under the names that other programs give them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.importers.moments import iso
from cognigraph.model.chat import FIELDS

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
    found: dict[str, str] = {}
    for item in (text or "").split(","):
        name, equals, column = (part.strip() for part in item.partition("="))
        if not item.strip():
            continue
        if not (equals and column):
            raise ConfigurationError(f"{item!r} must be FIELD=COLUMN, such as text=body")
        check_columns({name: column})
        found[name] = column
    return found


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


def with_keys(given: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Rename the fields that stand for ours to our names. The time is left to :func:`with_time`."""
    found = dict(given)
    for name, column in columns.items():
        if column in found:
            found[name] = found.pop(column)
    for name in ("text", "session", "id", "speaker"):
        if name == "text" and not _NAMES_OF_TEXT.isdisjoint(found):
            continue
        _rename(found, name)
    return found


def _rename(found: dict[str, Any], name: str) -> None:
    if found.get(name) is not None:
        return
    for other in _OTHER_NAMES[name]:
        value = found.get(other)
        if isinstance(value, str) and value.strip():
            found[name] = found.pop(other)
            return
        if name in ("id", "session") and isinstance(value, int) and not isinstance(value, bool):
            found[name] = str(found.pop(other))
            return


def with_time(given: dict[str, Any], zone: tzinfo | None = None) -> dict[str, Any]:
    """Convert the times among the fields to a form that the memory can read.

    An ``at`` that is not a time stays as it is, so that the message is refused with a reason. Of
    the other fields, the first that holds a time becomes ``at``.
    """
    if given.get("expires") is not None:
        given = given | {"expires": iso(given["expires"], zone) or given["expires"]}
    if given.get("at") is not None:
        return given | {"at": iso(given["at"], zone) or given["at"]}
    for other in _OTHER_NAMES["at"]:
        found = iso(given.get(other), zone)
        if found is not None:
            return {name: value for name, value in given.items() if name != other} | {"at": found}
    return given

"""The core profile: one text about the user that changes by operations. A pure reducer.

MemBuilder, sections 3.2 and C.2. An operation that does not apply is refused with a reason and
changes nothing; the text never grows beyond :data:`LIMIT` unless it is compressed right away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LIMIT = 5000
"""The largest size of a profile, in characters."""
CROWDED = 0.9
"""The share of the limit from which on nothing is appended, but the whole text rewritten."""
COMPRESSED = 3000
"""The size that a compression aims at."""

CoreAction = Literal["APPEND", "REPLACE", "REWRITE"]


@dataclass(frozen=True, slots=True)
class CoreOperation:
    """One change of the profile. ``old`` is the exact text that REPLACE replaces."""

    action: CoreAction
    content: str
    old: str = ""


class RefusedOperation(Exception):
    """Raised when an operation does not apply to a profile; the message says why."""


def applied(text: str, operation: CoreOperation) -> str:
    """The profile after an operation; it may be too long and then needs a compression.

    Raises:
        RefusedOperation: the operation does not apply.
    """
    content = operation.content.strip()
    if not content:
        raise RefusedOperation("has no content")
    if operation.action == "APPEND":
        return _appended(text, content)
    if operation.action == "REPLACE":
        return _replaced(text, operation.old, content)
    return content


def is_too_long(text: str) -> bool:
    """Whether a profile must be compressed."""
    return len(text) > LIMIT


def reapplied(text: str, operation: CoreOperation) -> str | None:
    """The profile after an operation that was made for an older text; ``None`` if it may not be.

    A rewritten text would lose what was added meanwhile.
    """
    if operation.action == "REWRITE":
        return None
    try:
        found = applied(text, operation)
    except RefusedOperation:
        return None
    return None if is_too_long(found) else found


def _appended(text: str, content: str) -> str:
    if len(text) >= CROWDED * LIMIT:
        raise RefusedOperation(f"appends to a profile of {len(text)} characters; rewrite it")
    if content in text:
        raise RefusedOperation("appends what the profile says already")
    return f"{text}\n{content}" if text else content


def _replaced(text: str, old: str, content: str) -> str:
    found = text.count(old) if old else 0
    if found != 1:
        raise RefusedOperation(f"replaces a text that the profile has {found} times")
    return text.replace(old, content)

"""Texts of extractors as they can be stored and shown: names, longer texts, and excerpts."""

from __future__ import annotations

from cognigraph.text.terms import printable, replace_surrogates

_MAX_NAME = 300
_MOST_SHOWN = 120


def storable_name(text: object) -> str | None:
    """A name on one line; ``None`` if it is no text, empty or too long."""
    if not isinstance(text, str):
        return None
    clean = " ".join(replace_surrogates(text.replace("\x00", " "))[0].split())
    return clean if clean and len(clean) <= _MAX_NAME else None


def storable_text(text: object) -> str:
    """A text that can be stored; empty if it is no text."""
    if not isinstance(text, str):
        return ""
    return replace_surrogates(text.replace("\x00", " "))[0].strip()


def shortened(value: object) -> str:
    """Any value as short text on one line."""
    text = " ".join(printable(replace_surrogates(str(value))[0]).split())
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return text if isinstance(value, str) and text else repr(text)

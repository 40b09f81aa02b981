"""Text cleaning, and the wording in which chunks, facts and themes are embedded and indexed."""

from __future__ import annotations

import re

from cognigraph.english.denial import denied

_SURROGATE = re.compile("[\ud800-\udfff]")
# C0 controls (except tab and line feed), C1 controls, and marks that reorder the following text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
QUESTION_MARKS = frozenset("?？؟\u037e")
_TAIL = 16


def replace_surrogates(text: str) -> tuple[str, int]:
    """Replace lone surrogates, which no database can store, by U+FFFD; return text and count."""
    return (text, 0) if text.isascii() else _SURROGATE.subn("\ufffd", text)


def storable(text: str) -> str:
    """The text as it would be stored, so that lookups match it."""
    return replace_surrogates(text)[0]


def printable(text: str) -> str:
    """The text without control characters and bidi overrides, for prompts and terminals."""
    return _CONTROL.sub(" ", text)


def is_question(text: str) -> bool:
    """Whether the text has a question mark, of any script, after its last word."""
    for character in reversed(text[-_TAIL:]):
        if character in QUESTION_MARKS:
            return True
        if character.isalnum():
            return False
    return False


def stated(
    subject: str, relation: str, object: str, when: str | None = None, negated: bool = False
) -> str:
    """A fact as the text that is embedded and indexed; ``when`` is its event time as text."""
    event = f" ({when})" if when else ""
    return f"{subject} {denied(relation) if negated else relation} {object}{event}"


def headed(title: str, summary: str) -> str:
    """A theme as the text that is embedded and indexed."""
    return f"{title}. {summary}"


def searched(speaker: str | None, text: str, fresh: str | None) -> str:
    """A chunk as the text that is embedded and indexed, without recalled prompt blocks.

    ``fresh`` is the text without such blocks, or ``None`` if it has none. If ``fresh`` is empty,
    so is the result.
    """
    return "" if fresh == "" else spoken(speaker, text if fresh is None else fresh)


def spoken(speaker: str | None, text: str) -> str:
    """The text, preceded by its speaker if there is one."""
    return f"{speaker}: {text}" if speaker else text

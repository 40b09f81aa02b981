"""Word a sentence for a reader who was not there: with a name for "she" and a date for "today"."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.english.times.time_words import WEEKDAYS
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.statement import Statement
from cognigraph.ingest.rules.turns import ReadSentence

_PRONOUNS = word_set("he she they it")
_OWNERS = word_set("his her their its")
_ONE_DAY = word_set("on this next last by until coming past")


def in_full(one: ReadSentence, stated: Sequence[Statement]) -> str | None:
    """Return the sentence with its first pronoun and its time words spelled out.

    ``None`` if it begins with a pronoun that cannot be resolved: nobody could tell whom it means.
    """
    text, tokens = one.sentence.text, one.sentence.tokens
    first = tokens[0].low if tokens else ""
    if one.english and first in _PRONOUNS | _OWNERS:
        name = stated[0].subject if stated else ""
        if first not in _PRONOUNS or not name[:1].isupper():
            return None
        text = name + text[len(first) :] if text[: len(first)].lower() == first else text
    for span in reversed(one.times):
        words = " ".join(token.text for token in tokens[span.start : span.end])
        if _is_recurring(one, span.start):
            continue
        if span.when and span.when[:4] not in words and words in text:
            head, _, tail = text.rpartition(words)
            text = f"{head}{words} ({_shown(span.when)}){tail}"
    return text


def _is_recurring(one: ReadSentence, start: int) -> bool:
    """Return whether a weekday may be any such day: in "I climb Mondays", "from Monday"."""
    tokens = one.sentence.tokens
    before = tokens[start - 1].low if start else "on"
    return tokens[start].low in WEEKDAYS and before not in _ONE_DAY


def _shown(when: str) -> str:
    """Return a date or span as text for people."""
    return when.replace("/", " to ")

"""Resolve the time of a fact from the time words of a turn and the date given by the model.

Models quote the words reliably but miscount days. Words with one possible date ("last Tuesday",
"two weeks ago") are therefore resolved here, relative to the date of their turn. For words whose
date depends on the tense ("on Monday", "June 29"), the model's date is used if it fits them.
A time that is not a date is dropped, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from cognigraph.english.sentences import Token, clean, sentences, tokenise
from cognigraph.english.times.find import find_times
from cognigraph.english.times.tense import CERTAIN, Tense
from cognigraph.english.words import word_set
from cognigraph.times import When, parse_when

_JOINING = frozenset(("to", "until", "till", "and", "-", "–", "through"))
_LONGEST = 120
_FILLING = word_set(
    """in on at during by since from over until till of the a an this it was soon to
    and through between around about early late mid day morning afternoon evening night"""
)
"""Words next to a time expression that do not change its date."""
_MOVING = word_set("before after")
_KNOWN_MOVED = word_set("yesterday tomorrow")
_HABITUAL = word_set("every each daily weekly monthly yearly usually often always")


def resolve_when(words: str, date: str, said_at: datetime, text: str) -> str | None:
    """The event time in canonical form; ``None`` if it cannot be determined.

    Args:
        words: the time words quoted from the turn, or empty.
        date: the date or interval given by the model, or empty.
        said_at: when the turn was said, in the speaker's timezone.
        text: the text of the turn, used for the tense around the words.
    """
    given = parse_when(_in_utc(date, said_at.tzinfo))
    tokens = tuple(tokenise(clean(words[:_LONGEST])))
    if any(token.low in _HABITUAL for token in tokens):
        return None
    meant = _readings(tokens, said_at)
    if meant is None:  # no words, or words that the rules cannot resolve
        return given.text if given else None
    dates = [parse_when(one) for one in meant]
    if given is not None and (fitting := _fitting(given, dates)) is not None:
        return fitting
    if len(meant) == 1:
        return dates[0].text if dates[0] else None
    return _in_context(words, text, said_at) or (given.text if given else None)


def _in_utc(date: str, zone: tzinfo | None) -> str:
    """Convert times of day from the speaker's timezone to UTC; leave days, months and years."""
    parts = []
    for part in date.strip().split("/"):
        try:
            moment = datetime.fromisoformat(part.strip()) if ":" in part else None
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is None:
            try:
                moment = moment.replace(tzinfo=zone or UTC).astimezone(UTC)
            except OverflowError:
                moment = None
            part = f"{moment:%Y-%m-%dT%H:%M}" if moment and moment.year >= 1000 else part
        parts.append(part.strip())
    return "/".join(parts)


def _readings(tokens: tuple[Token, ...], said_at: datetime) -> tuple[str, ...] | None:
    """The possible dates of the words, read as past and as future; ``None`` if unresolved.

    A time expression without a date ("a few years ago") gives an empty text.
    """
    lows = {token.low for token in tokens}
    if lows & _MOVING and not lows & _KNOWN_MOVED:
        return None
    past, future = (_read(tokens, said_at, Tense(side, CERTAIN)) for side in (-1, 1))
    if past is None or future is None:
        return None
    return tuple(dict.fromkeys(when for when in (past, future) if when)) or ("",)


def _read(tokens: Sequence[Token], said_at: datetime, tense: Tense) -> str | None:
    spans = find_times(tokens, said_at, tense)
    timed = {index for span in spans for index in range(span.start, span.end)}
    if any(
        index not in timed and token.kind != "mark" and token.low not in _FILLING
        for index, token in enumerate(tokens)
    ):
        return None  # some words are not covered, as in "two days after last Monday"
    if len(spans) == 1:
        return spans[0].when
    if len(spans) == 2 and all(span.when and "/" not in span.when for span in spans):
        between = {token.low for token in tokens[spans[0].start : spans[1].end]}
        if between & _JOINING:
            return f"{spans[0].when}/{spans[1].when}"
    return None


def _fitting(given: When, dates: Sequence[When | None]) -> str | None:
    """The model's date if the words allow it: the same date, or a time of day on that date."""
    for date in dates:
        if date is None:
            continue
        if given.text == date.text:
            return given.text
        if "T" in given.text and date.start <= given.start and given.end <= date.end:
            return given.text
    return None


def _in_context(words: str, text: str, said_at: datetime) -> str | None:
    """Resolve the words within their sentence, whose tense decides between past and future."""
    wanted = [token.low for token in tokenise(clean(words)) if token.kind != "mark"]
    for sentence in sentences(text):
        lows = [token.low for token in sentence.tokens]
        indices = _indices(wanted, lows)
        if indices is None:
            continue
        found = [
            span.when
            for span in find_times(sentence.tokens, said_at)
            if span.when and span.start < indices[1] and indices[0] < span.end
        ]
        if len(found) == 1:
            return found[0]
    return None


def _indices(wanted: Sequence[str], lows: Sequence[str]) -> tuple[int, int] | None:
    for start in range(len(lows) - len(wanted) + 1):
        if list(lows[start : start + len(wanted)]) == list(wanted):
            return start, start + len(wanted)
    return None

"""When something happened, out of the words of a turn and the date a model made of them.

Models name the words well and count days badly, so words that mean one date ("last Tuesday", "two
weeks ago") are counted here, from the date of the turn they stand in. Words whose date hangs on
the tense ("on Monday", "June 29") follow the model where its date fits them. What is no date is
dropped, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from cognigraph.english.sentences import Token, clean, sentences, tokenise
from cognigraph.english.times.find import find_times
from cognigraph.english.words import word_set
from cognigraph.times import When, parse_when

_PAST = Token("was", "was", "word")
_FUTURE = Token("soon", "soon", "word")
_JOINING = frozenset(("to", "until", "till", "and", "-", "–", "through"))
_LONGEST = 120
_FILLING = word_set(
    """in on at during by since from over until till of the a an this it was soon to
    and through between around about early late mid day morning afternoon evening night"""
)
"""Words beside a time that do not move it."""
_MOVING = word_set("before after")
_KNOWN_MOVED = word_set("yesterday tomorrow")
_HABITUAL = word_set("every each daily weekly monthly yearly usually often always")


def resolve_when(words: str, date: str, said_at: datetime, text: str) -> str | None:
    """The time that is meant, canonical; ``None`` if none can be told.

    Args:
        words: the time words of the turn, or empty.
        date: the date or interval that the model gave, or empty.
        said_at: when the turn was said, in its speaker's zone.
        text: the turn, for the tense around the words.
    """
    given = parse_when(_in_utc(date, said_at.tzinfo))
    tokens = tuple(tokenise(clean(words[:_LONGEST])))
    if any(token.low in _HABITUAL for token in tokens):
        return None
    meant = _readings(tokens, said_at)
    if meant is None:  # no words, or words that only the model understands
        return given.text if given else None
    dates = [parse_when(one) for one in meant]
    if given is not None and (fitting := _fitting(given, dates)) is not None:
        return fitting
    if len(meant) == 1:
        return dates[0].text if dates[0] else None
    return _in_context(words, text, said_at) or (given.text if given else None)


def _in_utc(date: str, zone: tzinfo | None) -> str:
    """Give times of day the speaker's offset; days, months and years have none."""
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
    """What the words may mean by their tense: one date or two; ``None`` for other words.

    A time that has no date ("a few years ago") reads as empty.
    """
    lows = {token.low for token in tokens}
    if lows & _MOVING and not lows & _KNOWN_MOVED:
        return None
    past = _read((*tokens, _PAST), said_at)
    future = _read((*tokens, _FUTURE), said_at)
    if past is None or future is None:
        return None
    return tuple(dict.fromkeys((past, future)))


def _read(tokens: Sequence[Token], said_at: datetime) -> str | None:
    spans = find_times(tokens, said_at)
    timed = {place for span in spans for place in range(span.start, span.end)}
    if any(
        place not in timed and token.kind != "mark" and token.low not in _FILLING
        for place, token in enumerate(tokens)
    ):
        return None  # "two days after last Monday": more is said than was understood
    if len(spans) == 1:
        return spans[0].when
    if len(spans) == 2 and all(span.when and "/" not in span.when for span in spans):
        between = {token.low for token in tokens[spans[0].start : spans[1].end]}
        if between & _JOINING:
            return f"{spans[0].when}/{spans[1].when}"
    return None


def _fitting(given: When, dates: Sequence[When | None]) -> str | None:
    """The model's own date where the words allow it: the same, or a time of day on that day."""
    for date in dates:
        if date is None:
            continue
        if given.text == date.text:
            return given.text
        if "T" in given.text and date.start <= given.start and given.end <= date.end:
            return given.text
    return None


def _in_context(words: str, text: str, said_at: datetime) -> str | None:
    """Read the words within the sentence they stand in, whose tense decides."""
    wanted = [token.low for token in tokenise(clean(words)) if token.kind != "mark"]
    for sentence in sentences(text):
        lows = [token.low for token in sentence.tokens]
        places = _places(wanted, lows)
        if places is None:
            continue
        found = [
            span.when
            for span in find_times(sentence.tokens, said_at)
            if span.when and span.start < places[1] and places[0] < span.end
        ]
        if len(found) == 1:
            return found[0]
    return None


def _places(wanted: Sequence[str], lows: Sequence[str]) -> tuple[int, int] | None:
    for start in range(len(lows) - len(wanted) + 1):
        if list(lows[start : start + len(wanted)]) == list(wanted):
            return start, start + len(wanted)
    return None

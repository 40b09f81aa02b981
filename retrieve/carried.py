"""Whether messages carry a date or a number that a block would show in a fact or a summary.

Facts and summaries may have been written by a model, and a date or a number that it got wrong looks
as sure as all others. So a block shows those that the messages behind it bear out: a date that the
text states relative to the time of its message, or the day of the message; a number that stands in
the text, in digits or in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from cognigraph.english.sentences import Sentence, sentence_spans, sentences
from cognigraph.english.times.find import Tense, TimeSpan, find_times, read_times
from cognigraph.english.times.readers import CERTAIN, MONTHS
from cognigraph.model import Theme, Triple
from cognigraph.retrieve.block_lines import Background, SpokenText, Topic
from cognigraph.text.numbers import (
    has_digits,
    quantities,
    stated_numbers,
    written_values,
)
from cognigraph.text.terms import is_english, remembered
from cognigraph.times import When, parse_when

_LONGEST = 20_000
"""Characters of a message that are read."""
_NUMERIC = re.compile(
    r"(?<!\d)(?:(?P<year>\d{4})\s?[年./-]\s?)?(?P<first>\d{1,2})\s?(?:[./-]|月)\s?(?P<second>\d{1,2})?"
    r"(?:\s?[./-]\s?(?P<last>\d{4}|\d{2}))?(?!\d)"
)
"""Dates in digits of most of the world: 25.5.2026, 5/25, 2026/5/25, 2026年5月25日, 5月."""
_DAY = re.compile(r"(?<![\d.,:])(?P<day>\d{1,2})(?:st\b|nd\b|rd\b|th\b|[号號日]|\.(?!\d))")
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d.,]?\d)")
_YEAR_AND_MONTH = re.compile(r"(?<![\d-])\d{4}-\d\d(?![\d-])")
_SHORT_YEAR = re.compile(r"(?<!\d)\d\d(?!\d)")
_MOST_READ = 12
"""Messages of a session whose dates are read; those come first that are most like the question."""
_SPELLED_OUT = 100
"""Up to it, and where they end in zeros, numbers are often written in words."""
_VAGUE = timedelta(days=10)
"""Of a week or a weekend it is a matter of taste on which day it begins."""


class Carried:
    """What the messages at hand bear out; reads each message once.

    A fact of which no message is at hand is shown without its date.
    """

    def __init__(self, background: Background, zone: tzinfo) -> None:
        self._background = background
        self._zone = zone
        self._said_on: dict[datetime, list[When]] = {}
        self._facts: dict[str, Triple | None] = {}

    def fact(self, triple: Triple) -> Triple | None:
        """The fact without dates that are not carried; ``None`` if a number of it is not.

        What an application stated is not checked.
        """
        if triple.is_stated:
            return triple
        if triple.uid not in self._facts:
            self._facts[triple.uid] = self._fact(triple)
        return self._facts[triple.uid]

    def _fact(self, triple: Triple) -> Triple | None:
        said = self._background.sources.get(triple.uid, ())
        if said and not self.numbers(triple.object, said):
            return None
        when = triple.when if triple.when and self.date(triple.when, said) else None
        since, until = triple.valid_from, triple.valid_to
        if since is not None and not self._since(triple, when, said):
            since = None
        if until is not None and not self._until(triple, when):
            until = None
        if (when, since, until) == (triple.when, triple.valid_from, triple.valid_to):
            return triple
        return replace(triple, when=when, valid_from=since, valid_to=until)

    def facts(self, triples: Iterable[Triple]) -> list[Triple]:
        """As :meth:`fact`, of several."""
        return [fact for fact in map(self.fact, triples) if fact is not None]

    def topic(self, topic: Topic) -> Topic | None:
        """The session or episode without sentences of which a date or a number is not carried.

        ``None`` if nothing is left.
        """
        session = topic.session
        said = self._background.spoken.get(topic.id, ())
        themes = [
            theme for item in session.themes if (theme := self._theme(item, said)) is not None
        ]
        keys = tuple(key for key in session.keys if self.numbers(key, said))
        if session.themes and not themes:
            return None
        if len(keys) == len(session.keys) and themes == list(session.themes):
            return topic
        return replace(topic, session=replace(session, themes=tuple(themes), keys=keys))

    def _theme(self, theme: Theme, said: Sequence[SpokenText]) -> Theme | None:
        title = theme.title if self.numbers(theme.title, said) else ""
        spans = list(sentence_spans(theme.summary))
        kept = [theme.summary[a:b] for a, b in spans if self.numbers(theme.summary[a:b], said)]
        if theme.summary.strip() and not kept:
            return None
        summary = theme.summary if len(kept) == len(spans) else " ".join(kept)
        return replace(theme, title=title, summary=summary)

    def date(self, when: When, said: Iterable[SpokenText]) -> bool:
        """Whether one of the messages states a time, or was said on it.

        A month or a year is also carried by a day within it. The two ends of a time may be stated
        in different places of a message.
        """
        ends = [parse_when(end) for end in re.split(r"/|\.\.", when.text)]
        wanted = when.text.replace("..", "/")
        messages = list(said)
        if any(day.text == wanted for message in messages for day in self._days(message)):
            return True
        for message in messages[:_MOST_READ]:
            stated = self._stated(message)
            if any(_is_same(item, when) for item in stated):
                return True
            points = [*stated, *(point for item in stated for point in _ends(item))]
            if all(
                end is not None and any(_bears_out(item, end) for item in points) for end in ends
            ):
                return True
        return False

    def numbers(self, text: str, said: Sequence[SpokenText]) -> bool:
        """Whether each date and each quantity that a text has in digits is carried by the messages.

        Dates are carried as in :meth:`date`. Digits after a letter ("TX81Z") are part of a name.
        Words of other languages than English and Chinese are not read, so there only numbers that
        nobody writes in words must stand in a message.
        """
        if not quantities(text):
            return True
        day = min((self._days(message)[0].start.date() for message in said), default=date.min)
        for words in _calendar_dates(text):
            readings = (parse_when(word) for word in _in_words(" ".join(words), day))
            if any(when is not None and self.date(when, said) for when in readings):
                text = re.sub(r"\s*".join(map(re.escape, words)), " ", text, count=1)
            elif not self._names_month(words, said):
                return False
        return all(self._number(quantity, said) for quantity in quantities(text))

    def _names_month(self, words: Iterable[str], said: Sequence[SpokenText]) -> bool:
        """Whether a message names the months of a date that is not carried as a whole."""
        months = {MONTHS[word.lower()] for word in words if word.lower() in MONTHS}
        named = {
            MONTHS[word]
            for message in said
            for word in re.findall(r"[a-z]+", message.text[:_LONGEST].lower())
            if word in MONTHS
        }
        return months <= named

    def _number(self, number: str, said: Sequence[SpokenText]) -> bool:
        if any(self._has_number(message, number) for message in said):
            return True
        if not _YEAR.fullmatch(number):
            return False
        dates = (item for message in said[:_MOST_READ] for item in self._stated(message))
        return any(number in date.text for date in dates)

    def _has_number(self, message: SpokenText, number: str) -> bool:
        text = message.text[:_LONGEST]
        if has_digits(text, number):
            return True
        stated = remembered(("numbers", hash(text)), lambda: stated_numbers(text))
        if not written_values(number).isdisjoint(stated) or _may_be_spelled_out(number, text):
            return True
        return bool(_YEAR.fullmatch(number)) and number[2:] in _SHORT_YEAR.findall(text)  # "'16"

    def _since(self, triple: Triple, when: When | None, said: Sequence[SpokenText]) -> bool:
        assert triple.valid_from is not None
        told = [triple.first_observed, *([when.start] if when else [])]
        return self._in_month_of(triple.valid_from, told) or self._month(triple.valid_from, said)

    def _until(self, triple: Triple, when: When | None) -> bool:
        """Whether the end of a fact is carried: it says it itself, or what superseded it does."""
        assert triple.valid_to is not None
        told = [when.end] if when else []
        if triple.superseded_at is not None:
            told.append(triple.superseded_at)
        superseding = self._background.sources.get(triple.superseded_by or "", ())
        return self._in_month_of(triple.valid_to, told) or self._month(triple.valid_to, superseding)

    def _in_month_of(self, moment: datetime, told: Iterable[datetime]) -> bool:
        month = _local(moment, self._zone).strftime("%Y-%m")
        return any(_local(item, self._zone).strftime("%Y-%m") == month for item in told)

    def _month(self, moment: datetime, said: Iterable[SpokenText]) -> bool:
        when = parse_when(_local(moment, self._zone).strftime("%Y-%m"))
        return when is not None and self.date(when, said)

    def _stated(self, message: SpokenText) -> list[When]:
        """The day of a message, for the reader and in UTC, and the times that it states."""
        days, text = self._days(message), message.text[:_LONGEST]
        dates = [day.start.date() for day in days]
        return [*days, *remembered(("times", hash(text), *dates), lambda: _times_in(text, dates))]

    def _days(self, message: SpokenText) -> list[When]:
        if message.at not in self._said_on:
            days = sorted({_local(message.at, zone).date() for zone in (self._zone, UTC)})
            read = [parse_when(day.isoformat()) for day in days]
            self._said_on[message.at] = [when for when in read if when is not None]
        return self._said_on[message.at]


def _may_be_spelled_out(number: str, text: str) -> bool:
    """Whether a text in a language whose numbers are not read may have a number in words."""
    values = [int(value) for value in written_values(number) if value.isdecimal()]
    if not any(value <= _SPELLED_OUT or value % 100 == 0 for value in values):
        return False
    return remembered(("foreign", hash(text)), lambda: is_english(text) is False)


def _is_same(stated: When, when: When) -> bool:
    """Whether two times are the same, or two weeks or weekends of which most is the same."""
    if stated.text.replace("..", "/") == when.text.replace("..", "/"):
        return True
    lengths = [stated.end - stated.start, when.end - when.start]
    common = min(stated.end, when.end) - max(stated.start, when.start)
    return timedelta(days=1) < min(lengths) and max(lengths) <= min(_VAGUE, 2 * common)


def _bears_out(stated: When, when: When) -> bool:
    """Whether a time that is stated makes another one true: it is the same, or lies within it."""
    if "T" in when.text and len(stated.text) == 10:  # a time of day, on the day that is stated
        return stated.start <= when.start and when.end <= stated.end
    return when.start <= stated.start and stated.end <= when.end


def _ends(when: When) -> Iterator[When]:
    points = [parse_when(end) for end in re.split(r"/|\.\.", when.text)]
    return (point for point in points if point is not None and len(points) > 1)


def _local(at: datetime, zone: tzinfo) -> datetime:
    with suppress(OverflowError):
        return at.astimezone(zone)
    return at


def _times_in(text: str, days: Iterable[date]) -> list[When]:
    """The times that a text states, as said on one of several days."""
    stated = [item for day in days for item in _dates(text, day)]
    return [when for item in dict.fromkeys(stated) if (when := parse_when(item)) is not None]


def _dates(text: str, today: date) -> list[str]:
    """The dates that a text states, as said on a day; also those that its tense leaves open."""
    stated = _in_words(text, today)
    if any(map(str.isdigit, text)):
        stated += [*_with_short_years(text, stated), *_in_digits(text, today)]
    return stated


def _in_words(text: str, today: date) -> list[str]:
    """The dates that the English expressions of a text may mean."""
    return remembered(("words", hash(text), today), lambda: _read_in_words(text, today))


def _read_in_words(text: str, today: date) -> list[str]:
    at = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    read = list(sentences(text))
    spans = [span for own in read_times(read, at) for span in own]
    taken_back = {reading for span in spans if span.outdated for reading in span.readings}
    if any(not span.outdated and len(span.readings) != 1 for span in spans):
        spans += _in_any_tense(read, at)
    stated = dict.fromkeys(reading for span in spans for reading in span.readings)
    return [reading for reading in stated if reading not in taken_back]


def _in_any_tense(read: Iterable[Sentence], at: datetime) -> list[TimeSpan]:
    return [
        span
        for sentence in read
        for side in (-1, 1)
        for span in find_times(sentence.tokens, at, Tense(side, CERTAIN))
    ]


def _with_short_years(text: str, stated: Iterable[str]) -> Iterator[str]:
    """The days that are stated, in the years of two digits of the text: "1 April 90"."""
    years = set(_SHORT_YEAR.findall(text))
    for day in stated:
        if len(day) == 10:
            yield from (f"{century}{year}{day[4:]}" for year in years for century in (19, 20))


def _in_digits(text: str, today: date) -> Iterator[str]:
    """The years and days that a text has in digits, without a word of any language."""
    yield from _YEAR.findall(text)
    yield from _YEAR_AND_MONTH.findall(text)
    for match in _DAY.finditer(text):
        for month in (-1, 0, 1):
            near = today.replace(day=15) + timedelta(days=30 * month)
            yield f"{near:%Y-%m}-{int(match['day']):02}"
    for match in _NUMERIC.finditer(text):
        first, second = int(match["first"]), int(match["second"] or 0)
        for year in _years(match, today):
            if second:
                yield f"{year:04}-{first:02}-{second:02}"
                yield f"{year:04}-{second:02}-{first:02}"
            else:
                yield f"{year:04}-{first:02}"


def _years(match: re.Match[str], today: date) -> list[int]:
    year = match["year"] or match["last"]
    if year is None:
        return [today.year - 1, today.year, today.year + 1]
    return [int(year)] if len(year) == 4 else [1900 + int(year), 2000 + int(year)]


def _calendar_dates(text: str) -> list[list[str]]:
    """The words of the expressions of a text that name a month, or a year or day in digits."""
    return remembered(("calendar", hash(text)), lambda: list(_read_calendar_dates(text)))


def _read_calendar_dates(text: str) -> Iterator[list[str]]:
    at = datetime(2000, 1, 1, tzinfo=UTC)
    for sentence in sentences(text):
        for span in find_times(sentence.tokens, at, Tense(-1, CERTAIN)):
            tokens = sentence.tokens[span.start : span.end]
            if any(token.low in MONTHS or token.kind == "number" for token in tokens):
                yield [token.text for token in tokens]

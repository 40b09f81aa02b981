"""Find the times that sentences state, relative to the time of the message.

A time is as precise as its words: "yesterday" gives a day, "last month" a month, "last week" a span
of days, "in 2022" a year. It is only dated if its words and the tense leave one date. Others ("a
few years ago", "in May" in a fragment) are found too, so that they are not taken for something
else, but have no date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from cognigraph.english.sentences import Sentence, Token
from cognigraph.english.times import calendar
from cognigraph.english.times.grammar import AHEAD, STARTS, Time, read_time
from cognigraph.english.times.tense import ARRANGED, CERTAIN, LIKELY, RESCHEDULING, UNKNOWN, Tense, tense_of
from cognigraph.english.times.time_words import MONTHS, WEEKDAYS
from cognigraph.english.words import word_set

Bound = Literal["", "from", "until", "before", "after"]

_BOUNDS: dict[str, Bound] = {
    "since": "from", "from": "from", "starting": "from", "beginning": "from", "effective": "from",
    "until": "until", "till": "until", "by": "until", "before": "before", "after": "after",
    "prior": "before", "following": "after",
}  # fmt: skip
_LEADING = word_set(
    """in on at during by since from over until till before after of between starting beginning
    effective prior following back early late mid end start close middle the as for to through"""
)
_ONLY_WITH = {"the": ("end", "start", "close", "middle", "beginning"), "as": ("of",),
              "end": ("of",), "start": ("of",), "close": ("of",), "middle": ("of",),
              "back": ("in", "on", "at")}  # fmt: skip
"""Words that belong to an expression only before some others: "as of", "the end of"."""
_JOINING = word_set("to until till through thru and - – —")
_ABOUT = word_set(
    """about around roughly approximately almost nearly circa over under than least most or
    maybe perhaps some ~"""
)
_HABITS = word_set(
    """usually always never often normally typically generally sometimes regularly rarely weekly
    monthly yearly annually every each whenever recurring"""
)
_YEARLY = word_set("born birthday anniversary birthdays")
_NOT_DAYS = word_set("black good ash holy easter cyber super palm shrove a an the any one some of")
_EXACT = word_set("since from until on")
_QUOTING = word_set("said says say wrote called named titled")
_OWNED = word_set("my your his her our their its")
_AMBIGUOUS_DAYS = word_set("sun sat mon wed")
_NOUN_BEFORE_TODAY = word_set("still even as until")
_KNOWN = word_set("known called named")
"""Words with which "today" is no day: "known as Istanbul today", "still used today"."""
_OPENS_AHEAD = word_set(
    ", due leave leaves leaving start starts starting begin begins expires flying moving and but so"
)
"""What stands before an "in two weeks" that is a time and no duration: "due", a new clause."""
_CORRECTION = re.compile(
    r"\b(?:no wait|wait|actually|i mean|scratch that|make (?:that|it)|correction|edit|sorry|oops"
    r"|my bad|no ,|rather|just (?:wrote|said|texted)|now it is|new date)\b"
)
_BETWEEN_CORRECTED = 12
"""Number of tokens that may stand between a time and its correction."""
_MAX_DAYS = 183
"""Length of the longest range of days that is read without a year: none spans one by accident."""


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Tokens ``[start, end)`` express a time; prepositions before it are part of them.

    ``readings`` are the times that the words may mean in their tense, the likeliest first, in the
    canonical text of ``cognigraph.times``; none for "a few years ago". ``bound`` tells which end
    of the time is stated: "from" next week on, "until" or by Friday, "before" or "after" a date.
    ``outdated`` is a time that the message itself takes back: "Tuesday, no wait, Wednesday".
    """

    start: int
    end: int
    readings: tuple[str, ...] = ()
    bound: Bound = ""
    outdated: bool = False

    @property
    def when(self) -> str:
        """The date if there is exactly one, else ``""``. "After Monday" has none."""
        sure = len(self.readings) == 1 and not self.outdated
        return self.readings[0] if sure and self.bound not in ("before", "after") else ""

    @property
    def interval(self) -> str:
        """As ``when``, with open ends in the notation of ISO 8601: ``2019/..``, ``../2026-05-01``.

        A week or month that is a bound gives its first or last day or month.
        """
        first, _, last = self.when.partition("/")
        if not self.when or not self.bound:
            return self.when
        return f"{first}/.." if self.bound == "from" else f"../{last or first}"


@dataclass(frozen=True, slots=True)
class _Found:
    """An expression, what it may mean, and the tense in which it stands."""

    span: TimeSpan
    time: Time
    tense: Tense


def find_times(
    tokens: Sequence[Token], at: datetime, tense: Tense | None = None
) -> list[TimeSpan]:
    """Return the time expressions of a sentence, in order and without overlap.

    ``at`` is the speaker's local time: its date is what the speaker calls "today". ``tense``
    replaces the tense of the sentence.
    """
    return [found.span for found in _find(tokens, at, tense)]


def read_times(sentences: Sequence[Sentence], at: datetime) -> list[list[TimeSpan]]:
    """Return the time expressions of each sentence of a message, corrections taken into account.

    "The launch is on 30 June. Actually, 14 July.": the first date is outdated, and the second has
    the tense of the first.
    """
    found = [_find(one.tokens, at, None) for one in sentences]
    for number in range(1, len(found)):
        if found[number] and found[number - 1]:
            old, new = found[number - 1][-1], found[number][0]
            before = [token.low for token in sentences[number].tokens[: new.span.start]]
            gap = [token.low for token in sentences[number - 1].tokens[old.span.end :]]
            fixed = _corrected(old, new, [*gap, *before], at)
            if fixed is not None:
                found[number - 1][-1], found[number][0] = fixed
    return [[one.span for one in spans] for spans in found]


def _find(tokens: Sequence[Token], at: datetime, tense: Tense | None) -> list[_Found]:
    # The words of a quotation are somebody else's, of another day.
    lows = ["_" if token.kind == "quoted" else token.low.replace(" ", "_") for token in tokens]
    said = " ".join(lows)
    spans: list[_Found] = []
    end = 0
    for match in STARTS.finditer(said):
        if match.start() < end:
            continue
        read = read_time(said, match.start(), at)
        if read is None:
            continue
        first = said.count(" ", 0, match.start())
        last = said.count(" ", 0, read[0]) + 1
        floor = spans[-1].span.end if spans else 0
        found = _placed(tokens, lows, (floor, first, last), read[1], at, tense)
        if found is None:
            continue
        end = read[0]
        joined = _joined(spans[-1], found, lows, at) if spans else None
        spans[-1:] = joined if joined is not None else [*spans[-1:], found]
    return [_half_of_range(found, lows) for found in spans]


def _half_of_range(found: _Found, lows: list[str]) -> _Found:
    """Leave undated what is only one end of a range: "Monday to Friday", "from May to the fall"."""
    span = found.span
    joint = "".join(lows[span.end : span.end + 1])
    words = set(lows[span.start : span.end])
    opened = ("from" in words and joint in _JOINING) or ("between" in words and joint == "and")
    closes = lows[span.start] in ("to", "through", "thru") and lows[max(span.start - 1, 0)] in WEEKDAYS
    whole = _JOINING & set(lows[span.start + 1 : span.end])
    weekday = found.time.needs == LIKELY
    if closes or (not whole and (
        opened or (weekday and joint in ("to", "through", "thru"))
    )):
        return replace(found, span=replace(span, readings=()))
    return found


def _placed(
    tokens: Sequence[Token],
    lows: list[str],
    place: tuple[int, int, int],
    time: Time,
    at: datetime,
    tense: Tense | None,
) -> _Found | None:
    """Return the expression with its prepositions, bound and tense; ``None`` if it is none."""
    floor, first, end = place
    if _is_other_word(tokens, lows, first, end):
        return None
    start = _with_prepositions(lows, first, floor)
    lead = lows[start:first]
    if _is_undated(lows, start, first, end, time):
        return _Found(TimeSpan(start, end), Time(()), UNKNOWN)
    told = tense or _with_lead(lows, start, lead, tense_of(tokens, start, end))
    if time.needs == AHEAD:
        ahead = told.direction > 0 and told.certainty == CERTAIN
        opening = start == 0 or lows[start - 1] in _OPENS_AHEAD
        time = Time(time.times if ahead and opening else ())
    readings = time.readings(at.date(), *told)
    bound = _bound(lows, start, first, end, readings, at)
    return _Found(TimeSpan(start, end, readings, bound), time, told)


def _bound(
    lows: list[str], start: int, first: int, end: int, readings: tuple[str, ...], at: datetime
) -> Bound:
    """Return which end of a time is stated. "A letter from 3 May" has a date, but no beginning."""
    if _JOINING & set(lows[first:end]):
        return ""  # "from 1 to 15 August" has both
    lead = lows[start:first]
    if lead[:2] == ["as", "of"]:
        return "from"
    bound = next((_BOUNDS[word] for word in lead if word in _BOUNDS), "")
    on = lows[end : end + 1] in (["on"], ["onwards"])
    if "from" in lead and not on and not any(time >= at.date().isoformat() for time in readings):
        return ""
    return bound


def _with_prepositions(lows: list[str], first: int, floor: int) -> int:
    start = first
    while start > floor and lows[start - 1] in _LEADING:
        only = _ONLY_WITH.get(lows[start - 1])
        if only is not None and (start == first or lows[start] not in only):
            break
        if lows[start - 1] == "of" and start - 1 > floor and lows[start - 2] not in _LEADING:
            break
        start -= 1
    return start


def _is_other_word(tokens: Sequence[Token], lows: list[str], first: int, end: int) -> bool:
    """Return whether a name of a month or weekday is a name or another word here."""
    low, before = lows[first], lows[first - 1] if first else ""
    if low in _AMBIGUOUS_DAYS and end == first + 1 and before not in ("on", "until", "by", "since"):
        return True
    if any(token.text in ("may", "march", "mar") for token in tokens[first:end]):
        numbered = any(low[0].isdigit() for low in lows[first : end - 1])
        return not numbered and (
            end > first + 1 or before not in ("in", "since", "until", "by", "early", "late")
        )
    if low in WEEKDAYS and first > 1 and tokens[first - 1].text[0].isupper() and before != "i":
        return tokens[first].text[0].isupper()  # "Focus Friday"
    if low in WEEKDAYS and before in _NOT_DAYS and (before != "of" or end == first + 1):
        return True
    return low in MONTHS and end == first + 1 and before == "from" and not _ahead_of(lows, end)


def _ahead_of(lows: list[str], end: int) -> bool:
    """Return whether something shows that "from June" is a time, and June no person."""
    return bool(set(lows[end : end + 2]) & {"on", "onwards", "to", "until", "till", "i", "we"})


def _is_undated(lows: list[str], start: int, first: int, end: int, time: Time) -> bool:
    """Return whether the words around an expression keep it from being dated."""
    before = lows[start - 1] if start else ""
    after = lows[end] if end < len(lows) else ""
    if before in _ABOUT:
        return True
    if lows[end - 1] in ("ago", "back") and first > start and lows[first - 1] not in _EXACT:
        return True  # "over a year ago"
    if before in _QUOTING and start == first and time.needs:
        return True  # "the note said Friday"
    if lows[first] in WEEKDAYS and start == first and after in ("is", "are", "will"):
        return True  # "Friday is pizza day"
    if after == "'s" or (after == "or" and lows[end + 1 : end + 2] == ["so"]):
        return True
    if (lows[first] in ("last", "next", "this") or lows[first] in WEEKDAYS) and before in _OWNED:
        return True
    if lows[first] == "today":
        return before in _NOUN_BEFORE_TODAY or bool(_KNOWN & set(lows[:start])) or lows[start:first] == ["as", "of"]
    if time.needs and (_HABITS & set(lows) or _YEARLY & set(lows[:start]) - {"was"}):
        return "was" not in lows or bool(_HABITS & set(lows)) or "born" in lows
    return False


def _with_lead(lows: list[str], start: int, lead: list[str], told: Tense) -> Tense:
    """Return the tense of an expression whose preposition has a direction of its own."""
    words = set(lead)
    if {"about", "regarding"} & set(lows[max(start - 5, 0) : start]):
        return UNKNOWN  # "talked about the trip in May"
    if "since" in words:
        return Tense(-1, CERTAIN)
    if "to" in words and RESCHEDULING & set(lows[:start]):
        return Tense(1, CERTAIN)
    if words & {"until", "till", "by", "starting", "effective", "beginning", "from", "as"}:
        past = told.direction < 0
        return (told if not words & {"by"} else UNKNOWN) if past else Tense(1, CERTAIN)
    if "for" in words and told.direction <= 0:
        return Tense(1, LIKELY) if ARRANGED & set(lows[:start]) else UNKNOWN
    return told


def _joined(first: _Found, second: _Found, lows: list[str], at: datetime) -> list[_Found] | None:
    """Return what becomes of two neighbours: a range, a correction; ``None`` if they are two."""
    gap = lows[first.span.end : second.span.start]
    lead = lows[second.span.start : second.span.end][:1]
    link = gap[0] if len(gap) == 1 else lead[0] if not gap and lead else ""
    opening = set(lows[first.span.start : first.span.end])
    if link in ("to", "until", "till") and RESCHEDULING & set(lows[: first.span.start]):
        return [_outdated(first), second]
    if link in _JOINING and ("between" in opening if link == "and" else True):
        return _range(first, second, at, "from" in opening or "between" in opening)
    if lows[max(second.span.start - 2, 0) : second.span.start][-1:] == ["than"] or (
        lows[second.span.start : second.span.start + 1] == ["of"] and gap[-1:] == ["instead"]
    ) or gap[-2:] == ["instead", "of"]:
        return [first, _outdated(second)]
    if "not" in lows[max(first.span.start - 1, 0) : first.span.start] and not first.span.bound:
        return list(_corrected_by(first, second, at))
    fixed = _corrected(first, second, gap, at)
    return None if fixed is None else list(fixed)


def _outdated(found: _Found) -> _Found:
    return replace(found, span=replace(found.span, outdated=True))


def _corrected(
    old: _Found, new: _Found, gap: list[str], at: datetime
) -> tuple[_Found, _Found] | None:
    """Return both times if the second corrects the first: "on Tuesday, no wait, Wednesday"."""
    if len(gap) > _BETWEEN_CORRECTED or not new.time.times or not old.time.times:
        return None
    if _CORRECTION.search(" ".join(gap)) is None:
        return None
    return _corrected_by(old, new, at)


def _corrected_by(old: _Found, new: _Found, at: datetime) -> tuple[_Found, _Found]:
    tense = old.tense if old.tense.certainty >= new.time.needs else new.tense
    readings = new.time.readings(at.date(), *tense)
    if len(old.span.readings) == 1 and new.time.needs:
        # "24 May. Sorry, the 25th": the month of the date that it corrects.
        near = [
            time for time in new.time.times
            if time[:7] == old.span.readings[0][:7] and len(time) == 10
        ]  # fmt: skip
        readings = tuple(near) if len(near) == 1 and not readings[1:] else readings
    return _outdated(old), replace(new, span=replace(new.span, readings=readings))


def _range(first: _Found, second: _Found, at: datetime, opened: bool) -> list[_Found] | None:
    """Join the two ends of a range, in order: the second is the first such time after the first."""
    if not first.time.times or not second.time.times:
        return None
    needs = max(first.time.needs, second.time.needs)
    lengths = {len(time) for time in (*first.time.times, *second.time.times)}
    if len(lengths) > 1 or (needs == LIKELY and not opened):
        return None
    if any(not one.time.needs and len(one.time.times) > 1 for one in (first, second)):
        return None
    ranges = []
    for start in first.time.times:
        end = next((time for time in second.time.times if time > start), None)
        if end is None or "/" in start:
            continue
        days = (calendar.last_day(end) - calendar.first_day(start)).days
        if days <= (_MAX_DAYS if needs == 1 else 13 if needs == LIKELY else 366 * 100):
            ranges.append(f"{start}/{end}")
    if needs and len(ranges) > 1 and not first.time.needs:
        ranges = ranges[:1]
    if not first.time.needs or not second.time.needs:
        needs = 0
        ranges = ranges[-1:] if first.time.needs else ranges[:1]
    tense = first.tense if first.tense.direction else second.tense
    if needs == LIKELY and tense.certainty < CERTAIN:
        tense = UNKNOWN  # "from Monday to Friday" is a habit
    time = Time(tuple(ranges), needs)
    span = TimeSpan(first.span.start, second.span.end, time.readings(at.date(), *tense))
    return [_Found(span, time, tense)]

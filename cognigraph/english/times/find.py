"""Find the times that sentences state, relative to the time of the message and by the tense.

A time is as precise as its words: "yesterday" gives a day, "last month" a month, "last week" a span
of days, "in 2022" a year. It is only dated if its words and the tense leave one date. Others ("a
few years ago", "in May" in a fragment) are found too, so that they are not taken for something
else, but have no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal, NamedTuple

from cognigraph.english import verbs
from cognigraph.english.sentences import Sentence, Token
from cognigraph.english.times.readers import (
    AHEAD,
    CERTAIN,
    LIKELY,
    MONTHS,
    SIMPLE,
    STARTS,
    WEAK,
    WEEKDAYS,
    Time,
    first_day,
    last_day,
    read_time,
)
from cognigraph.english.words import ADVERBS, CORRECTING, PREPOSITIONS, TAKING_BACK, word_set

Bound = Literal["", "from", "until", "before", "after"]

_BOUNDS: dict[str, Bound] = {
    "since": "from", "from": "from", "starting": "from", "beginning": "from", "effective": "from",
    "as": "from", "until": "until", "till": "until", "through": "until", "by": "until",
    "before": "before", "prior": "before", "after": "after", "following": "after",
}  # fmt: skip
_LEADING = word_set(
    """in on at during by since from over until till before after of between starting beginning
    effective prior following back early late mid end start close middle the as for to through"""
)
_ONLY_BEFORE = {
    "the": word_set("end start close middle beginning"), "as": word_set("of"),
    "back": word_set("in on at"), "end": word_set("of"), "start": word_set("of"),
    "close": word_set("of"), "middle": word_set("of"),
}  # fmt: skip
"""Words that belong to an expression only before some others: "as of", "the end of"."""
_JOINING = word_set("to until till through thru - – —")
_OPENS_AHEAD = word_set(
    ", due leave leaves leaving start starts starting begin begins expires flying moving and but so"
)
"""What stands before an "in two weeks" that is a time and no duration: "due", a new clause."""
_ABOUT = word_set(
    """about around roughly approximately almost nearly circa over under than least most or
    maybe perhaps some ~"""
)
_HABITS = word_set(
    """usually always never often normally typically generally sometimes regularly rarely weekly
    monthly yearly annually every each whenever recurring born"""
)
_YEARLY = word_set("birthday birthdays anniversary")
_NOT_DAYS = word_set("black good ash holy easter cyber super palm shrove a an the any one some")
_NO_NAME = _LEADING | word_set("i am pm")
_NOT_THIS_DAY = word_set("still even until")
_OWNED = word_set("my your his her our their its")
_QUOTING = word_set("said says say wrote called named titled excluding except")
_NAMING = word_set("known called named")
_NUMBERED = word_set("no nr number # id ref reference serial iban iso po")
_VERSIONED = word_set(
    "invoice ticket case policy version release build model passport order contract"
)
"""What has a number or a version that may look like a date: "invoice 2024-11-05"."""
_PUNCTUATED = word_set(". : = is 's")
_CORRECTION = re.compile(
    rf"\b(?:{CORRECTING}|{TAKING_BACK}|edit|oops|my bad|no ,|rather|just (?:wrote|said|texted)"
    r"|new date)\b"
)
_CORRECTED_WITHIN = 12
"""Number of tokens that may stand between a time and its correction."""
_LONGEST_RANGE = {WEAK: 183, LIKELY: 13, CERTAIN: 366}
"""Days of the longest range without a year, by what its ends need; none spans one by accident."""


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
    """An expression, what its words may mean, and the tense in which it stands."""

    span: TimeSpan
    time: Time
    tense: Tense

    def undated(self) -> _Found:
        return replace(self, time=Time(()), span=replace(self.span, readings=()))

    def outdated(self) -> _Found:
        return replace(self, span=replace(self.span, outdated=True))


def find_times(tokens: Sequence[Token], at: datetime, tense: Tense | None = None) -> list[TimeSpan]:
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
    read = [_find(sentence.tokens, at, None) for sentence in sentences]
    for number in range(1, len(read)):
        earlier, later = read[number - 1], read[number]
        if earlier and later:
            rest = sentences[number - 1].tokens[earlier[-1].span.end :]
            between = (*rest, *sentences[number].tokens[: later[0].span.start])
            if is_correction([token.low for token in between]):
                earlier[-1], later[0] = _corrected(earlier[-1], later[0], at.date())
    return [[found.span for found in item] for item in read]


def _find(tokens: Sequence[Token], at: datetime, tense: Tense | None) -> list[_Found]:
    today = at.date()
    # The words of a quotation are somebody else's, of another day.
    lows = ["_" if token.kind == "quoted" else token.low.replace(" ", "_") for token in tokens]
    said = " ".join(lows)
    spans: list[_Found] = []
    end = 0
    for match in STARTS.finditer(said):
        read = read_time(said, match.start(), at) if match.start() >= end else None
        if read is None:
            continue
        first, last = said.count(" ", 0, match.start()), said.count(" ", 0, read[0]) + 1
        if _is_other_word(tokens, lows, first, last):
            continue
        end = read[0]
        start = _with_prepositions(lows, first, spans[-1].span.end if spans else 0)
        if _is_undated(lows, start, first, last, read[1]):
            found = _Found(TimeSpan(start, last), Time(()), UNKNOWN)
        else:
            told = tense or _with_lead(lows, start, first, tense_of(tokens, start, last))
            found = _dated(lows, (start, first, last), read[1], told, today)
        spans[-1:] = _joined(spans[-1], found, lows, today) if spans else [found]
    spans = [found.undated() if _is_half(found, lows) else found for found in spans]
    return _without_doubtful_years(spans)


def _without_doubtful_years(spans: list[_Found]) -> list[_Found]:
    """Leave undated a month or day without a year that may belong to the year named before it.

    "They came in August 2022 and left in September."
    """
    named: date | None = None
    read = []
    for found in spans:
        times = [first_day(time) for time in found.time.times]
        if len(times) == 1 and not found.time.needs:
            named = times[0]
        elif named and len(times) > 1 and (times[1] - times[0]).days >= 365:
            next_one = next((time for time in found.time.times if first_day(time) > named), None)
            if any(reading != next_one for reading in found.span.readings):
                found = found.undated()
        read.append(found)
    return read


def _dated(
    lows: list[str], place: tuple[int, int, int], time: Time, tense: Tense, today: date
) -> _Found:
    start, first, end = place
    if time.needs == AHEAD:
        ahead = tense.direction > 0 and tense.certainty == CERTAIN
        ahead = ahead and (start == 0 or lows[start - 1] in _OPENS_AHEAD)
        time = Time(time.times if ahead else ())  # else a duration: "done in eight weeks"
    readings = time.readings(today, *tense)
    if tense.direction < 0 and readings[:1] == (f"{today:%Y-%m}",):
        readings = readings[:1]  # "I moved in May", said in May: else it would be "last May"
    lead, after = lows[start:first], lows[end : end + 1]
    bound: Bound = next((_BOUNDS[low] for low in lead if low in _BOUNDS), "")
    ahead = any(time >= today.isoformat() for time in readings)
    if "from" in lead and not ahead and after not in (["on"], ["onwards"]):
        bound = ""  # "a letter from 3 May"
    if _JOINING & set(lows[first:end]):
        bound = ""  # "from 1 to 15 August"
    return _Found(TimeSpan(start, end, readings, bound), time, tense)


def _with_prepositions(lows: list[str], first: int, floor: int) -> int:
    """Return the index at which the words begin that belong to the expression at ``first``."""
    start = first
    while start > floor and (low := lows[start - 1]) in _LEADING:
        if low in _ONLY_BEFORE and (start == first or lows[start] not in _ONLY_BEFORE[low]):
            break
        if low == "of" and start - 1 > floor and lows[start - 2] not in _LEADING:
            break
        start -= 1
    return start


def _is_other_word(tokens: Sequence[Token], lows: list[str], first: int, end: int) -> bool:
    """Return whether a word for a time is a name or another word here: "Sun", "may", "June"."""
    low, before, alone = lows[first], lows[first - 1] if first else "", end == first + 1
    if low in SIMPLE and first and _begins_a_title(tokens[first : end + 1]):
        return True  # "the album is Tomorrow Never Barks"
    if any(token.text in ("may", "march", "mar") for token in tokens[first:end]):
        fitting = alone and before in ("in", "since", "until", "by", "early", "late")
        return not fitting and not any(low[0].isdigit() for low in lows[first : end - 1])
    if low in WEEKDAYS:
        if low in ("sun", "sat", "mon", "wed") and alone:
            return before not in ("on", "until", "by", "since")
        # "Black Friday", "on a rainy Tuesday"
        vague = lows[max(first - 3, 0) : first - 1] in (["on", "a"], ["on", "one"])
        # "Focus Friday", but "On Friday", "8 AM Friday"
        named = first > 1 and tokens[first - 1].text[0].isupper() and tokens[first].text.istitle()
        return vague or before in _NOT_DAYS or (named and before not in _NO_NAME)
    ahead = {"on", "onwards", "to", "until", "till", "i", "we"} & set(lows[end : end + 2])
    return low in MONTHS and alone and before == "from" and not ahead


def _begins_a_title(tokens: Sequence[Token]) -> bool:
    """Return whether these are several words, each with a capital: "Tomorrow Never"."""
    return len(tokens) > 1 and all(token.text.istitle() and token.low != "i" for token in tokens)


def _is_undated(lows: list[str], start: int, first: int, end: int, time: Time) -> bool:
    """Return whether the words around an expression keep it from being dated."""
    before = lows[start - 1] if start else ""
    after, low, alone = lows[end] if end < len(lows) else "", lows[first], start == first
    if (before == "so" and low == "last") or lows[end : end + 2] == ["is", "another"]:
        return True  # "that's so last year", "tomorrow is another day"
    if before in _ABOUT or after == "'s":
        return True
    if lows[end - 1] in ("ago", "back") and not alone:
        return True  # "over a year ago"
    if low == "today" and before == "ago":
        return True  # "two years ago today"
    if before == "of" and lows[start - 2] in ("week", "weeks", "weekend"):
        return True  # "the week of the 11th"
    named = next((word for word in reversed(lows[:start]) if word not in _PUNCTUATED), "")
    if named in _NUMBERED or (before in _VERSIONED and low[0].isdigit()):
        return True  # "contract no. 2024-11-05"
    lead, inner = lows[start:first], lows[first:end]
    if "and" in inner and "between" not in lead and _is_longer_than_two_days(time):
        return True  # "on 2 and 5 May"
    if _JOINING & set(inner) and RESCHEDULING & set(lows[:start]):
        return True  # "moved from 16 to 23 November"
    if low == "today":
        naming = bool(_NAMING & set(lows[:start]))
        return naming or before in _NOT_THIS_DAY or lows[start] == "as"
    if low in WEEKDAYS and (before in _OWNED or (alone and after in ("is", "are", "will"))):
        return True  # "Friday is pizza day"
    if not time.needs:
        return False
    if alone and before in _QUOTING:
        return True  # "the note said Friday"
    return bool(_HABITS & set(lows) or _YEARLY & set(lows[:start]))


def _is_longer_than_two_days(time: Time) -> bool:
    return any((last_day(span) - first_day(span)).days > 1 for span in time.times)


def _with_lead(lows: list[str], start: int, first: int, told: Tense) -> Tense:
    """Return the tense of an expression whose preposition has a direction of its own."""
    lead = set(lows[start:first])
    if "since" in lead:
        return Tense(-1, CERTAIN)
    if "to" in lead and RESCHEDULING & set(lows[:start]):
        return Tense(1, CERTAIN)
    if lead & {"by", "until", "till", "through"} and told.direction < 0:
        return UNKNOWN  # "it stayed until the 3rd", "they gave us until the 3rd"
    if lead & {"until", "till", "by", "starting", "effective", "beginning", "from", "as"}:
        return told if told.direction < 0 else Tense(1, CERTAIN)
    if "for" in lead and told.direction <= 0:
        return Tense(1, LIKELY) if ARRANGED & set(lows[:start]) else UNKNOWN
    return told


def _joined(first: _Found, second: _Found, lows: list[str], today: date) -> list[_Found]:
    """Return what becomes of two neighbours: two times, a range, or one that corrects the other."""
    gap = lows[first.span.end : second.span.start]
    opening = {low for low in lows[first.span.start : first.span.end] if low in _LEADING}
    lead = lows[second.span.start]
    link = gap[0] if len(gap) == 1 else lead if not gap else ""
    if link in ("to", "until", "till") and RESCHEDULING & set(lows[: first.span.start]):
        return [first.outdated(), second]
    if link in _JOINING or (link == "and" and "between" in opening):
        whole = _range(first, second, today, opened=bool(opening & {"from", "between"}))
        return [first.undated(), second.undated()] if whole is None else [whole]
    if gap[-1:] in (["than"], ["not"]) or ["instead", "of"] in (gap[-2:], [*gap, lead][-2:]):
        return [first, second.outdated()]
    if {"had", "would", "supposed"} & set(lows[: first.span.start]) and {"but", "now"} & set(gap):
        return [first.outdated(), second]  # "we had planned it for the 3rd but it is the 5th now"
    negated = lows[first.span.start - 1 : first.span.start] == ["not"] and not first.span.bound
    if negated or is_correction(gap):
        return list(_corrected(first, second, today))
    return [first, second]


def is_correction(between: Sequence[str]) -> bool:
    """Whether words between two times, or the first of a sentence, take back what was before."""
    return len(between) <= _CORRECTED_WITHIN and bool(_CORRECTION.search(" ".join(between)))


def _corrected(old: _Found, new: _Found, today: date) -> tuple[_Found, _Found]:
    """Return two times of which the second corrects the first: "on Tuesday, no wait, Wednesday"."""
    if not (old.time.times and new.time.times):
        return old, new
    tense = old.tense if old.tense.certainty >= new.time.needs else new.tense
    readings = new.time.readings(today, *tense)
    if len(old.span.readings) == 1 and new.time.needs and len(readings) < 2:
        # "24 May. Sorry, the 25th": the month of the date that it corrects.
        month = old.span.readings[0][:7]
        near = tuple(time for time in new.time.times if time[:7] == month and len(time) == 10)
        readings = near if len(near) == 1 else readings
    return old.outdated(), replace(new, span=replace(new.span, readings=readings))


def _range(first: _Found, second: _Found, today: date, *, opened: bool) -> _Found | None:
    """Join the two ends of a range, in order: the second is the first such time after the first."""
    needs = {item.time.needs for item in (first, second)}
    widths = {len(time) for item in (first, second) for time in item.time.times}
    unsure = any(not item.time.needs and len(item.time.times) != 1 for item in (first, second))
    if len(widths) != 1 or unsure:
        return None
    need = max(needs)
    if need == LIKELY and not opened:
        return None  # "Monday to Friday"
    ranges = []
    for start in first.time.times:
        end = next((time for time in second.time.times if time > start), None)
        if end is not None and "/" not in start:
            days = (last_day(end) - first_day(start)).days
            if need == 0 or days <= _LONGEST_RANGE[need]:
                ranges.append(f"{start}/{end}")
    if 0 in needs:  # one end has its year: the nearest such time is the other one
        ranges, need = ranges[-1:] if first.time.needs else ranges[:1], 0
    tense = first.tense if first.tense.direction else second.tense
    if need == LIKELY and (tense.certainty < CERTAIN or tense.direction < 0):
        tense = UNKNOWN  # "from Monday to Friday" is a habit, or what was moved
    time = Time(tuple(ranges), need)
    span = TimeSpan(first.span.start, second.span.end, time.readings(today, *tense))
    return _Found(span, time, tense) if ranges else None


def _is_half(found: _Found, lows: list[str]) -> bool:
    """Return whether it is only one end of a range: "Monday to Friday", "from May to the fall"."""
    start, end = found.span.start, found.span.end
    words, joint = lows[start:end], "".join(lows[end : end + 1])
    if _JOINING & set(words[1:]) or found.span.outdated:
        return False
    opens = "from" in words or words[0] in WEEKDAYS
    closes = words[0] in _JOINING and start > 0 and lows[start - 1] in WEEKDAYS
    return closes or (opens and joint in _JOINING) or ("between" in words and joint == "and")


# Decide whether a time expression lies in the past or the future, by the verbs near it.
#
# A tense has a direction (-1 past, 1 future, 0 either) and a certainty:
#
# - ``CERTAIN``: "will", "is leaving", "starts", "moved". It dates every expression.
# - ``LIKELY``: "can", "call me", "have a class". It dates weekdays, but not "in May": "visit in
#   May" is advice for any year.
# - ``WEAK``: other forms of the present. It dates "on 3 May", but not "on Friday": "teaches on
#   Friday" is a habit.


class Tense(NamedTuple):
    """-1 for the past, 1 for the future, 0 for either; and how certain the words make it."""

    direction: int
    certainty: int


UNKNOWN = Tense(0, 0)
_PAST = Tense(-1, CERTAIN)
_OPEN = Tense(0, CERTAIN)
_FUTURE = Tense(1, CERTAIN)
_LIKELY = Tense(1, LIKELY)
_PRESENT = Tense(1, WEAK)

_SCHEDULED = word_set(
    """start begin open reopen close end finish leave depart arrive fly move land launch resume
    return expire renew graduate retire run"""
)
"""Verbs whose present tense is a plan: "the course starts in May"."""
ARRANGED = word_set(
    """booked scheduled planned reserved set expected signed registered enrolled invited slated
    postponed moved delayed extended rescheduled pushed due arranged promised agreed"""
)
"""Arrangements made in the past concern the future: "booked for Friday", "is planned for May"."""
_AGREED = word_set("agreed settled signed registered enrolled invited entered booked planned")
"""Verbs of the past after which a date may lie ahead: "agreed on 5 May", "signed up for"."""
RESCHEDULING = word_set(
    """move moves moved moving shift shifts shifted push pushes pushed delay delayed slip slips
    slipped postpone postpones postponed postponing reschedule rescheduled change changed bring
    brought extend extended"""
)
"""Verbs with which "from ... to ..." gives an old date and a new one."""
_SPOKEN = word_set(
    """said told mentioned discussed suggested asked heard reminded announced confirmed noted talked
    thought wrote emailed texted considered proposed recommended"""
)
"""Verbs of which the object may have a time of its own: "mentioned the meeting on Friday"."""
_TOLD = word_set("me you him her us them it i we on in at this last next that")
_DID = word_set("went came got used had began started managed tried forgot left drove happened")
_MOVABLE = word_set("me it us them the my our this that")
"""What is moved to another date; "we moved to Graz" is a move."""
_GOING = word_set("going supposed planned scheduled meant expected to")
_WILL = word_set("will shall upcoming")
_CAN = word_set("can could should would might must")
_WANT = word_set("need needs want wants plan plans hope hopes intend intends")
_BE = word_set("am is are 's")
_HAVE = word_set("have has 's")
_WHO = word_set("i we you they who he she it")
_ADDRESSED = word_set("please pls us and then so just also kindly let")
_BEFORE_NOUN = word_set("the a an my your his her our their this that these those no any some of")
_BREAKS = word_set(", ; : ( ) - – — and but so because when while if that which who where or then")
_WALLS = word_set('; : ( ) - – — * | / [ ] > # • " “ ”')
"""Between these, nothing tells about the tense of what is on the other side."""
_SKIPPED = ADVERBS | word_set("not never")


def tense_of(tokens: Sequence[Token], start: int, end: int) -> Tense:
    """Return the tense at the expression ``[start, end)``.

    The verbs of its clause decide: the nearest before it, else the first after it. Without any,
    those of the clauses before it, then those after it, up to a colon or a dash.
    """
    lows = [token.low for token in tokens]
    if ("had" in lows and {"if", "would"} & set(lows)) or {"if", "were"} <= set(lows):
        return _OPEN  # "if I had left on Monday"
    left, right = _within(lows, start, end, _BREAKS | _WALLS)
    first, last = _within(lows, start, end, _WALLS)
    for at in (
        *range(start - 1, left - 1, -1), *range(end, right),
        *range(left - 1, first - 1, -1), *range(right, last),
    ):  # fmt: skip
        if tokens[at].kind != "word" or (told := _tense_of_word(tokens, lows, at, start)) is None:
            continue
        fronted = start == left and (end <= at < right or lows[end : end + 1] == [","])
        if left <= at < start or (fronted and at >= end):
            return told
        if told.direction >= 0:
            return told._replace(certainty=min(told.certainty, LIKELY))
        # "The flight on 12 June was confirmed": what was done to it is not when it is.
        tied = end <= at < right and not verbs.is_participle("".join(lows[at + 1 : at + 2]))
        return told._replace(certainty=LIKELY) if tied else UNKNOWN
    return UNKNOWN


def _within(lows: list[str], start: int, end: int, marks: frozenset[str]) -> tuple[int, int]:
    """Return the stretch around an expression up to the nearest of some marks."""
    first = next((at + 1 for at in range(start - 1, -1, -1) if lows[at] in marks), 0)
    return first, next((at for at in range(end, len(lows)) if lows[at] in marks), len(lows))


def _tense_of_word(tokens: Sequence[Token], lows: list[str], at: int, start: int) -> Tense | None:
    """Return what the word tells about the tense; ``None`` if it is not a verb or not finite."""
    low = lows[at]
    after = next((word for word in lows[at + 1 : at + 4] if word not in _SKIPPED), "")
    if low in _WILL:
        return _FUTURE
    if low == "due":
        return _PAST if {"was", "were"} & set(lows[max(at - 2, 0) : at]) else _FUTURE
    if low in _CAN or (low == "may" and tokens[at].text == "may"):
        return _OPEN if "have" in lows[at + 1 : at + 4] else _LIKELY
    if low in _WANT and after == "to":
        return _FUTURE
    if low in ("was", "were"):
        return _OPEN if after in _GOING else _PAST
    if low in ("have", "has"):
        return _tense_of_have(after)
    if low in _BE and not (at and lows[at - 1][-1:].isdigit()):  # "10 am"
        return _tense_of_be(lows, at, after, start)
    return _tense_of_verb(lows, at, start)


def _tense_of_have(after: str) -> Tense:
    if verbs.is_participle(after):
        return _LIKELY if after == "got" else _PAST
    return _LIKELY if after in ("a", "an", "another", "to") else _PRESENT


def _tense_of_be(lows: list[str], at: int, after: str, start: int) -> Tense | None:
    if lows[at] == "'s" and not (
        after in ("on", "at", "in", "due", "from", "going", "been") or verbs.is_ing(after)
    ):
        return None  # a possessive
    if after in ARRANGED or (after.endswith("ing") and verbs.VERBS.get(after)):
        return _FUTURE  # not "it is stunning in spring"
    adjacent = all(word in _SKIPPED for word in lows[at + 1 : start])
    spoken = lows[at] == "am" or (at > 0 and lows[at - 1] == "we")
    return _LIKELY if adjacent or spoken else _PRESENT


def _tense_of_verb(lows: list[str], at: int, start: int) -> Tense | None:
    """Return the tense of a full verb, which its auxiliaries decide where it has any."""
    low, before = lows[at], lows[at - 1] if at else ""
    found = verbs.guess_verb(low)
    if found is None and low.removesuffix("s") in _SCHEDULED:
        found = verbs.Verb(low.removesuffix("s"), "s" if low.endswith("s") else "base")
    if found is None or before in _BEFORE_NOUN:
        return None
    if found.form == "past" and before in PREPOSITIONS - {"like"}:
        return None  # "back to packed lunches"
    helpers = set(_helpers(lows, at))
    if helpers & _WILL:
        return _FUTURE
    if found.form == "ing":
        if helpers & {"was", "were", "been"}:
            return _PAST
        ahead = at == 0 and (found.base in _SCHEDULED or low in ("going", "coming", "getting"))
        return _FUTURE if helpers & _BE or ahead else None
    if found.form in ("past", "part"):
        if low == "got" and helpers & _HAVE:
            return _LIKELY  # "I've got a review in May"
        if low in _SPOKEN and any(word not in _TOLD for word in lows[at + 1 : start]):
            return _OPEN  # "you mentioned the meeting on Friday"
        if helpers & {"was", "were"}:
            return _OPEN if low in ARRANGED | _GOING else _PAST
        if helpers & _BE or "be" in helpers:
            return _FUTURE if low in ARRANGED else _PRESENT
        if low in ("agreed", "settled") and at + 1 == start:
            return _FUTURE
        if low in _AGREED and "".join(lows[at + 1 : at + 2]) in ("up", "for", "to", "in"):
            return _OPEN
        if low in RESCHEDULING and (low != "moved" or _MOVABLE & set(lows[at + 1 : at + 2])):
            return _OPEN
        return _PAST if found.form == "past" else None
    scheduled = found.base in _SCHEDULED
    if found.form == "s":
        sure = verbs.verb_only(low) or scheduled
        return (_FUTURE if scheduled else _PRESENT) if sure and before not in verbs.BE else None
    if before == "to" and _governed(lows, at - 1):
        return _OPEN
    if before == "to" or helpers & (verbs.MODALS | verbs.DO):
        return None  # the verb before it decides
    if before in _WHO:
        if verbs.past_of(found.base) == low:
            return _OPEN  # "I put it", "I read it": past or present
        return _FUTURE if scheduled else _PRESENT
    if at == 0 or before in _ADDRESSED or before in _BREAKS:
        return _LIKELY
    return None


def _governed(lows: list[str], to: int) -> bool:
    """Return whether an infinitive tells what was to come: "agreed to give a talk on Friday"."""
    governor = next((low for low in reversed(lows[max(to - 3, 0) : to]) if low not in _TOLD), "")
    found = verbs.guess_verb(governor)
    past = found is not None and found.form in ("past", "part")
    return past and governor not in _DID


def _helpers(lows: list[str], at: int) -> Iterator[str]:
    """Yield the auxiliary verbs before a verb, over adverbs and the subject of a question."""
    for before in range(at - 1, max(at - 5, -1), -1):
        low = lows[before]
        if low in verbs.FINITE_AUX or low in ("be", "been", "being", "'s"):
            yield low
        elif low not in _SKIPPED and low not in _WHO:
            return

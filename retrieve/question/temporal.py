"""Times in a question: dates in English and elsewhere, windows, events, an order. No model.

A date without a year matches every year.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.english.sentences import Token, sentences
from cognigraph.english.times.find import TimeSpan, find_times
from cognigraph.english.times.readers import COUNTS
from cognigraph.text.terms import words
from cognigraph.times import When, from_micros, parse_when

# Expressions of time in a question: windows, events, an order. Rules for English, no model.
#
# | question                                        | read as                                      |
# |-------------------------------------------------|----------------------------------------------|
# | "... in May 2023", "last summer", "two weeks ago" | a window near which the answer lies        |
# | "... before June", "since 2022"                 | a window with one open end                   |
# | "... by the end of June"                        | the same, June included                      |
# | "... between May and July"                      | a window from the first to the last of both  |
# | "... the week before 3 August 2023"             | a window counted from that day               |
# | "... before she moved", "after the wedding"     | an event; its date opens or ends the window  |
# | "... now", "most recently", "the first time"    | an order: newest or oldest state first       |
# | "when did", "how long ago", "how long"          | the answer is a time or a duration           |
# | "where did she live before", "used to", "former" | a state that is over                        |
# | "where does she live", "which phone is mine"    | a state that holds                           |
# | "as of March"                                   | later messages are left out                  |
#
# Relative times count from ``now``, the time of asking.

Order = Literal["first", "last"]
Asks = Literal["when", "how long"]
Side = Literal["before", "after"]

_NOW = r"\b(?:currently|current|nowadays|these days|at the moment|right now|at present|now)\b"
_LAST = re.compile(
    r"\b(?:most recent(?:ly)?|latest|newest|the last time|last time|by now|any ?more|still|today)\b"
    rf"|{_NOW}"
)
_FIRST = re.compile(
    r"\b(?:(?:for )?the first time|first time|originally|initially|earliest|at first"
    r"|in the beginning(?! of)|to begin with"
    r"|did (?:\S+ ){0,2}(?!(?:his|her|its|my|your|our|their|the|an?)\b)\S+ first)\b"
)
_STATE_TODAY = re.compile(
    r"^(?:and |so |but )?(?:where|who|what|which|how|whom|whose)(?: \S+)? (?:does|do|is|are) "
    r"(?:\S+ ){1,4}(?<!ing )today\W*$"
)
"""A state of today: "where does she live today", but not "what is she doing today"."""
_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|in the past|at that time|back then|history of)\b"
    r"|\b(?:did|was|were|had|has|have)\b.* before(?: that| then| this)?(?= ?(?:[?.!]|$))"
    r"|\bhas (?:\S+ ){1,4}changed\b"
)
_NOT_NOW = re.compile(r"\b(?:from now|until now|just now|now that)\b")
_HOLDS = re.compile(
    r"\b(?:do|does|don't|doesn't|is|are|am|isn't|aren't|will)\b"
    r"|\b(?:who|what|where|how|when|which|that)(?:'s|'re)|^(?:and |so |but )?who \S+s\b"
)
"""Verbs in the present: "where does she live", "who looks after the dog"; "will" for plans."""
_HOLDS_NOW = re.compile(_NOW)
"""Words for the present with any verb that is not past: "how many people work there now"."""
_TURNED_OUT = re.compile(r"\bend(?:ed|s)? up\b|\bin the end\b")
"""What became of something that changed is a state that holds: "which one did we end up with"."""
_HAPPENED = re.compile(
    r"\b(?:did|was|were|had|been|didn't|wasn't|weren't|hadn't)\b|\b(?:has|have)\b(?! to\b)"
    r"|^(?:since|until) when\b"
)
"""Verbs in the past, and perfects, which ask what has happened rather than how things are."""
_OWNS = re.compile(
    r"\b((?:do|does|don't|doesn't)\b[^,;.?!]*?) have\b"
    r"|\b(who|which \S+|what) (?:has|have)(?= (?:the|a|an|my|our|your|his|her|their|any|no)\b)"
)
"""To have as a verb of its own: "how many bikes does she have", "who has the key"."""
_WAS = re.compile(r"\b(?:did|was|were|had|been|didn't|wasn't|weren't|hadn't)\b")
_BEFOREHAND = re.compile(r"^(?:after|since|with|given|considering|because|if|as)\b[^,]*, ?")
"""A clause before the question itself: "after all that I have paid, how much is due"."""
_WILL = re.compile(r"\bwill\b")
_WHEN = re.compile(
    r"^(?:and |so |but )?(?:(?:since|until|by) )?(?:when\b|(?:on|in|at|by|during)? ?(?:what|which) "
    r"(?:exact )?(?:date|day|month|year|time|weekday|season)\b)|\bhow (?:long|many (?:days|weeks"
    r"|months|years)) ago\b|\bwhen (?:did|does|do|was|were|is|are|will|has|have|had)\b"
)
_HOW_LONG = re.compile(r"\b(?:for )?how (?:long|many (?:days|weeks|months|years))\b(?! ago)")
_LASTS = re.compile(r"\bhow (?:long|many (?:days|weeks|months|years)) (?:is|are|do|does)\b")
"""How long something takes or is kept is a state; how long it has been so is not."""
_EVENT = re.compile(
    r"\b(before|prior to|until|till|after|since|following)\s+"
    r"(?!(?:that|this|then|it|all|everything|when|how|which|whose|or|and)\b)([^,?;.!]+)"
)
_PHRASAL = re.compile(
    r"\b(?:look(?:s|ed|ing)?|tak(?:e|es|en|ing)|took|nam(?:e|es|ed|ing)|call(?:s|ed|ing)?"
    r"|ask(?:s|ed|ing)?)\s+(?:(?:her|him|it|them)\s+)?$"
)
"""What stands before an "after" that belongs to a verb: "looks after", "named it after"."""
_OR = re.compile(r"\b(?:before|after)\s+(?:or|and)\s+$")
_BEFORE = frozenset({"before", "until", "till", "by", "prior"})
_AFTER = frozenset({"after", "since", "following"})
_END = re.compile(
    r"\b(?:(?P<limit>by|until|till|before|up to)|(?:between|from) .*\b(?:and|to|until|till)) "
    r"the (?P<edge>end|close|start|beginning) of$"
)
_BETWEEN = frozenset({"between", "from"})
_RELATIVE = frozenset(
    "last past previous this next coming ago back yesterday today tonight tomorrow now".split()
)
_LENGTH = {"day": 1, "weekend": 7, "week": 7, "month": 31, "year": 366}
_COUNTED_BEFORE = re.compile(
    r"\b(?:(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|the|last) )?"
    r"(?P<unit>day|weekend|week|month|year)s? (?P<side>before|after)\b"
)


@dataclass(frozen=True, slots=True)
class EventAnchor:
    """An event that dates what the question asks for: "before she moved"."""

    side: Side
    event: str


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """What a question says about time; by default nothing.

    ``times``: dates and windows near which the answer lies; ``anchor``: an event that dates it;
    ``order``: whether the first or the last state is meant; ``asks``: whether the answer is a time
    or a duration; ``as_of``: the time after which messages are left out; ``past``: whether it asks
    for a state that is over; ``present``: whether it asks for one that holds; ``unread``: whether
    it is in another language than English, of which the rules read dates at most.
    """

    times: tuple[NamedDate | TimeWindow, ...] = ()
    anchor: EventAnchor | None = None
    order: Order | None = None
    asks: Asks | None = None
    as_of: datetime | None = None
    past: bool = False
    present: bool = False
    unread: bool = False


def read_time(question: str, now: datetime) -> QuestionTime:
    """Read the expressions of time in a question asked at ``now``. Never raises on any text."""
    tokens = [token for sentence in sentences(question) for token in sentence.tokens]
    low = " ".join(token.low for token in tokens)
    as_of: datetime | None = None
    relative: list[TimeWindow] = []
    sided: list[TimeWindow] = []
    covered: set[int] = set()
    for span in find_times(tokens, now):
        # Near a likely time is better than anywhere: nothing is stated here.
        when = parse_when(span.readings[0]) if span.readings else None
        start = _opening(tokens, span)
        if when is None:
            continue
        expression = [token.low for token in tokens[start : span.end]]
        if expression[:2] == ["as", "of"]:
            as_of = min(when.end, now)
        elif stretch := (
            _until_edge(tokens, span, when, now)
            or _between(tokens, span, when, now)
            or _one_sided(expression, when, low)
        ):
            sided.append(stretch)
        elif any(word in _RELATIVE for word in expression):
            relative.append(TimeWindow(when.start, when.end))
        else:
            continue  # a plain date, which named_dates reads below, also without a year
        covered.update(range(start, span.end))
    rest = " ".join(token.text for index, token in enumerate(tokens) if index not in covered)
    named = named_dates(rest)
    if sided or any(time.day for time in named):
        relative = []  # "last weekend before 10 April" counts from that date, not from now
    today = _STATE_TODAY.search(low) is not None
    if today:
        relative = []
    times: tuple[NamedDate | TimeWindow, ...] = (*relative, *sided, *named)
    asks: Asks | None = "when" if _WHEN.search(low) else None
    if asks is None and _HOW_LONG.search(low):
        asks = "how long"
    found = QuestionTime(
        times=tuple(dict.fromkeys(times)),
        anchor=None if covered else _anchor(low, bool(times)),
        # A date already says which state is meant, and a duration has a beginning and an end.
        order=None if (times and not today) or asks == "how long" else _order(low),
        asks=asks,
        as_of=as_of,
        past=_PAST.search(low) is not None,
    )
    return replace(found, present=_is_present(low, found))


def _is_present(low: str, time: QuestionTime) -> bool:
    """Whether a question, in lower case, asks how things are; a date may be that of a plan."""
    if time.past or time.anchor or time.order == "first":
        return False
    if time.asks == "how long" and not _LASTS.search(low):
        return False
    if time.times and not _WILL.search(low):
        return False
    low = _BEFOREHAND.sub("", low)
    if _TURNED_OUT.search(low):
        return True
    if _HOLDS_NOW.search(_NOT_NOW.sub(" ", low).replace("by now", " ")):
        return _WAS.search(low) is None
    own = _OWNS.sub(r"\1\2", low)
    return _HOLDS.search(low) is not None and _HAPPENED.search(own) is None


def _opening(tokens: list[Token], span: TimeSpan) -> int:
    """Return the index at which the expression starts, prepositions before it included."""
    start = span.start
    while start > 0 and tokens[start - 1].low in _BEFORE | _AFTER | {"as", "of", "to"}:
        start -= 1
    return start


def _until_edge(
    tokens: list[Token], span: TimeSpan, when: When, now: datetime
) -> TimeWindow | None:
    """Return the window up to an edge of a date: "by the end of June"; otherwise ``None``."""
    own = [at for at in range(span.start, span.end) if tokens[at].low == "of"]
    edge = _END.search(" ".join(token.low for token in tokens[: own[0] + 1])) if own else None
    if edge is None:
        return None
    start, end = _past(tokens, span, when, now)
    return TimeWindow(None, start if edge["edge"] in ("start", "beginning") else end)


def _between(tokens: list[Token], span: TimeSpan, when: When, now: datetime) -> TimeWindow | None:
    """Return the window of "between May and July"; otherwise ``None``."""
    if "/" not in when.text or tokens[span.start].low not in _BETWEEN:
        return None
    return TimeWindow(*_past(tokens, span, when, now))


def _past(
    tokens: list[Token], span: TimeSpan, when: When, now: datetime
) -> tuple[datetime, datetime]:
    """Return the interval, a year earlier if it lies in the future and the question has no year."""
    named = any(_YEAR.fullmatch(token.low) for token in tokens[span.start : span.end])
    if named or when.start <= now:
        return when.start, when.end
    try:
        return when.start.replace(year=when.start.year - 1), when.end.replace(
            year=when.end.year - 1
        )
    except ValueError:  # 29 February
        return when.start, when.end


def _one_sided(expression: list[str], when: When, question: str) -> TimeWindow | None:
    """Return the window for "before", "since" or "two weeks after" a date; otherwise ``None``."""
    side = next((word for word in expression[:2] if word in _BEFORE | _AFTER), None)
    if side is None or side == "by":
        return None
    counted = _COUNTED_BEFORE.search(question)
    if counted is not None and side in ("before", "after"):
        return _counted(counted, when)
    if side in _BEFORE:
        return TimeWindow(None, when.start)
    return TimeWindow(when.start if side == "since" else when.end, None)


def _counted(match: re.Match[str], when: When) -> TimeWindow:
    """Return the window for "two weeks before 3 August": the week that begins two weeks earlier."""
    word = match["count"] or "the"
    count = max(int(word) if word.isdigit() else COUNTS.get(word, 1), 1)
    length = timedelta(days=_LENGTH[match["unit"]])
    far = min(count, 200) * length
    try:
        if match["side"] == "before":
            return TimeWindow(when.start - far, when.start - far + length)
        return TimeWindow(when.end + far - length, when.end + far)
    except OverflowError:
        return TimeWindow(when.start, when.end)


def _order(low: str) -> Order | None:
    """Return whether a question, in lower case, is about the first or the last state."""
    last = _LAST.search(_NOT_NOW.sub(" ", low))
    first = _FIRST.search(low)
    if last and first:
        return None  # "the first time ... now" means no single state
    return "last" if last else "first" if first else None


def _anchor(low: str, dated: bool) -> EventAnchor | None:
    """Return the event of at least two words after "before" or "after", unless there is a date."""
    match = None if dated else _event(low)
    if match is None:
        return None
    event = match[2].strip()
    if len(event.split()) < 2:
        return None
    return EventAnchor(
        "before" if match[1] in ("before", "prior to", "until", "till") else "after", event
    )


def _event(low: str) -> re.Match[str] | None:
    """Return the first match that dates an event; what follows one that does not is searched."""
    match = _EVENT.search(low)
    while match is not None and not _dates(match):
        match = _EVENT.search(low, match.end(1))
    return match


def _dates(match: re.Match[str]) -> bool:
    """Whether "after" dates an event: not in "looks after the dog", nor in "before or after"."""
    until = match.string[: match.start()]
    return not (_OR.search(until) or (match[1] == "after" and _PHRASAL.search(until)))


# Dates in a question ("on 8 May 2023", "in May", "in 2023"), and how near messages are to them.

MONTHS = (
    "january february march april may june july august september october november december"
).split()
_SHORT = {month[:3]: number for number, month in enumerate(MONTHS, 1) if month != "may"}
_MONTH_NUMBER = {month: number for number, month in enumerate(MONTHS, 1)} | _SHORT
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th)?")
_AMBIGUOUS = {"may", "march", "mar", "dec", "jan", "sep"}
_BEFORE_MONTH = set("in of on early late mid during since until before after by last next".split())

LEAD = timedelta(days=3)
TAIL = timedelta(days=14)
"""The times before and after a date in which the nearness of a message falls to 1/e.

People write about an event in the days after it, and seldom before.
"""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A half-open interval; ``None`` where it has no beginning or no end."""

    start: datetime | None = None
    end: datetime | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """Return the interval in seconds since 1970, with infinities for open ends."""
        start = -math.inf if self.start is None else self.start.timestamp()
        return [(start, math.inf if self.end is None else self.end.timestamp())]


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day, month or year; ``None`` for the parts that the question does not name."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def intervals(self, years: Iterable[int]) -> list[tuple[float, float]]:
        """Return its interval in seconds since 1970; without a year, one for each of ``years``."""
        found = (self.interval(year) for year in (years if self.year is None else [self.year]))
        return [(item[0].timestamp(), item[1].timestamp()) for item in found if item is not None]

    def interval(self, year: int) -> tuple[datetime, datetime] | None:
        """Return the half-open interval in UTC; ``year`` replaces a missing year.

        ``None`` for a date that does not exist, such as 30 February.
        """
        chosen = self.year or year
        try:
            if self.month is None:
                return datetime(chosen, 1, 1, tzinfo=UTC), datetime(chosen + 1, 1, 1, tzinfo=UTC)
            if self.day is not None:
                start = datetime(chosen, self.month, self.day, tzinfo=UTC)
                return start, start + timedelta(days=1)
            start = datetime(chosen, self.month, 1, tzinfo=UTC)
            after = datetime(chosen + self.month // 12, self.month % 12 + 1, 1, tzinfo=UTC)
            return start, after
        except (ValueError, OverflowError):
            return None


def named_dates(question: str) -> tuple[NamedDate, ...]:
    """Return the dates that a question names, in order."""
    tokens = words(question)
    years = [int(token) for token in tokens if _YEAR.fullmatch(token)]
    year = years[0] if years else None
    found: list[NamedDate] = []
    for index, token in enumerate(tokens):
        if token not in _MONTH_NUMBER:
            continue
        before = tokens[index - 1] if index else ""
        around = [before, *tokens[index + 1 : index + 2]]
        dated = any(neighbour[:1].isdigit() for neighbour in around)
        if token in _AMBIGUOUS and not (dated or before in _BEFORE_MONTH):
            continue  # "may I", "the march", "Dec" as a name
        days = [int(match[1]) for near in around if (match := _DAY.fullmatch(near))]
        day = next((number for number in days if 1 <= number <= 31), None)
        found.append(NamedDate(year, _MONTH_NUMBER[token], day))
    if year is not None and not found:
        found = [NamedDate(year) for year in years]
    return tuple(dict.fromkeys(found))


def nearness(asked: tuple[NamedDate | TimeWindow, ...], at: Floats) -> Floats:
    """Return how near each moment is to the nearest of the times: 1 inside, less outside.

    ``at`` (n,) are in seconds since 1970. Returns (n,) in [0, 1]: exp(-d / 14 days) for a moment d
    after the end, exp(-d / 3 days) for one d before the start; zeros if no time is asked for.
    """
    near = np.zeros(len(at))
    years = np.array([from_micros(round(second * 1e6)).year for second in at.tolist()], int)
    # The year before and after as well: in January, people write about New Year's Eve.
    around = sorted({int(year) + shift for year in np.unique(years) for shift in (-1, 0, 1)})
    for time in asked:
        for start, end in time.intervals(around):
            late = np.maximum(at - end, 0.0) / TAIL.total_seconds()
            early = np.maximum(start - at, 0.0) / LEAD.total_seconds()
            near = np.maximum(near, np.exp(-late - early))
    return near

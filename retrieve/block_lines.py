"""What a block is written from: the background of its hits, its lines, and shortened topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Literal

from cognigraph.english.sentences import sentence_spans
from cognigraph.model import Episode, Hit, SearchResult, Session, Theme, Triple
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.search import MessageKey
from cognigraph.retrieve.standing import newest_of
from cognigraph.states.slots import claim_about
from cognigraph.text.marks import in_quotes, named, one_line


@dataclass(frozen=True, slots=True)
class Before:
    """The message before another one in its session."""

    id: str
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class SpokenText:
    """The text of a message, or of a part of it, and when it was said."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Background:
    """What is known of the hits' surroundings; empty where nothing was fetched.

    ``idf`` are the weights of the question's terms in the space, ``whole`` the texts of messages
    that were split into chunks, and ``before`` the messages that precede hits. ``corrections`` are
    the messages that correct a message, which is a hit or a correction itself. ``sources``
    are what the messages say that state a fact, by its uid, and ``spoken`` what those of a session
    or an episode say, by its id. ``analyses`` are those of the queries.
    ``written`` are lines about the user that stand at the beginning of the block. With ``overview``
    the block is to span a topic in time, and not to answer a question with few messages.
    """

    idf: Mapping[str, float] = field(default_factory=dict)
    whole: Mapping[MessageKey, str] = field(default_factory=dict)
    before: Mapping[MessageKey, Before] = field(default_factory=dict)
    corrections: Mapping[MessageKey, Hit] = field(default_factory=dict)
    sources: Mapping[str, tuple[SpokenText, ...]] = field(default_factory=dict)
    spoken: Mapping[str, tuple[SpokenText, ...]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    overview: bool = False


# The lines of a prompt block: how a session, a fact and the head of a message look.

_DAY_OF_SPEECH = re.compile(
    r"(?:(?<=: )|(?<=… )|^)(\d{4}-\d\d-\d\d) (?=[^:\n]{1,60}: )", re.MULTILINE
)
"""The date before who says something, in a summary by the rules."""


@lru_cache(maxsize=1024)
def stamp(at: datetime, zone: tzinfo) -> str:
    """Day and minute in the reader's timezone."""
    with suppress(OverflowError):  # the last hours of year 9999 have no time in Tokyo
        at = at.astimezone(zone)
    return at.isoformat(" ", "minutes")[:16]


def day(at: datetime, zone: tzinfo) -> str:
    """Day in the reader's timezone."""
    return stamp(at, zone)[:10]


def session_line(session: Session, zone: tzinfo) -> str:
    """A session with its summary, or with its keys if it has none."""
    began = day(session.started_at, zone)
    about = session.summary or ", ".join(session.keys)
    about = _DAY_OF_SPEECH.sub(lambda dated: "" if dated[1] == began else dated[0], about)
    return one_line(f"{named(session.id)} ({began}): {about}")


def triple_line(triple: Triple, zone: tzinfo) -> str:
    """A fact, when it is true if that is known, and when it was last said."""
    true = true_when(triple, zone)
    when = f"{true}; " if true else ""
    return one_line(f"{triple.text} ({when}said {day(triple.last_observed, zone)})")


def message_head(hit: Hit, zone: tzinfo, asked: str = "") -> str:
    """What stands before the text of a message; ``asked`` is the question that it answers."""
    who = named(hit.speaker or "")
    if asked:
        who = f"{who}, asked {in_quotes(asked)}" if who else f"asked {in_quotes(asked)}"
    return f"{stamp(hit.at, zone)} {named(hit.session)} {f'{who}: ' if who else ''}"


def head_place(hit: Hit, zone: tzinfo) -> str:
    """The part of a head that is left out after a message of the same session and day."""
    return f"{day(hit.at, zone)} {named(hit.session)} "


def with_short_heads(
    items: Sequence[tuple[Hit, str]], zone: tzinfo, whole: Collection[int] = ()
) -> list[str]:
    """The texts of messages in the order in which they are shown, each with its head.

    After a message of the same session and day only the time stands before the next one: date and
    session are more than half of a head, and heads a third of a block of short messages. Those at
    the places ``whole`` keep theirs.
    """
    texts: list[str] = []
    before: tuple[str, str] | None = None
    for place, (hit, text) in enumerate(items):
        time = stamp(hit.at, zone)
        full = f"{time} {named(hit.session)} "
        said_in = hit.session, time[:10]
        is_short = said_in == before and place not in whole and text.startswith(full)
        texts.append(f"{time[11:]} {text[len(full) :]}" if is_short else text)
        before = said_in
    return texts


# What a line says of the time of a fact, and a message of what is no longer true.


def shown_facts(triples: Iterable[Triple], *, past: bool) -> list[Triple]:
    """Return the facts of a prompt block: superseded ones only for a question about the past."""
    return [
        triple
        for triple in triples
        if triple.status == "current" or (past and triple.superseded_by)
    ]


def true_when(triple: Triple, zone: tzinfo) -> str:
    """Say when a fact is true, empty if nobody said."""
    if triple.status == "superseded" and triple.valid_to is not None:
        until = _month(triple.valid_to, zone)
        since = "" if triple.valid_from is None else f"{_month(triple.valid_from, zone)} "
        return f"{since}until {until}"
    if triple.when is None:
        return ""
    claim = claim_about(triple)
    is_open = triple.valid_from is not None and triple.valid_to is None
    if claim is None or claim.change or not claim.dated or not is_open:
        return str(triple.when)
    begins = "from" if triple.when.start > triple.last_observed else "since"  # a plan, or not
    return f"{begins} {triple.when.text.split('/')[0]}"


def no_longer_true(
    stated: Iterable[Triple],
    labels: Mapping[str, str],
    known: Mapping[str, Triple],
    said: datetime,
    zone: tzinfo,
    carried: Callable[[Triple], Triple | None] = lambda fact: fact,
) -> str:
    """Say at the end of a message what took the place of a fact that it states.

    That is the label of a fact in the block, or else the fact in words as far as it is known and
    ``carried`` by its messages, with the day on which it was said. What was not said after the
    message (``said``) takes no place.
    """
    later: dict[str, datetime] = {}
    for item in stated:
        if item.status != "superseded" or item.superseded_at is None or item.superseded_at <= said:
            continue
        uid, at = newest_of(item.uid, known), item.superseded_at
        if uid in known and known[uid].last_observed > said:
            at = known[uid].last_observed
        else:  # what a user put in its place may have been said before
            uid = item.superseded_by or uid
        later[uid] = max(at, later.get(uid, at))
    seen = sorted({labels[uid] for uid in later if uid in labels}, key=lambda x: (len(x), x))
    if seen:
        return f" [no longer true: see {', '.join(seen)}]"
    told = [
        f"{one_line(known[uid].text)} (said {at.astimezone(zone).date()})"
        if uid in known and known[uid].status == "current" and carried(known[uid])
        else f"replaced on {at.astimezone(zone).date()}"
        for uid, at in later.items()
    ]
    return f" [no longer true: {'; '.join(dict.fromkeys(told))}]" if told else ""


def not_true_then(
    stated: Iterable[Triple],
    labels: Mapping[str, str],
    known: Mapping[str, Triple],
    valid_at: datetime,
    zone: tzinfo,
) -> str:
    """Say at the end of a message that a state that it tells of is not the one at ``valid_at``.

    The label is that of the state which is true then, if it is in the block.
    """
    over = [item for item in stated if claim_about(item) and not item.is_true_at(valid_at)]
    if not over:
        return ""
    chains = {newest_of(item.uid, known) for item in over}
    seen = sorted(
        (labels[uid] for uid in labels if uid in known and newest_of(uid, known) in chains),
        key=lambda label: (len(label), label),
    )
    then = valid_at.astimezone(zone).date().isoformat()
    see = f": see {', '.join(seen)}" if seen else ""
    return f" [not true at {then}{see}]"


def _month(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m")


# What the lines of sessions and episodes tell, shortened until it fits.
#
# The sentences that match the question best stay, in their order, or else a clause of the best one;
# ``…`` stands for what is left out.

CUT = "…"
_CLAUSE_END = re.compile(r"[,;](?=\s)|\s[-–—](?=\s)|[，、；]")
_LEAST_PART = 1 / 3
"""A clause shorter than this part of what would fit is not worth the cut: words are cut instead."""
_LEAST = 12
"""Fewer characters of a sentence tell nothing."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A session, or an episode as a session with one theme; ``id`` is what its line cites."""

    kind: Literal["session", "episode"]
    id: str
    session: Session


def session_topics(result: SearchResult) -> list[Topic]:
    """The sessions with a summary, or with keys at least; those of the best messages first.

    The order of the messages knows more than a score of their sessions: it may put newer ones
    before older ones.
    """
    place: dict[str, int] = {}
    for rank, hit in enumerate(result.hits):
        place.setdefault(hit.session, rank)
    told = [item.session for item in result.sessions if item.session.summary or item.session.keys]
    told.sort(key=lambda session: place.get(session.id, len(result.hits)))
    return [Topic("session", session.id, session) for session in told]


def episode_topics(episodes: Sequence[Episode]) -> list[Topic]:
    """The episodes in the given order."""
    return [
        Topic(
            "episode",
            episode.uid,
            Session(
                episode.session,
                episode.started_at,
                episode.ended_at,
                len(episode.messages),
                len(episode.messages),
                themes=(Theme(episode.title, episode.summary),),
            ),
        )
        for episode in episodes
    ]


Fits = Callable[[Session], bool]
Rate = Callable[[Sequence[str]], Sequence[float]]
"""How well each text matches the question."""


def shortened(session: Session, fits: Fits, rate: Rate) -> Session | None:
    """The session with as much of its summary as fits; of one without a summary, of its keys.

    ``None`` if not even a clause of it fits.
    """
    if fits(session):
        return session
    if not session.summary:
        return _with_fewer_keys(session, fits)
    told = [(theme, _sentences(theme)) for theme in session.themes]
    parts = [f"{theme.title}: {sentence}" for theme, own in told for sentence in own]
    worths = rate(parts)
    best_first = sorted(range(len(parts)), key=lambda index: (-worths[index], index))
    chosen: set[int] = set()
    for index in best_first:
        if fits(_with_parts(session, told, chosen | {index})):
            chosen.add(index)
    if chosen:
        return _with_parts(session, told, chosen)
    return _with_a_clause(session, told, best_first[0], fits) if parts else None


def _with_fewer_keys(session: Session, fits: Fits) -> Session | None:
    for count in range(len(session.keys) - 1, 0, -1):
        fewer = replace(session, keys=(*session.keys[:count], CUT))
        if fits(fewer):
            return fewer
    return None


_Told = Sequence[tuple[Theme, Sequence[str]]]
"""The themes of a session with their sentences."""


def _sentences(theme: Theme) -> list[str]:
    spans = sentence_spans(theme.summary)
    return [theme.summary[start:end] for start, end in spans] or [theme.summary]


def _with_parts(session: Session, told: _Told, chosen: set[int]) -> Session:
    """The session with some of its sentences, numbered over all themes."""
    themes: list[Theme] = []
    number, is_cut = 0, False
    for theme, sentences in told:
        pieces: list[str] = []
        for sentence in sentences:
            if number in chosen:
                pieces += [CUT, sentence] if is_cut else [sentence]
                is_cut = False
            else:
                is_cut = True
            number += 1
        if pieces:
            themes.append(replace(theme, summary=" ".join(pieces)))
    if is_cut and themes:
        themes[-1] = replace(themes[-1], summary=f"{themes[-1].summary} {CUT}")
    return replace(session, themes=tuple(themes))


def _with_a_clause(session: Session, told: _Told, number: int, fits: Fits) -> Session | None:
    """The session with the beginning of one sentence."""
    theme, sentence = [(theme, each) for theme, own in told for each in own][number]

    def cut_at(end: int) -> Session:
        beginning = sentence[:end].rstrip(" ,;-–—，、；")
        return replace(session, themes=(replace(theme, summary=f"{beginning}{CUT}"),))

    longest = _longest(len(sentence), lambda end: fits(cut_at(end)))
    end = _clause_end(sentence, longest)
    return cut_at(end) if end >= _LEAST else None


def _longest(length: int, fits: Callable[[int], bool]) -> int:
    """The largest number of characters that fits, by bisection; 0 if none does."""
    least, most = 0, length
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(middle) else (least, middle - 1)
    return least


def _clause_end(text: str, longest: int) -> int:
    """Where to cut a text to ``longest`` characters: after a clause, else after a word."""
    ends = [match.start() for match in _CLAUSE_END.finditer(text[: longest + 1])]
    if ends and ends[-1] >= longest * _LEAST_PART:
        return ends[-1]
    space = text.rfind(" ", 0, longest + 1)
    return space if space >= longest * _LEAST_PART else longest

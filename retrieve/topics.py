"""What the lines of sessions and episodes tell, shortened until it fits.

The sentences that match the question best stay, in their order, or else a clause of the best one;
``…`` stands for what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cognigraph.english.sentences import sentence_spans
from cognigraph.model import Episode, SearchResult, Session, Theme

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
    told = [one.session for one in result.sessions if one.session.summary or one.session.keys]
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
    parts = _parts(session.themes)
    worths = rate([text for _, text in parts])
    best_first = sorted(range(len(parts)), key=lambda index: (-worths[index], index))
    chosen: set[int] = set()
    for index in best_first:
        if fits(_with_parts(session, chosen | {index})):
            chosen.add(index)
    if chosen:
        return _with_parts(session, chosen)
    return _with_a_clause(session, best_first[0], fits) if parts else None


def _with_fewer_keys(session: Session, fits: Fits) -> Session | None:
    for count in range(len(session.keys) - 1, 0, -1):
        fewer = replace(session, keys=(*session.keys[:count], CUT))
        if fits(fewer):
            return fewer
    return None


def _parts(themes: Sequence[Theme]) -> list[tuple[int, str]]:
    """The sentences of all themes, each with the place of its theme, and its title before it."""
    return [
        (place, f"{theme.title}: {sentence}")
        for place, theme in enumerate(themes)
        for sentence in _sentences(theme)
    ]


def _sentences(theme: Theme) -> list[str]:
    spans = sentence_spans(theme.summary)
    return [theme.summary[start:end] for start, end in spans] or [theme.summary]


def _with_parts(session: Session, chosen: set[int]) -> Session:
    """The session with some of its sentences, numbered over all themes."""
    themes: list[Theme] = []
    number, is_cut = 0, False
    for theme in session.themes:
        pieces: list[str] = []
        for sentence in _sentences(theme):
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


def _with_a_clause(session: Session, number: int, fits: Fits) -> Session | None:
    """The session with the beginning of one sentence."""
    place = _parts(session.themes)[number][0]
    theme = session.themes[place]
    first = sum(len(_sentences(earlier)) for earlier in session.themes[:place])
    sentence = _sentences(theme)[number - first]

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
    """Where to cut a text of which so many characters fit: after a clause, else after a word."""
    ends = [match.start() for match in _CLAUSE_END.finditer(text[: longest + 1])]
    if ends and ends[-1] >= longest * _LEAST_PART:
        return ends[-1]
    space = text.rfind(" ", 0, longest + 1)
    return space if space >= longest * _LEAST_PART else longest

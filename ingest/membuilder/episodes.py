"""The writer of episodes: what happened, each entry with its date. No entry is ever overwritten.

It sees the session's own entries and the most similar ones of other sessions. What updates or
merges entries is a new one, made out of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cognigraph.ids import normalise
from cognigraph.ingest.extraction import BY_MODEL
from cognigraph.ingest.membuilder.actions import Action
from cognigraph.ingest.membuilder.writers import WriterRun
from cognigraph.ingest.model.transcript import Turn
from cognigraph.model import Episode, Theme
from cognigraph.text.marks import one_line
from cognigraph.times import parse_when

MOST_EPISODES = 40
"""Largest number of entries of a session."""
FULL = f"a session has at most {MOST_EPISODES} entries"
_DAY = r"\d{4}(?:-\d{2}(?:-\d{2})?)?"
_TIME = r"(?:[T ]\d{1,2}:\d{2})?"
_DATED = re.compile(rf"({_DAY}){_TIME}(?:\s*(?:to|until|/|–|-)\s*({_DAY}){_TIME})?\s*:\s")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that the writer is shown. ``covers`` are empty for one of another session."""

    uid: str
    title: str
    text: str
    days: tuple[str, str]
    covers: tuple[str, ...] = ()

    @classmethod
    def own(cls, theme: Theme, turns: Sequence[Turn]) -> Entry:
        """An entry of the session; an old one without a date gets that of the new turns."""
        days = days_of(theme.summary) or _days_said(turns)
        return cls(theme.uid, theme.title, theme.summary, days, theme.covers)

    @classmethod
    def other(cls, episode: Episode) -> Entry:
        """An entry of another session."""
        said = f"{episode.started_at:%Y-%m-%d}", f"{episode.ended_at:%Y-%m-%d}"
        return cls(episode.uid, episode.title, episode.summary, days_of(episode.summary) or said)


def days_of(text: str) -> tuple[str, str] | None:
    """The first and last date with which an entry begins; ``None`` if it begins with none.

    >>> days_of("2031-03 to 2031-05-07: she moved twice.")
    ('2031-03', '2031-05-07')
    >>> days_of("2031-14-01: no such month.") is None
    True
    """
    match = _DATED.match(f"{text} ")
    if match is None:
        return None
    days = match[1], match[2] or match[1]
    return days if all(parse_when(day) for day in days) else None


def dated(text: str, sources: Sequence[tuple[str, str]]) -> str:
    """An entry that begins with its date: its own, or else that of its sources."""
    if days_of(text) or not sources:
        return text
    first, last = min(first for first, _ in sources), max(last for _, last in sources)
    return f"{first if first == last else f'{first} to {last}'}: {text}"


def _days_said(turns: Sequence[Turn]) -> tuple[str, str]:
    days = sorted(f"{turn.at:%Y-%m-%d}" for turn in turns)
    return days[0], days[-1]


def entries_of(
    own: Sequence[Theme], others: Sequence[Episode], turns: Sequence[Turn]
) -> dict[str, Entry]:
    """The entries by the label that they are shown with: those of the session first."""
    entries = [*(Entry.own(theme, turns) for theme in own), *map(Entry.other, others)]
    return {f"E{number}": entry for number, entry in enumerate(entries, 1)}


def episode_lines(entries: Mapping[str, Entry]) -> dict[str, str]:
    """Entries by label, each as its writer is shown it."""
    return {
        label: f"{one_line(entry.title)}: {one_line(entry.text)}"
        for label, entry in entries.items()
    }


def write_episodes(
    run: WriterRun, own: Sequence[Theme], others: Sequence[Episode], turns: Sequence[Turn]
) -> tuple[Theme, ...]:
    """The session's entries with those that the turns add; what they update stays as it was."""
    entries = entries_of(own, others, turns)
    actions = run.operations("episodic", episode_lines(entries), turns)
    themes = list(own)
    room = max(0, MOST_EPISODES - len(themes))
    run.refused += (f"{FULL}: {action.title}" for action in actions[room:])
    for action in actions[:room]:
        sources = [entries[target] for target in action.targets]
        titles = {normalise(theme.title) for theme in themes}
        themes.append(_theme(action, sources, titles, turns))
    return tuple(themes)


def _theme(
    action: Action, sources: Sequence[Entry], titles: Collection[str], turns: Sequence[Turn]
) -> Theme:
    cited = [turns[index] for index in action.turns]
    merged = sources if action.action == "MERGE" else ()
    covers = [uid for source in merged for uid in source.covers]
    covers += [turn.uid for turn in cited if turn.uid]
    days = [source.days for source in merged] + ([_days_said(cited)] if cited else [])
    return Theme(
        _unused(action.title, titles),
        dated(action.text, days),
        covers=tuple(dict.fromkeys(covers or (turn.uid for turn in turns if turn.uid))),
        reason=BY_MODEL,
        derived_from=tuple(source.uid for source in sources if source.uid),
    )


def _unused(title: str, titles: Collection[str]) -> str:
    """The title, with a number if there is an entry with it already."""
    number, free = 1, title
    while normalise(free) in titles:
        number += 1
        free = f"{title} ({number})"
    return free

"""Merge a model's answer into a session's keys and themes, and save state between leases.

An answer about new turns replaces some themes and adds others. Themes that it does not name are
kept, so a bad answer can do little damage.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from cognigraph.english.sentences import split_text
from cognigraph.ids import normalise
from cognigraph.ingest.model.coreference import WindowName
from cognigraph.ingest.model.parse_lines import turn_numbers
from cognigraph.ingest.model.transcript import Turn
from cognigraph.model import Theme
from cognigraph.model.roles import as_role
from cognigraph.text.clean import printable
from cognigraph.text.marks import one_line
from cognigraph.text.terms import query_terms, terms

if TYPE_CHECKING:
    from cognigraph.ingest.model.answer_schema import SummaryAnswer

MAX_THEMES = 8
MAX_KEYS = 24
MAX_SUMMARY = 1500
"""Maximum length of a theme's summary in characters; a longer one is cut at a sentence end."""
MAX_UNREAD = 12_000
"""Maximum length, in characters, of the remembered turns that no summary covers yet."""
MAX_KNOWN = 20
EMPTY = "theme without a summary"
UNTITLED = "theme without a title"
TWICE = "theme was rewritten twice"
SHRUNK = "theme would lose most of its content"
NO_ROOM = "no room for another theme"
BY_MODEL = "topic"
"""The reason of an episode that a model has chosen."""
_KEY_WORDS = 8
_TITLE = 100
_KEPT = 0.4
_SHORT = 15
_FORMAT = 1
_UNTOLD = frozenset(("time", "concept"))


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """Keys with weights, heaviest first, and themes."""

    keys: tuple[tuple[str, float], ...] = ()
    themes: tuple[Theme, ...] = ()


def merged(
    old: SummaryDraft, answer: SummaryAnswer, speakers: Sequence[str], turns: Sequence[Turn] = ()
) -> tuple[SummaryDraft, list[str]]:
    """The summary after merging an answer into it, and a reason for each rejected theme.

    ``old`` is empty for the first answer. ``turns`` are those that the answer numbers from 1; a
    theme covers what its answers cite.
    """
    themes, refused = list(old.themes), list[str]()
    written: set[int] = set()
    cited = _cited(answer, turns)
    for one, covers in zip(answer.themes, cited, strict=True):
        title = " ".join(printable(one.title).split())[:_TITLE].strip()
        summary = _trimmed(one.summary)
        if not summary:
            refused.append(f"{EMPTY}: {title}")
            continue
        index = _index(one.n, title, old.themes)
        if index is None and not title:
            refused.append(f"{UNTITLED}: {summary[:_TITLE]}")
        elif index is None:
            refused += _added(themes, Theme(title, summary, covers=covers, reason=BY_MODEL))
        elif index in written:
            refused.append(f"{TWICE}: {title or old.themes[index].title}")
        elif _shrinks(old.themes[index].summary, summary):
            refused.append(f"{SHRUNK}: {old.themes[index].title}")
        else:
            written.add(index)
            themes[index] = replace(
                themes[index],
                title=title or old.themes[index].title,
                summary=summary,
                covers=(*themes[index].covers, *covers),
                reason=themes[index].reason or BY_MODEL,
            )
    return SummaryDraft(merged_keys(old.keys, answer.keys, speakers), tuple(themes)), refused


def _cited(answer: SummaryAnswer, turns: Sequence[Turn]) -> list[tuple[str, ...]]:
    """For each theme of an answer the uids of the turns that it cites; numbers must exist.

    The only theme of an answer that cites nothing is about all turns.
    """
    cited = [turn_numbers(one.turns) for one in answer.themes]
    if len(cited) == 1 and not cited[0]:
        cited = [tuple(range(1, len(turns) + 1))]
    return [
        tuple(turns[n - 1].uid for n in numbers if 1 <= n <= len(turns) and turns[n - 1].uid)
        for numbers in cited
    ]


def _index(number: int, title: str, themes: Sequence[Theme]) -> int | None:
    if 1 <= number <= len(themes):
        return number - 1
    same = [at for at, one in enumerate(themes) if normalise(one.title) == normalise(title)]
    return same[0] if title and same else None


def _trimmed(text: str) -> str:
    """The text as one paragraph, cut at the last sentence end within the limit."""
    whole = " ".join(printable(text).split())
    if len(whole) <= MAX_SUMMARY:
        return whole
    kept = ""
    for sentence in split_text(whole):
        if len(kept) + len(sentence) >= MAX_SUMMARY:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or whole[: MAX_SUMMARY - 1].rstrip() + "…"


def _shrinks(old: str, new: str) -> bool:
    before, after = len(old.split()), len(new.split())
    return before >= _SHORT and after < _KEPT * before


def _added(themes: list[Theme], theme: Theme) -> list[str]:
    """Add a theme; at the maximum, append it to the theme that shares most words with it."""
    if len(themes) < MAX_THEMES:
        titles = {normalise(one.title) for one in themes}
        if normalise(theme.title) in titles:
            theme = replace(theme, title=f"{theme.title} ({len(themes) + 1})")
        themes.append(theme)
        return []
    words = set(query_terms(f"{theme.title} {theme.summary}"))
    near = max(
        range(len(themes)),
        key=lambda at: len(words & set(query_terms(f"{themes[at].title} {themes[at].summary}"))),
    )
    joined = f"{themes[near].summary} {theme.summary}"
    if len(joined) > MAX_SUMMARY:
        return [f"{NO_ROOM}: {theme.title}"]
    covers = (*themes[near].covers, *theme.covers)
    themes[near] = replace(themes[near], summary=joined, covers=covers)
    return []


def merged_keys(
    old: Sequence[tuple[str, float]], new: Sequence[str], speakers: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """Old and new keys, deduplicated in their first spelling; a repeated key gains weight."""
    found = {_stems(name): (name, weight) for name, weight in old}
    besides = {_stems(speaker) for speaker in speakers}
    step = 1 / max(1, len(new))
    for index, raw in enumerate(dict.fromkeys(new)):
        name = " ".join(printable(raw).split()).strip(" \"'`.,;:")
        stems = _stems(name)
        if not stems or stems in besides or len(name.split()) > _KEY_WORDS:
            continue
        if stems in found:
            known, weight = found[stems]
            found[stems] = known, round(weight + 0.5, 4)
        else:
            found[stems] = name, round(2 - index * step, 4)
    ranked = sorted(found.values(), key=lambda key: -key[1])  # stable: of equals, older keys first
    return tuple(ranked[:MAX_KEYS])


def _stems(name: str) -> str:
    return " ".join(terms(name)) or normalise(name)


# --- State saved between leases ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SummaryState:
    """State of a session's summary that is saved between leases.

    ``unread`` are the turns that the summary lacks; ``known`` are entities for coreference.
    ``extractive`` says that the themes are quotations, to be replaced by a model's summary.
    """

    unread: tuple[Turn, ...] = ()
    known: tuple[WindowName, ...] = ()
    extractive: bool = False

    @classmethod
    def load(cls, text: str) -> SummaryState:
        """Parse a saved state; a state in another format (of another extractor) gives a new one."""
        try:
            data = json.loads(text) if text else {}
            if not isinstance(data, dict) or data.get("model") != _FORMAT:
                return cls()
            return cls(
                tuple(_turn(*row) for row in data["unread"]),
                tuple(WindowName(str(n), str(t), tuple(map(str, a))) for n, t, a in data["known"]),
                bool(data["extractive"]),
            )
        except (ValueError, TypeError, KeyError):
            return cls()

    def dump(self) -> str:
        """The state as JSON; :meth:`load` restores an equal state."""
        data = {
            "model": _FORMAT,
            "unread": [_row(turn) for turn in self.unread],
            "known": [[one.name, one.type, list(one.aliases)] for one in self.known],
            "extractive": self.extractive,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _row(turn: Turn) -> list[str]:
    row = [turn.at.isoformat(), turn.speaker, turn.text, turn.role or "", turn.uid]
    while not row[-1]:
        row.pop()
    return row


def _turn(at: str, speaker: str, text: str = "", role: str = "", uid: str = "") -> Turn:
    time = datetime.fromisoformat(at)
    return Turn(str(speaker), time, str(text), as_role(str(role)), str(uid))


def remembered(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The newest turns that fit in ``MAX_UNREAD`` characters, to be summarised later."""
    kept: list[Turn] = []
    room = MAX_UNREAD
    for turn in reversed(turns):
        room -= len(turn.text)
        if room < 0 and kept:
            break
        kept.append(turn if room >= 0 else replace(turn, text=turn.text[:MAX_UNREAD]))
    return tuple(reversed(kept))


def known_names(new: Sequence[WindowName], old: Sequence[WindowName]) -> tuple[WindowName, ...]:
    """The entities to list in the next window's prompt, newest first."""
    found: dict[str, WindowName] = {}
    for one in (*new, *old):
        if one.type not in _UNTOLD and (one.aliases or one.type != "object"):
            found.setdefault(normalise(one.name), replace(one, aliases=one.aliases[:3]))
    return tuple(found.values())[:MAX_KNOWN]


# --- Text for prompts ----------------------------------------------------------------------


def known_lines(known: Sequence[WindowName]) -> str:
    """Known entities, one per line, such as ``Pia (person; Jonas's sister)``."""
    lines = (f"{one.name} ({'; '.join((one.type, *one.aliases))})" for one in known)
    return "\n".join(map(one_line, lines)) or "-"


def key_line(keys: Sequence[tuple[str, float]]) -> str:
    """Keys, separated by commas."""
    return one_line(", ".join(name for name, _ in keys)) or "-"


def theme_lines(themes: Sequence[Theme]) -> str:
    """Numbered themes, one per line."""
    return "\n".join(
        f"{number}. {one_line(theme.title)}: {one_line(theme.summary)}"
        for number, theme in enumerate(themes, 1)
    )

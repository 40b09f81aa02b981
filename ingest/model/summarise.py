"""Write and refine a session's summary with a model; after a failure the old summary is kept.

The turns that the summary lacks are then remembered, and the queue retries them: alone, or with the
session's next turns. Turns that were parked do not hold up later ones.

A refinement reads the summary and the new turns, never the old turns, so its cost depends only on
the new turns. Its answer replaces some themes and adds others; themes that it does not name are
kept, so a bad answer can do little damage. Until the first summary by a model succeeds, the session
has an extractive summary made of its own sentences.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from cognigraph.english.sentences import split_text
from cognigraph.errors import ModelError, ModelRefusedError
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import BY_MODEL, Extraction, Window
from cognigraph.ingest.model.answer_schema import SummaryAnswer
from cognigraph.ingest.model.parse_lines import turn_numbers
from cognigraph.ingest.model.transcript import Turn, WindowName, halves, numbered, split
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Model, Prices, Prompt
from cognigraph.llm.prompts import PromptFile, render
from cognigraph.model import Theme, Usage
from cognigraph.model.messages import ANONYMOUS, as_role
from cognigraph.stores.batch_size import batch_limit, failures_of
from cognigraph.stores.records import Backlog, SessionNotes, WorkChunk
from cognigraph.text.marks import estimate_tokens, one_line
from cognigraph.text.terms import printable, query_terms, terms

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
    for theme, covers in zip(answer.themes, cited, strict=True):
        title = " ".join(printable(theme.title).split())[:_TITLE].strip()
        summary = _trimmed(theme.summary)
        if not summary:
            refused.append(f"{EMPTY}: {title}")
            continue
        index = _index(theme.n, title, old.themes)
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
    cited = [turn_numbers(theme.turns) for theme in answer.themes]
    if len(cited) == 1 and not cited[0]:
        cited = [tuple(range(1, len(turns) + 1))]
    return [
        tuple(turns[n - 1].uid for n in numbers if 1 <= n <= len(turns) and turns[n - 1].uid)
        for numbers in cited
    ]


def _index(number: int, title: str, themes: Sequence[Theme]) -> int | None:
    if 1 <= number <= len(themes):
        return number - 1
    same = [at for at, theme in enumerate(themes) if normalise(theme.title) == normalise(title)]
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
        titles = {normalise(item.title) for item in themes}
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
    by_stems = {_stems(name): (name, weight) for name, weight in old}
    besides = {_stems(speaker) for speaker in speakers}
    step = 1 / max(1, len(new))
    for index, raw in enumerate(dict.fromkeys(new)):
        name = " ".join(printable(raw).split()).strip(" \"'`.,;:")
        stems = _stems(name)
        if not stems or stems in besides or len(name.split()) > _KEY_WORDS:
            continue
        if stems in by_stems:
            known, weight = by_stems[stems]
            by_stems[stems] = known, round(weight + 0.5, 4)
        else:
            by_stems[stems] = name, round(2 - index * step, 4)
    ranked = sorted(
        by_stems.values(), key=lambda key: -key[1]
    )  # stable: of equals, older keys first
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
            "known": [[name.name, name.type, list(name.aliases)] for name in self.known],
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
    by_key: dict[str, WindowName] = {}
    for name in (*new, *old):
        if name.type not in _UNTOLD and (name.aliases or name.type != "object"):
            by_key.setdefault(normalise(name.name), replace(name, aliases=name.aliases[:3]))
    return tuple(by_key.values())[:MAX_KNOWN]


# --- Text for prompts ----------------------------------------------------------------------


def known_lines(known: Sequence[WindowName]) -> str:
    """Known entities, one per line, such as ``Pia (person; Jonas's sister)``."""
    lines = (f"{name.name} ({'; '.join((name.type, *name.aliases))})" for name in known)
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


NOT_WRITTEN = "summary not updated"
FORGOTTEN = "turns dropped without a summary"
DROPPED = "malformed part of an answer"
_ANSWER_TOKENS, _ANSWER_SHARE, _LONGEST_ANSWER = 100, 0.35, 900
"""Estimated tokens of an answer: a constant plus a share of the input, up to a maximum."""


@dataclass(slots=True)
class SummaryUpdate:
    """An update of a session's summary: what it begins with, and what came of it.

    ``old`` is the session's summary before, ``current`` the one so far; ``summary`` is ``None`` if
    the session keeps its old one. ``unread`` are the turns that the summary lacks, and ``given_up``
    those that were parked. ``extractive`` says that the session's summary consists of quotations,
    ``quoted`` that this update wrote such a summary. ``summary_due`` says that an update is due for
    turns it lacks, and ``error`` why this update failed.
    """

    old: SummaryDraft
    current: SummaryDraft
    speakers: tuple[str, ...]
    given_up: tuple[Turn, ...]
    unread: tuple[Turn, ...]
    extractive: bool
    summary: SummaryDraft | None = None
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)
    quoted: bool = False
    summary_due: bool = False
    error: ModelError | None = None

    def take(self, answer: SummaryAnswer, shown: Sequence[Turn], rest: tuple[Turn, ...]) -> bool:
        """Merge an answer about the turns ``shown``, after which ``rest`` is still to come.

        False if there is no theme then, so that these turns have no summary.
        """
        current, refused = merged(self.current, answer, self.speakers, shown)
        self.rejected += refused
        if not current.themes:
            return False
        self.current = self.summary = current
        self.extractive, self.unread = False, rest
        return True

    def extraction(self, state: SummaryState) -> Extraction:
        """The update as an extraction without facts, with the state for the next lease."""
        summary = self.summary
        return Extraction(
            keys=None if summary is None else summary.keys,
            themes=None if summary is None else summary.themes,
            state=replace(state, unread=self.unread, extractive=self.extractive).dump(),
            rejected=tuple(self.rejected),
            usage=self.usage,
            provisional=self.quoted,
            summary_due=self.summary_due,
            error=self.error,
        )


class Summariser:
    """Asks a model for keys and themes, with at most ``limit`` tokens of turns in a prompt."""

    def __init__(self, model: Model, prompt: PromptFile, limit: int) -> None:
        self._model = model
        self._prompt = prompt
        self._limit = limit

    def begin(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> SummaryUpdate:
        """Begin to update the session's summary with the new turns, if any, and those still due."""
        given_up: tuple[Turn, ...] = ()
        turns = (*state.unread, *new)
        if new and notes.backlog is not None and notes.backlog.parked:
            given_up, turns = state.unread, tuple(new)
        old = SummaryDraft() if state.extractive else SummaryDraft(notes.keys, notes.themes)
        speakers = tuple(dict.fromkeys(turn.speaker for turn in turns))
        return SummaryUpdate(old, old, speakers, given_up, turns, state.extractive)

    def finish(self, update: SummaryUpdate, notes: SessionNotes, new: Sequence[Turn]) -> None:
        """Ask for what an update still lacks."""
        turns = update.unread
        parts = deque(split(turns, self._limit_after(notes)))
        while parts:
            part = parts.popleft()
            shown = turns[part.start : part.stop]
            try:
                answer = self._model.ask(self._prompt_for(update.current, shown), SummaryAnswer)
            except ModelError as error:
                update.usage += error.usage
                smaller = halves(part)
                if isinstance(error, ModelRefusedError) and error.too_long and smaller is not None:
                    parts.extendleft(reversed(smaller))
                    continue
                update.rejected.append(f"{NOT_WRITTEN}: {error}")
                update.error = error
                break
            update.usage += answer.usage
            update.rejected += (f"{DROPPED}: {reason}" for reason in answer.dropped)
            if not update.take(answer.value, shown, turns[part.stop :]):
                update.rejected.append(f"{NOT_WRITTEN}: the answer had no theme")
                break
        update.unread = (*update.given_up, *update.unread)
        update.summary_due = bool(update.given_up) or update.error is not None
        if update.summary is None and not update.old.themes and new:
            update.summary, update.extractive, update.quoted = extractive(update.unread), True, True
        kept = _turns_to_keep(update.unread, new)
        if len(kept) < len(update.unread):
            update.extractive = False  # it alone covers the dropped turns, so it must be kept
            update.rejected.append(f"{FORGOTTEN}: {len(update.unread) - len(kept)}")
        update.unread = kept

    def estimate(self, update: SummaryUpdate, notes: SessionNotes) -> Usage:
        """Estimate the usage of :meth:`finish`."""
        turns = update.unread
        usage = Usage()
        for part in split(turns, self._limit_after(notes)):
            shown = turns[part.start : part.stop]
            prompt = self._prompt_for(update.current, shown)
            usage += estimated_call(self._model, prompt, summary_tokens(shown))
        return usage

    def _limit_after(self, notes: SessionNotes) -> int:
        """The limit in tokens, reduced to a quarter by each failure, as for batches of chunks."""
        backlog = notes.backlog or Backlog()
        return batch_limit(failures_of(backlog.attempts, backlog.outages), self._limit)

    def _prompt_for(self, current: SummaryDraft, turns: Sequence[Turn]) -> Prompt:
        if current.themes:
            return render(
                self._prompt,
                "refine",
                keys=key_line(current.keys),
                themes=theme_lines(current.themes),
                turns=numbered(turns),
            )
        return render(self._prompt, "create", turns=numbered(turns))


def _turns_to_keep(unread: Sequence[Turn], new: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns without a summary to remember: all that were just tried, and the newest others."""
    if not new:
        return tuple(unread)
    before = max(0, len(unread) - len(new))
    return (*remembered(unread[:before]), *unread[before:])


def summary_tokens(turns: Sequence[Turn]) -> int:
    """Estimated tokens of an answer with the summary of turns."""
    said = sum(estimate_tokens(turn.text) for turn in turns)
    return min(_ANSWER_TOKENS + round(_ANSWER_SHARE * said), _LONGEST_ANSWER)


def estimated_call(model: Model, prompt: Prompt, output_tokens: int) -> Usage:
    """The estimated usage of one call; it costs nothing if the model has no ``prices``."""
    input_tokens = estimate_tokens(prompt.system) + estimate_tokens(prompt.user)
    prices: Prices | None = getattr(model, "prices", None)
    cost = prices.cost(input_tokens, output_tokens) if prices else 0.0
    return Usage(calls=1, input_tokens=input_tokens, output_tokens=output_tokens, cost=cost)


def extractive(turns: Sequence[Turn]) -> SummaryDraft:
    """A summary by rules: keys and themes in the words of the turns themselves."""
    chunks = tuple(
        WorkChunk(
            uid=turn.uid or str(index),
            message_id=str(index),
            session="",
            speaker=None if turn.speaker == ANONYMOUS else turn.speaker,
            at=turn.at,
            text=turn.text,
            role=turn.role,
        )
        for index, turn in enumerate(turns)
    )
    read = RulesExtractor().extract(Window("", "", chunks))
    return SummaryDraft(read.keys or (), read.themes or ())

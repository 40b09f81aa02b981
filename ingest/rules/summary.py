"""Session keys and an extractive session summary, updated chunk by chunk.

:class:`SessionState` takes in one chunk at a time, so the result does not depend on how chunks are
batched. Its size is bounded, so the cost of a chunk does not grow with the session. Ties are
broken by position in the session, never by hash order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from cognigraph.ingest.rules.boundaries import Episodes, TurnSigns, covered
from cognigraph.ingest.rules.key_phrases import KeyPhrase
from cognigraph.model import Theme
from cognigraph.stores.records import WorkChunk
from cognigraph.text.terms import query_terms, terms
from cognigraph.times import to_micros

POOL = 40
"""Largest number of candidate sentences for the summary."""
KEYS = 64
"""Largest number of candidate keys."""
SHOWN_KEYS = 16
_NOUN = 0.44  # least score of a single word that is no verb or abstract noun
SPEAKERS = 16
_THEMES = 3
_MOST_THEMES = 8
_TURNS_PER_THEME = 16
_THEME_SENTENCES = 4
_ONLY_SENTENCES = 7
_FEWEST = 3
_LONGEST = 200
_AGEING = 0.97  # decay per chunk without the key: new topics can replace old ones that ended early
_FORMAT = 3


@dataclass(frozen=True, slots=True)
class Key:
    """A candidate key: the phrase's own score, its chunk count, and the last chunk it was in."""

    name: str
    score: float
    count: int
    last: int

    @property
    def weight(self) -> float:
        """The score multiplied by the damped frequency 1 + ln(count)."""
        return round(self.score * (1 + math.log(self.count)), 4)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate sentence for the summary, ordered by ``chunk`` and ``index`` within it."""

    chunk: int
    index: int
    speaker: str
    text: str
    salience: float
    stems: frozenset[str]
    day: str = ""


def _candidate(row: Sequence[Any]) -> Candidate:
    chunk, index, speaker, text, salience, stems, day = row
    return Candidate(chunk, index, speaker, text, salience, frozenset(stems.split()), day)


def _reached(data: dict[str, Any]) -> tuple[int, int] | None:
    if "reached" in data:
        return (int(data["reached"][0]), int(data["reached"][1])) if data["reached"] else None
    # Earlier versions wrote a number among the chunks of all spaces, which says nothing here: take
    # it that the next chunks of the same time come after those that were read.
    return (int(data["last"][0]), 0) if data["last"] else None


@dataclass(slots=True)
class SessionState:
    """The state of a session that is kept between windows."""

    chunks: int = 0
    keys: dict[str, Key] = field(default_factory=dict)
    pool: list[Candidate] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    last: tuple[int, int] | None = None
    """When the last chunk was said, in microseconds, and its number among those of this time."""
    episodes: Episodes = field(default_factory=Episodes)

    @classmethod
    def load(cls, text: str) -> SessionState:
        """Read a saved state; return an empty one if the text is another extractor's or invalid."""
        try:
            data = json.loads(text) if text else {}
            if not isinstance(data, dict) or data.get("rules") != _FORMAT:
                return cls()
            return cls(
                int(data["chunks"]),
                {str(stem): Key(*row) for stem, *row in data["keys"]},
                [_candidate(row) for row in data["pool"]],
                [str(name) for name in data["speakers"]],
                _reached(data),
                Episodes.load(data.get("episodes", ())),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()

    def dump(self) -> str:
        """Serialise to JSON; :meth:`load` restores an equal state."""
        data = {
            "rules": _FORMAT,
            "chunks": self.chunks,
            "keys": [[stem, k.name, k.score, k.count, k.last] for stem, k in self.keys.items()],
            "pool": [
                [
                    c.chunk,
                    c.index,
                    c.speaker,
                    c.text,
                    c.salience,
                    " ".join(sorted(c.stems)),
                    c.day,
                ]
                for c in self.pool
            ],
            "speakers": self.speakers,
            "reached": self.last,
            "episodes": self.episodes.dump(),
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    # Updates, one chunk at a time

    def meet(self, speaker: str | None) -> None:
        """Add a speaker, up to :data:`SPEAKERS`."""
        if speaker and speaker not in self.speakers and len(self.speakers) < SPEAKERS:
            self.speakers.append(speaker)

    def add_phrases(self, phrases: Iterable[KeyPhrase], *, new: bool = True) -> None:
        """Count the phrases of the current chunk, each once; only known ones unless ``new``."""
        seen: set[str] = set()
        for phrase in phrases:
            stem = " ".join(terms(phrase.text))
            if not stem or stem in seen:
                continue
            seen.add(stem)
            old = self.keys.get(stem)
            if old is None and not new:
                continue
            if old is None:
                self.keys[stem] = Key(phrase.text, phrase.score, 1, self.chunks)
            else:
                score = max(old.score, phrase.score)
                self.keys[stem] = replace(old, score=score, count=old.count + 1, last=self.chunks)
        if len(self.keys) > KEYS:
            ranked = sorted(self.keys, key=self._standing, reverse=True)
            kept = set(ranked[:KEYS])
            self.keys = {stem: key for stem, key in self.keys.items() if stem in kept}

    def turns_with(self, phrase: str) -> int:
        """Return how many chunks so far have a phrase, among those that are still candidates."""
        key = self.keys.get(" ".join(terms(phrase)))
        return key.count if key is not None else 0

    def _standing(self, stem: str) -> tuple[float, int, str]:
        key = self.keys[stem]
        return key.weight * _AGEING ** min(self.chunks - key.last, 500), key.last, stem

    def add_sentence(
        self, index: int, speaker: str, text: str, salience: float, day: str = ""
    ) -> None:
        """Add a sentence of the current chunk to the candidates if it is salient enough."""
        if salience <= 0 or (
            len(self.pool) >= POOL and salience <= min(item.salience for item in self.pool)
        ):
            return  # of equally salient sentences the earlier one stays
        shown = shorten(text)
        stems = frozenset(query_terms(shown))
        self.pool.append(Candidate(self.chunks, index, speaker, shown, salience, stems, day))
        if len(self.pool) > POOL:
            worst = min(self.pool, key=lambda item: (item.salience, -item.chunk, -item.index))
            self.pool.remove(worst)

    def next_chunk(self, chunk: WorkChunk) -> None:
        """End the current chunk."""
        self.chunks += 1
        self.last = to_micros(chunk.at), chunk.arrival
        self.episodes.add(TurnSigns.of(chunk))

    def is_past(self, chunk: WorkChunk) -> bool:
        """Return whether a chunk comes before one that has been added already."""
        return self.last is not None and (to_micros(chunk.at), chunk.arrival) < self.last

    # Results

    def best_keys(self) -> list[Key]:
        """Return the session's keys by descending weight, without near-duplicates and speakers."""
        speakers = {name.lower() for name in self.speakers}
        ranked = sorted(
            ((-key.weight, stem, key) for stem, key in self.keys.items()), key=lambda row: row[:2]
        )
        chosen: list[Key] = []
        covered: list[set[str]] = []
        for _, stem, key in ranked:
            stems = set(stem.split())
            known = key.name.lower() in speakers or any(_covers(one, stems) for one in covered)
            if known or not _is_topic(key):
                continue
            chosen.append(key)
            covered.append(stems)
            if len(chosen) == SHOWN_KEYS:
                break
        return chosen

    def themes(self, keys: Sequence[Key]) -> tuple[Theme, ...]:
        """Return the themes: for each episode, the sentences that are best for the whole session.

        These are about the heaviest keys. An episode without such a sentence goes with the one
        before it.
        """
        most = min(_MOST_THEMES, max(_THEMES, self.chunks // _TURNS_PER_THEME))
        stemmed = [_Stemmed(key.name, key.weight, frozenset(terms(key.name))) for key in keys]
        ranked = self._ranked(stemmed)
        groups: list[list[Candidate]] = []
        used: list[Candidate] = []
        for key in stemmed:
            support = [item for item in ranked if key.stems <= item.stems]
            if len(support) < _FEWEST:
                continue
            group = _without_repeats(support, used, _THEME_SENTENCES)
            if len(group) >= _FEWEST:
                groups.append(group)
                used.extend(group)
            if len(groups) == most - 1:
                break
        rest = _without_repeats(ranked, used, _THEME_SENTENCES if groups else _ONLY_SENTENCES)
        if rest:
            groups.append(rest)
        groups = self._by_episode([item for group in groups for item in group])
        quoted = [[item.chunk for item in group] for group in groups]
        covers = covered(quoted, self.episodes, self.chunks)
        return tuple(
            replace(theme, covers=uids, reason=reason)
            for theme, (uids, reason) in zip(_titled(groups, stemmed), covers, strict=True)
        )

    def _by_episode(self, chosen: Sequence[Candidate]) -> list[list[Candidate]]:
        """Group sentences by the episode they are in; neighbours join if there are too many."""
        episode = {
            number: at for at, turns in enumerate(self.episodes.numbers(self.chunks))
            for number in turns
        }  # fmt: skip
        found: dict[int, list[Candidate]] = {}
        for item in sorted(chosen, key=lambda item: (item.chunk, item.index)):
            found.setdefault(episode.get(item.chunk, -1), []).append(item)
        groups = [found[at] for at in sorted(found)]
        while len(groups) > _MOST_THEMES:
            sizes = [len(one) + len(two) for one, two in pairwise(groups)]
            at = sizes.index(min(sizes))
            groups[at : at + 2] = [[*groups[at], *groups[at + 1]]]
        return groups

    def _ranked(self, keys: Sequence[_Stemmed]) -> list[Candidate]:
        """Rank candidate sentences by salience and by the weight of the keys they contain."""
        total = sum(key.weight for key in keys) or 1.0

        def standing(item: Candidate) -> tuple[float, int, int]:
            carried = sum(key.weight for key in keys if key.stems <= item.stems)
            return -(item.salience + 2 * carried / total), item.chunk, item.index

        return sorted(self.pool, key=standing)


class _Stemmed(NamedTuple):
    name: str
    weight: float
    stems: frozenset[str]


def _is_topic(key: Key) -> bool:
    """Return whether a key is a name, several words, a clear noun, or came up more than once."""
    named = any(not character.islower() for character in key.name)
    return named or key.count > 1 or key.score >= _NOUN


def _covers(chosen: set[str], stems: set[str]) -> bool:
    """Return whether a key is part of a heavier one or adds just one word to it."""
    return stems <= chosen or (chosen <= stems and len(stems) - len(chosen) == 1)


def _without_repeats(
    items: Iterable[Candidate], used: Sequence[Candidate], limit: int
) -> list[Candidate]:
    chosen: list[Candidate] = []
    for item in items:
        if len(chosen) == limit:
            break
        if not any(_repeats(item.stems, other.stems) for other in (*used, *chosen)):
            chosen.append(item)
    return chosen


def _repeats(left: frozenset[str], right: frozenset[str]) -> bool:
    shared = len(left & right)
    return shared * 2 > min(len(left), len(right)) > 0 and shared * 5 > len(left | right) * 2


def _titled(groups: Sequence[Sequence[Candidate]], keys: Sequence[_Stemmed]) -> tuple[Theme, ...]:
    themes: list[Theme] = []
    titled: set[str] = set()
    for group in groups:
        stems = frozenset[str]().union(*(item.stems for item in group))
        names = [key.name for key in keys if key.stems <= stems and key.name not in titled][:3]
        titled.update(names)
        ordered = sorted(group, key=lambda item: (item.chunk, item.index))
        speakers = list(dict.fromkeys(item.speaker for item in ordered if item.speaker))
        title = ", ".join(names) or "Said by " + " and ".join(speakers[:2] or ["someone"])
        title = title[:1].upper() + title[1:]
        if any(theme.title == title for theme in themes):
            title = f"{title} ({len(themes) + 1})"
        themes.append(Theme(title, "\n".join(_lines(ordered))))
    return tuple(themes)


def _lines(items: Sequence[Candidate]) -> Iterator[str]:
    """Yield each sentence with its speaker, and with its date where that changes."""
    day = ""
    for item in items:
        said = f"{item.speaker}: {item.text}" if item.speaker else item.text
        yield f"{item.day} {said}" if item.day and item.day != day else said
        day = item.day


def shorten(text: str, limit: int = _LONGEST) -> str:
    """Shorten a long sentence at a clause boundary, else between words, and add an ellipsis."""
    text = " ".join(text[: 4 * limit].split())
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    cut = max(head.rfind(mark) for mark in (", ", "; ", ": ", " - ", " — ", "，", "、"))
    if cut < limit // 3:
        cut = head.rfind(" ")
    return head[: cut if cut > 0 else limit - 1].rstrip(" ,;:-—，、") + "…"

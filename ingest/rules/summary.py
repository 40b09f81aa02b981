"""Episodes, session keys and an extractive session summary, updated chunk by chunk.

An episode begins at the start of a session, after a pause, where the speaker says that this is
something else, where the words change, or where the last one has become too long. In doubt it
begins: two episodes about one thing do less harm than one about two.

The decision before a turn also depends on the turn after it, because an answer shows what a short
question is about.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from cognigraph.ingest.rules.names import KeyPhrase
from cognigraph.model import Theme
from cognigraph.stores.records import WorkChunk
from cognigraph.text.terms import query_terms, terms
from cognigraph.times import from_micros, to_micros

PAUSE = timedelta(hours=1)
"""Silence after which what is said next is a new episode."""
MOST_TURNS = 14
MOST_TERMS = 600
"""An episode of this size ends as soon as no answer is pending."""
MOST_COVERED = 400
"""Number of turns, the newest ones, of which the episodes are known."""
_SLACK = 2
_FLAGS = "?rcmax"
"""A letter for each sign of a turn that is kept, in order."""
_NEAR = 4
"""Number of preceding turns with which the words of a turn are compared."""
_FEWEST = 3
"""Words of a turn below which it cannot show that the topic has changed."""
_KEPT = 0.05
"""The largest share of words in common between two topics."""
_CUE = re.compile(
    r"""(?: \b(?:by\sthe\sway|btw|speaking\sof|apropos|before\si\sforget|changing\sthe\s(?:subject|
        topic)|to\schange\sthe\s(?:subject|topic)|on\s(?:another|a\sdifferent|an?\sunrelated|
        a\scompletely\sdifferent)\s(?:note|topic|subject)|in\sother\snews|switching\s(?:gears|
        topics?)|(?:new|different|separate|unrelated|another|next)\s(?:topic|question|subject)|
        something\s(?:else|different|completely\sdifferent)|one\smore\sthing|another\sthing|
        unrelated(?:\sto\sthat)?|not\srelated|moving\son|let'?s\smove\son|that\sreminds\sme|
        (?:anyway|anyways|anyhow)\s*[,.!:-]|
        (?:guess\swhat|oh[,!]?\s(?:and|also|hey)\b)))""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_REPLY = re.compile(
    r"\s*(?:yes|yeah|yep|no|nope|sure|exactly|right|true|thanks|thank|thx|ok|okay|haha|lol|wow|"
    r"same|agreed|absolutely|definitely|totally|of course|it|that|that's|they|she|he|this|those)\b",
    re.IGNORECASE,
)
_ANSWERS = re.compile(
    r"\s*(?:you(?:'re|'ll|'d|'ve)?|then|so|but|and|or|because|only|also|maybe|perhaps)\b", re.I
)
"""Openings with which a statement goes on from what another one has said."""
_REACTION = 3
"""Words of a sentence that is only a reaction, such as "Makes sense." or "Congratulations!"."""


@dataclass(frozen=True, slots=True)
class TurnSigns:
    """What a turn shows of its topic: its stems, and ``ahead``, those of its last question.

    ``replies`` is whether it begins like an answer, ``reacts`` whether that goes for its question
    as well: between people, what follows a reaction ("Lovely! When is it due?") asks about the same
    thing. A user thanks an assistant and asks for something else. ``cue`` is whether the speaker
    says that something else follows, ``midway`` whether that is after a sentence about what was
    before.
    """

    uid: str
    at: datetime
    terms: frozenset[str]
    ahead: frozenset[str]
    asks: bool
    replies: bool
    cue: bool
    midway: bool
    assistant: bool
    reacts: bool = False

    @classmethod
    def of(cls, chunk: WorkChunk) -> TurnSigns:
        """Read a chunk."""
        sentences = [part for part in _SENTENCE.split(chunk.text.strip()) if part]
        cues = [at for at, part in enumerate(sentences) if _CUE.search(part[:60])]
        asks = bool(sentences) and sentences[-1].rstrip().endswith("?")
        last = " ".join(sentences[cues[-1] :] if cues else sentences[-1:])
        terms = frozenset(query_terms(chunk.text))
        among_people = chunk.role is None
        return cls(
            chunk.uid,
            chunk.at,
            terms,
            frozenset(query_terms(last)) if asks or cues else terms,
            asks,
            bool(
                _REPLY.match(chunk.text)
                or (among_people and not asks and _ANSWERS.match(chunk.text))
            ),
            bool(cues),
            bool(cues) and cues[0] > 0,
            chunk.role == "assistant",
            among_people and len(sentences) > 1 and len(sentences[0].split()) <= _REACTION,
        )


@dataclass(slots=True)
class Episodes:
    """The episodes of a session so far: for each its reason, and the uids of its turns."""

    found: list[tuple[str, list[str]]] = field(default_factory=list)
    size: int = 0
    near: list[TurnSigns] = field(default_factory=list)
    """The newest turns of the open episode; the last of all turns is not decided yet."""
    last: TurnSigns | None = None

    def add(self, turn: TurnSigns) -> None:
        """Add the next turn, which decides about the one before it."""
        if self.last is not None:
            self._place(self.last, turn)
        self.last = turn
        while len(self.found) > 1 and sum(len(uids) for _, uids in self.found) > MOST_COVERED:
            del self.found[0]

    def all(self) -> list[tuple[str, tuple[str, ...]]]:
        """All episodes in order, each with its reason and its turns; the last turn included."""
        whole = Episodes([(reason, list(uids)) for reason, uids in self.found],
                         self.size, list(self.near))  # fmt: skip
        if self.last is not None:
            whole._place(self.last, None)
        return [(reason, tuple(uids)) for reason, uids in whole.found]

    def numbers(self, turns: int) -> list[list[int]]:
        """The numbers (from 0) of the turns of each episode, of a session of so many turns."""
        parts = self.all()
        order = dict.fromkeys(uid for _, uids in parts for uid in uids)
        number = {uid: turns - len(order) + at for at, uid in enumerate(order)}
        return [[number[uid] for uid in uids] for _, uids in parts]

    def _place(self, turn: TurnSigns, following: TurnSigns | None) -> None:
        reason = self._reason(turn, following)
        if reason:
            if reason == "cue" and turn.midway:
                self.found[-1][1].append(turn.uid)  # its beginning belongs to the episode before
            self.found.append((reason, []))
            self.near, self.size = [], 0
        self.found[-1][1].append(turn.uid)
        self.size += len(turn.terms)
        self.near = [*self.near, turn][-_NEAR:]

    def _reason(self, turn: TurnSigns, following: TurnSigns | None) -> str:
        """Why a new episode begins with this turn; empty if it does not."""
        if not self.found:
            return "start"
        before = self.near[-1]
        if turn.at - before.at >= PAUSE:
            return "pause"
        if turn.assistant:
            return ""
        if turn.cue:
            return "cue"
        turns = len(self.found[-1][1])
        full = turns >= MOST_TURNS or self.size >= MOST_TERMS
        if full and (not before.asks or turns >= MOST_TURNS + _SLACK):
            return "size"
        if turns > 1 and not before.asks and _shifts(turn, following, self.near):
            return "shift"
        return ""

    def dump(self) -> list[Any]:
        """As JSON values; :meth:`load` restores an equal object."""
        return [
            [[reason, " ".join(uids)] for reason, uids in self.found],
            self.size,
            [_row(turn) for turn in self.near],
            None if self.last is None else _row(self.last),
        ]

    @classmethod
    def load(cls, data: Sequence[Any]) -> Episodes:
        """Restore what :meth:`dump` has returned; nothing gives no episodes."""
        if not data:
            return cls()
        found, size, near, last = data
        return cls(
            [(str(reason), str(uids).split()) for reason, uids in found],
            int(size),
            [_signs(row) for row in near],
            None if last is None else _signs(last),
        )


def covered(
    sentences: Sequence[Sequence[int]], episodes: Episodes, turns: int
) -> list[tuple[tuple[str, ...], str]]:
    """What each theme covers, and why it begins there.

    ``sentences`` holds for each theme the numbers (from 0) of the turns that it quotes, ``turns``
    is the number of all turns of the session. A theme covers every episode that it quotes. An
    episode that none quotes goes with the one before it.
    """
    parts = episodes.all()
    owners = [
        {theme for theme, quoted in enumerate(sentences) if not set(own).isdisjoint(quoted)}
        for own in episodes.numbers(turns)
    ]
    some = next((item for item in owners if item), set[int]())
    for at, item in enumerate(owners):
        owners[at] = some = item or some
    found: list[tuple[tuple[str, ...], str]] = []
    for theme in range(len(sentences)):
        own = [part for part, owner in zip(parts, owners, strict=True) if theme in owner]
        uids = tuple(dict.fromkeys(uid for _, uids in own for uid in uids))
        found.append((uids, own[0][0] if own else ""))
    return found


def _shifts(turn: TurnSigns, following: TurnSigns | None, near: Sequence[TurnSigns]) -> bool:
    """Whether a turn, with the one after it, has next to no word of those before it."""
    own = turn.ahead
    if turn.reacts or (turn.replies and not turn.asks):
        return False
    new = own | (following.terms if following is not None else frozenset())
    if len(turn.terms) < _FEWEST or not own:
        return False
    old = frozenset[str]().union(*(item.terms for item in near))
    return len(new & old) <= _KEPT * min(len(new), len(old))


def _row(turn: TurnSigns) -> list[Any]:
    signs = (turn.asks, turn.replies, turn.cue, turn.midway, turn.assistant, turn.reacts)
    flags = "".join(letter for letter, is_set in zip(_FLAGS, signs, strict=True) if is_set)
    ahead = "" if turn.ahead == turn.terms else " ".join(sorted(turn.ahead))
    return [turn.uid, to_micros(turn.at), " ".join(sorted(turn.terms)), ahead, flags]


def _signs(row: Sequence[Any]) -> TurnSigns:
    uid, at, terms, ahead, flags = row
    own = frozenset(str(terms).split())
    return TurnSigns(
        str(uid),
        from_micros(int(at)),
        own,
        frozenset(str(ahead).split()) or own,
        *(letter in flags for letter in _FLAGS),
    )


# Session keys and an extractive session summary, updated chunk by chunk.
#
# :class:`SessionState` takes in one chunk at a time, so the result does not depend on how chunks
# are batched. Its size is bounded, so the cost of a chunk does not grow with the session. Ties are
# broken by position in the session, never by hash order.

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
                [c.chunk, c.index, c.speaker, c.text, c.salience, " ".join(sorted(c.stems)), c.day]
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
        stems = frozenset(query_terms(text))
        self.pool.append(Candidate(self.chunks, index, speaker, text, salience, stems, day))
        if len(self.pool) > POOL:
            worst = min(self.pool, key=lambda item: (item.salience, -item.chunk, -item.index))
            self.pool.remove(worst)

    def correct(self, speaker: str, text: str) -> bool:
        """Add a correction to what the speaker said in the message before, if that is kept."""
        before = [item for item in self.pool if self.chunks - 2 <= item.chunk < self.chunks]
        own = max(
            (item for item in before if item.speaker == speaker),
            key=lambda item: (item.chunk, item.index),
            default=None,
        )
        if own is not None:
            both = f"{own.text} … {shorten(text)}"
            self.pool[self.pool.index(own)] = replace(own, text=both)
        return own is not None

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
            known = key.name.lower() in speakers or any(_covers(item, stems) for item in covered)
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
            sizes = [len(first) + len(second) for first, second in pairwise(groups)]
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

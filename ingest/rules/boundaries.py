"""Where an episode ends and the next one begins, decided turn by turn from the turns themselves.

An episode begins at the start of a session, after a pause, where the speaker says that this is
something else, where the words change, or where the last one has become too long. In doubt it
begins: two episodes about one thing do less harm than one about two.

The decision before a turn also depends on the turn after it, because an answer shows what a short
question is about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cognigraph.stores.records import WorkChunk
from cognigraph.text.terms import query_terms
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
        return cls(
            chunk.uid,
            chunk.at,
            terms,
            frozenset(query_terms(last)) if asks or cues else terms,
            asks,
            bool(_REPLY.match(chunk.text)) or (chunk.role is None and _goes_on(chunk.text, asks)),
            bool(cues),
            bool(cues) and cues[0] > 0,
            chunk.role == "assistant",
            chunk.role is None and _is_reaction(sentences),
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
        self._forget()

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

    def _forget(self) -> None:
        """Drop the oldest episodes beyond the maximum number of turns."""
        while len(self.found) > 1 and sum(len(uids) for _, uids in self.found) > MOST_COVERED:
            del self.found[0]

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
    some = next((one for one in owners if one), set[int]())
    for at, one in enumerate(owners):
        owners[at] = some = one or some
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
    old = frozenset[str]().union(*(one.terms for one in near))
    return len(new & old) <= _KEPT * min(len(new), len(old))


def _goes_on(text: str, asks: bool) -> bool:
    """Whether a statement begins like one that goes on from what another one has said."""
    return not asks and bool(_ANSWERS.match(text))


def _is_reaction(sentences: Sequence[str]) -> bool:
    """Whether the first of several sentences only reacts to what was said before."""
    return len(sentences) > 1 and len(sentences[0].split()) <= _REACTION


def _row(turn: TurnSigns) -> list[Any]:
    flags = "".join(
        letter
        for letter, is_set in zip(
            _FLAGS,
            (turn.asks, turn.replies, turn.cue, turn.midway, turn.assistant, turn.reacts),
            strict=True,
        )
        if is_set
    )
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

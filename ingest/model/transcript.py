"""The window as a model reads it, and the one name of each entity that the model names.

A window becomes numbered turns under date headings. A turn is exactly one line and cannot contain a
tag of the prompt, so it can neither imitate another turn nor close the section it is in.

A model lists an entity once with its aliases, but its facts may still use "my sister", "I" or
"Annie". The canonical name of a speaker is always the speaker's name in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.model.messages import ANONYMOUS, Role, role_of
from cognigraph.stores.records import WorkChunk
from cognigraph.text.marks import estimate_tokens, one_line

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Turn:
    """One chunk with its speaker, and its time in the speakers' timezone."""

    speaker: str
    at: datetime
    text: str
    role: Role | None = None
    uid: str = ""
    """That of the chunk; empty for a turn that was remembered by an older version."""

    @classmethod
    def from_chunk(cls, chunk: WorkChunk, zone: tzinfo | None) -> Turn:
        """The turn for a chunk; without a timezone its time is in UTC."""
        name = one_line(chunk.speaker or "") or ANONYMOUS
        role = chunk.role or role_of(name)
        return cls(name, local(chunk.at, zone), chunk.text, role, chunk.uid)

    @property
    def said(self) -> str:
        """Speaker with the role if the name does not give it, and text on one line."""
        marked = self.role is not None and self.speaker.lower() != self.role
        shown = f"{self.speaker} ({self.role})" if marked else self.speaker
        return f"{shown}: {one_line(self.text)}"

    @property
    def line(self) -> str:
        """The same after the time of day."""
        return f"{self.at:%H:%M} {self.said}"

    @property
    def tokens(self) -> int:
        """Estimated tokens of the line with its number."""
        return estimate_tokens(self.line) + 3


def local(at: datetime, zone: tzinfo | None) -> datetime:
    """A time in the speakers' timezone; a time at the limits of the calendar stays in UTC."""
    try:
        return at.astimezone(zone or UTC)
    except OverflowError:
        return at


def numbered(turns: Sequence[Turn], *, clocks: bool = True, numbers: bool = True) -> str:
    """Lines ``[1] 09:30 Ann: ...``, with a heading of weekday and date at each change of day.

    Without ``clocks``, which takes a third of the tokens around short messages, the time of day is
    in the headings, of which another follows after an hour. Turns that must not be cited have no
    ``numbers``.
    """
    lines: list[str] = []
    headed: datetime | None = None
    for index, turn in enumerate(turns, 1):
        at = turn.at
        late = headed is not None and not clocks and abs(at - headed) >= _HOUR
        if headed is None or at.date() != headed.date() or late:
            headed = at
            day = f"# {at:%A} {at.date().isoformat()}"
            lines.append(day if clocks else f"{day} {at:%H:%M}")
        line = turn.line if clocks else turn.said
        lines.append(f"[{index}] {line}" if numbers else line)
    return "\n".join(lines) or "-"


def split(turns: Sequence[Turn], limit: int) -> list[range]:
    """Split turns into parts of at most ``limit`` tokens that overlap by one turn.

    A part has at least one turn of its own, so a very long turn can exceed the limit.
    """
    parts: list[range] = []
    start, tokens = 0, 0
    for index, turn in enumerate(turns):
        if tokens + turn.tokens > limit and index > start + 1:
            parts.append(range(start, index))
            start = index - 1
            tokens = turns[start].tokens
        tokens += turn.tokens
    return [*parts, range(start, len(turns))] if turns else []


def halves(part: range) -> tuple[range, range] | None:
    """Two halves of a part that overlap by one turn; ``None`` if it is too short to split."""
    if len(part) < 3:
        return None
    middle = part.start + len(part) // 2
    return range(part.start, middle + 1), range(middle, part.stop)


_SPEAKER = word_set("i me my mine myself user speaker narrator")
LISTENER = word_set("you your yours yourself")
PRONOUNS = word_set(
    """he him his himself she her hers herself it its itself they them their theirs themselves
    we us our ours ourselves this that these those one someone somebody anyone everyone who
    there here"""
)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_OWN = re.compile(r"(?:my|our)\s+(?=\S)", re.IGNORECASE)
_THEIR = re.compile(r"(?:his|her|their|its|your|this|that|these|those)\s+\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WindowName:
    """An entity as listed by a model, with cleaned names."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()


class WindowNames:
    """The entities of one window and their names.

    ``turns`` are the turns that a fact may cite, indexed from 0; ``around`` are other turns whose
    speakers are known.
    """

    def __init__(
        self, turns: Sequence[Turn], around: Sequence[Turn] = (), known: Iterable[WindowName] = ()
    ) -> None:
        self._turns = turns
        spoken = dict.fromkeys(turn.speaker for turn in (*around, *turns))
        self._speakers = {normalise(name): name for name in spoken}
        self._entities = {key: WindowName(name, "person") for key, name in self._speakers.items()}
        self._aliases: dict[str, set[str]] = {}
        for entity in known:
            self.add(entity)

    @property
    def entities(self) -> tuple[WindowName, ...]:
        """All entities under their canonical names, speakers first."""
        return tuple(self._entities.values())

    def add(self, entity: WindowName) -> WindowName | None:
        """Add an entity and return it under its canonical name; ``None`` if no name is usable."""
        names = [
            name
            for name in (entity.name, *entity.aliases)
            if normalise(name) in self._speakers or not _is_pronoun(name)
        ]
        if _is_speaker(entity.name) and (speaker := self._only_speaker()) is not None:
            names.insert(0, speaker)
        if not names:
            return None
        keys = [normalise(name) for name in names]
        key = self._canonical(keys)
        if key is None:
            new = [name for name in names if normalise(name) not in self._entities]
            name = next((name for name in new if not _is_description(name)), new[0])
            key = normalise(name)
            self._entities[key] = WindowName(name, entity.type)
        old = self._entities[key]
        others = [name for name in names if normalise(name) not in self._entities]
        merged = WindowName(
            old.name,
            old.type if old.type != "concept" else entity.type,
            tuple({normalise(name): name for name in (*old.aliases, *others)}.values()),
        )
        self._entities[key] = merged
        for other in others:
            for form in (normalise(other), _ARTICLE.sub("", normalise(other), count=1)):
                self._aliases.setdefault(form, set()).add(key)
        return merged

    def _canonical(self, keys: Sequence[str]) -> str | None:
        """The key of the known entity that has one of these names, or ``None``.

        Its main name decides first, then speakers' names, then names of other entities, then
        aliases. Names of several entities are ambiguous and match none.
        """
        if keys[0] in self._entities:
            return keys[0]
        for there in (self._speakers, self._entities):
            matches = {key for key in keys if key in there}
            if matches:
                return matches.pop() if len(matches) == 1 else None
        meant = self._aliases.get(keys[0], set())
        return next(iter(meant)) if len(meant) == 1 else None

    def _only_speaker(self) -> str | None:
        return next(iter(self._speakers.values())) if len(self._speakers) == 1 else None

    def find(self, name: str, indices: Sequence[int]) -> WindowName | None:
        """The entity that a name refers to in a fact with these turns as evidence.

        ``indices`` are those of turns. ``None`` if the reference cannot be resolved.
        """
        key = normalise(name)
        speaker = self._turns[indices[0]].speaker
        if key in self._speakers:
            return self._entities[key]
        if _is_speaker(name):
            return self._entities[normalise(speaker)]
        if key in LISTENER:
            others = [item for item in self._speakers.values() if item != speaker]
            return self._entities[normalise(others[0])] if len(others) == 1 else None
        if not key or key in PRONOUNS:
            return None
        for form in (key, _ARTICLE.sub("", key, count=1), normalise(_owned(name, speaker))):
            if form in self._entities:
                return self._entities[form]
            meant = self._aliases.get(form, set())
            if len(meant) == 1:
                return self._entities[next(iter(meant))]
        return WindowName(_owned(name, speaker), "concept")


def _is_speaker(name: str) -> bool:
    return _ARTICLE.sub("", normalise(name), count=1) in _SPEAKER


def _is_name(alias: str) -> bool:
    """Whether an alias is a proper name ("Annie", "HM", or text without case) and not "cat"."""
    return alias != alias.lower() or alias == alias.upper()


def _is_description(name: str) -> bool:
    """Whether a name is a description such as "my sister" or "the cat"."""
    return bool(_OWN.match(name) or _ARTICLE.match(name) or _THEIR.match(name))


def _is_pronoun(name: str) -> bool:
    key = normalise(name)
    return not key or _is_speaker(name) or key in LISTENER or key in PRONOUNS


def _owned(name: str, speaker: str) -> str:
    """Replace "my" and "our" by the owner: "my sister" becomes "Jonas's sister"."""
    return _OWN.sub(lambda _: f"{speaker}'s ", name, count=1) if _OWN.match(name) else name


def lasting_aliases(entity: WindowName, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The aliases that have the same meaning outside this window.

    "my sister" becomes "Jonas's sister" if Jonas is the only one who says it; "the cat", "cat" and
    "her boss" are left out.
    """
    lasting: dict[str, None] = {}
    for alias in entity.aliases:
        if _OWN.match(alias):
            key = normalise(alias)
            sayers = {turn.speaker for turn in turns if key in normalise(turn.text)}
            if len(sayers) == 1 and (sayer := next(iter(sayers))) != ANONYMOUS:
                lasting[_owned(alias, sayer)] = None
        elif not _is_description(alias) and _is_name(alias):
            lasting[alias] = None
    return tuple(name for name in lasting if normalise(name) != normalise(entity.name))

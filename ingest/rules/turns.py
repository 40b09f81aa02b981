"""A chunk ready to be read: its sentences, with what the chunks just before it tell of them.

What a chunk is read with is a fixed number of chunks of its session before it, never what a worker
happens to hold: so a chunk is read in the same way in any batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from cognigraph.english.sentences import Sentence, sentences
from cognigraph.english.times.find import TimeSpan, find_times
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.key_phrases import KeyPhrase, key_phrases
from cognigraph.ingest.rules.names import Name, find_names
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.read_statements import StatementReader
from cognigraph.ingest.rules.statement import Reading, Statement
from cognigraph.stores.records import WorkChunk

ANONYMOUS = "user"
"""Subject of "I" when a message has no speaker."""
NEAR = 2
"""Chunks in which a pronoun, or "my sister", looks for who is meant."""
_HEARD = 8
"""Chunks from which names and speakers are known."""
CONTEXT = _HEARD + NEAR
"""Chunks before a window that can matter to it."""
_PICTURE = re.compile(
    r"\[[^\[\]\n:]{0,30}\b(photo|picture|image|video)\b[^\[\]\n:]{0,20}:\s*([^\[\]\n]{3,300})\]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence with all that was found in it."""

    sentence: Sentence
    names: tuple[Name, ...]
    times: tuple[TimeSpan, ...]
    phrases: tuple[KeyPhrase, ...]

    @property
    def reading(self) -> Reading:
        """What the reader of statements needs of it."""
        things = [
            phrase.text for phrase in self.phrases if phrase.type not in ("concept", "person")
        ]
        return Reading(
            self.sentence.tokens,
            {name.start: name for name in self.names},
            self.times,
            tuple(things),
            self.sentence.question,
        )


class _Heard(NamedTuple):
    """The type of a name, and whether the words around it tell it for sure."""

    type: str
    sure: bool


class ChunkInContext:
    """A chunk with what it says by itself, and with the names of the chunks just before it."""

    def __init__(self, chunk: WorkChunk, before: Iterable[ChunkInContext]) -> None:
        self.chunk = chunk
        text, _ = pictures(chunk.text, Voices(""))
        self.sentences = tuple(sentences(text))
        self.names = _names_heard(self.sentences)
        self._around = tuple(before)[-_HEARD:]
        self._left: Discourse | None = None

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Those who speak here and just before."""
        around = [turn.chunk.speaker for turn in (*self._around, self)]
        return tuple(dict.fromkeys(speaker for speaker in around if speaker))

    @cached_property
    def voices(self) -> Voices:
        """Who speaks, and to whom."""
        return voices_of(self.chunk.speaker, self.speakers)

    @cached_property
    def read(self) -> list[ReadSentence]:
        """The sentences with names, times and phrases."""
        heard: dict[str, _Heard] = {}
        for turn in (*self._around, self):
            _hear(heard, turn.names)
        found = [(one, find_times(one.tokens, self.chunk.at)) for one in self.sentences]
        names = {low: name.type for low, name in heard.items()}
        read = _read(found, names, self.speakers)
        self._around = ()  # or every turn would keep all those before it
        return read

    def state(self, discourse: Discourse) -> list[Statement]:
        """Read the statements, given what was said before."""
        reader = StatementReader(discourse)
        return [told for one in self.read for told in reader.read(one.reading, self.voices)]

    def statements(self, near: Sequence[ChunkInContext]) -> tuple[list[Statement], Discourse]:
        """The statements, given the chunks just before; and what they leave behind."""
        discourse = Discourse(turn.left for turn in near)
        told = self.state(discourse)
        if not discourse.consulted:
            self._left = discourse
        return told, discourse

    @property
    def left(self) -> Discourse:
        """What the chunk read by itself leaves behind for pronouns and other names."""
        if self._left is None:
            self._left = Discourse()
            self.state(self._left)
        return self._left


def _names_heard(found: Iterable[Sentence]) -> dict[str, _Heard]:
    """Names that stand within a sentence: they are known where one opens, too."""
    heard: dict[str, _Heard] = {}
    for sentence in found:
        for name in find_names(sentence.tokens, {}):
            if name.sure or name.start:
                _hear(heard, {name.text.lower(): _Heard(name.type, name.sure)})
    return heard


def _hear(heard: dict[str, _Heard], names: Mapping[str, _Heard]) -> None:
    """Add names; the type heard first stays, unless it was a guess that says little."""
    for low, new in names.items():
        held = heard.setdefault(low, new)
        if held.type == "object" and new.sure:
            heard[low] = new


def voices_of(speaker: str | None, speakers: Sequence[str]) -> Voices:
    """Who speaks, and who is spoken to if that is clear."""
    me = speaker or ANONYMOUS
    others = [name for name in speakers if name != me]
    return Voices(me, others[0] if len(others) == 1 and speaker else None)


def _read(
    found: Iterable[tuple[Sentence, list[TimeSpan]]],
    names: Mapping[str, str],
    speakers: Sequence[str],
) -> list[ReadSentence]:
    """Find names, times and phrases; a name seen once is known in the sentences after it."""
    aliases = {speaker.split(" ")[0].lower(): speaker for speaker in speakers}
    full = {speaker.lower() for speaker in speakers}
    known = {**names, **dict.fromkeys((*full, *aliases), "person")}
    read = []
    for sentence, times in found:
        timed = {place for span in times for place in range(span.start, span.end)}
        named = tuple(
            _as_speaker(name, aliases)
            for name in find_names(sentence.tokens, known)
            if name.start not in timed
        )
        for name in named:
            if name.sure:
                known.setdefault(name.text.lower(), name.type)
        placed = {name.start: name for name in named}
        phrases = key_phrases(sentence.tokens, placed, timed, full)
        read.append(ReadSentence(sentence, named, tuple(times), tuple(phrases)))
    return read


def _as_speaker(name: Name, aliases: Mapping[str, str]) -> Name:
    """Call a speaker by one name: "Kat" and "Katherine" are "Katherine Doe" if she speaks."""
    low = name.text.lower()
    if low in aliases:
        return replace(name, text=aliases[low], type="person")
    if len(low) < 2 or name.sure:
        return name
    fitting = {speaker for first, speaker in aliases.items() if first.startswith(low)}
    return replace(name, text=fitting.pop(), type="person") if len(fitting) == 1 else name


def pictures(text: str, voices: Voices) -> tuple[str, list[Statement]]:
    """Captions in brackets ("[photo: a red bicycle]") are what the speaker shared."""
    if "[" not in text:
        return text, []
    found = [
        Statement(voices.speaker, "person", f"shared {match[1].lower()} of", caption, "object")
        for match in _PICTURE.finditer(text)
        if (caption := " ".join(match[2].split()[:8]))
    ]
    return (_PICTURE.sub(" ", text) if found else text), found

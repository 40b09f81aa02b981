"""Read a chunk in the context of the preceding chunks: names, speakers, times, statements.

The context is always the same number of preceding chunks of the session, not what a worker happens
to have leased, so a chunk yields the same result in any batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from cognigraph.english.sentences import Sentence, sentences
from cognigraph.english.times.find import TimeSpan, find_times
from cognigraph.ingest.rules import by_role
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.frames.match import with_frames
from cognigraph.ingest.rules.key_phrases import KeyPhrase, key_phrases
from cognigraph.ingest.rules.names import Name, find_names
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.prose import prose
from cognigraph.ingest.rules.read_statements import StatementReader
from cognigraph.ingest.rules.statement import PreparedSentence, Statement
from cognigraph.ingest.rules.tasks import tasks
from cognigraph.model.roles import ANONYMOUS, UNREAD_ROLES, Role, role_of
from cognigraph.stores.records import WorkChunk
from cognigraph.text.language import is_english, is_foreign_word

NEAR = 2
"""Number of preceding chunks that can resolve a pronoun or an alias such as "my sister"."""
_HEARD = 8
"""Number of preceding chunks whose names and speakers are known."""
CONTEXT = _HEARD + NEAR
"""Number of chunks before a window that can affect its result."""
_JUDGED = 12
"""Number of sentences of a chunk by which its language is told."""
_PICTURE = re.compile(
    r"\[[^\[\]\n:]{0,30}\b(photo|picture|image|video)\b[^\[\]\n:]{0,20}:\s*([^\[\]\n]{3,300})\]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence with its names, time expressions and key phrases."""

    sentence: Sentence
    names: tuple[Name, ...]
    times: tuple[TimeSpan, ...]
    phrases: tuple[KeyPhrase, ...]
    english: bool = True

    @property
    def reading(self) -> PreparedSentence:
        """The sentence in the form that the statement reader takes."""
        things = [
            phrase.text for phrase in self.phrases if phrase.type not in ("concept", "person")
        ]
        return PreparedSentence(
            self.sentence.tokens,
            {name.start: name for name in self.names},
            self.times,
            tuple(things),
            self.sentence.question,
        )


class _Heard(NamedTuple):
    """The type of a name, and whether its words or its context determine the type."""

    type: str
    sure: bool


class ChunkInContext:
    """A chunk that is read with the names and speakers of the preceding chunks."""

    def __init__(self, chunk: WorkChunk, before: Iterable[ChunkInContext]) -> None:
        self.chunk = chunk
        plain = prose(without_captions(chunk.text))
        self.sentences = tuple(sentences(plain))
        self.english = is_english(" ".join(one.text for one in self.sentences[:_JUDGED]))
        self._around = tuple(before)[-_HEARD:]
        habits = (turn.english for turn in (self, *reversed(self._around)))
        self._habit = next((habit for habit in habits if habit is not None), False)
        self.names = _names_heard(self.sentences) if self.english is not False else {}
        self._left: Discourse | None = None
        self.told: dict[int, list[Statement]] = {}
        """The statements of each sentence, by its position, after the last reading."""

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """The speakers of this chunk and of the preceding ones."""
        around = [turn.chunk.speaker for turn in (*self._around, self)]
        return tuple(dict.fromkeys(speaker for speaker in around if speaker))

    @cached_property
    def voices(self) -> Voices:
        """The speaker, and the person addressed if that is clear."""
        roles = {turn.chunk.speaker or ANONYMOUS: turn.role for turn in (*self._around, self)}
        return voices_of(self.chunk.speaker, self.speakers, roles)

    @cached_property
    def read(self) -> list[ReadSentence]:
        """The sentences with their names, time expressions and key phrases."""
        heard: dict[str, _Heard] = {}
        for turn in (*self._around, self):
            _hear(heard, turn.names)
        found = [(one, find_times(one.tokens, self.chunk.at)) for one in self.sentences]
        names = {low: name.type for low, name in heard.items()}
        read = _read(found, names, self.speakers, habit=self._habit)
        self._around = ()  # release the preceding chunks, which would keep all earlier ones alive
        return read

    @cached_property
    def role(self) -> Role | None:
        """The role of the speaker in a conversation with an assistant."""
        return self.chunk.role or role_of(self.chunk.speaker)

    @property
    def tasks(self) -> list[Statement]:
        """What the chunk says is to do or done; an assistant's lists are the user's."""
        if self.role in UNREAD_ROLES:
            return []
        by_assistant = self.role == "assistant"
        owner = self.voices.other if by_assistant else self.voices.speaker
        return tasks(self.chunk.text, owner or ANONYMOUS, by_assistant=by_assistant)

    def state(self, discourse: Discourse) -> list[Statement]:
        """Extract the statements, in the context of a discourse, which is updated."""
        reader = StatementReader(discourse)
        self.told = {}
        for number, one in enumerate(self.read):
            if one.english:
                told = reader.read(one.reading, self.voices)
                told = with_frames(told, one.reading, self.voices, discourse)
                self.told[number] = self._believed(told, one)
        return [statement for stated in self.told.values() for statement in stated]

    def _believed(self, said: list[Statement], one: ReadSentence) -> list[Statement]:
        """Keep what the speaker's role allows to be a fact (see :mod:`.by_role`)."""
        if self.role == "assistant":
            return by_role.of_assistant(said, one.sentence.tokens, self.voices)
        if self.voices.to_assistant:
            alone = len(self.read) == 1 and not one.sentence.question
            return by_role.to_assistant(said, self.voices, alone=alone)
        return [] if self.role in UNREAD_ROLES else said

    def statements(self, near: Sequence[ChunkInContext]) -> tuple[list[Statement], Discourse]:
        """Extract the statements in the context of nearby chunks; also return the discourse."""
        discourse = Discourse(turn.left for turn in near)
        told = self.state(discourse)
        if not discourse.consulted:
            self._left = discourse
        return told, discourse

    @property
    def left(self) -> Discourse:
        """The discourse after the chunk was read without its predecessors."""
        if self._left is None:
            self._left = Discourse()
            self.state(self._left)
        return self._left


def _names_heard(found: Iterable[Sentence]) -> dict[str, _Heard]:
    """Return the names of sentences, other than doubtful ones at the start of a sentence.

    They are then recognised at the start of a sentence as well.
    """
    heard: dict[str, _Heard] = {}
    for sentence in found:
        for name in find_names(sentence.tokens, {}):
            if name.sure or name.start:
                _hear(heard, {name.text.lower(): _Heard(name.type, name.sure)})
    return heard


def _hear(heard: dict[str, _Heard], names: Mapping[str, _Heard]) -> None:
    """Add names; the first type of a name stays unless it was an unspecific guess."""
    for low, new in names.items():
        held = heard.setdefault(low, new)
        if held.type == "object" and new.sure:
            heard[low] = new


def voices_of(
    speaker: str | None, speakers: Sequence[str], roles: Mapping[str, Role | None]
) -> Voices:
    """Return the speaker and, if there is exactly one other speaker, the person addressed.

    The system and tools address nobody, and nobody addresses them. ``roles`` are those of the
    speakers by name.
    """
    me = speaker or ANONYMOUS
    others = [name for name in speakers if name != me and roles.get(name) not in UNREAD_ROLES]
    if roles.get(me) == "assistant":
        return Voices(me, others[0] if len(others) == 1 else None if others else ANONYMOUS)
    user = speaker is None or roles.get(me) == "user"
    to_assistant = user or any(roles.get(name) == "assistant" for name in others)
    addressed = others[0] if len(others) == 1 and speaker else None
    return Voices(me, addressed, to_assistant=to_assistant)


def _read(
    found: Iterable[tuple[Sentence, list[TimeSpan]]],
    names: Mapping[str, str],
    speakers: Sequence[str],
    *,
    habit: bool,
) -> list[ReadSentence]:
    """Find names and key phrases; a name whose type is sure is known in the sentences after it.

    ``habit`` is whether sentences that do not tell are English. In other languages capitals say
    nothing about names, so only known names are found.
    """
    aliases = {speaker.split(" ")[0].lower(): speaker for speaker in speakers}
    full = {speaker.lower() for speaker in speakers}
    known = {**names, **dict.fromkeys((*full, *aliases), "person")}
    read = []
    for sentence, times in found:
        told = is_english(sentence.text)
        english = habit if told is None else told
        times = times if english else []
        timed = {index for span in times for index in range(span.start, span.end)}
        named = tuple(
            _as_speaker(name, aliases)
            for name in find_names(sentence.tokens, known)
            if name.start not in timed and (english or name.text.lower() in known)
        )
        for name in named:
            if name.sure:
                known.setdefault(name.text.lower(), name.type)
        placed = {name.start: name for name in named}
        common = () if english else _common_words(sentence)
        phrases = key_phrases(sentence.tokens, placed, {*timed, *common}, full)
        read.append(ReadSentence(sentence, named, tuple(times), tuple(phrases), english))
    return read


def _common_words(sentence: Sentence) -> Iterable[int]:
    """Return the positions of words that carry the grammar of another language."""
    return (at for at, token in enumerate(sentence.tokens) if is_foreign_word(token.low))


def _as_speaker(name: Name, aliases: Mapping[str, str]) -> Name:
    """Use a speaker's full name: "Kat" and "Katherine" become the speaker "Katherine Doe"."""
    low = name.text.lower()
    if low in aliases:
        return replace(name, text=aliases[low], type="person")
    if len(low) < 2 or name.sure:
        return name
    fitting = {speaker for first, speaker in aliases.items() if first.startswith(low)}
    return replace(name, text=fitting.pop(), type="person") if len(fitting) == 1 else name


def without_captions(text: str) -> str:
    """Remove captions in brackets ("[photo: a red bicycle]"): what a picture shows is no fact."""
    return _PICTURE.sub(" ", text) if "[" in text else text

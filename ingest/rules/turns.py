"""Read a chunk in the context of those before it: prose, sentences, names, times.

What stands in a heading or a table row is no statement, and a quoted line is somebody else's.
Code is removed with the rest of the cleaning (:func:`cognigraph.english.sentences.clean`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cognigraph.english.sentences import Sentence, sentences
from cognigraph.english.times.find import TimeSpan, is_correction, read_times
from cognigraph.english.words import word_set
from cognigraph.ingest.extraction import Fact
from cognigraph.ingest.rules.names import KeyPhrase, Name, find_names, key_phrases
from cognigraph.ingest.rules.statements import statements
from cognigraph.model.messages import ANONYMOUS, UNREAD_ROLES, Role, role_of
from cognigraph.stores.records import WorkChunk
from cognigraph.text.terms import is_english, is_foreign_word

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]{80,4000}\"|“[^“”]{80,4000}”")
"""A long quotation: a letter or a passage of a book that somebody pasted."""
_DROPPED_LINE = re.compile(
    r"[ \t]*(?:"
    r"\#{1,6}\s.*"  # a heading
    r"|>.*"  # a quotation
    r"|\|.*\|[ \t]*"  # a table row
    r"|[*_]{2}[^*_\n]{1,80}[*_]{2}[:.]?[ \t]*"  # a line in bold: a heading as well
    r"|[-=*_]{3,}[ \t]*"  # a rule
    r")"
)
_LONGEST_LINE = 2000
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?")
_LABEL = re.compile(r"[*_]{2}[^*_\n]{1,60}(?:[.:][*_]{2}|[*_]{2}:)[ \t]+(?=\S)")
_EMPHASIS = re.compile(r"(?<!\w)[*]{1,3}(?=\S)|(?<=\S)[*]{1,3}(?!\w)")


def prose(text: str) -> str:
    """Return the lines of a text that can hold statements, without Markdown marks."""
    if not any(mark in text for mark in '#>|*_`~-+•0123456789"“'):
        return text
    text = _QUOTED.sub("\n", _FENCE.sub("\n", text))
    return "\n".join(
        _plain(line)
        for line in text.split("\n")
        if len(line) >= _LONGEST_LINE or _DROPPED_LINE.fullmatch(line) is None
    )


def _plain(line: str) -> str:
    item = _LIST_MARK.match(line)
    if item is not None and line.strip() != item[0].strip():
        line = line[item.end() :]
        line = _LABEL.sub("", line, count=1) if line.startswith(("**", "__")) else line
    return _EMPHASIS.sub("", line) if "*" in line else line


# Read a chunk in the context of the preceding chunks: sentences, names, times, key phrases.
#
# The context is always the same number of preceding chunks of the session, not what a worker
# happens to have leased, so a chunk yields the same result in any batch.

CONTEXT = 8
"""Number of chunks before a window that can affect its result by their speakers and language."""
_SERVING = UNREAD_ROLES | {"assistant"}
_JUDGED = 12
"""Number of sentences of a chunk by which its language is told."""
_PICTURE = re.compile(
    r"\[[^\[\]\n:]{0,30}\b(photo|picture|image|video)\b[^\[\]\n:]{0,20}:\s*([^\[\]\n]{3,300})\]",
    re.IGNORECASE,
)
_CHANNELS = word_set(
    """calendar push phone photo photos sms note notes email mail notification notifications call
    calls bot app reminder reminders web browser document file file transcript recording log feed"""
)
"""Speakers that are a channel and nobody: what comes through it may be said by anyone."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence with its names, time expressions and key phrases."""

    sentence: Sentence
    names: tuple[Name, ...]
    times: tuple[TimeSpan, ...]
    phrases: tuple[KeyPhrase, ...]
    english: bool = True

    @property
    def corrects(self) -> bool:
        """Whether it begins as if it corrected what was said before it."""
        lows = [token.low for token in self.sentence.tokens]
        return len(lows) <= LONGEST_ADDITION and is_correction(lows[:4])


LONGEST_ADDITION = 16
"""Tokens; a longer sentence says something of its own."""


class ChunkInContext:
    """A chunk that is read with the speakers and the language of the preceding chunks."""

    def __init__(self, chunk: WorkChunk, before: Iterable[ChunkInContext]) -> None:
        self.chunk = chunk
        # What a picture shows is no fact: "[photo: a red bicycle]".
        plain = prose(_PICTURE.sub(" ", chunk.text) if "[" in chunk.text else chunk.text)
        self.sentences = tuple(sentences(plain))
        self.english = is_english(" ".join(sentence.text for sentence in self.sentences[:_JUDGED]))
        self._around = tuple(before)[-CONTEXT:]
        roles = {turn.role for turn in self._around}
        self.to_assistant = self.role == "user" or (self.role is None and "assistant" in roles)
        habits = (turn.english for turn in (self, *reversed(self._around)))
        self._habit = next((habit for habit in habits if habit is not None), False)

    @cached_property
    def role(self) -> Role | None:
        """The role of the speaker in a conversation with an assistant."""
        return self.chunk.role or role_of(self.chunk.speaker)

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """The speakers of this chunk and of the preceding ones."""
        around = [turn.chunk.speaker for turn in (*self._around, self)]
        return tuple(dict.fromkeys(speaker for speaker in around if speaker))

    @cached_property
    def read(self) -> list[ReadSentence]:
        """The sentences with their names, time expressions and key phrases."""
        timed = list(zip(self.sentences, read_times(self.sentences, self.chunk.at), strict=True))
        read = _read(timed, self.speakers, habit=self._habit)
        self._around = ()  # release the preceding chunks, which would keep all earlier ones alive
        return read

    @cached_property
    def framed(self) -> dict[Fact, str]:
        """What the chunk states for certain, each with the frame that reads it.

        Nothing unless a person speaks of itself: what an assistant says is advice for anybody.
        """
        speaker = self.chunk.speaker or ANONYMOUS
        if speaker.lower() in ("me", "i", "myself"):
            speaker = ANONYMOUS
        if self.role in _SERVING or speaker.lower() in _CHANNELS:
            return {}
        said = [(item.sentence, item.times, item.english) for item in self.read]
        return statements(said, self.chunk.text, speaker, to_assistant=self.to_assistant)


def _read(
    timed: Iterable[tuple[Sentence, list[TimeSpan]]],
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
    known = dict.fromkeys((*full, *aliases), "person")
    read = []
    for sentence, times in timed:
        told = is_english(sentence.text)
        english = habit if told is None else told
        times = times if english else []
        dated = {index for span in times for index in range(span.start, span.end)}
        named = tuple(
            _as_speaker(name, aliases)
            for name in find_names(sentence.tokens, known)
            if name.start not in dated and (english or name.text.lower() in known)
        )
        for name in named:
            if name.sure:
                known.setdefault(name.text.lower(), name.type)
        placed = {name.start: name for name in named}
        # Words that carry the grammar of another language are in no phrase, as times are.
        tokens = () if english else enumerate(sentence.tokens)
        common = (at for at, token in tokens if is_foreign_word(token.low))
        phrases = key_phrases(sentence.tokens, placed, {*dated, *common}, full)
        read.append(ReadSentence(sentence, named, tuple(times), tuple(phrases), english))
    return read


def _as_speaker(name: Name, aliases: Mapping[str, str]) -> Name:
    """Use a speaker's full name: "Kat" and "Katherine" become the speaker "Katherine Doe"."""
    low = name.text.lower()
    if low in aliases:
        return replace(name, text=aliases[low], type="person")
    if len(low) < 2 or name.sure:
        return name
    fitting = {speaker for first, speaker in aliases.items() if first.startswith(low)}
    return replace(name, text=fitting.pop(), type="person") if len(fitting) == 1 else name

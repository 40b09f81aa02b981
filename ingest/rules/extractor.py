"""``RulesExtractor``: triples, entities, session keys and a summary without any model.

Built for English conversation; other languages give key phrases and a summary, and no wrong
facts. Reading is linear in the text and deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from cognigraph.english import words
from cognigraph.english.sentences import Sentence, sentences
from cognigraph.english.times.find import TimeSpan, find_times
from cognigraph.english.verbs import is_past
from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import Extraction, Fact, Mention, Window
from cognigraph.ingest.rules.key_phrases import NOUN_ENDINGS, KeyPhrase, key_phrases
from cognigraph.ingest.rules.names import Name, find_names
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.read_statements import StatementReader
from cognigraph.ingest.rules.statement import Reading, Statement
from cognigraph.ingest.rules.summary import SessionState
from cognigraph.model import Usage
from cognigraph.settings import WeightSetName
from cognigraph.stores.records import WorkChunk

ANONYMOUS = "user"
"""Subject of "I" when a message has no speaker."""
MAX_FACTS = 48
"""Triples taken from one chunk."""
MAX_MENTIONS = 24
"""Entities taken from one chunk, its speaker not counted."""
_PHRASES = 6
_MENTIONED = 0.8  # a key phrase below this score is not worth a triple of its own
_PICTURE = re.compile(
    r"\[[^\[\]\n:]{0,30}\b(photo|picture|image|video)\b[^\[\]\n:]{0,20}:\s*([^\[\]\n]{3,300})\]",
    re.IGNORECASE,
)
_OPENERS = word_set(
    """thanks thank sorry wow congrats congratulations hey hi bye yay ouch sounds looks
    glad yeah let hope good great"""
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence with all that was found in it."""

    sentence: Sentence
    names: tuple[Name, ...]
    times: tuple[TimeSpan, ...]
    phrases: tuple[KeyPhrase, ...]

    @property
    def reading(self) -> Reading:
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


class RulesExtractor:
    """Reads chunks by rules. Needs no model and no network; keeps nothing between calls.

    ``timezone`` is where speakers' days begin and end ("yesterday"); without one, those of the
    times that chunks carry.
    """

    weight_set: WeightSetName = "rules"

    def __init__(self, *, timezone: tzinfo | None = None) -> None:
        self._timezone = timezone

    @property
    def name(self) -> str:
        """``rules-2``."""
        return "rules-2"

    def estimate(self, window: Window) -> Usage:
        """Nothing: no model is asked."""
        return Usage()

    def extract(self, window: Window) -> Extraction:
        """Read a window: facts, mentions, and the session's keys and themes with it added."""
        window = _local(window, self._timezone)
        state = SessionState.load(window.notes.state)
        around = [chunk.speaker for chunk in (*window.before, *window.chunks) if chunk.speaker]
        speakers = tuple(dict.fromkeys((*state.speakers, *around)))
        reader = _primed(window.before, state, speakers)
        facts, mentions = FactCollector(), _Mentions()
        texts = [_split(chunk) for chunk in window.chunks]
        heard = _names_heard((*map(_split, window.before), *texts))
        for place, (chunk, found) in enumerate(zip(window.chunks, texts, strict=True)):
            state.meet(chunk.speaker)
            _read_chunk(chunk, found, place, speakers, heard, state, reader, facts, mentions)
            state.next_chunk()
        keys = state.best_keys()
        return Extraction(
            mentions=mentions.all(reader.aliases),
            facts=facts.all(),
            keys=tuple((key.name, key.weight) for key in keys),
            themes=state.themes(keys),
            state=state.dump(),
        )


def _local(window: Window, timezone: tzinfo | None) -> Window:
    """The window with its times in the speakers' timezone."""
    if timezone is None:
        return window
    before, chunks = (
        tuple(replace(chunk, at=chunk.at.astimezone(timezone)) for chunk in part)
        for part in (window.before, window.chunks)
    )
    return replace(window, before=before, chunks=chunks)


_Timed = tuple[Sentence, list[TimeSpan]]


def _split(chunk: WorkChunk) -> list[_Timed]:
    """The sentences of a chunk with their times; captions left out."""
    text, _ = pictures(chunk.text, Voices(""))
    return [(sentence, find_times(sentence.tokens, chunk.at)) for sentence in sentences(text)]


def _read_chunk(
    chunk: WorkChunk,
    found: Sequence[_Timed],
    place: int,
    speakers: Sequence[str],
    heard: Mapping[str, str],
    state: SessionState,
    reader: StatementReader,
    facts: FactCollector,
    mentions: _Mentions,
) -> None:
    voices = voices_of(chunk.speaker, speakers)
    _, pictured = pictures(chunk.text, voices)
    read = _read(found, {**heard, **state.names}, speakers)
    # The session's state may know only what has been said so far, or it would depend on batching.
    early = set(speakers) != set(state.speakers) or not heard.keys() <= state.names.keys()
    noted = _read(found, state.names, state.speakers) if early else read
    told = [statement for one in read for statement in reader.read(one.reading, voices)]
    if not told and not pictured:
        told = _mentioned(read, voices)
    facts.add((*told, *pictured), place)
    mentions.add(chunk.speaker, read, _top([p for one in read for p in one.phrases]), place)
    _note(noted, chunk.speaker or "", state)


def _names_heard(texts: Iterable[Sequence[_Timed]]) -> dict[str, str]:
    """Names that stand within a sentence anywhere in the window: known where one opens, too."""
    heard: dict[str, str] = {}
    for found in texts:
        for sentence, _ in found:
            for name in find_names(sentence.tokens, {}):
                if name.sure or name.start:
                    held = heard.setdefault(name.text.lower(), name.type)
                    if held == "object" and name.sure:
                        heard[name.text.lower()] = name.type
    return heard


def _note(read: Sequence[_Read], speaker: str, state: SessionState) -> None:
    """Take a chunk into the session's state."""
    for one in read:
        for name in one.names:
            if name.sure and name.text not in state.speakers:
                state.learn(name.text, name.type)
    state.add_phrases(phrase for one in read for phrase in one.phrases)
    for number, one in enumerate(read):
        state.add_sentence(number, speaker, one.sentence.text, _salience(one))


def _primed(
    before: Sequence[WorkChunk], state: SessionState, speakers: Sequence[str]
) -> StatementReader:
    """A reader that knows the last two sentences already read, for pronouns."""
    last: list[tuple[_Timed, WorkChunk]] = []
    for chunk in reversed(before):
        ending = replace(chunk, text=chunk.text[-1000:])
        last = [(timed, chunk) for timed in _split(ending)][-2:] + last
        if len(last) >= 2:
            break
    reader = StatementReader()
    for timed, chunk in last[-2:]:
        (known,) = _read((timed,), state.names, speakers)
        reader.read(known.reading, voices_of(chunk.speaker, speakers))
    return reader


def voices_of(speaker: str | None, speakers: Sequence[str]) -> Voices:
    """Who speaks, and who is spoken to if that is clear."""
    me = speaker or ANONYMOUS
    others = [name for name in speakers if name != me]
    return Voices(me, others[0] if len(others) == 1 and speaker else None)


def _read(
    found: Sequence[_Timed], names: Mapping[str, str], speakers: Sequence[str]
) -> list[_Read]:
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
        read.append(_Read(sentence, named, tuple(times), tuple(phrases)))
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


def _mentioned(read: Iterable[_Read], voices: Voices) -> list[Statement]:
    """For statements no rule could take apart: at least what they are about."""
    phrases = [
        phrase
        for one in read
        if not one.sentence.question
        for phrase in one.phrases
        if not (phrase.proper and phrase.type == "person") and _tells(phrase)
    ]
    best = max(phrases, key=lambda phrase: phrase.score, default=None)
    if best is None or best.score < _MENTIONED:
        return []
    return [Statement(voices.speaker, "person", "mentioned", best.text, best.type)]


def _tells(phrase: KeyPhrase) -> bool:
    """Tell "violin" and "reservation" from "satisfying"."""
    several = phrase.proper or " " in phrase.text
    return several or phrase.type != "concept" or phrase.text.endswith(NOUN_ENDINGS)


def _top(phrases: Sequence[KeyPhrase]) -> list[KeyPhrase]:
    """The best few, in the order of the text."""
    best = sorted(range(len(phrases)), key=lambda place: (-phrases[place].score, place))[:_PHRASES]
    return [phrases[place] for place in sorted(best)]


def _salience(one: _Read) -> float:
    """How much a sentence would tell in a summary, judged by the sentence alone."""
    tokens = one.sentence.tokens
    lows = {token.low for token in tokens}
    scores = sorted((phrase.score for phrase in one.phrases), reverse=True)[:3]
    if one.sentence.question or not scores:
        return 0.0
    value = sum(scores) / 3
    value += 0.4 * any(span.when for span in one.times)
    value += 0.2 * any(is_past(low) for low in lows)
    value += 0.2 * any(phrase.proper for phrase in one.phrases)
    value += 0.15 * any(token.kind == "number" for token in tokens)
    value += 0.4 * ("i" in lows or "my" in lows or "we" in lows)
    value -= 0.3 * bool(lows & {"you", "your"})
    value -= 0.4 * (tokens[0].low in _OPENERS)
    value -= 0.3 * (tokens[0].low in words.PRONOUNS - words.FIRST_PERSON)
    value -= 0.5 * (len(tokens) < 6) + 0.2 * (len(tokens) > 45)
    return round(value, 4)


class FactCollector:
    """Facts of a window, each once, with all the chunks that say it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], tuple[Statement, list[int]]] = {}

    def add(self, statements: Iterable[Statement], place: int) -> None:
        """Take what the chunk at a place of the window says."""
        for count, statement in enumerate(statements):
            if count == MAX_FACTS:
                break
            key = (
                normalise(statement.subject),
                normalise(statement.relation),
                normalise(statement.object),
                statement.when or "",
                "not" if statement.negated else "",
                statement.said_by or "",
            )
            _, places = self._found.setdefault(key, (statement, []))
            if place not in places:
                places.append(place)

    def all(self) -> tuple[Fact, ...]:
        """The facts so far, in the order of their first chunks."""
        return tuple(
            Fact(
                subject=said.subject,
                subject_type=said.subject_type,
                relation=said.relation,
                object=said.object,
                object_type=said.object_type,
                chunks=tuple(places),
                when=said.when,
                negated=said.negated,
                said_by=said.said_by,
            )
            for said, places in self._found.values()
        )


class _Mentions:
    """Entities of a window, each once, with the chunks that name it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[str, list[int]]] = {}

    def add(
        self, speaker: str | None, read: Iterable[_Read], phrases: Iterable[KeyPhrase], place: int
    ) -> None:
        found = [(speaker, "person")] if speaker else []
        for one in read:
            found.extend((name.text, name.type) for name in one.names)
            found.extend((span.when, "time") for span in one.times if span.when)
            if len(found) > MAX_MENTIONS:
                break
        found.extend((phrase.text, phrase.type) for phrase in phrases)
        for name, type_ in found[: MAX_MENTIONS + 1]:
            _, places = self._found.setdefault((normalise(name), type_), (name, []))
            if place not in places:
                places.append(place)

    def all(self, aliases: Mapping[str, Sequence[str]]) -> tuple[Mention, ...]:
        return tuple(
            Mention(name, type_, tuple(places), tuple(aliases.get(name, ())))
            for (_, type_), (name, places) in self._found.items()
        )

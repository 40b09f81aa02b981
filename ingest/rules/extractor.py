"""``RulesExtractor``: triples, entities, session keys and a summary without any model.

Built for English conversation; other languages give key phrases and a summary, and no wrong
facts. Reading is linear in the text and deterministic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import tzinfo

from cognigraph.english import words
from cognigraph.english.verbs import is_past
from cognigraph.english.words import word_set
from cognigraph.ingest.extraction import Extraction, Fact, Mention, Window
from cognigraph.ingest.rules.key_phrases import NOUN_ENDINGS, KeyPhrase
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement
from cognigraph.ingest.rules.summary import SessionState
from cognigraph.ingest.rules.turns import CONTEXT, NEAR, ChunkInContext, ReadSentence, pictures
from cognigraph.model import Usage
from cognigraph.settings import WeightSetName

MAX_FACTS = 48
"""Triples taken from one chunk."""
MAX_MENTIONS = 24
"""Entities taken from one chunk, its speaker not counted."""
_PHRASES = 6
_MENTIONED = 0.8  # a key phrase below this score is not worth a triple of its own
_OPENERS = word_set(
    """thanks thank sorry wow congrats congratulations hey hi bye yay ouch sounds looks
    glad yeah let hope good great"""
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

    @property
    def context(self) -> int:
        """How many chunks before a window are needed to read it as any other window would."""
        return CONTEXT

    def extract(self, window: Window) -> Extraction:
        """Read a window: facts, mentions, and the session's keys and themes with it added.

        Each chunk is read with the same few chunks of its session before it, however many the
        window holds, so the outcome does not depend on how chunks were batched.
        """
        window = _local(window, self._timezone)
        state = SessionState.load(window.notes.state)
        if window.chunks and state.is_past(window.chunks[0]):
            return Extraction(starts_over=True)
        turns: deque[ChunkInContext] = deque(maxlen=CONTEXT)
        for chunk in window.before[-CONTEXT:]:
            turns.append(ChunkInContext(chunk, turns))
        facts, mentions = FactCollector(), _Mentions()
        for place, chunk in enumerate(window.chunks):
            turn = ChunkInContext(chunk, turns)
            state.meet(chunk.speaker)
            _read_chunk(turn, place, tuple(turns)[-NEAR:], facts, mentions)
            _note(turn.read, chunk.speaker or "", state)
            state.next_chunk(chunk)
            turns.append(turn)
        keys = state.best_keys()
        return Extraction(
            mentions=mentions.all(),
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


def _read_chunk(
    turn: ChunkInContext,
    place: int,
    near: Sequence[ChunkInContext],
    facts: FactCollector,
    mentions: _Mentions,
) -> None:
    chunk, read = turn.chunk, turn.read
    _, pictured = pictures(chunk.text, turn.voices)
    told, discourse = turn.statements(near)
    if not told and not pictured:
        told = _mentioned(read, turn.voices)
    facts.add((*told, *pictured), place, chunk.speaker)
    phrases = _top([phrase for one in read for phrase in one.phrases])
    mentions.add(chunk.speaker, read, phrases, place, discourse.introduced)


def _note(read: Sequence[ReadSentence], speaker: str, state: SessionState) -> None:
    """Take a chunk into the session's state."""
    state.add_phrases(phrase for one in read for phrase in one.phrases)
    for number, one in enumerate(read):
        state.add_sentence(number, speaker, one.sentence.text, _salience(one))


def _mentioned(read: Iterable[ReadSentence], voices: Voices) -> list[Statement]:
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


def _salience(one: ReadSentence) -> float:
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
    """Facts of a window, each once for a speaker, with all the chunks that say it."""

    def __init__(self) -> None:
        self._found: dict[tuple[Statement, str | None], list[int]] = {}

    def add(self, statements: Iterable[Statement], place: int, speaker: str | None) -> None:
        """Take what the chunk at an index of the window says.

        Spellings are kept apart, because which one is canonical is not for a window to decide;
        and so are speakers, because "mom" is somebody else for each.
        """
        for count, statement in enumerate(statements):
            if count == MAX_FACTS:
                break
            places = self._found.setdefault((statement, speaker), [])
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
            for (said, _), places in self._found.items()
        )


class _Mentions:
    """Entities of a window, each once for a speaker, with the chunks that name it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, tuple[str, ...]], list[int]] = {}

    def add(
        self,
        speaker: str | None,
        read: Iterable[ReadSentence],
        phrases: Iterable[KeyPhrase],
        place: int,
        introduced: Iterable[tuple[str, str]],
    ) -> None:
        """Take what a chunk names, and the other names it gives to persons."""
        aliases: dict[str, tuple[str, ...]] = {}
        for name, alias in introduced:
            aliases[name] = (*aliases.get(name, ()), alias)
        found = [(speaker, "person")] if speaker else []
        for one in read:
            found.extend((name.text, name.type) for name in one.names)
            found.extend((span.when, "time") for span in one.times if span.when)
            if len(found) > MAX_MENTIONS:
                break
        found.extend((phrase.text, phrase.type) for phrase in phrases)
        for name, type_ in found[: MAX_MENTIONS + 1]:
            key = name, type_, speaker, aliases.get(name, ())
            places = self._found.setdefault(key, [])
            if place not in places:
                places.append(place)

    def all(self) -> tuple[Mention, ...]:
        """The entities so far, in the order of their first chunks."""
        return tuple(
            Mention(name, type_, tuple(places), aliases)
            for (name, type_, _, aliases), places in self._found.items()
        )

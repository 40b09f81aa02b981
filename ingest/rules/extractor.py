"""``RulesExtractor``: entities, session keys, a summary and the few facts that are certain.

It needs no model. Keys, entities and the summary come from English and other languages; facts only
from English (see :mod:`.statements`). It is deterministic and takes time linear in the length of
the text.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo
from itertools import islice, takewhile

from cognigraph.english import words
from cognigraph.english.verbs import is_past
from cognigraph.english.words import word_set
from cognigraph.ingest.extraction import AlsoRead, Extraction, Extractor, Fact, Mention, Window
from cognigraph.ingest.rules.statements import alias_in
from cognigraph.ingest.rules.summary import SessionState, shorten
from cognigraph.ingest.rules.turns import CONTEXT, LONGEST_ADDITION, ChunkInContext, ReadSentence
from cognigraph.model import Usage
from cognigraph.settings import WeightSetName

MAX_FACTS = 48
"""Largest number of facts from one chunk."""
MAX_MENTIONS = 24
"""Largest number of entities from one chunk, not counting its speaker."""
_Entity = tuple[str, str, str | None, tuple[str, ...]]
"""Its name, its type, who speaks of it, and the aliases that are stated."""
_TURNS = 2
"""Number of turns that must speak of something without a name before it is an entity."""
_ASSISTANT_PENALTY = 1.0
_DECIDED = 0.5
_DECISIONS = word_set(
    """decided decide settled chose choose picked switched switching booked signed cancelled
    cancelling agreed quit resigned moved moving bought sold ordered started stopped joined left
    going"""
)
"""Words with which people say what they decided or changed."""
_OTHERS = words.PRONOUNS - words.FIRST_PERSON
_UNCLEAR = word_set("he she they it his her their its")
"""A sentence that begins with one of these does not say by itself who or what it is about."""
_OPENERS = word_set(
    """thanks thank sorry wow congrats congratulations hey hi bye yay ouch sounds looks
    glad yeah let hope good great"""
)


class RulesExtractor(Extractor):
    """Extracts by rules, without a model or network. Stateless between calls.

    ``timezone`` is the speakers' time zone, which determines what day "yesterday" is. The default
    is the time zone of each chunk's own time.
    """

    name = "rules-8"
    weight_set: WeightSetName = "plain"
    also_reads: frozenset[AlsoRead] = frozenset({"stated"})
    context = CONTEXT

    def __init__(self, *, timezone: tzinfo | None = None) -> None:
        self._timezone = timezone

    def estimate(self, window: Window) -> Usage:
        """Return zero usage, since no model is called."""
        return Usage()

    def extract(self, window: Window) -> Extraction:
        """Extract the window's facts and mentions, and the session's updated keys and themes.

        Each chunk is read in the context of the same number of preceding chunks, whatever the size
        of the window, so the result does not depend on how chunks are batched.
        """
        window = _local(window, self._timezone)
        state = SessionState.load(window.notes.state)
        if window.chunks and state.is_past(window.chunks[0]):
            return Extraction(starts_over=True)
        turns: deque[ChunkInContext] = deque(maxlen=CONTEXT)
        for chunk in window.before[-CONTEXT:]:
            turns.append(ChunkInContext(chunk, turns))
        # Different speakers have separate facts and entities: "mom" is another person for each.
        facts: dict[tuple[Fact, str | None], list[int]] = defaultdict(list)
        mentions: dict[_Entity, list[int]] = defaultdict(list)
        for index, chunk in enumerate(window.chunks):
            turn = ChunkInContext(chunk, turns)
            state.meet(chunk.speaker)
            phrases = (phrase for item in turn.read for phrase in item.phrases)
            # An assistant gives no topic of its own.
            state.add_phrases(phrases, new=turn.role != "assistant")
            aliases: dict[str, tuple[str, ...]] = {}
            for fact in islice(turn.framed, MAX_FACTS):
                facts[fact, chunk.speaker].append(index)
                if (alias := alias_in(fact)) is not None:
                    aliases[fact.subject] = (*aliases.get(fact.subject, ()), alias)
            named = islice(_mentioned(turn, state), MAX_MENTIONS + 1)
            for name, type in dict.fromkeys(named):
                mentions[name, type, chunk.speaker, aliases.get(name, ())].append(index)
            _add_sentences(turn, state)
            state.next_chunk(chunk)
            turns.append(turn)
        keys = state.best_keys()
        return Extraction(
            mentions=tuple(
                Mention(name, type, tuple(at), aliases)
                for (name, type, _, aliases), at in mentions.items()
            ),
            facts=tuple(replace(fact, chunks=tuple(at)) for (fact, _), at in facts.items()),
            keys=tuple((key.name, key.weight) for key in keys),
            themes=state.themes(keys),
            state=state.dump(),
        )


def _local(window: Window, timezone: tzinfo | None) -> Window:
    """Convert the times of a window to the speakers' time zone."""
    if timezone is None:
        return window
    before, chunks = (
        tuple(replace(chunk, at=chunk.at.astimezone(timezone)) for chunk in part)
        for part in (window.before, window.chunks)
    )
    return replace(window, before=before, chunks=chunks)


def _add_sentences(turn: ChunkInContext, state: SessionState) -> None:
    """Offer the sentences of a chunk for the summary, as they were said.

    A sentence that corrects the one before it is a part of that, also of the message before. So is
    one that says what it is now: "We renamed it. It's Wet Wall now."
    """
    penalty = _ASSISTANT_PENALTY if turn.role == "assistant" else 0.0
    day, speaker = turn.chunk.at.date().isoformat(), turn.chunk.speaker or ""
    for number, item in enumerate(turn.read):
        if item.corrects and (number or state.correct(speaker, item.sentence.text)):
            continue
        if not item.sentence.tokens or item.sentence.tokens[0].low in _UNCLEAR:
            continue
        salience = _salience(item)
        if salience:
            salience = round(salience - penalty, 4)
        after = takewhile(_adds_to_it, turn.read[number + 1 :])
        text = " ".join(shorten(said.sentence.text) for said in (item, *after))
        state.add_sentence(number, speaker, text, salience, day)


def _adds_to_it(item: ReadSentence) -> bool:
    """Whether a sentence corrects the one before it, or says what that is now."""
    lows = [token.low for token in item.sentence.tokens]
    is_news = "now" in lows and lows[0] in _UNCLEAR and len(lows) <= LONGEST_ADDITION
    return item.corrects or (is_news and not item.sentence.question)


def _salience(item: ReadSentence) -> float:
    """Score how informative a sentence is for a summary, by the sentence alone."""
    tokens = item.sentence.tokens
    lows = {token.low for token in tokens}
    scores = sorted((phrase.score for phrase in item.phrases), reverse=True)[:3]
    if item.sentence.question or not scores:
        return 0.0
    value = sum(scores) / 3
    value += 0.4 * any(span.when for span in item.times)
    value += 0.2 * any(is_past(low) for low in lows)
    value += 0.2 * any(phrase.proper for phrase in item.phrases)
    value += 0.15 * any(token.kind == "number" for token in tokens)
    value += 0.4 * ("i" in lows or "my" in lows or "we" in lows)
    value -= 0.3 * bool(lows & {"you", "your"})
    value -= 0.4 * (tokens[0].low in _OPENERS)
    value += _DECIDED * bool(lows & _DECISIONS)
    value -= 0.3 * (tokens[0].low in _OTHERS)
    value -= 0.5 * (len(tokens) < 6) + 0.2 * (len(tokens) > 45)
    return round(value, 4)


def _mentioned(turn: ChunkInContext, state: SessionState) -> Iterator[tuple[str, str]]:
    """Yield the entities that a chunk names, with their types, the speaker first.

    A name counts at once, unless an assistant brings it up, any other phrase in the second turn
    that speaks of it. A bare "sister" is nobody: whose sister it is decides who. A name that does
    not tell what it names is what the facts of the chunk say. ``state`` has this turn counted.
    """
    types: dict[str, str] = {}
    for fact in turn.framed:
        types |= {fact.subject: fact.subject_type, fact.object: fact.object_type}
    if turn.chunk.speaker:
        yield turn.chunk.speaker, "person"
    yield from ((fact.subject, fact.subject_type) for fact in turn.framed if alias_in(fact))
    own = turn.role != "assistant"
    for item in turn.read:
        for name in item.names:
            if own or state.turns_with(name.text):
                yield name.text, name.type if name.sure else types.get(name.text, name.type)
        for phrase in item.phrases:
            named = phrase.proper or phrase.text.casefold() in words.KIN
            if item.english and not named and state.turns_with(phrase.text) >= _TURNS:
                yield phrase.text, phrase.type

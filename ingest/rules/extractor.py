"""``RulesExtractor``: extract facts, entities, session keys and a summary without any model.

It is made for English conversations. A text in another language gives key phrases and a summary
but no facts (see :mod:`cognigraph.text.language`). It is deterministic and takes time linear in the
length of the text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial

from cognigraph.english import words
from cognigraph.english.verbs import is_past
from cognigraph.english.words import word_set
from cognigraph.ingest.extraction import AlsoRead, Extraction, Fact, Mention, Window
from cognigraph.ingest.rules.change import with_changes
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.in_full import in_full
from cognigraph.ingest.rules.statement import Statement
from cognigraph.ingest.rules.summary import SessionState
from cognigraph.ingest.rules.turns import CONTEXT, NEAR, ChunkInContext, ReadSentence
from cognigraph.ingest.rules.worth import LEAST, not_worth_keeping
from cognigraph.model import Usage
from cognigraph.model.roles import ANONYMOUS
from cognigraph.settings import WeightSetName

MAX_FACTS = 48
"""Largest number of facts from one chunk."""
MAX_MENTIONS = 24
"""Largest number of entities from one chunk, not counting its speaker."""
_TURNS = 2
"""Number of turns that must speak of something without a name before it is an entity."""
_ASSISTANT_PENALTY = 1.0
_STATED = 0.5  # for a sentence that states a fact
_DECIDED = 0.5
_DECISIONS = word_set(
    """decided decide settled chose choose picked switched switching booked signed cancelled
    cancelling agreed quit resigned moved moving bought sold ordered started stopped joined left
    going"""
)
"""Words with which people say what they decided or changed."""
_OTHERS = words.PRONOUNS - words.FIRST_PERSON
_OPENERS = word_set(
    """thanks thank sorry wow congrats congratulations hey hi bye yay ouch sounds looks
    glad yeah let hope good great"""
)


class RulesExtractor:
    """Extracts by rules, without a model or network. Stateless between calls.

    ``timezone`` is the speakers' time zone, which determines what day "yesterday" is. The default
    is the time zone of each chunk's own time. A statement is left out if its worth is below
    ``least_worth`` (see :mod:`.worth`).
    """

    weight_set: WeightSetName = "rules"
    also_reads: frozenset[AlsoRead] = frozenset({"stated"})

    def __init__(self, *, timezone: tzinfo | None = None, least_worth: float = LEAST) -> None:
        self._timezone = timezone
        self._least_worth = least_worth

    @property
    def name(self) -> str:
        """``rules-4``."""
        return "rules-4"

    def estimate(self, window: Window) -> Usage:
        """Return zero usage, since no model is called."""
        return Usage()

    @property
    def context(self) -> int:
        """Number of preceding chunks needed for a result that does not depend on the window."""
        return CONTEXT

    @property
    def is_portable(self) -> bool:
        """Always true: it only computes."""
        return True

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
        facts, mentions = FactCollector(), _Mentions()
        for index, chunk in enumerate(window.chunks):
            turn = ChunkInContext(chunk, turns)
            state.meet(chunk.speaker)
            assistant = turn.role == "assistant"
            phrases = (phrase for one in turn.read for phrase in one.phrases)
            state.add_phrases(phrases, new=not assistant)  # an assistant gives no topic of its own
            told, discourse = _statements(turn, tuple(turns)[-NEAR:], self._least_worth)
            facts.add(told, index, chunk.speaker)
            mentions.add(turn, state, index, discourse.introduced)
            _add_sentences(turn, state)
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
    """Convert the times of a window to the speakers' time zone."""
    if timezone is None:
        return window
    before, chunks = (
        tuple(replace(chunk, at=chunk.at.astimezone(timezone)) for chunk in part)
        for part in (window.before, window.chunks)
    )
    return replace(window, before=before, chunks=chunks)


def _statements(
    turn: ChunkInContext, near: Sequence[ChunkInContext], least_worth: float
) -> tuple[list[Statement], Discourse]:
    """Return what a chunk states that is worth keeping, and the discourse after it.

    What a word of change has altered is worth keeping in any case.
    """
    told, discourse = turn.statements(near)
    texts = [one.sentence.text for one in turn.read]
    speaker = turn.chunk.speaker or ANONYMOUS
    changed = with_changes(texts, told, turn.chunk.at, partial(_earlier, turn, near), speaker)
    each = ((one, turn.read[n].sentence.tokens) for n, said in turn.told.items() for one in said)
    dropped = not_worth_keeping(each, turn.voices, least_worth)
    return [*(one for one in changed if one not in dropped), *turn.tasks], discourse


def _earlier(turn: ChunkInContext, near: Sequence[ChunkInContext]) -> list[Statement]:
    """Return what the speaker of a chunk stated just before it, newest first."""
    own = [one for one in reversed(near) if one.chunk.speaker == turn.chunk.speaker]
    return [told for one in own for told in reversed(one.state(Discourse()))]


def _add_sentences(turn: ChunkInContext, state: SessionState) -> None:
    """Offer the sentences of a chunk for the summary, with names and dates in their place."""
    penalty = _ASSISTANT_PENALTY if turn.role == "assistant" else 0.0
    day = turn.chunk.at.date().isoformat()
    for number, one in enumerate(turn.read):
        stated = turn.told.get(number, [])
        text = in_full(one, stated)
        if text is None:
            continue
        salience = _salience(one)
        if salience:
            salience += _STATED * bool(stated) - penalty
        state.add_sentence(number, turn.chunk.speaker or "", text, round(salience, 4), day)


def _salience(one: ReadSentence) -> float:
    """Score how informative a sentence is for a summary, by the sentence alone."""
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
    value += _DECIDED * bool(lows & _DECISIONS)
    value -= 0.3 * (tokens[0].low in _OTHERS)
    value -= 0.5 * (len(tokens) < 6) + 0.2 * (len(tokens) > 45)
    return round(value, 4)


class FactCollector:
    """Collects a window's facts, each once per speaker, with all chunks that state it."""

    def __init__(self) -> None:
        self._found: dict[tuple[Statement, str | None], list[int]] = {}

    def add(self, statements: Iterable[Statement], index: int, speaker: str | None) -> None:
        """Add the statements of the chunk at a position of the window, up to :data:`MAX_FACTS`.

        Different spellings are separate facts, because a window cannot decide which spelling is
        canonical. Different speakers have separate facts, because "mom" is a different person for
        each of them.
        """
        for count, statement in enumerate(statements):
            if count == MAX_FACTS:
                break
            indices = self._found.setdefault((statement, speaker), [])
            if index not in indices:
                indices.append(index)

    def all(self) -> tuple[Fact, ...]:
        """Return the facts in order of first appearance."""
        return tuple(
            Fact(
                subject=said.subject,
                subject_type=said.subject_type,
                relation=said.relation,
                object=said.object,
                object_type=said.object_type,
                chunks=tuple(indices),
                when=said.when,
                negated=said.negated,
                said_by=said.said_by,
                replaces=said.replaces,
            )
            for (said, _), indices in self._found.items()
        )


class _Mentions:
    """Collects a window's entities, each once per speaker, with the chunks that name it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, tuple[str, ...]], list[int]] = {}

    def add(
        self,
        turn: ChunkInContext,
        state: SessionState,
        index: int,
        introduced: Iterable[tuple[str, str]],
    ) -> None:
        """Add the entities that a chunk names, and the aliases that it states.

        A name counts at once, unless an assistant brings it up, any other phrase in the second
        turn that speaks of it. A bare "sister" is nobody: whose sister it is decides who. ``state``
        has this turn counted.
        """
        speaker = turn.chunk.speaker
        aliases: dict[str, tuple[str, ...]] = {}
        for name, alias in introduced:
            aliases[name] = (*aliases.get(name, ()), alias)
        found = [(speaker, "person")] if speaker else [(name, "person") for name in aliases]
        own = turn.role != "assistant"
        for one in turn.read:
            found.extend(
                (name.text, name.type) for name in one.names if own or state.turns_with(name.text)
            )
            found.extend(
                (phrase.text, phrase.type)
                for phrase in one.phrases
                if one.english
                and not phrase.proper
                and phrase.text.casefold() not in words.KIN
                and state.turns_with(phrase.text) >= _TURNS
            )
        for name, type_ in found[: MAX_MENTIONS + 1]:
            key = name, type_, speaker, aliases.get(name, ())
            indices = self._found.setdefault(key, [])
            if index not in indices:
                indices.append(index)

    def all(self) -> tuple[Mention, ...]:
        """The entities so far, in the order of their first chunks."""
        return tuple(
            Mention(name, type_, tuple(indices), aliases)
            for (name, type_, _, aliases), indices in self._found.items()
        )

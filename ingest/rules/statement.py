"""Input and output of the statement reader: annotated sentences, statements and referents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cognigraph.english import verbs
from cognigraph.english.sentences import Token
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.words import KIN, word_set
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices
from cognigraph.ingest.rules.pronouns import Referent, referent
from cognigraph.ingest.rules.relations import Relation

SAYING = word_set(
    """say tell mention claim announce report explain write insist admit promise warn inform text
    think believe reckon guess"""
)
"""Verbs of saying and thinking: the fact in the next clause is attributed to their subject."""
OWNERS = {"her": "she", "his": "he", "its": "it", "their": "they"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple extracted from one clause, not yet assigned to a chunk."""

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: str | None = None
    negated: bool = False
    said_by: str | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class PreparedSentence:
    """One sentence annotated with its names and time expressions.

    ``things`` are further phrases that an "it" could refer to, which makes it ambiguous.
    """

    tokens: tuple[Token, ...]
    names: Mapping[int, Name]
    times: tuple[TimeSpan, ...]
    things: tuple[str, ...] = ()
    question: bool = False


def referents_of(
    sentence: PreparedSentence,
    statements: Sequence[Statement],
    voices: Voices,
    discourse: Discourse,
) -> Iterator[Referent]:
    """Yield the entities of a sentence that a pronoun in the next two sentences may refer to."""
    voiced = (voices.speaker, voices.other)
    told = [part.lower() for one in statements for part in (one.subject, one.object)]
    told += [name.text.lower() for name in sentence.names.values()]
    for thing in sentence.things:
        if not any(thing.lower() in part for part in told):
            yield referent(thing, "object", solid=False)
    for token in sentence.tokens:
        if token.low in KIN and not any(token.low in part for part in told):
            yield referent(token.low, "person", solid=False)
    for name in sentence.names.values():
        if name.text not in voiced:
            yield discourse.referent(name.text, name.type)
            if name.type == "object" and not name.sure:  # it may be a person as well
                yield replace(referent(name.text, "person"), solid=False)
    for statement in statements:
        if statement.subject not in voiced:
            yield discourse.referent(statement.subject, statement.subject_type)
        changing = not statement.relation.startswith(("is", "was"))
        if changing and statement.object not in voiced:
            yield discourse.referent(statement.object, statement.object_type)


def is_listed(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Return whether tokens are part of a list, not an apposition: "Anna, a nurse and Tom"."""
    joined = any(tokens[index].low in ("and", "or") for index in range(start, end))
    more = any(token.low == "," for token in tokens[end + 1 :])
    return joined or more or tokens[start].low in ("this", "that", "these")


def is_over(relation: Relation | None) -> bool:
    """Return whether a relation is past: in "before we moved", but not "before it becomes"."""
    first = relation.text.split(" ")[0] if relation is not None else ""
    return first == "was" or verbs.is_past(first)


def last_of(phrase: Phrase) -> Phrase:
    """Return what a relative clause after an object refers to: in "a bed and a lamp", the lamp."""
    _, joined, last = phrase.text.rpartition(" and ")
    if not joined:
        return phrase
    for article in ("a ", "an ", "the ", "some "):
        last = last.removeprefix(article)
    return replace(phrase, text=last, proper=False)

"""How likely a statement is to be worth keeping: a sum of learned weights of what is seen in it.

The reader of clauses and the filters say whether a statement *can* be a fact. Among those that can,
"we went camping last week" is a fact that somebody will look for, and "we want opportunities" is
not, although no single word tells. ``WEIGHTS`` were learned by ``bench/fit_worth.py`` from verdicts
on facts of friends' talk and of users with an assistant (``bench/labels/derived.jsonl``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules import idle_words as idle
from cognigraph.ingest.rules import small_talk
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement
from cognigraph.states.slots import FactForm, claim_of

BASE = 1.09
WEIGHTS: Mapping[str, float] = {
    "has a date": 0.88,
    "object holds a name": 0.94,
    "object is a place": 0.75,
    "object is an event": 0.36,
    "object is a time": -0.24,
    "object is kin or a pet": 0.53,
    "object begins with what is done": 0.36,
    "object has at most one word": -0.41,
    "object has five words or more": 0.22,
    "object is a bare plural": -0.37,
    "object is abstract": -0.50,
    "object could be anything": -0.45,
    "object judges": -0.55,
    "object joins two": -0.74,
    "happened": 0.33,
    "is possible": -0.19,
    "says what a name is": 0.34,
    "says how somebody is": -0.19,
    "says how it lasts": 0.16,
    "is about a thing": -0.28,
    "is told as news": 0.42,
    "speaks to the listener": -0.38,
}
"""Weights of the signs that are listed in ``SIGNS``, in logits."""
LEAST = 0.49
"""Worth below which a statement is left out.

It is the largest one at which .60 of the labelled facts of the sample conversation are still found.
"""
EVERYTHING = float("-inf")
"""A least worth that leaves nothing out."""

_FUNCTION = (
    words.DETERMINERS
    | words.PREPOSITIONS
    | words.CONJUNCTIONS
    | words.OBJECT_PRONOUNS
    | words.POSSESSIVES
    | {"to", "not"}
)
_JUDGING = idle.EVALUATIVE | words.SENTIMENT
_NEWS = word_set("just recently finally last")
_CONDITIONS = word_set("allergic intolerant afraid passionate")
_LASTING = word_set("likes loves hates enjoys prefers dislikes works teaches studies")
"""Verbs of preference and occupation: in the present tense they tell what somebody is like."""
_ASKED = ("always wants", "wants to answer in", "is called")
"""Relations of standing orders, which always count."""
_KIN = words.PERSON_NOUNS | words.PETS | {"pup", "pet"}
_REMINDING = word_set("remember note")


@dataclass(frozen=True)
class Seen:
    """A statement with the sentence that it was read from."""

    said: Statement
    tokens: Sequence[Token]
    voices: Voices

    @cached_property
    def relation(self) -> list[str]:
        """The words of the relation."""
        return self.said.relation.lower().split()

    @cached_property
    def object(self) -> list[str]:
        """The words of the object."""
        return [word.strip(",.") for word in self.said.object.lower().split()]

    @cached_property
    def content(self) -> list[str]:
        """The words of the object that tell something, without the names of those who talk."""
        return [
            word.removesuffix("'s")
            for word in self.object
            if word not in _FUNCTION and word.removesuffix("'s") not in self.own
        ]

    @cached_property
    def own(self) -> frozenset[str]:
        """The names of those who talk."""
        return frozenset(f"{self.voices.speaker} {self.voices.other or ''}".lower().split())

    @cached_property
    def head(self) -> str:
        """The head of the object."""
        return small_talk.head_of(self.object) if self.object else ""

    @cached_property
    def lows(self) -> frozenset[str]:
        """The words of the sentence."""
        return frozenset(token.low for token in self.tokens)

    @property
    def named(self) -> bool:
        """Whether the subject has a name of its own."""
        return self.said.subject[:1].isupper() and "'s " not in self.said.subject


def _names_something(one: Seen) -> bool:
    """Return whether the object holds a name other than those of the people who talk."""
    return any(
        word[0].isupper() and word.lower().removesuffix("'s") not in one.own
        for word in one.said.object.split()
    )


def _is_many(one: Seen) -> bool:
    """Return whether the object is a plural without a number or a determiner."""
    plural = one.head.endswith("s") and not one.head.endswith("ss")
    return plural and not any(word.isdigit() or word in words.DETERMINERS for word in one.object)


def _joins_two(one: Seen) -> bool:
    """Return whether the object is like "work and family", not "a pup and a cat" or a list."""
    if "and" not in one.object[:-1] or "," in one.said.object:
        return False
    return one.object[one.object.index("and") + 1] not in words.DETERMINERS


def _is_about_a_thing(one: Seen) -> bool:
    """Return whether the subject is a thing without an owner: "the concert"."""
    said = one.said
    spoken = said.subject in (one.voices.speaker, one.voices.other) or said.subject_type == "person"
    return said.subject[:1].islower() and "'s " not in said.subject and not spoken


SIGNS: Mapping[str, Callable[[Seen], bool]] = {
    "has a date": lambda one: one.said.when is not None,
    "object holds a name": _names_something,
    "object is a place": lambda one: one.said.object_type == "location",
    "object is an event": lambda one: one.said.object_type == "event",
    "object is a time": lambda one: one.said.object_type == "time",
    "object is kin or a pet": lambda one: one.head in _KIN,
    "object begins with what is done": lambda one: one.said.object.split(" ")[0].endswith("ing"),
    "object has at most one word": lambda one: len(one.content) <= 1,
    "object has five words or more": lambda one: len(one.content) > 4,
    "object is a bare plural": _is_many,
    "object is abstract": lambda one: small_talk.is_abstract_noun(one.head),
    "object could be anything": lambda one: one.head in idle.ANYTHING,
    "object judges": lambda one: not _JUDGING.isdisjoint(one.content),
    "object joins two": _joins_two,
    "happened": lambda one: (
        verbs.is_past(one.relation[0]) and one.relation[0] not in ("was", "were")
    ),
    "is possible": lambda one: one.relation[0] in verbs.MODALS,
    "says what a name is": lambda one: one.said.relation == "is" and one.named,
    "says how somebody is": lambda one: (
        one.relation[0] in verbs.BE and len(one.relation) > 1 and not verbs.is_ing(one.relation[1])
    ),
    "says how it lasts": lambda one: not idle.LASTING.isdisjoint((*one.relation, *one.object)),
    "is about a thing": _is_about_a_thing,
    "is told as news": lambda one: not _NEWS.isdisjoint(one.lows),
    "speaks to the listener": lambda one: "you" in one.lows or "your" in one.lows,
}
"""What is looked for in a statement."""


def signs_of(said: Statement, tokens: Sequence[Token], voices: Voices) -> list[str]:
    """Return the signs that a statement shows; ``tokens`` are those of its sentence."""
    one = Seen(said, tokens, voices)
    return [name for name, shows in SIGNS.items() if shows(one)]


def worth(said: Statement, tokens: Sequence[Token], voices: Voices) -> float:
    """Return the logit of the chance that a statement is worth keeping."""
    return BASE + sum(WEIGHTS.get(name, 0.0) for name in signs_of(said, tokens, voices))


def always_counts(said: Statement, tokens: Sequence[Token], voices: Voices) -> bool:
    """Return whether a statement counts whatever its worth.

    These are standing orders, what puts a fact in the place of another, what the text asks to be
    remembered, allergies, preferences, and what fills a slot that holds one value: a home, a job,
    an age, a dose.
    """
    relation = said.relation.split(" ")
    if said.replaces or said.relation in _ASKED or relation[0] in _LASTING:
        return True
    if (said.negated and voices.to_assistant) or not _CONDITIONS.isdisjoint(relation):
        return True
    if not _REMINDING.isdisjoint(token.low for token in tokens[:3]):
        return True
    form = FactForm(
        said.subject, said.subject_type, said.relation, said.object, said.object_type, said.negated
    )
    claim = claim_of(form)
    return claim is not None and claim.single


def not_worth_keeping(
    told: Iterable[tuple[Statement, Sequence[Token]]], voices: Voices, least: float
) -> frozenset[Statement]:
    """Return those of some statements, each with its sentence, that are worth less than this."""
    return frozenset(
        said
        for said, tokens in told
        if not always_counts(said, tokens, voices) and worth(said, tokens, voices) < least
    )

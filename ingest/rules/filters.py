"""Filters for facts: drop statements that are vague, impersonal, hypothetical or mere courtesy."""

from __future__ import annotations

from dataclasses import replace

from cognigraph.english import verbs, words
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.noun_phrases import Phrase
from cognigraph.ingest.rules.relations import Relation
from cognigraph.ingest.rules.subjects import Subject

_EMPTY_VERBS = word_set(
    """guess mean bet suppose wonder agree let thank say figure doubt imagine bless wait seem note
    noted"""
)
_GRATITUDE = word_set("appreciate thank grateful thankful")
_COURTESIES = word_set(
    "support encouragement kind words help offer advice love kindness feedback all the much your"
)
_NEED_RELATION = word_set("think hope believe feel tell look sound")


def worth_stating(subject: Subject, relation: Relation) -> bool:
    """Return whether a relation can state a fact: not an empty verb, a wish or a possibility."""
    if relation.main in _EMPTY_VERBS and not relation.text.startswith("is "):
        return relation.main == "let" and not subject.speaker
    if relation.modal == "could":
        return False
    if relation.modal == "would":
        if relation.main in ("recommend", "suggest"):
            return subject.speaker
        return relation.text.startswith(("would love", "would like"))
    if subject.elided and relation.text.startswith("turned out"):
        return False  # "turned out to be the cable"
    wish = relation.text.startswith(("hopes", "wishes")) and " to" not in relation.text
    return not (subject.elided and wish)


def dated(relation: Relation, when: str) -> Relation:
    """Append "in" or "on" to a relation whose object is a time: "married" -> "married in"."""
    if relation.text.rpartition(" ")[2] in {*words.PREPOSITIONS, "until", "till"}:
        return relation
    return replace(relation, text=f"{relation.text} {'on' if len(when) == 10 else 'in'}")


def says_nothing(subject: Subject, relation: Relation, phrase: Phrase) -> bool:
    """Return whether a statement is impersonal, vague or a courtesy, and so not a fact."""
    impersonal = subject.thing and is_impersonal(relation, phrase)
    return impersonal or is_vague(relation, phrase) or is_courtesy(relation, phrase)


def is_courtesy(relation: Relation, phrase: Phrase) -> bool:
    """Return whether a statement is a common courtesy, such as "I appreciate your support"."""
    return relation.main in _GRATITUDE and all(
        word in _COURTESIES or word.endswith("'s") for word in phrase.text.lower().split()
    )


def is_vague(relation: Relation, phrase: Phrase) -> bool:
    """Return whether a statement is vague, such as "I feel better" or "I think so".

    "thinks about Oslo" is not: its relation contains a preposition.
    """
    if relation.copula and phrase.text == "afraid":
        return True  # "I am afraid we have to go"
    bare = relation.main in _NEED_RELATION and " " not in relation.text
    return bare and phrase.type in ("concept", "object")


_CONCRETE = word_set(
    """red blue green yellow black white grey gray brown purple orange pink golden silver wooden
    broken closed open finished empty flat vegan vegetarian deaf blind pregnant married retired"""
)
"""Adjectives for concrete things: "it is blue" is not impersonal."""


def is_impersonal(relation: Relation, phrase: Phrase) -> bool:
    """Return whether "it" refers to nothing in particular: "it was great", "it is hard to ..."."""
    first, _, rest = relation.text.partition(" ")
    if first not in ("is", "was", "will") or not (relation.copula or rest):
        return False
    if not rest:
        return phrase.type == "concept" and phrase.text not in _CONCRETE
    said = rest.removeprefix("be ").split(" ")[0]
    return said not in words.PREPOSITIONS and verbs.guess_verb(said) is None

"""Which readings are worth keeping as facts."""

from __future__ import annotations

from dataclasses import replace

from cognigraph.english import verbs, words
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.noun_phrases import Phrase
from cognigraph.ingest.rules.relations import Relation
from cognigraph.ingest.rules.subjects import Subject

_EMPTY_VERBS = word_set(
    "guess mean bet suppose wonder agree let thank say figure doubt imagine bless wait seem"
)
_GRATITUDE = word_set("appreciate thank grateful thankful")
_COURTESIES = word_set(
    "support encouragement kind words help offer advice love kindness feedback all the much your"
)
_NEED_RELATION = word_set("think hope believe feel tell look sound")


def worth_stating(subject: Subject, relation: Relation) -> bool:
    """Leave out verbs that carry nothing, and what only would or could be."""
    if relation.main in _EMPTY_VERBS and not relation.text.startswith("is "):
        return relation.main == "let" and not subject.speaker
    if relation.modal == "could":
        return False
    if relation.modal == "would":
        return relation.text.startswith(("would love", "would like"))
    wish = relation.text.startswith(("hopes", "wishes")) and " to" not in relation.text
    return not (subject.elided and wish)


def dated(relation: Relation, when: str) -> Relation:
    """ "married" and a month as its object: "married in"."""
    if relation.text.endswith((" in", " on")):
        return relation
    return replace(relation, text=f"{relation.text} {'on' if len(when) == 10 else 'in'}")


def says_nothing(subject: Subject, relation: Relation, phrase: Phrase) -> bool:
    """Tell whether a statement is impersonal, vague or a courtesy, and so no fact."""
    impersonal = subject.thing and is_impersonal(relation, phrase)
    return impersonal or is_vague(relation, phrase) or is_courtesy(relation, phrase)


def is_courtesy(relation: Relation, phrase: Phrase) -> bool:
    """Tell "I appreciate your support" and the like, said in every conversation."""
    return relation.main in _GRATITUDE and all(
        word in _COURTESIES or word.endswith("'s") for word in phrase.text.lower().split()
    )


def is_vague(relation: Relation, phrase: Phrase) -> bool:
    """Tell "I feel better" and "I think so"; "thinks about Oslo" has a relation of its own."""
    if relation.copula and phrase.text == "afraid":
        return True  # "I am afraid we have to go"
    bare = relation.main in _NEED_RELATION and " " not in relation.text
    return bare and phrase.type in ("concept", "object")


_CONCRETE = word_set(
    """red blue green yellow black white grey gray brown purple orange pink golden silver wooden
    broken closed open finished empty flat vegan vegetarian deaf blind pregnant married retired"""
)
"""What can be said of a thing only: "it is blue" is about something."""


def is_impersonal(relation: Relation, phrase: Phrase) -> bool:
    """Tell "it was great" and "it is hard to ...", where "it" is often nothing at all."""
    first, _, rest = relation.text.partition(" ")
    if first not in ("is", "was", "will") or not (relation.copula or rest):
        return False
    if not rest:
        return phrase.type == "concept" and phrase.text not in _CONCRETE
    said = rest.removeprefix("be ").split(" ")[0]
    return said not in words.PREPOSITIONS and verbs.guess_verb(said) is None

"""Recognise statements that keep a conversation going and tell nothing that lasts.

| said                                            | why it is no fact                             |
|-------------------------------------------------|-----------------------------------------------|
| "I love the colors", "I love your turtles"      | praise of what the other one has just shown   |
| "You found courage", "You have come so far"     | tells the listener what the listener knows    |
| "I'm chasing my dreams", "It takes dedication"  | names nothing that one could look for         |
| "The idea inspires me", "Kids are resilient"    | is about no one and nothing in particular     |
| "I can't wait to see it", "Good to hear it"     | is about the conversation itself              |
| "I used for self-expression"                    | lacks its object, which was said elsewhere    |

A date, a number or a name makes any of them a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cognigraph.english import verbs, words
from cognigraph.ingest.rules import idle_words as idle
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices
from cognigraph.ingest.rules.relations import Relation, is_manner
from cognigraph.ingest.rules.subjects import Subject

_DEMONSTRATIVE = frozenset(("this", "that", "these", "those"))
_FUNCTION = words.PREPOSITIONS | words.CONJUNCTIONS
_STATES = frozenset(("need", "be", "deserve", "know", "want"))


@dataclass(frozen=True, slots=True)
class Said:
    """A statement about ``phrase``, one of the subjects of its clause."""

    subject: Subject
    phrase: Phrase
    relation: Relation
    object: Phrase
    voices: Voices

    @property
    def words(self) -> list[str]:
        """The words of the object."""
        return self.object.text.lower().split()

    @property
    def verb_words(self) -> list[str]:
        """The words of the relation."""
        return self.relation.text.lower().split()

    @property
    def is_of_speakers(self) -> bool:
        """Whether the statement is about somebody who takes part in the conversation."""
        return self.phrase.text in (self.voices.speaker, self.voices.other)

    @property
    def is_between_people(self) -> bool:
        """Whether two people talk to each other."""
        return self.voices.other is not None and not self.voices.to_assistant

    @property
    def is_past(self) -> bool:
        """Whether the statement tells what has happened."""
        return not self.relation.copula and verbs.is_past(self.verb_words[0])

    @property
    def is_of_other(self) -> bool:
        """Whether the object is a thing of the person spoken to, or that person."""
        mine, theirs = self.voices.speaker, self.voices.other
        if self.phrase.text == theirs:
            theirs = mine
        return theirs is not None and self.object.text.startswith((f"{theirs}'s ", theirs))


def is_praise(said: Said) -> bool:
    """Recognise that somebody likes what was shown or said: "I love the colors"."""
    if said.relation.main in idle.NOTICING and said.is_of_other:
        return True
    if said.verb_words[-1] in idle.SEEING and known_base(said.verb_words[0]) in idle.LIKING:
        return True
    if said.relation.main not in idle.LIKING:
        return False
    pointed = said.is_between_people and said.object.type != "location"
    shown = pointed and (said.object.definite or said.object.deictic)
    return (
        shown or said.is_of_other or head(said.object) in idle.SHOWN or said.words[0] in idle.SEEING
    )


def is_known_to_listener(said: Said) -> bool:
    """Recognise what somebody tells the listener about the listener: "You found a way"."""
    event = said.object.noun and said.is_past
    return said.subject.addressed and said.relation.main != "have" and not event


def is_feeling(said: Said) -> bool:
    """Recognise a feeling whose verb is left out or idle: "excited for", "is up for"."""
    first, rest = said.verb_words[0], said.verb_words[1:]
    if first in idle.FEELING or set(rest[:2]) & idle.FEELING - {"passionate", "curious"}:
        return True
    if said.words[-1:] in (["busy"], ["alright"], ["fine"], ["okay"]):
        return True
    if first in ("is", "was", "feels", "gets") and rest[:1] and rest[0] in idle.IDIOMS:
        return True
    if not said.relation.copula and said.relation.main not in idle.BECOMING:
        return False
    if said.words[0] in idle.IDIOMS and said.words[1:2] and said.words[1] in ("for", "to", "the"):
        return True
    if said.words[-1] in idle.METAPHORS:
        return True
    return bool(set(said.words[:2]) & idle.FEELING) or is_adjective(said)


def is_adjective(said: Said) -> bool:
    """Return whether somebody is or becomes what a lone adjective says: "is getting creative"."""
    last = said.verb_words[-1] in verbs.BE or said.relation.main in idle.BECOMING
    if not last or said.object.noun:
        return False
    rest = [word for word in said.words if not is_manner(word) and word not in idle.DEGREES]
    return bool(rest) and all(
        word.endswith(idle.ADJECTIVE_ENDINGS) or word == "and" for word in rest
    )


def is_abstract(said: Said) -> bool:
    """Recognise an object that names a feeling, an effort or a quality and nothing else."""
    if said.relation.copula and head(said.object) in idle.PEOPLE_ALIKE:
        return True  # "when I was a kid"
    return is_abstract_phrase(said.object, said.voices)


def is_anything(said: Said) -> bool:
    """Recognise an object that could be anything: "a new project", "something tasty"."""
    return all(word in idle.ANYTHING for word in said.words if word not in _BESIDE_THE_POINT)


_BESIDE_THE_POINT = (
    words.SENTIMENT | idle.EVALUATIVE | words.LIGHT | words.PREPOSITIONS | words.DETERMINERS
)


def is_something(said: Said) -> bool:
    """Recognise an object that is only pointed at: "something new", "this", "chat about this"."""
    pairs = zip(said.words, [*said.words[1:], "and"], strict=True)
    if any(word in _DEMONSTRATIVE and after in _FUNCTION for word, after in pairs):
        return True
    whole = not any(word in words.PREPOSITIONS for word in said.words)
    return whole and said.words[0] in ("something", "anything", "someone", "everything")


def is_about_nothing(said: Said) -> bool:
    """Recognise a statement about a thing without an owner or a name: "the idea inspires me"."""
    if said.is_of_speakers or said.voices.to_assistant or said.phrase.proper:
        return False
    if said.subject.pronoun and not (said.subject.thing and said.relation.copula):
        return False
    if "'s " in said.phrase.text and said.phrase.text[0].isupper():
        aim = said.relation.text in ("is to", "was to")
        owned = head(said.phrase)
        if idle.CHOSEN & set(said.phrase.text.lower().split()):
            return False  # "Ann's favourite colour is blue"
        return (is_abstract_noun(owned) or owned in idle.SHOWN) and not aim
    return not _happened(said)


def _happened(said: Said) -> bool:
    """Return whether something was done, or is in a lasting state: "the doctor gave me pills"."""
    if said.relation.copula:
        ended = verbs.is_participle(said.words[0]) or any(
            map(idle.LASTING.__contains__, said.words)
        )
        return ended or "'s " in said.object.text
    if said.verb_words[0] in verbs.BE:
        return any(map(verbs.is_participle, said.verb_words[1:2]))
    if _is_form(said.relation.main, idle.MOVING):
        return False
    return (said.phrase.type == "person" and said.is_past) or "'s " in said.object.text


def is_idle(said: Said) -> bool:
    """Recognise a verb of feeling or effort: "remembers the classes", "embraces the journey"."""
    return any(_is_form(word, idle.IDLE) for word in (said.relation.main, *said.verb_words[-2:]))


def is_of_everybody(said: Said) -> bool:
    """Recognise what "we" are, have or need, which is said of everybody: "We need better roads"."""
    bare = said.relation.main in _STATES and not said.is_past
    lasting = said.verb_words[0] not in ("was", "were", "had", "is") and not said.relation.modal
    return said.subject.plural and bare and lasting and said.is_between_people


def is_past_wish(said: Said) -> bool:
    """Recognise what somebody wanted, and may have or not: "I wanted to stand out"."""
    return said.verb_words[0] == "wanted" and said.is_between_people


def is_resolve(said: Said) -> bool:
    """Recognise a resolve to go on: "is trying to stay", "stays motivated"."""
    kept = said.verb_words[-1].startswith(("keep", "continue"))
    if kept and not verbs.is_ing(said.words[0]):
        return False  # "keeps parrots"
    return bool(idle.KEEPING & set(said.verb_words)) and not said.object.proper


def is_talk(said: Said) -> bool:
    """Recognise what is about the conversation: "good chatting with you", "can't wait to hear"."""
    if said.relation.text.startswith(("would love", "would like")):
        return True
    awaited = said.relation.text.startswith(idle.AWAITING)
    if awaited and (said.is_of_other or "hearing" in said.verb_words or is_anything(said)):
        return True
    if said.relation.main in idle.TALKING and said.object.text.lower() in idle.LISTENERS:
        return True
    return said.is_of_other and said.relation.main.removesuffix("ing") in idle.TALKING | idle.GIVING


def is_cut_off(said: Said) -> bool:
    """Recognise a statement that lacks its object or the end of it."""
    last = said.verb_words[-1]
    bare = last in words.PREPOSITIONS and len(said.verb_words) > 1
    if bare and said.relation.main in idle.NEEDS_OBJECT and "been" not in said.verb_words:
        before = said.verb_words[-2]
        if verbs.known_verb(before) is not None and before != "used":
            return True
    said_words = said.words
    run_on = verbs.is_ing(said_words[0]) and any(map(_only_base, said_words[1:2]))
    following = said.object.text.split()[1:2]
    order = last != "to" and _only_base(said_words[0]) and _is_object(following)
    if said_words[-1] in idle.POINTERS or any(map(_is_finite, said_words[1:])):
        return True
    if said.relation.copula and said.words in (["asked"], ["told"], ["said"]):
        return True  # "she's asked whether ..."
    adrift = said_words[0] in words.PREPOSITIONS - {"like", "about", "around", "over"}
    if adrift and verbs.known_verb(last) is not None:
        return True  # "saw [another] at a shop"
    return run_on or order or said_words[-1] in idle.DANGLING or said_words[0] in idle.ADRIFT


def _is_form(low: str, bases: frozenset[str]) -> bool:
    """Return whether a word is a form of one of these verbs, also of one not in the lexicon."""
    found = verbs.known_verb(low)
    if found is not None:
        return found.base in bases
    stems = {low, *(low.removesuffix(ending) for ending in ("s", "d", "ed", "ing"))}
    return bool((stems | {f"{stem}e" for stem in stems}) & bases)


def _is_object(following: Sequence[str]) -> bool:
    """Return whether a name or a determiner follows, so that the word before is a verb."""
    low = following[0].lower() if following else ""
    return low != "" and (following[0][0].isupper() or low in words.DETERMINERS | {"ya"})


def known_base(low: str) -> str:
    """Return the base of a verb form; empty if it is none."""
    found = verbs.known_verb(low)
    return found.base if found is not None else ""


def _is_finite(low: str) -> bool:
    found = verbs.known_verb(low)
    return found is not None and found.form == "s" and verbs.verb_only(low)


def _only_base(low: str) -> bool:
    found = verbs.known_verb(low)
    return found is not None and found.form == "base" and verbs.verb_only(low) and low != "live"


def is_abstract_phrase(phrase: Phrase, voices: Voices) -> bool:
    """Return whether all that a phrase names is abstract: "the courage to go after dreams"."""
    own = {(voices.speaker or "").lower(), (voices.other or "").lower()}
    said = phrase.text.lower().split()
    first = head_index(said)
    if not is_abstract_noun(said[first].strip(",.")):
        return False
    rest = (*said[:first], *said[first + 1 :])
    return all(word in own or _adds_nothing(word.strip(",.")) for word in rest)


def is_abstract_noun(low: str) -> bool:
    """Return whether a noun names a feeling, an effort or a quality."""
    return low in idle.ABSTRACT or (
        low.endswith(idle.ABSTRACT_ENDINGS) and low not in idle.CONCRETE_NOUNS
    )


def _adds_nothing(low: str) -> bool:
    if is_abstract_noun(low) or low in _WITHOUT_CONTENT or low.endswith("'s"):
        return True
    if low in idle.EVALUATIVE or low.endswith(("al", "ing", *idle.ADJECTIVE_ENDINGS)):
        return True
    return low in _FUNCTION or low == "to" or verbs.known_verb(low) is not None or is_manner(low)


_WITHOUT_CONTENT = words.SENTIMENT | words.LIGHT | words.ADVERBS
_FUNCTION = words.PREPOSITIONS | words.CONJUNCTIONS | words.DETERMINERS | words.OBJECT_PRONOUNS


def head(phrase: Phrase) -> str:
    """Return the head of a noun phrase: the last word before the first preposition."""
    return head_of(phrase.text.lower().split())


def head_of(said: Sequence[str]) -> str:
    """Return the head of a noun phrase that consists of these words."""
    return said[head_index(said)].strip(",.")


def head_index(said: Sequence[str]) -> int:
    """Return the position of the head of a noun phrase."""
    stops = (
        index
        for index, word in enumerate(said)
        if index and (word in words.PREPOSITIONS or word in ("to", "that", "and", "or"))
    )
    last = next(stops, len(said)) - 1
    while last > 0 and is_manner(said[last]):
        last -= 1
    return last


_FEELINGS = (is_praise, is_feeling, is_talk, is_something)
_SIGNS: tuple[Callable[[Said], bool], ...] = (
    *_FEELINGS,
    is_known_to_listener,
    is_abstract,
    is_anything,
    is_about_nothing,
    is_idle,
    is_of_everybody,
    is_past_wish,
    is_resolve,
    is_cut_off,
)


def is_small_talk(said: Said, *, dated: bool) -> bool:
    """Return whether a statement without a number or a name tells nothing that lasts.

    Feelings are passing even if they have a date.
    """
    return any(sign(said) for sign in (_FEELINGS if dated else _SIGNS))

"""Decide whether a statement is a fact that somebody could look for, by what it consists of.

A fact is *grounded*: it is about a speaker, a name, somebody's thing, or a thing that was spoken of
before; or else it holds a date, a number or a name. It is *whole*: no part of it was cut out of
another clause. And it *lasts*: it is not a passing state or mood.
"""

from __future__ import annotations

import re

from cognigraph.english import verbs, words
from cognigraph.english.words import word_set
from cognigraph.ingest.rules import small_talk
from cognigraph.ingest.rules.idle_words import LASTING
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices
from cognigraph.ingest.rules.objects import GIVING
from cognigraph.ingest.rules.relations import Relation, is_manner
from cognigraph.ingest.rules.subjects import Subject

_EVENTFUL = frozenset(("event", "organization"))
"""Types of things that a conversation speaks of by a common noun: "the concert", "the team"."""
_CUT_OUT = word_set(
    """i he she we they you who which that because if when while so than whatever whether unless
    it me him us them itself please"""
)
"""Words that show, inside a name or an object, that another clause was taken for a part of it."""
_NOTHING = word_set(
    "mine yours his hers ours theirs everything something anything nothing else everybody nobody"
)
"""Words without a meaning outside their sentence, alone or before "else"."""
_ALONE: tuple[list[str], ...] = ([], ["else"])
_FEELINGS = word_set(
    """excited pleased thrilled tired interested worried relieved annoyed bored exhausted surprised
    disappointed delighted scared stressed overwhelmed confused amazed blessed inspired motivated
    honored honoured touched concerned frustrated knackered chuffed embarrassed ashamed proud happy
    sad glad grateful thankful nervous busy keen stoked pumped hooked determined convinced"""
)
_ATTITUDES = word_set(
    """content bored invested lazy hooked obsessed lucky here able ready up game brave strong
    sorry afraid hopeful inspiring welcome free there"""
) - {"afraid"}
_EMPTY_HEADS = word_set(
    """blast time chance look guts courage hope ability strength progress part deal idea feeling
    fun step way lot mess doubt determination fingers best hang buzz boost emotions
    rollercoaster confidence back peace moments mind feedback offers letdown excitement terror
    hunt mix vibes hurdles plan plans care pleasure honor honour treat reminder inspiration awe"""
)
"""Nouns that make an idiom with "have", "take", "do" or "be": "had a blast", "takes a look"."""
_OPINIONS = word_set("think believe guess suppose reckon underestimate picture imagine")
"""Verbs that say what somebody thinks, and no more; "is thinking of" is a plan."""
_SKILLS = word_set(
    """speak play swim ride drive cook bake sing dance read write type draw paint sew knit ski skate
    sail fly code program eat drink walk see hear afford juggle surf climb run lift order"""
)
"""Verbs with which "can" says something lasting: what somebody is able or allowed to do."""
_RESOLVES = word_set("stay stick keep try continue push remain")
_PROGENY = word_set("kid kids child children son sons daughter daughters generations people")
_ASKING = frozenset(("needs", "wants", "need", "want"))
_MOODS = word_set(
    """feels feel feeling felt hoping crossing staying sounds seems admires expect inspired touched
    reminds reminded supports"""
)
_TELLING = word_set("new old first second own other big little small young short long last next")
_GENERIC = word_set(
    """book books movie movies film game games song show series photo photos picture pic app video
    money win team map place idea skill skills painting recipe recipes meal food
    chap man woman guy boy girl person"""
)
_LIGHT_VERBS = word_set(
    """have show cross give get make do take feel need want love like keep see show bring be
    spend put offer share create build grow"""
)
_BARE_VERBS = word_set("seeing being having doing going getting making lean look see be do say")
_TRANSITIVE = word_set(
    "do make get take have find give use see want buy need put keep bring say meet"
)
"""Verbs that mean nothing without their object, which a time alone does not replace."""
_MAY_BE = word_set("may might could should shall must")
_PURPOSE = frozenset(("so", "that", "which", "where", "when", "what"))
_CASES = frozenset(("when", "whenever", "as", "once", "while"))
"""Conjunctions that, with a present tense, state what is so in some case."""
_SMALL = 13
"""Numbers below this are counts of us ("we are four") rather than ages."""

_LEVEL = re.compile(r"(?:up|down)(?: to| (?:by )?\d.*)?(?: |$)", re.IGNORECASE)
"""Half of "I'm up to page 40" or "we're up 3 points"."""


def is_useful(
    subject: Subject,
    phrase: Phrase,
    relation: Relation,
    object: Phrase,
    when: str | None,
    voices: Voices,
) -> bool:
    """Return whether a statement about ``phrase``, a subject of the clause, is a useful fact."""
    named = is_concrete(object, voices)
    concrete = named or when is not None
    if voices.to_assistant and relation.text in _ASKING and not concrete:
        return False  # "I need a menu idea" asks for it
    if phrase.text.endswith("'s"):
        return False  # "Priya's found two others"
    if _is_regret(relation, object):
        return False
    if not named and not _is_counted(object):
        said = small_talk.Said(subject, phrase, relation, object, voices)
        if small_talk.is_small_talk(said, dated=when is not None):
            return False
    return (
        is_grounded(subject, phrase, relation, object, when)
        and is_whole(phrase)
        and is_whole(object)
        and not (subject.addressed and not concrete and _is_compliment(relation, object))
        and not (object.deictic and " " not in object.text and not concrete)
        and not (_is_mood(relation) and not concrete)
        and not (_is_generic(object) and not concrete)
        and not (_is_thought(relation, object) and not concrete)
        and not _is_to_somebody(relation, object, voices)
        and not (_is_sentiment(relation, object) and not named)
        and not _is_vague(object)
        and relation.text not in ("is like", "was like")
        and not (object.type == "time" and relation.main in _TRANSITIVE)
        and not _is_bare_number(subject, relation, object)
        and not all(_is_number(word) for word in phrase.text.lower().split())
        and not (relation.main == "make" and object.type == "person")
        and not (relation.main in ("find", "want") and _is_adjectival(object))
        and not (relation.main == "get" and verbs.is_past(object.text.lower()))
        and not (_is_passing(relation, object) and when is None)
        and not (phrase.type == "person" and relation.text == "is" and _LEVEL.match(object.text))
        and not (relation.copula and object.text.lower() in _FEELINGS | words.SENTIMENT)
        and not phrase.text.startswith(("something", "anything", "everything"))
    )


def is_possible_only(relation: Relation, connector: str) -> bool:
    """Return whether a clause states a possibility, advice, a purpose or a case and not a fact."""
    if connector in _CASES and not _is_past(relation):
        return True
    if relation.modal in _MAY_BE:
        return not (relation.modal == "must" and relation.negated)
    return relation.modal == "can" and connector in _PURPOSE


def is_concrete(object: Phrase, voices: Voices) -> bool:
    """Return whether an object holds a number, an address, or a name other than the speakers'."""
    own = {
        part
        for name in (voices.speaker, voices.other or "")
        for part in (*name.split(), f"{name.split(' ')[-1]}'s")
    }
    said = [word for word in object.text.split() if word not in own]
    return any(one.isdigit() or one.isupper() or one == "@" for word in said for one in word)


def _is_thought(relation: Relation, object: Phrase) -> bool:
    """Return whether a statement tells an opinion, a mere possibility, or a resolve.

    "Wants his kids" lacks what they should do.
    """
    opinion = relation.main in _OPINIONS and "ing " not in f"{relation.text} "
    if opinion or relation.text == "looks at":
        return True
    if relation.modal == "can" and relation.main not in _SKILLS:
        return True
    if relation.modal == "will" and relation.main in _RESOLVES:
        return True
    return relation.main == "want" and object.text.lower().split()[-1] in _PROGENY


def _is_generic(object: Phrase) -> bool:
    """Return whether an object is only "a book" or "a good movie", which says too little."""
    evaluative = words.SENTIMENT - _TELLING
    said = [word for word in object.text.lower().split() if word not in evaluative]
    return len(said) == 1 and said[0] in _GENERIC


def _is_to_somebody(relation: Relation, object: Phrase, voices: Voices) -> bool:
    """Return whether an object begins with somebody about whom it goes on: "keeps Ann updated"."""
    if relation.main in GIVING | {"owe", "cost", "save"} or object.proper:
        return False
    for name in (voices.speaker, voices.other):
        if name and object.text.startswith(f"{name} "):
            following = object.text.removeprefix(f"{name} ").split()[0].lower()
            return following not in words.PREPOSITIONS and following not in ("and", "or")
    ahead = relation.text.startswith("looks forward")
    return ahead and (object.type in ("person", "concept") or is_owned(object.text))


def _is_mood(relation: Relation) -> bool:
    """Return whether a relation tells a hope, an effort or an impression and not a fact."""
    said = relation.text.split()
    resolved = "keep" in said and said[0] in ("will", "wants", "is")
    return bool(_MOODS & set(said)) or "sure" in said or resolved


def _is_compliment(relation: Relation, object: Phrase) -> bool:
    """Return whether something said to somebody about them is no news to either of them."""
    first = relation.text.split()[0]
    if object.type == "concept" or words.SENTIMENT & set(object.text.lower().split()):
        return True
    return first in ("is", "can", "will", "has", "was") or not _is_past(relation)


def _is_sentiment(relation: Relation, object: Phrase) -> bool:
    """Return whether a statement only says how somebody feels: "is proud of", "is lucky to"."""
    said = relation.text.split()
    if len(said) > 1 and said[0] in ("is", "was") and said[1] in _FEELINGS | _ATTITUDES:
        return True
    light = relation.main in _LIGHT_VERBS or said[-1].endswith("ing")
    empty = light and _head(object) in words.SOFT | _EMPTY_HEADS | words.LIGHT
    return empty or relation.main in ("appreciate", "cherish")


def _is_vague(object: Phrase) -> bool:
    """Return whether an object is a person with a part of another clause, or a bare verb."""
    said = object.text.lower().split()
    if said[-1:] == ["fan"] or (len(said) == 1 and _is_base_verb(said[0])):
        return True
    if not said or said[0] in verbs.BE or object.text.lower() in _BARE_VERBS:
        return True
    return not object.proper and len(said) > 1 and _is_simple_name(object.text.split()[0], said[1])


def _is_base_verb(low: str) -> bool:
    found = verbs.known_verb(low)
    return found is not None and found.form == "base" and verbs.verb_only(low)


def _is_adjectival(object: Phrase) -> bool:
    """Return whether an object is a lone participle: "finds it maddening", "wants him moved"."""
    low = object.text.lower()
    return " " not in low and (low.endswith("ing") or verbs.is_past(low))


def _is_simple_name(first: str, second: str) -> bool:
    """Return whether a name is followed by a verb or adjective: "Ann feel", "Ann proud"."""
    found = verbs.known_verb(second)
    verb = found is not None and found.form == "base" and second not in words.PERSON_NOUNS
    return first[:1].isupper() and not first.endswith("'s") and (verb or second in _FEELINGS)


def _head(phrase: Phrase) -> str:
    """Return the head of a noun phrase: the last word before the first preposition."""
    said = phrase.text.lower().split()
    breaks = (
        index
        for index, word in enumerate(said)
        if index and (word in words.PREPOSITIONS or word in ("to", "that", "and"))
    )
    return said[next(breaks, len(said)) - 1].strip(",.")


def _is_past(relation: Relation) -> bool:
    first = relation.text.split()[0]
    return first in ("was", "had", "used") or verbs.is_past(first)


def is_grounded(
    subject: Subject, phrase: Phrase, relation: Relation, object: Phrase, when: str | None
) -> bool:
    """Return whether it is clear what a statement is about, or what it says can be looked up."""
    if phrase.proper or phrase.text[0].isupper() or subject.pronoun or is_owned(phrase.text):
        return True
    if phrase.text == "somebody":
        return object.proper
    if phrase.type == "person" or (phrase.type in _EVENTFUL and not relation.copula):
        return True
    concrete = any(character.isdigit() for character in object.text)
    owned = is_owned(object.text) and phrase.type != "concept"
    return concrete or when is not None or object.proper or owned


def is_owned(text: str) -> bool:
    """Return whether a name says whose the thing is: "Anna's dog"."""
    return "'s " in text


def is_whole(phrase: Phrase) -> bool:
    """Return whether a phrase holds no part of another clause and not an owner in its middle."""
    if phrase.proper:
        return True
    said = phrase.text.lower().split()
    if any(word in _CUT_OUT for word in said) or (said[0] in _NOTHING and said[1:2] in _ALONE):
        return False
    return not (len(said) > 1 and (said[0] in words.CONJUNCTIONS or _is_owner_inside(said)))


def _is_owner_inside(said: list[str]) -> bool:
    """Return whether two noun phrases stand side by side: "plan Anna's contract covers"."""
    owners = [index for index, word in enumerate(said) if word.endswith("'s")]
    return any(
        index > 1
        and said[index - 1] not in words.PREPOSITIONS | words.CONJUNCTIONS
        and not (said[index - 1] in words.DETERMINERS and said[index - 2] in words.PREPOSITIONS)
        and not said[index - 1].endswith(("'s", ","))
        and verbs.known_verb(said[index - 1]) is None
        and said[index][0].islower()
        for index in owners
    ) or (owners[:1] == [0] and said[1:2] != [] and said[1] in words.PREPOSITIONS)


def _is_regret(relation: Relation, object: Phrase) -> bool:
    """Return whether somebody is sorry or cross, whoever about: "is sorry about Max"."""
    if relation.text in ("crosses with", "busies with"):
        return True
    be = relation.copula or relation.main == "be"
    return be and bool({"sorry", "cross"} & {*_opening(relation, object)})


def _opening(relation: Relation, object: Phrase) -> list[str]:
    return [*relation.text.split()[1:2], *object.text.lower().split()[:1]]


def _is_counted(object: Phrase) -> bool:
    """Return whether an object holds a number in words: "two parrots"."""
    return any(words.NUMBERS.get(word, 0) > 1 for word in object.text.lower().split())


def _is_bare_number(subject: Subject, relation: Relation, object: Phrase) -> bool:
    """Return whether the object is only a number, and not the age of somebody."""
    if object.type == "time" or not all(_is_number(word) for word in object.text.lower().split()):
        return False
    counted = object.text.isdigit() and int(object.text[:9]) >= _SMALL
    aged = relation.text in ("is", "was", "turned", "will be", "turns", "will turn")
    return not (aged and (counted or not subject.speaker))


def _is_number(word: str) -> bool:
    return word in words.NUMBERS or word.isdigit() or word in ("both", "twice", "once")


def _is_passing(relation: Relation, object: Phrase) -> bool:
    """Return whether a copula gives a mood or passing state: "is tired", "was quick"."""
    if not relation.copula or relation.main != "be" or object.proper:
        return False
    said = object.text.lower().split()
    head = said[-1]
    if any(one.isdigit() or one == "@" for one in object.text) or is_owned(object.text):
        return False
    lasting = any(word in LASTING for word in said) or verbs.is_participle(head)
    adjective = len(said) == 1 or is_manner(said[0]) or said[0] in ("more", "much", "so")
    return object.type == "concept" and adjective and not object.noun and not lasting

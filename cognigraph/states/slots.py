"""The table of slots: what a fact claims about which slot, by its relation and its ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from cognigraph.english import verbs
from cognigraph.english.words import CITIES, NUMBERS, word_set
from cognigraph.ids import normalise
from cognigraph.model.graph import Triple

Says = Literal["holds", "ends"]

# ========================================  =======================================================
# slot                                      facts about it
# ========================================  =======================================================
# ``home``                                  lives in, is based in; moved to; moved from (ends it)
# ``work``                                  works at; started at, joined; left, quit (end it)
# ``job``                                   works as; became, was promoted to
# ``relationship``                          is dating, is married to; is single; broke up with
# ``weight``, ``age``, ``diet``             weighs 80 kg; is 34 years old; is vegan
# ``value``                                 "my X is Y", "X went up to Y", for the nouns of
#                                           ``ATTRIBUTES`` and ``ROLES`` and for favourites
# ``<boss``                                 is boss of, for the nouns of ``ROLES``
# ``relation|object``                       anything else in the present tense
# ========================================  =======================================================
#
# The last one is for relations that several objects can have at once (likes, is allergic to):
# another object never ends it, only a denial of the same does ("I don't drink coffee any more"),
# and saying it again takes the denial back.
#
# Of a home, an employer and a job, a state alone ends no other: who lives in Leeds may live in
# England, and who works at a school may work at a shop as well. Only a change ends them ("moved
# to"), and another city.
#
# Facts in another tense or mood claim nothing: what somebody wants, plans, might or would do, what
# was the case once ("lived in Paris"), what happened ("visited Rome").

ANY = "*"
"""The value of a claim that ends whatever the slot holds: "I quit my job"."""
OBJECT_SIDE = "<"
"""A slot that begins with this is one of the fact's object: "Klara is Ann's boss"."""
VALUE = "value"
"""The slot of an attribute or a role: "Ann's rent is 9,000", "Ann's boss is Lars"."""

ATTRIBUTES = word_set(
    """number email e-mail address rent salary wage income deadline dose dosage weight age height
    size username nickname name title employer degree timezone bedtime mortgage hairstyle birthday
    pronouns nationality hometown postcode"""
)
"""Nouns of which a subject has one at a time: the last word of "Ann's phone number"."""
ROLES = word_set(
    """boss manager supervisor husband wife fiance fiancé fiancee fiancée spouse landlord landlady
    dentist gp therapist accountant advisor adviser babysitter nanny hairdresser childminder"""
)
"""Roles that one person has for somebody at a time; the value is a name."""
DIETS = word_set("vegan vegetarian pescatarian pescetarian omnivore")
_APART = word_set("single divorced separated widowed")
_CHANGING = frozenset(("home", "work", "job"))
"""Slots of which a state alone does not end another one."""
_NEVER_REPLACED = word_set("likes loves enjoys has visits reads plays owns knows speaks asks")
"""Verbs whose objects add up; ``replaces`` is ignored for them, as for "is allergic to"."""

_TABLE: tuple[tuple[str, Says, bool, str], ...] = (
    ("home", "holds", False, "lives in|lives at|resides in|is based in"),
    ("home", "holds", True, "moved to|moved back to|relocated to|emigrated to"),
    ("home", "ends", True, "moved from|moved out of|moved away from"),
    ("work", "holds", False, "works at|works for|is employed by|is employed at"),
    ("work", "holds", True,
     "started at|started working at|started working for|started a new job at|joined|was hired by"),
    ("work", "ends", True,
     "left|quit|resigned from|was fired from|was laid off from|retired from|stopped working at"
     "|stopped working for"),
    ("job", "holds", False, "works as"),
    ("job", "holds", True, "became|was promoted to|started working as"),
    ("relationship", "holds", False,
     "dates|is married to|is engaged to|is together with|is divorced from|is separated from"),
    ("relationship", "holds", True,
     "got married to|married|got engaged to|divorced|broke up with|split up with|separated from"
     "|started dating|got together with"),
    ("weight", "holds", False, "weighs"),
    ("age", "holds", True, "turned"),
)  # fmt: skip
_RELATIONS = {
    relation: (slot, says, change)
    for slot, says, change, relations in _TABLE
    for relation in relations.split("|")
}
_TOGETHER = {
    "dates": "dating", "started dating": "dating", "got together with": "dating",
    "is together with": "dating", "is married to": "married", "got married to": "married",
    "married": "married", "is engaged to": "engaged", "got engaged to": "engaged",
}  # fmt: skip
"""Relation -> what two people then are; after any other one of ``relationship`` they are apart."""

_AGE = re.compile(
    rf"(?P<years>\d{{1,3}}|{'|'.join(word for word, count in NUMBERS.items() if count > 1)})"
    r"(?: (?:years|year|yrs)(?: old)?)?"
)
_WEIGHT = re.compile(r"\d[\d.,]* ?(?:kgs?|kilos?|kilograms?|lbs?|pounds|stone)(?: .*)?")
_OWNED = re.compile(r"(?P<owner>.+['’]s?) (?P<what>.+)")
_ARTICLE = re.compile(r"^(?:the|an?) (?=\w)")
_IS_NOW = re.compile(
    r"(?P<verb>is|are|went (?:up|down|back) to|rose to|(?:was |is |has been )?(?:increased|raised"
    r"|lowered|reduced|changed|moved|postponed|rescheduled|extended) to|became)(?: (?:on|in|at))?"
)
_ROLE_OF = re.compile(r"is (?:the )?(\S+) of")
_PROGRESSIVE = re.compile(r"(?:is|has been) (?P<ing>\w+ing)\b(?P<rest>.*)")
_BEGUN_OR_ENDED: tuple[tuple[re.Pattern[str], Says], ...] = (
    (re.compile(r"(?:stopped|quit|gave up) (?P<verb>\w+ing)\b(?P<rest>.*)"), "ends"),
    (re.compile(r"(?:started|began|resumed) (?P<verb>\w+ing)\b(?P<rest>.*)"), "holds"),
    (re.compile(r"used to (?P<verb>\w+)(?P<rest>.*)"), "ends"),
)
_LIKING = word_set("loves enjoys adores")
_NOT_A_STATE = word_set("mentions says thinks seems looks sounds feels means goes comes gets makes")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a fact says about a slot: that it ``holds`` a value, or that it no longer does.

    ``change`` says that the fact tells of a change at a moment ("moved to") and not of a state that
    is seen at the moment of saying ("lives in"). ``dated`` is false if the time of the fact is the
    value itself ("the deadline is on Tuesday") and says nothing about when this is true.
    """

    slot: str
    says: Says
    value: str
    change: bool = False
    dated: bool = True

    @property
    def on_object(self) -> bool:
        """Whether the slot is one of the fact's object."""
        return self.slot.startswith(OBJECT_SIDE)

    @property
    def single(self) -> bool:
        """Whether the slot holds one value at a time."""
        return "|" not in self.slot


@dataclass(frozen=True, slots=True)
class FactForm:
    """What the table reads of a fact: its words, the types of its ends, its polarity."""

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    negated: bool = False


@lru_cache(maxsize=8192)
def claim_of(fact: FactForm) -> Claim | None:
    """Return what a fact claims; ``None`` if it is no state, or in another tense or mood."""
    relation = _present(normalise(fact.relation))
    readings = (read(fact, relation) for read in (_attribute, _from_table, _state))
    claim = next(filter(None, readings), None)
    if claim is None or not fact.negated:
        return claim
    return None if claim.says == "ends" else replace(claim, says="ends", change=False)


def claim_about(triple: Triple) -> Claim | None:
    """Return what a triple claims about a slot."""
    return claim_of(
        FactForm(
            triple.subject, triple.subject_type, triple.relation, triple.object,
            triple.object_type, triple.negated,
        )
    )  # fmt: skip


def same_value(slot: str, value: str, other: str) -> bool:
    """Whether two claims name the same value of a slot."""
    if value == other or ANY in (value, other):
        return True
    if slot != "relationship":
        return False
    status, _, person = value.partition(" ")
    other_status, _, other_person = other.partition(" ")
    apart = status in _APART and other_status in _APART
    return apart or (status == other_status and "" in (person, other_person))


def excludes(old: Claim, new: Claim) -> bool:
    """Whether the value of a slot that was told later cannot be true beside the one before."""
    if new.slot not in _CHANGING or new.change:
        return True
    return new.slot == "home" and {old.value, new.value} <= CITIES


# Names of slots


def base_slot(slot: str) -> str:
    """Return one name for a slot of an entity, whichever end of a fact the entity is."""
    return slot.removeprefix(OBJECT_SIDE)


def both_sides(slot: str) -> tuple[str, ...]:
    """Return the slot and its twin, if it has one: a role is told from both ends of a fact."""
    return (VALUE, OBJECT_SIDE + VALUE) if base_slot(slot) == VALUE else (slot,)


def family(slot: str) -> str:
    """Return the slots that a fact which ``replaces`` others shares with them: their prefix."""
    return slot.partition("|")[0] + "|"


def replaceable(slot: str) -> bool:
    """Whether what an extraction states to replace others may do so: not for likes, has, plays."""
    first = slot.partition("|")[0]
    return (
        "|" in slot and first.split(" ")[0] not in _NEVER_REPLACED and not first.startswith("is ")
    )


# The reading of a fact


def _present(relation: str) -> str:
    """Return the simple present for "is living in" and "has been living in"."""
    match = _PROGRESSIVE.fullmatch(relation)
    if match is None or match["ing"] == "going":
        return relation
    verb = verbs.guess_verb(match["ing"])
    return relation if verb is None else verbs.third_person(verb.base) + match["rest"]


def _attribute(fact: FactForm, relation: str) -> Claim | None:
    """Read "Ann's rent is 9,000 kroner", "Klara is Ann's boss" and "Klara is boss of Ann"."""
    if (role := _ROLE_OF.fullmatch(relation)) is not None and role[1] in ROLES:
        return Claim(OBJECT_SIDE + role[1], "holds", normalise(fact.subject))
    if (match := _IS_NOW.fullmatch(relation)) is None:
        return None
    change = match["verb"] not in ("is", "are")
    if _is_attribute(fact.subject, fact):
        return Claim(
            VALUE, "holds", normalise(fact.object), change, dated=fact.object_type != "time"
        )
    owned = _OWNED.fullmatch(fact.object)
    named = fact.subject[:1].isupper() and _OWNED.fullmatch(fact.subject) is None
    if owned is not None and relation == "is" and named and _head(owned["what"]) in ROLES:
        return Claim(OBJECT_SIDE + VALUE, "holds", normalise(fact.subject), change)
    return None


def _is_attribute(name: str, fact: FactForm) -> bool:
    head, owned = _head(name), _OWNED.fullmatch(name)
    if owned is None:
        return head in ATTRIBUTES and fact.object_type == "time"
    if head in ROLES:
        return fact.object[:1].isupper()
    if re.search(r"\bfavou?rite\b", normalise(name)) is not None:
        return True
    exact = any(letter.isupper() or letter.isdigit() or letter == "@" for letter in fact.object)
    return head in ATTRIBUTES and (exact or fact.object_type == "time")


def _head(name: str) -> str:
    """Return the noun that a name is about: "number" in "Ann's phone number at work"."""
    before = re.split(r" (?:of|for|at|in|on|with|to) ", normalise(name), maxsplit=1)[0]
    return before.rsplit(" ", 1)[-1]


def _from_table(fact: FactForm, relation: str) -> Claim | None:
    value, person = normalise(fact.object), fact.subject_type == "person"
    if relation == "is" and person:
        return _status(value)
    if (entry := _RELATIONS.get(relation)) is None:
        return None
    slot, says, change = entry
    claimed = _value(slot, fact, relation, value)
    return None if claimed is None else Claim(slot, says, claimed, change)


def _status(value: str) -> Claim | None:
    """Read "is 34", "is 80 kg", "is vegan", "is single"."""
    if age := _AGE.fullmatch(value):
        return Claim("age", "holds", str(NUMBERS.get(age["years"], age["years"])))
    if _WEIGHT.fullmatch(value):
        return Claim("weight", "holds", value)
    if value in DIETS:
        return Claim("diet", "holds", value)
    if value in _APART | {"married", "engaged"}:
        return Claim("relationship", "holds", value)
    return None


def _value(slot: str, fact: FactForm, relation: str, value: str) -> str | None:
    """Return the value that a relation of the table claims; ``None`` if it claims nothing."""
    named, type = fact.object[:1].isupper(), fact.object_type
    if slot == "home":
        place = type == "location" or (named and type not in ("time", "organization", "person"))
        return value if place else None
    if slot == "work":
        firm = named and (relation != "joined" or type == "organization")
        return value if firm and type not in ("time", "person", "location") else None
    if slot == "job":
        return value if type not in ("time", "location") else None
    if slot == "relationship":
        fits = (named or type == "person") and type != "time"
        return f"{_TOGETHER.get(relation, 'single')} {value}" if fits else None
    if slot == "age":
        age = _AGE.fullmatch(value)
        return None if age is None else str(NUMBERS.get(age["years"], age["years"]))
    return value if value[:1].isdigit() else None


def _state(fact: FactForm, relation: str) -> Claim | None:
    """Read any other fact in the present tense, and what says that one began or ended."""
    for pattern, says in _BEGUN_OR_ENDED:
        if (match := pattern.fullmatch(relation)) is not None:
            return _begun_or_ended(fact, match, says)
    if relation in _LIKING:
        relation = "likes"  # who "doesn't like running any more" does not love it
    value = _ARTICLE.sub("", normalise(fact.object), count=1)
    first = relation.split(" ")[0]
    verb = verbs.VERBS.get(first)
    if first in verbs.MODALS or first in _NOT_A_STATE or first in ("was", "were", "had"):
        return None
    # A word that is no English verb may be the present of another language.
    present = first in ("is", "are", "has") or verb is None or verb.form == "s"
    return Claim(f"{relation}|{value}", "holds", value) if present else None


def _begun_or_ended(fact: FactForm, match: re.Match[str], says: Says) -> Claim | None:
    verb = verbs.guess_verb(match["verb"])
    base = verb.base if verb is not None else match["verb"]
    relation = verbs.third_person(base) + match["rest"]
    state = replace(fact, relation=relation)
    claim = _attribute(state, relation) or _from_table(state, relation) or _state(state, relation)
    return None if claim is None else Claim(claim.slot, says, claim.value, True)


# One wording for what people say in several ways, so that it is about one slot of one entity.
#
# ========================================  =======================================================
# as it is said                             as it is stored
# ========================================  =======================================================
# "Ann reports to Lars"                     "Ann's boss is Lars"
# "Ann's line manager is Lars"              "Ann's boss is Lars"
# "Ann's new boss is Lars"                  "Ann's boss is Lars"
# "Ann's mobile is 0160 555 0199"           "Ann's phone number is 0160 555 0199"
# "Ann's e-mail is ann@home.example"        "Ann's email address is ann@home.example"
# "Ann is employed by Fiat"                 "Ann works at Fiat"
# "Ann resides in Oslo"                     "Ann lives in Oslo"
# ========================================  =======================================================

_NEW = re.compile(r"^(?:(?:brand[ -])?new|current|present) (?=\S)")
_BOSSES = frozenset(("boss", "manager", "line manager", "direct manager", "direct boss"))
_PHONES = frozenset(
    "number|phone|mobile|cell|cell phone|mobile phone|mobile number|cell number|telephone"
    "|telephone number|phone number".split("|")
)
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{4,24}\d")
_MAILS = frozenset(("email", "e-mail", "mail", "mail address", "e-mail address", "email address"))
_MAIL = re.compile(r"[^\s@]+@[^\s@]+")


_SAME = {
    "works for": "works at", "is employed by": "works at", "is employed at": "works at",
    "resides in": "lives in",
}  # fmt: skip
"""Relation -> the one that says the same of an employer or a home; of others they differ."""


def worded(fact: FactForm) -> FactForm:
    """Return a fact in the wording under which it is stored; most facts stay as they are."""
    relation = normalise(fact.relation)
    if relation in _SAME:
        slot, _, _ = _RELATIONS[relation]
        claimed = _value(slot, fact, relation, normalise(fact.object))
        return fact if claimed is None else replace(fact, relation=_SAME[relation])
    named = fact.object[:1].isupper()
    if relation == "reports to" and named and normalise(fact.subject_type) == "person":
        return replace(fact, subject=f"{fact.subject}'s boss", relation="is", object_type="person")
    if relation not in ("is", "are"):
        return fact
    if named and (boss := _renamed(fact.subject, _BOSSES, "boss")) is not None:
        return replace(fact, subject=boss)
    if fact.subject[:1].isupper() and (boss := _renamed(fact.object, _BOSSES, "boss")) is not None:
        return replace(fact, object=boss)
    for names, value, what in ((_PHONES, _PHONE, "phone number"), (_MAILS, _MAIL, "email address")):
        renamed = _renamed(fact.subject, names, what)
        if renamed is not None and value.fullmatch(fact.object):
            return replace(fact, subject=renamed)
    return fact


def _renamed(name: str, attributes: frozenset[str], what: str) -> str | None:
    """Return "Ann's boss" for "Ann's new line manager", if it is one of some attributes."""
    owned = _OWNED.fullmatch(name)
    if owned is None or _NEW.sub("", normalise(owned["what"])) not in attributes:
        return None
    return f"{owned['owner']} {what}"

"""The table of slots: what a fact claims about which slot, by its relation and its ends.

========================================  =======================================================
slot                                      facts about it
========================================  =======================================================
``home``                                  lives in, is based in; moved to; moved from (ends it)
``work``                                  works at, started at, a job at; left, quit, retired from
``job``                                   works as; is, or became, a nurse, an engineer, ...
``relationship``                          is dating, is married to; is single; broke up with
``weight``, ``age``                       weighs; is 34 years old, turned 34
``dose of X``                             takes 20 mg of X, is on 20 mg of X
``hour``                                  "the standup is 9:30", "was moved to 10:15"
``value``                                 "my X is Y", "X went up to Y", "the deadline moved to Y",
                                          for the nouns of ``ATTRIBUTES`` and ``ROLES``,
                                          for favourites, and for amounts and dates
``task|words``                            has the task; has done the task (ends it)
``relation|object``                       anything else in the present tense
========================================  =======================================================

The last one is for relations that several objects can have at once (likes, has, plays, is allergic
to): another object never ends it, only a denial of the same does ("I don't drink coffee any more",
"I stopped drinking coffee"), and saying it again takes the denial back.

Facts in another tense or mood claim nothing: what somebody wants, plans, might or would do, what
was the case once ("lived in Paris"), what happened ("visited Rome").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from cognigraph.english import verbs
from cognigraph.english.words import NUMBERS, word_set
from cognigraph.ids import normalise
from cognigraph.model.graph import Triple
from cognigraph.states.conditions import is_present, told_of_condition, unversioned, use, used_name
from cognigraph.states.habits import CLOCK, same_of_several, told_of_habit
from cognigraph.states.kinds import kind_of
from cognigraph.states.slot_names import OBJECT_SIDE, VALUE
from cognigraph.states.slot_table import (
    APART,
    ATTRIBUTES,
    JOBS,
    OCCUPATIONS,
    PLAIN_VALUES,
    RELATIONS,
    ROLES,
    TITLES,
    TOGETHER,
    Says,
    without_tail,
)
from cognigraph.states.tasks import told_of_task

ANY = "*"
"""The value of a claim that ends whatever the slot holds: "I quit my job"."""

_JOB_AT = re.compile(
    r"(?:\S.*['’]s )?(?:new )?(?:full-time |part-time )?(?:job|position|role|internship|gig) "
    r"(?:at|with|for|in) (?P<where>.+)"
)
_JOB = re.compile(r"(?:\S.*['’]s )?(?:old |day |current )?(?:job|position)")
_TOOK = word_set("started starts got has took accepted landed found")
_DWELLING = re.compile(
    r"(?:.* )?(?:flat|apartment|house|place|room|condo|studio|home|cottage|dorm)"
    r"(?: (?:in|at|near) (?P<where>.+))?"
)
_AGE = re.compile(
    rf"(?P<years>\d{{1,3}}|{'|'.join(word for word, count in NUMBERS.items() if count > 1)})"
    r"(?: (?:years|year|yrs)(?: old)?)?"
)
_WEIGHT = re.compile(r"\d[\d.,]* ?(?:kgs?|kilos?|kilograms?|lbs?|pounds|stone)(?: .*)?")
_ARTICLE = re.compile(r"^(?:the|an?) (?=\w)")
_PAIRED = re.compile(
    r"(?:is |got )?(?P<status>married|engaged|divorced|separated)(?: (?:on|in|at|over|since))?"
)
_DOSE = re.compile(
    r"(?P<dose>\d[\d.,]* ?(?:mg|ml|mcg|µg|g|iu|units?|tablets?|pills?|drops?)(?: \w+ ?\w*)?) of "
    r"(?P<drug>.+?)(?: (?:every|each|daily|twice|once|per|in the|at|a day|before|after|with) ?.*)?"
)
_COUNTED = re.compile(rf"\d|(?:{'|'.join(NUMBERS)})\b")
_DAYS = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_AMOUNT = re.compile(r"[$€£]?\d|(?:about|around|exactly) \d")
_OWNED = re.compile(r"(?P<owner>.+['’]s?) (?P<what>.+)")
_IS_NOW = re.compile(
    r"(?P<verb>is|are|went (?:up|down|back) to|rose to|(?:was |is |got |has been )?(?:increased"
    r"|raised|lowered|reduced|decreased|dropped|changed|moved|slipped|pushed|pushed back|postponed"
    r"|delayed|shifted|extended|rescheduled|bumped|brought forward) (?:up |back |out )?"
    r"(?:to|until|till)"
    r"|slipped to|fell to|became)(?: (?:on|in|at|to|by))?"
)
_PROGRESSIVE = re.compile(r"(?:is|has been) (?P<ing>\w+ing)\b(?P<rest>.*)")
_STOPPED = re.compile(
    r"(?:stopped|stops|quit|quits|gave up|gives up) (?P<ing>\w+ing)\b(?P<rest>.*)"
)
_STARTED = re.compile(
    r"(?:started|began|resumed|is back to|went back to|goes back to) (?P<ing>\w+ing)\b(?P<rest>.*)"
)
_BEGIN_OR_END = word_set("stopped stops quit quits started began resumed") | {"gave up", "gives up"}
_DOING = re.compile(r"(?P<ing>[a-z]+ing) (?P<rest>\S.*)")
_SWITCHED = re.compile(
    r"(?:switched|migrated|changed over|moved over|went back) (?:over |back )?(?P<way>from|to)"
)
_USED_TO = re.compile(r"used to (?P<base>\w+)(?P<rest>.*)")
_WEIGHING = ("is down to", "is up to", "is back to", "is at")


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
    scope: str = ""
    """The kind of what is used: what replaces others ends those of its kind, if it is known."""

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


def claim_of(fact: FactForm) -> Claim | None:
    """Return what a fact claims; ``None`` if it is no state, or in another tense or mood."""
    return _claim_of(fact)


def claim_about(triple: Triple) -> Claim | None:
    """Return what a triple claims about a slot."""
    return claim_of(
        FactForm(
            triple.subject, triple.subject_type, triple.relation, triple.object,
            triple.object_type, triple.negated,
        )
    )  # fmt: skip


def gives_value(relation: str) -> bool:
    """Whether a relation tells the value of an attribute: "is", "went up to", "moved to"."""
    return _IS_NOW.fullmatch(relation) is not None


def is_attribute_noun(name: str) -> bool:
    """Whether a name is one of an attribute or a role of which there is one at a time."""
    return _favourite(name) or _head(name) in ATTRIBUTES | ROLES


@lru_cache(maxsize=8192)
def _claim_of(fact: FactForm) -> Claim | None:
    relation = _present(normalise(fact.relation))
    task = told_of_task(relation, fact.object)
    found = (read(fact, relation) for read in (_attribute, _condition, _from_table, _state))
    told = Claim(*task) if task else next(filter(None, found), None)
    if told is None or not fact.negated:
        return told
    if told.says == "ends":
        return None
    return Claim(told.slot, "ends", told.value, dated=told.dated, scope=told.scope)


def _present(relation: str) -> str:
    """Return the simple present for "is living in" and "has been living in"."""
    match = _PROGRESSIVE.fullmatch(relation)
    if match is None or match["ing"] == "going":
        return relation
    verb = verbs.guess_verb(match["ing"])
    return relation if verb is None else verbs.third_person(verb.base) + match["rest"]


def _attribute(fact: FactForm, relation: str) -> Claim | None:
    """Read "Ann's rent is 9,000 kroner" and "Klara is Ann's boss"."""
    if (match := _IS_NOW.fullmatch(relation)) is None:
        return None
    change = match["verb"] not in ("is", "are")
    value = normalise(fact.object)
    if fact.subject_type != "person" and CLOCK.fullmatch(value):
        return Claim("hour", "holds", value, change)
    if _is_attribute(fact.subject, fact):
        return Claim(VALUE, "holds", value, change, dated=fact.object_type != "time")
    owned = _OWNED.fullmatch(fact.object)
    named = fact.subject[:1].isupper() and _OWNED.fullmatch(fact.subject) is None
    if owned is not None and relation == "is" and named and _head(owned["what"]) in ROLES:
        return Claim(OBJECT_SIDE + VALUE, "holds", normalise(fact.subject), change)
    return None


def _is_attribute(name: str, fact: FactForm) -> bool:
    head, owned = _head(name), _OWNED.fullmatch(name)
    if head in ROLES:
        return owned is not None and fact.object[:1].isupper()
    if fact.subject_type == "person" or fact.object.startswith(("my ", "his ", "her ")):
        return False
    measured = fact.object_type == "time" or _AMOUNT.match(fact.object) is not None
    if _favourite(name) or measured or _DAYS.match(fact.object):
        return owned is not None or head in ATTRIBUTES or fact.object_type == "time"
    if head in OCCUPATIONS and normalise(fact.object).rsplit(" ", 1)[-1] in JOBS:
        return owned is not None
    # "My car is dirty" gives the car no other value; "my car is a Volvo" and "my hair is red" do.
    return (
        owned is not None and head in ATTRIBUTES and (_named(fact.object) or head in PLAIN_VALUES)
    )


def _named(value: str) -> bool:
    return any(letter.isupper() or letter.isdigit() or letter == "@" for letter in value)


def _condition(fact: FactForm, relation: str) -> Claim | None:
    """Read "is vegan", "is in review", "runs twice a week", "always wants to answer in German"."""
    value, person = normalise(fact.object), fact.subject_type == "person"
    if (told := told_of_condition(relation, value, person=person)) is not None:
        return Claim(*told)
    habit = told_of_habit(relation, value) if person else None
    return None if habit is None else Claim(*habit)


def _favourite(name: str) -> bool:
    return re.search(r"\bfavou?rite\b", normalise(name)) is not None


def _head(name: str) -> str:
    """Return the noun that a name is about: "number" in "Ann's phone number at work"."""
    before = re.split(r" (?:of|for|at|in|on|with|to) ", normalise(name), maxsplit=1)[0]
    return before.rsplit(" ", 1)[-1]


def _from_table(fact: FactForm, relation: str) -> Claim | None:
    value = normalise(fact.object)
    if relation == "is":
        return _status(fact, value)
    if (paired := _PAIRED.fullmatch(relation)) is not None and fact.object_type == "time":
        return Claim("relationship", "holds", paired["status"], change=True)
    if relation in _WEIGHING and fact.subject_type == "person" and _WEIGHT.fullmatch(value):
        return Claim("weight", "holds", value)
    dose = _DOSE.fullmatch(fact.object) if relation in ("takes", "is on") else None
    if dose is not None:
        return Claim(f"dose of {normalise(dose['drug'])}", "holds", normalise(dose["dose"]))
    job = _JOB_AT.fullmatch(fact.object)
    if relation in _TOOK and job is not None and job["where"][:1].isupper():
        return Claim("work", "holds", normalise(job["where"]), change=relation != "has")
    if (entry := RELATIONS.get(relation)) is None:
        return None
    slot, says, change = entry
    claimed = _VALUES[slot](fact, relation, value)
    return None if claimed is None else Claim(slot, says, claimed, change)


def _status(fact: FactForm, value: str) -> Claim | None:
    """Read "is single", "is a nurse", "is 34"."""
    person, status = fact.subject_type == "person", re.split(r" and |,", value, maxsplit=1)[0]
    if person and (age := _AGE.fullmatch(status)):
        return Claim("age", "holds", _years(age))
    if person and _WEIGHT.fullmatch(value):
        return Claim("weight", "holds", value)
    if person and status in APART | {"married", "engaged"}:
        return Claim("relationship", "holds", status)
    titles = JOBS if "'s " in value else TITLES
    if person and _head(value) in titles:
        return Claim("job", "holds", value)
    return None


def _home(fact: FactForm, relation: str, value: str) -> str | None:
    dwelling = _DWELLING.fullmatch(fact.object)
    place = fact.object if dwelling is None else dwelling["where"] or ""
    if fact.object_type in ("time", "organization", "person") or not place:
        return None
    return normalise(place) if fact.object_type == "location" or place[:1].isupper() else None


def _work(fact: FactForm, relation: str, value: str) -> str | None:
    if (job := _JOB_AT.fullmatch(fact.object)) is not None:
        return normalise(job["where"])
    if relation in ("quit", "quits", "lost", "left") and _JOB.fullmatch(fact.object):
        return ANY
    if relation == "joined":
        return value if fact.object_type == "organization" and _named(fact.object) else None
    if relation in ("left", "lost") and fact.object_type in ("location", "person", "time"):
        return None  # that ends no employment
    return value if fact.object[:1].isupper() and fact.object_type != "time" else None


def _job(fact: FactForm, relation: str, value: str) -> str | None:
    plain = relation == "became" and _head(value) not in TITLES
    return None if plain or fact.object_type in ("time", "location") else value


def _relationship(fact: FactForm, relation: str, value: str) -> str | None:
    status = TOGETHER.get(relation, "single")
    named = fact.object[:1].isupper() or fact.object_type == "person"
    return f"{status} {value}" if named and fact.object_type != "time" else None


def _age(fact: FactForm, relation: str, value: str) -> str | None:
    match = _AGE.fullmatch(value) if fact.subject_type == "person" else None
    return None if match is None else _years(match)


def _years(age: re.Match[str]) -> str:
    return str(NUMBERS.get(age["years"], age["years"]))


def _amount(fact: FactForm, relation: str, value: str) -> str | None:
    return value if _AMOUNT.match(fact.object) else None


_VALUES = {
    "home": _home, "work": _work, "job": _job, "relationship": _relationship, "age": _age,
    "weight": _amount,
}  # fmt: skip
"""What a relation of the table claims as the value, by slot; None if it is about something else."""


def same_value(slot: str, one: str, other: str) -> bool:
    """Whether two claims name the same value of a slot."""
    if one == other or ANY in (one, other) or same_of_several(slot, one, other):
        return True
    if slot != "relationship":
        return False
    (status, _, person), (other_status, _, other_person) = one.partition(" "), other.partition(" ")
    apart = status in APART and other_status in APART
    return apart or (status == other_status and "" in (person, other_person))


def _state(fact: FactForm, relation: str) -> Claim | None:
    """Read any other fact in the present tense, and what says that one began or ended."""
    if relation in ("stopped", "quit", "gave up") and (done := _activity(fact.object)) is not None:
        return Claim(f"{done}|{ANY}", "ends", ANY, True)
    if (doing := _DOING.fullmatch(fact.object)) is not None and relation in _BEGIN_OR_END:
        fact, relation = replace(fact, object=doing["rest"]), f"{relation} {doing['ing']}"
    value = _ARTICLE.sub("", normalise(fact.object), count=1)
    for pattern, says in ((_STOPPED, "ends"), (_STARTED, "holds"), (_USED_TO, "ends")):
        if (match := pattern.fullmatch(relation)) is not None:
            return _begun_or_ended(fact, match, "ends" if says == "ends" else "holds")
    if (match := _SWITCHED.fullmatch(relation)) is not None:
        name = used_name(value)
        ends = match["way"] == "from"
        scope = kind_of(name) or ""
        slot = f"uses|{unversioned(name)}"
        return Claim(slot, "ends" if ends else "holds", name, True, scope=scope)
    if not is_present(relation):
        return None
    if _COUNTED.match(fact.object):
        relation = re.sub(r" (?:about|around|roughly)$", "", relation)
    named = fact.object_type != "time"
    if named and (used := use(relation, normalise(fact.object))) is not None:
        name, kind = used
        name = used_name(value) if fact.negated else without_tail(name)
        return Claim(f"uses|{unversioned(name)}", "holds", name, scope=kind)
    # To deny "drinks coffee every morning" is not to deny "drinks coffee".
    what = value if fact.negated else without_tail(value)
    return Claim(f"{relation}|{what}", "holds", what)


def _activity(object: str) -> str | None:
    """Return the verb of "smoking", as it is said of somebody: "smokes"."""
    verb = verbs.guess_verb(object) if re.fullmatch(r"[a-z]+ing", object) else None
    return None if verb is None or verb.form != "ing" else verbs.third_person(verb.base)


def _begun_or_ended(fact: FactForm, match: re.Match[str], says: Says) -> Claim | None:
    word = match["base"] if "base" in match.re.groupindex else match["ing"]
    verb = verbs.guess_verb(word)
    base = verb.base if verb is not None else word
    relation = verbs.third_person(base) + match["rest"]
    state = FactForm(fact.subject, fact.subject_type, relation, fact.object, fact.object_type)
    claim = _attribute(state, relation) or _from_table(state, relation) or _state(state, relation)
    return None if claim is None else Claim(claim.slot, says, claim.value, True, scope=claim.scope)

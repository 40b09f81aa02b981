"""One wording for what people say in several ways, so that it is about one slot of one entity.

========================================  =======================================================
as it is said                             as it is stored
========================================  =======================================================
"Ann reports to Lars"                     "Ann's boss is Lars"
"Ann's line manager is Lars"              "Ann's boss is Lars"
"Ann's new boss is Lars"                  "Ann's boss is Lars"
"Ann's favourite band these days is X"    "Ann's favourite band is X"
"Ann's mobile is 0160 555 0199"           "Ann's phone number is 0160 555 0199"
"Ann's e-mail is ann@home.example"        "Ann's email address is ann@home.example"
"Ann's metformin is 850 mg"               "Ann takes 850 mg of metformin"
"Ann pays 900 euros rent a month"         "Ann's rent is 900 euros"
========================================  =======================================================
"""

from __future__ import annotations

import re
from dataclasses import replace

from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.states.slots import FactForm, gives_value, is_attribute_noun

_OWNED = re.compile(r"(?P<owner>.+['’]s?) (?P<what>.+)")
_NEW = re.compile(r"(?:(?:brand[ -])?new|current|present|latest|updated) ")
_THESE_DAYS = re.compile(r" (?:these days|nowadays|right now|at the moment|currently|now)")
_BOSSES = frozenset(("manager", "line manager", "direct manager", "direct boss"))
_PHONES = frozenset(
    """number|phone|mobile|cell|cell phone|mobile phone|mobile number|cell number|telephone
    |telephone number|phone no""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{4,24}\d")
_MAILS = frozenset(("email", "e-mail", "mail", "mail address", "e-mail address", "email id"))
_MAIL = re.compile(r"[^\s@]+@[^\s@]+")
_AMOUNT = re.compile(r"\d[\d.,]* ?(?:mg|mcg|µg|iu)", re.IGNORECASE)
_RENT = re.compile(
    r"(?P<amount>[$€£]?\d[\d.,]*(?: (?!(?:of|in|as|for) )\w+)?) (?:(?:of|in|as|for|for the) )?rent"
    r"(?:,? (?:(?:a|per|each|every) month|monthly|a week|per week))?",
    re.IGNORECASE,
)
_PERSONAL = word_set("person")
_NO_BOSS = word_set("organization time event")


def worded(fact: FactForm) -> FactForm:
    """Return a fact in the wording under which it is stored; most facts stay as they are."""
    relation = normalise(fact.relation)
    if relation == "reports to":
        return _boss(fact)
    if relation in ("pays", "is paying"):
        return _rent(fact)
    if not gives_value(relation):
        return fact
    return _dose(_contact(_role(_without_now(fact))))


def attribute_name(name: str) -> str:
    """Return the name of an attribute without "new" and "these days": "Ann's new boss"."""
    owned = _OWNED.fullmatch(name)
    if owned is None:
        return name
    what = _NEW.sub("", owned["what"], count=1) if _NEW.match(owned["what"]) else owned["what"]
    what = _THESE_DAYS.sub("", what) or what
    return f"{owned['owner']} {what}" if is_attribute_noun(what) else name


def _without_now(fact: FactForm) -> FactForm:
    return replace(fact, subject=attribute_name(fact.subject), object=attribute_name(fact.object))


def _boss(fact: FactForm) -> FactForm:
    named = fact.object[:1].isupper() and normalise(fact.object_type) not in _NO_BOSS
    if normalise(fact.subject_type) not in _PERSONAL or not named:
        return fact
    return replace(fact, subject=f"{fact.subject}'s boss", relation="is", object_type="person")


def _rent(fact: FactForm) -> FactForm:
    paid = _RENT.fullmatch(fact.object)
    if paid is None or fact.negated or normalise(fact.subject_type) not in _PERSONAL:
        return fact
    return replace(
        fact, subject=f"{fact.subject}'s rent", subject_type="concept", relation="is",
        object=paid["amount"], object_type="object",
    )  # fmt: skip


def _role(fact: FactForm) -> FactForm:
    """A manager who has a name is a boss; "my manager is nice" says nothing of who it is."""
    if fact.object[:1].isupper() and (owner := _owner_of(fact.subject, _BOSSES)) is not None:
        return replace(fact, subject=f"{owner} boss")
    if fact.subject[:1].isupper() and (owner := _owner_of(fact.object, _BOSSES)) is not None:
        return replace(fact, object=f"{owner} boss")
    return fact


def _contact(fact: FactForm) -> FactForm:
    for names, value, what in ((_PHONES, _PHONE, "phone number"), (_MAILS, _MAIL, "email address")):
        owner = _owner_of(fact.subject, names)
        if owner is not None and value.fullmatch(fact.object):
            return replace(fact, subject=f"{owner} {what}")
    return fact


def _dose(fact: FactForm) -> FactForm:
    owned = _OWNED.fullmatch(fact.subject)
    if owned is None or not _AMOUNT.fullmatch(fact.object):
        return fact
    drug = re.sub(r" (?:dose|dosage)$", "", owned["what"])
    if normalise(drug) in ("dose", "dosage"):
        return fact
    person = re.sub(r"['’]s?$", "", owned["owner"])
    return replace(
        fact, subject=person, subject_type="person", relation="takes",
        object=f"{fact.object} of {drug}", object_type="object",
    )  # fmt: skip


def _owner_of(name: str, attributes: frozenset[str]) -> str | None:
    """Return whose attribute a name is, with its "'s", if it is one of some attributes."""
    owned = _OWNED.fullmatch(name)
    return owned["owner"] if owned is not None and normalise(owned["what"]) in attributes else None

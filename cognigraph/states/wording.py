"""One wording for what people say in several ways, so that it is about one slot of one entity.

========================================  =======================================================
as it is said                             as it is stored
========================================  =======================================================
"Ann reports to Lars"                     "Ann's boss is Lars"
"Ann's line manager is Lars"              "Ann's boss is Lars"
"Ann's new boss is Lars"                  "Ann's boss is Lars"
"Ann's mobile is 0160 555 0199"           "Ann's phone number is 0160 555 0199"
"Ann's e-mail is ann@home.example"        "Ann's email address is ann@home.example"
========================================  =======================================================
"""

from __future__ import annotations

import re
from dataclasses import replace

from cognigraph.ids import normalise
from cognigraph.states.slots import FactForm

_OWNED = re.compile(r"(?P<owner>.+['’]s?) (?P<what>.+)")
_NEW = re.compile(r"^(?:(?:brand[ -])?new|current|present) (?=\S)")
_BOSSES = frozenset(("boss", "manager", "line manager", "direct manager", "direct boss"))
_PHONES = frozenset(
    "number|phone|mobile|cell|cell phone|mobile phone|mobile number|cell number|telephone"
    "|telephone number|phone number".split("|")
)
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{4,24}\d")
_MAILS = frozenset(("email", "e-mail", "mail", "mail address", "e-mail address", "email address"))
_MAIL = re.compile(r"[^\s@]+@[^\s@]+")


def worded(fact: FactForm) -> FactForm:
    """Return a fact in the wording under which it is stored; most facts stay as they are."""
    relation = normalise(fact.relation)
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

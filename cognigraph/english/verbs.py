"""English verbs: a small lexicon, functions that recognise and form inflections, and denials.

The lexicon (``verbs.txt``: a base, and of an irregular verb its past and its participle) allows the
rules to find verbs without a part-of-speech tagger. A word outside it counts as a verb only by its
position (after "I", "will", "to") or its ending (-ed, -ing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cognigraph.english.words import listed, word_set

Form = Literal["base", "s", "past", "part", "ing"]

_REMEMBERED = 8192
"""Words of which what they are is remembered, because a conversation repeats its words."""

_NOUN_TOO = frozenset(listed("verbs_or_nouns.txt"))
"""Forms that are just as often nouns or adjectives: verbs only where the syntax needs a verb."""

BE = word_set("am is are was were be been being")
HAVE = word_set("have has had having")
DO = word_set("do does did")
MODALS = word_set("will would can could should must might may shall")
FINITE_AUX = word_set("am is are was were have has had do does did") | MODALS


@dataclass(frozen=True, slots=True)
class Verb:
    """One analysis of a word form: its base and which form of the base it is."""

    base: str
    form: Form


def third_person(base: str) -> str:
    """Return the third person singular present of a base form: ``try`` gives ``tries``."""
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def past_of(base: str) -> str:
    """Return the past tense of a base form, regular unless the lexicon has an irregular one."""
    return _PAST.get(base) or _regular_past(base)


def _doubles(base: str) -> bool:
    return base in ("prefer", "admit", "submit", "babysit", "regret") or (
        len(base) in (3, 4)
        and base[-1] in "bdgmnpt"
        and base[-2] in "aeiou"
        and base[-3] not in "aeiou"
        and base not in ("open", "edit")
    )


def ing_of(base: str) -> str:
    """Return the -ing form of a base form."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles(base) else "") + "ing"


def _regular_past(base: str) -> str:
    if _doubles(base):
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _lexicon() -> tuple[dict[str, Verb], dict[str, str], set[str]]:
    forms: dict[str, Verb] = {}
    past: dict[str, str] = {}
    participles: set[str] = set()
    for line in listed("verbs.txt"):
        base, *irregular = line.split()
        simple, participle = irregular or [_regular_past(base)] * 2
        past[base] = simple
        participles.add(participle)
        forms.setdefault(third_person(base), Verb(base, "s"))
        forms.setdefault(ing_of(base), Verb(base, "ing"))
        forms.setdefault(participle, Verb(base, "part"))
        forms[simple] = Verb(base, "past")
    forms |= {base: Verb(base, "base") for base in past}
    forms |= {"cancelled": Verb("cancel", "past"), "travelled": Verb("travel", "past")}
    return forms, past, participles


VERBS, _PAST, _PARTICIPLES = _lexicon()
"""``VERBS`` is the lexicon: each lower-case form with its verb."""
_NOT_ED = word_set(
    """bed red need seed weed speed feed exceed indeed hundred sacred wicked shed sled
    bleed breed"""
)
_NOT_ING = word_set(
    """thing things something anything nothing everything morning evening king ring spring
    string wedding during wing sing bring sibling ceiling pudding sterling interesting
    amazing exciting"""
)


@lru_cache(maxsize=_REMEMBERED)
def guess_verb(word: str) -> Verb | None:
    """Look up a form in the lexicon, else go by its ending: -ed is past, -ing progressive."""
    found = VERBS.get(word)
    if found is not None:
        return found
    if len(word) > 3 and word.endswith("ed") and word not in _NOT_ED:
        return Verb(word, "past")
    if len(word) > 5 and word.endswith("ing") and word not in _NOT_ING:
        return Verb(word, "ing")
    return None


def is_ing(word: str) -> bool:
    """Return whether a form is a present participle or gerund."""
    return word.endswith("ing") and len(word) > 4 and word not in _NOT_ING


@lru_cache(maxsize=_REMEMBERED)
def is_past(word: str) -> bool:
    """Return whether a form is a past tense and not also a base form."""
    found = guess_verb(word)
    return found is not None and found.form == "past"


def is_participle(word: str) -> bool:
    """Return whether a form can be a past participle (after "have" or a passive "be")."""
    found = guess_verb(word)
    if found is None:
        return False
    return found.form in ("past", "part") or word in _PARTICIPLES


def verb_only(word: str) -> bool:
    """Return whether a form is a verb and hardly ever a noun or adjective."""
    found = VERBS.get(word)
    if found is None:
        return False
    if found.form == "ing":
        return found.base not in _NOUN_TOO and found.base not in _GERUND_NOUNS
    if found.form == "s":
        return found.base not in _NOUN_TOO
    return word not in _NOUN_TOO


_GERUND_NOUNS = word_set(
    """bake paint write swim ski hike camp run cook dance sing draw knit climb jog skate
    garden sketch read meet build train volunteer act teach begin"""
)


# Deny a relation in the third person: "likes" becomes "does not like".

_AUXILIARY = frozenset(("is", "was", "are", "were", "am"))
_HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
_HISSING = ("ches", "shes", "xes", "sses", "zzes", "oes")


def denied(relation: str) -> str:
    """Return the negation of a relation; one that does not begin with a verb gets a "not"."""
    first, _, rest = relation.partition(" ")
    second = rest.split(" ")[0]
    if first in _AUXILIARY or first in MODALS:
        return " ".join(filter(None, (first, "not", rest)))
    if first in _HAVE and second != "been" and not (second and is_participle(second)):
        return f"{_HAVE[first]} {rest}".rstrip()
    if first in _HAVE:
        return f"{first} not {rest}"
    plain = _plain(first)
    return f"{plain} {rest}".rstrip() if plain else f"not {relation}"


def _plain(verb: str) -> str:
    """Return "does not like" for "likes", "did not buy" for "bought"; "" if it is no such form."""
    found = VERBS.get(verb)
    if found is not None and found.form in ("past", "s"):
        return f"{'did' if found.form == 'past' else 'does'} not {found.base}"
    if found is not None or not verb.isalpha() or not verb.endswith("s") or verb.endswith("ss"):
        return ""
    if verb.endswith("ies") and len(verb) > 4:
        return f"does not {verb[:-3]}y"
    return f"does not {verb[:-2] if verb.endswith(_HISSING) else verb[:-1]}"

"""English verbs: a small lexicon, functions that recognise and form inflections, and denials.

The lexicon allows the rules to find verbs without a part-of-speech tagger. A word outside it
counts as a verb only by its position (after "I", "will", "to") or its ending (-ed, -ing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cognigraph.english.words import word_set

Form = Literal["base", "s", "past", "part", "ing"]

_REMEMBERED = 8192
"""Words of which what they are is remembered, because a conversation repeats its words."""

_IRREGULAR = """
become became become|begin began begun|bring brought brought|build built built|buy bought bought
catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut|do did done
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed
feel felt felt|fight fought fought|find found found|fly flew flown|forget forgot forgotten
forgive forgave forgiven|get got gotten|give gave given|go went gone|grow grew grown
hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held
hurt hurt hurt|keep kept kept|know knew known|lead led led|leave left left|lend lent lent
let let let|lose lost lost|make made made|mean meant meant|meet met met|pay paid paid|put put put
quit quit quit|read read read|ride rode ridden|rise rose risen|run ran run|say said said
see saw seen|sell sold sold|send sent sent|set set set|shoot shot shot|show showed shown
sing sang sung|sit sat sat|sleep slept slept|speak spoke spoken|spend spent spent|stand stood stood
steal stole stolen|stick stuck stuck|swim swam swum|take took taken|teach taught taught
tell told told|think thought thought|throw threw thrown|understand understood understood
tear tore torn|wake woke woken|wear wore worn|win won won|write wrote written|break broke broken
beat beat beaten|bite bit bitten|blow blew blown|freeze froze frozen|overcome overcame overcome
shake shook shaken|split split split|strike struck struck|sweep swept swept
undergo underwent undergone
retake retook retaken|rewrite rewrote rewritten|rebuild rebuilt rebuilt|redo redid redone
"""

_REGULAR = """
accept achieve add admire admit adopt afford agree aim allow answer apologize appear apply
appreciate arrange arrive ask attend avoid babysit bake believe belong blend book borrow call camp
cancel care carry celebrate change chase chat check clean climb collect combine compete complete
complain connect consider contact continue convince cook cope create cry dance deal decide decorate
deliver depend deserve design develop die discover discuss donate download dream drop earn edit
encourage end enjoy enroll escape exercise expand expect experience explain explore express face
fail feature fill film finish fix focus follow garden graduate guess handle happen hate help hike
hope host hug hunt imagine improve include injure inspire install intend interview introduce invest
invite jog join juggle jump kick kiss knit land laugh launch learn like listen live look love manage
marry matter mention miss move name need notice offer open order organize own pack paint participate
pass perform pick plan plant play post practice prefer prepare present promise propose protect prove
provide publish pull push raise reach realize receive recommend record recover relax release
remember remind renovate rent repair replace report rescue research resign resolve retire return
review save schedule score search seem serve share ship shop sign skate sketch ski smile smoke snap
solve sound spread start stay stop stream struggle study submit succeed suffer suggest support
surprise switch talk taste tend test thank train transfer travel treat try turn tutor update upgrade
use video visit volunteer vote wait walk want wash watch welcome wish wonder work worry wrap click
shift smell weigh bend stitch operate rain owe extend apologise organise realise recognise translate
calculate commute lean lend steal attach bother breathe burn bury cause claim collapse command
commit compare concern confirm contain control cost count cover crash cross damage dare date declare
defend delay demand deny describe destroy diagnose dig disagree disappear disappoint dislike divide
doubt drag dress emigrate employ empty engage examine exist explode fasten fetch fire float flood
fold frighten gather greet grill guide hang harvest hire inform inherit inspect interrupt invent
joke lock mend negotiate obey object observe occur offend park phone photograph plough pour praise
pray preserve print produce promote pronounce purchase quote recite refuse regret reject rely remove
repeat require respond restore retrieve reveal reward rob sail scare scream settle sew shave shout
sigh slip snow sort spell squeeze stare store stretch subscribe suspect swallow threaten tidy tie
trade trust type unpack wander warn waste whisper whistle wipe yell
"""

_NOUN_TOO = word_set(
    """aim answer bite book break call camp care change chat check climb cook cost cut dance deal
    design
    draw dream drink drive drop end escape exercise experience face feature fight film finish fix
    focus garden help hike hit hope host hug hunt interview jump kick kiss knit land laugh launch
    like look love matter mention move name need offer open order own pack paint pass pick plan
    plant play post practice present promise pull push raise reach read record release rent repair
    report rescue research return review ride rise run save schedule score search set shake share
    ship shop show sign sketch ski sleep smile smoke snap sound split spread stand start stay stick
    stop stream strike struggle study support surprise swim switch talk taste test thank throw train
    transfer travel treat try turn update upgrade use video visit volunteer vote wait walk wash
    watch welcome win wish wonder work worry wrap feed fall fly left stuck light cast shot felt saw
    found frozen broken born known hidden stolen writing baking cooking painting click shift smell
    bend stitch rain cause claim command concern control count cover crash cross damage date delay
    demand doubt drag dress empty exist fire float flood fold gather grill guide harvest hire joke
    lock object park phone photograph pour print produce purchase quote regret reward sail scare
    scream shout sigh slip snow sort spell store stretch suspect tie trade trust type waste whisper
    whistle wipe yell lean lend commute apologise torn"""
)
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
        and base not in ("open", "visit", "edit", "listen", "own", "end")
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


def _lexicon() -> tuple[dict[str, Verb], dict[str, str], dict[str, str]]:
    forms: dict[str, Verb] = {}
    past: dict[str, str] = {}
    participle_to_past: dict[str, str] = {}
    rows = [tuple(row.split()) for line in _IRREGULAR.split("\n") for row in line.split("|") if row]
    rows += [(base, _regular_past(base), _regular_past(base)) for base in _REGULAR.split()]
    rows += [("got", "got", "got")]
    for base, simple, participle in rows:
        past[base] = simple
        participle_to_past[participle] = simple
        forms.setdefault(third_person(base), Verb(base, "s"))
        forms.setdefault(ing_of(base), Verb(base, "ing"))
        forms.setdefault(participle, Verb(base, "part"))
        forms[simple] = Verb(base, "past")
    for base, _, _ in rows:
        if base != "got":
            forms[base] = Verb(base, "base")
    forms["got"] = Verb("get", "past")
    forms["cancelled"], forms["travelled"] = Verb("cancel", "past"), Verb("travel", "past")
    return forms, past, participle_to_past


VERBS, _PAST, _PARTICIPLE_TO_PAST = _lexicon()
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
    return found.form in ("past", "part") or word in _PARTICIPLE_TO_PAST


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
    garden sketch read meet build train volunteer act paint teach begin"""
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

"""The data of the slots: nouns that name one, and relations that make claims about one."""

from __future__ import annotations

import re
from typing import Literal

from cognigraph.english.words import word_set

Says = Literal["holds", "ends"]

ATTRIBUTES = word_set(
    """number phone mobile email mail e-mail address rent salary wage income budget price cost fee
    deadline date launch release wedding flight appointment exam interview meeting kickoff dose
    dosage weight age height size password pin username nickname name title role job position
    profession occupation employer company major degree school university status timezone bedtime
    mortgage loan balance score rating rank record target goal limit car bike laptop phone editor
    language framework database stack gym diet plan schedule shift commute bank insurance
    provider carrier subscription team colour color hairstyle version demo train start move
    departure presentation trip conference party class lesson session surgery"""
)
"""Nouns of which a subject has one at a time: the last word of "Ann's phone number"."""

ROLES = word_set(
    """boss manager supervisor partner boyfriend girlfriend husband wife spouse fiance fiancé
    fiancee fiancée doctor gp dentist therapist psychiatrist landlord landlady accountant lawyer
    advisor adviser mentor trainer coach roommate flatmate teacher tutor assistant lead captain
    owner maintainer babysitter nanny counsellor counselor hairdresser physio physiotherapist
    pediatrician paediatrician psychologist midwife vet notary representative"""
)
"""Roles that one person has for somebody at a time; the value is a name."""

JOBS = word_set(
    """accountant actor actress analyst architect artist barista baker banker biologist builder
    carpenter cashier chef chemist cleaner consultant cook dentist designer developer doctor driver
    economist editor electrician engineer farmer firefighter gardener geologist hairdresser
    journalist judge lawyer lecturer librarian manager mechanic midwife musician nurse
    paramedic pharmacist photographer physicist pilot plumber policeman principal professor
    programmer psychologist receptionist researcher salesman scientist secretary
    student surgeon teacher technician therapist translator tutor vet veterinarian waiter waitress
    welder intern apprentice freelancer unemployed retired"""
)

TITLES = JOBS | word_set(
    """lead leader head director president vp cto ceo cfo coo cmo chief officer coordinator
    specialist assistant trainee partner associate superintendent inspector officer sergeant
    captain dean provost fellow postdoc supervisor owner founder contractor consultant dev
    organizer organiser planner buyer clerk secretary recruiter tester qa sre devops writer author
    producer actor dancer singer guide host bartender courier rider carer caregiver nanny
    bookkeeper auditor controller treasurer trader broker agent realtor adjuster underwriter
    statistician actuary mathematician physicist economist sociologist ranger fisherman sailor
    soldier firefighter cop detective curator conservator illustrator animator editor columnist
    reporter anchor photographer videographer florist tailor jeweller butcher roaster brewer
    sommelier masseur physiotherapist optician orthodontist radiologist oncologist paediatrician
    pediatrician cardiologist neurologist psychologist counsellor counselor coach referee umpire
    analyst strategist marketer copywriter webmaster admin administrator executive freelancer
    manager foreman operator technologist technician roofer painter decorator glazier mason joiner
    locksmith electrician stonemason landscaper tutor lecturer headteacher principal pensioner
    retiree homemaker student postman conductor stewardess steward attendant dispatcher"""
)
"""What somebody can be by profession, or in an organization."""

NEVER_REPLACED = word_set("likes loves enjoys has visits reads plays owns knows")
"""Verbs whose objects add up; ``replaces`` is ignored for them, as for "is allergic to"."""

RELATIONS: dict[str, tuple[str, Says, bool]] = {}
"""Relation -> slot, what it says of it, and whether it is a change at a moment."""


def _enter(slot: str, says: Says, change: bool, relations: str) -> None:
    for relation in relations.split("|"):
        RELATIONS[" ".join(relation.split())] = slot, says, change


_enter("home", "holds", False, "lives in|lives at|resides in|is based in|is settled in")
_enter(
    "home",
    "holds",
    True,
    """moved to|moved into|moved back to|moved in|moved over to|moved out to
    |moved back into|relocated to|settled in|moved down to|moved up to|emigrated to""",
)
_enter("home", "ends", True, "moved from|moved out of|moved away from|left home in|moved out from")
_enter(
    "work", "holds", False, "works at|works for|is employed by|is employed at|works with company"
)
_enter(
    "work",
    "holds",
    True,
    """started at|started with|started working at|started working for
    |started work at|began at|began working at|began working for|joined|was hired by|is hired by
    |got hired by|got hired at|was hired at""",
)
_enter(
    "work",
    "ends",
    True,
    """left|quit|quits|resigned from|was fired from|was laid off from|lost
    |got fired from|got laid off from|is laid off from|is fired from|retired from|stopped working at
    |stopped working for|quit working at|quits working at|quit at|quits at""",
)
_enter("job", "holds", False, "works as")
_enter(
    "job",
    "holds",
    True,
    """became|started as|was promoted to|got promoted to|started working as
    |is promoted to""",
)
_enter("weight", "holds", False, "weighs")
_enter("age", "holds", True, "turned")
_enter(
    "relationship",
    "holds",
    False,
    """dates|is married to|is engaged to|is in relationship with
    |is together with|is divorced from|is separated from""",
)
_enter(
    "relationship",
    "holds",
    True,
    """got married to|married|got engaged to|got divorced from
    |divorced|broke up with|split up with|separated from|started dating|got together with""",
)

OCCUPATIONS = word_set("job role position profession occupation")
"""Attributes whose value is one of :data:`JOBS`."""
PLAIN_VALUES = word_set(
    "colour color hairstyle major degree diet status nickname email mail e-mail plan"
)
"""Attributes whose value is a plain word: "Ann's diet is vegan"."""
APART = word_set("single divorced separated widowed")
"""What somebody is who is with nobody."""

TOGETHER = {
    "dates": "dating", "started dating": "dating", "got together with": "dating",
    "is together with": "dating", "is in relationship with": "dating",
    "is married to": "married", "got married to": "married", "married": "married",
    "is engaged to": "engaged", "got engaged to": "engaged",
}  # fmt: skip
"""Relation -> what two people then are; after any other one of ``relationship`` they are apart."""

_TAIL = re.compile(
    r" (?:(?:about|maybe|around|only) )?(?:(?:every|each) \w+(?: \w+)?"
    r"|(?:at|from) (?:home|work)|on (?:weekends|weekdays|\w+days)"
    r"|(?:once|twice|\w+ times) (?:a|per) \w+|in the (?:morning|afternoon|evening)s?|a lot"
    r"|these days|(?:as|for) (?:my|our|his|her|their|\S+['’]s?) \w+)"
)
"""How often, where and for what something is done; not what it is done to."""


def without_tail(value: str) -> str:
    """Return what a fact is about: "the piano" in "plays the piano every evening"."""
    tail = next((match for match in _TAIL.finditer(value) if match.end() == len(value)), None)
    return value if tail is None or not tail.start() else value[: tail.start()]

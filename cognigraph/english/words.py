"""English word lists for the rules: pronouns, prepositions, kinship terms, places, events.

Text in other languages matches next to nothing here, so the rules state no facts about it.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path


def word_set(text: str) -> frozenset[str]:
    """Return the set of the words of a text, separated by white space."""
    return frozenset(text.split())


def listed(file: str) -> list[str]:
    """Return the lines of one of the lists in this folder; all are in lower case."""
    return Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()


DETERMINERS = word_set(
    """a an the some any this that these those each every another both all no several few
    many most"""
)
FIRST_PERSON = word_set("i we")
PRONOUNS = word_set(
    """i we you he she they it this that these those there who someone everyone anyone
    somebody everybody anybody nobody either neither none others another"""
)
OBJECT_PRONOUNS = word_set(
    """it them him her me us you this that these those myself yourself one"""
)
POSSESSIVES = word_set("my our your his her their its")
PREPOSITIONS = word_set(
    """in on at to for with about from into of by as like during after before over under
    through around near without against between among across behind inside outside onto
    towards toward since until"""
)
PARTICLES = word_set(
    """up out off back down away over on in around together along forward through home"""
)
NEGATIONS = word_set("not never hardly")
CONJUNCTIONS = word_set(
    """and or but so because while when after before since although though unless until if
    whereas that which who where how what why then whenever once as plus"""
)
INTERJECTIONS = word_set(
    """oh wow yeah yes yep yup no nope hey hi hello well okay ok thanks thank please sorry
    congrats congratulations woah whoa haha lol hmm ah aw aww ooh omg btw great awesome
    cool nice sure right absolutely definitely totally exactly true good man dude buddy
    gosh bye cheers also anyway actually honestly luckily unfortunately fortunately
    hopefully recently lately finally plus first besides woohoo yay ugh phew yum whoops
    yikes aha maybe perhaps indeed still overall basically seriously currently speaking
    otherwise however therefore moreover sometimes usually often once"""
)
"""Words that may precede a clause without being part of it."""

ADVERBS = word_set(
    """just also really so very always still already even ever often sometimes usually
    currently recently finally actually definitely totally absolutely only probably maybe
    kinda sorta simply now then soon again too almost quite pretty super truly honestly
    literally certainly lately eventually immediately quickly initially originally mostly
    mainly especially both all rather constantly nearly barely somehow instead once twice
    well hopefully seriously completely"""
)
TRAILING = word_set(
    """too though now lately again already yet anyway either so then well much right soon
    here there together ever recently anymore myself though today just really very also even more
    as still"""
)
"""Adverbs that carry no information at the end of an object."""

LIGHT = word_set(
    """thing things lot lots stuff something anything everything nothing way ways bit time
    times one ones kind sort part sure glad sorry great good nice cool awesome amazing
    okay ok fine well right true happy much many more most really very so too it that this
    them those these here there what how such same lovely wonderful fantastic incredible
    beautiful fun true important people someone everyone anyone everybody anybody day days
    moment moments hear know say see think get go make tough hard able point fact guess
    course idea help luck person"""
)
"""Words that are not informative enough to be an object or key phrase by themselves."""

SENTIMENT = word_set(
    """great good nice cool awesome amazing lovely wonderful fantastic incredible
    beautiful fun true super real really sure glad happy sorry pretty perfect best better
    favorite favourite big little new old whole own other different important special
    tough hard easy able many much few more most such same next last first second various
    certain several huge small young long short high low full right wrong total bad worse
    worst fine okay quick early late"""
)

FAMILY = word_set(
    """brother father dad husband son uncle nephew grandfather grandpa boyfriend fiancé ex-husband
    stepfather stepson godfather father-in-law brother-in-law grandson sister mother mum mom mama
    wife daughter aunt niece grandmother grandma girlfriend fiancée ex-wife stepmother stepdaughter
    godmother mother-in-law sister-in-law granddaughter cousin partner twin grandchild fiance
    spouse"""
)
ROLES = word_set(
    """boss manager supervisor landlord landlady doctor gp dentist therapist lawyer accountant tutor
    teacher coach trainer roommate flatmate neighbour neighbor colleague coworker friend mentor
    physio physiotherapist hairdresser childminder nanny vet"""
)
"""What somebody is to somebody else, outside of the family."""
KIN = FAMILY | ROLES | word_set("kid child baby teammate classmate buddy")
"""Words for people by their relation to somebody."""

PERSON_NOUNS = KIN | word_set(
    """parents family kids children friends people man woman boy girl guy guys student
    artist author writer actor singer dancer musician banker engineer nurse lawyer chef
    volunteer veteran customer client owner player team-mate grandparents siblings couple
    crowd kiddo guest stranger"""
)
NAME_SUFFIXES = {
    "location": word_set(
        """street avenue road park lake mountain beach river island city town square bridge
        forest valley bay county village airport station falls canyon desert district"""
    ),
    "organization": word_set(
        """inc ltd llc gmbh corp corporation company co foundation university college school
        institute association club bank hospital agency church council committee museum union
        academy shelter studio studios labs orchestra"""
    ),
    "event": word_set(
        """wedding festival conference meeting tournament competition marathon exhibition
        workshop retreat parade fundraiser convention fair day eve cup olympics awards"""
    ),
}
"""Last words of longer names, by the type that they give these."""
TITLES = word_set("""mr mrs ms dr prof sir professor aunt uncle grandma grandpa coach captain""")
SOFT = word_set(
    """support encouragement journey experience experiences difference acceptance love
    others challenge challenges motivation inspiration passion community reminder memories
    memory feeling feelings impact change changes goals goal dreams joy happiness courage
    kindness strength beauty peace success growth words positivity excitement balance
    effort energy sense life lives world work place picture pic photo thoughts advice
    friendship connection connections opportunity attitude situation perspective reality
    matter mind heart progress ourselves themselves yourself"""
)
"""Abstract words of encouragement and feeling. They are too common to be good key phrases."""
NOT_NAMES = word_set(
    """i i'm ok okay wow hey hi hello thanks oh yeah yes no lol omg btw tv diy mr mrs ms
    dr god jan feb mar apr jun jul aug sep sept oct nov dec am pm ps asap faq fyi idk imo
    tbh january february march april may june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu
    thur thurs fri sat sun etc url"""
)
DEMONYM_ENDINGS = ("ish", "ese", "ian")
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2,
}  # fmt: skip

PLEASANTRIES = word_set(
    """hi hello hey thanks thank ta thx cheers welcome please ok okay good great nice perfect lovely
    cool brilliant wow yes yeah yep no nope sure bye goodbye night morning evening congratulations
    haha lol much lot sounds got fine right well oh ah awesome amazing wonderful glad
    happy"""
)
"""Words of greetings, thanks and assent: a text of these alone tells nothing."""


REGIONS = frozenset(listed("regions.txt"))
CITIES = frozenset(listed("cities.txt"))
PLACES = REGIONS | CITIES
"""Countries and states, and large cities.

Many are names of people or things as well, so they tell only where a sentence already speaks of a
place: who "moved to" one of them has surely moved there, and nobody lives in two of the cities.
"""
FIRST_NAMES = frozenset(listed("first_names.txt"))
"""Common first names: whoever has one is a person.

Names that are also a place, a month or a common word ("Paris", "April", "Rose", "Will", "Mark") are
left out: there the sentence has to tell.
"""


def is_first_name(low: str) -> bool:
    """Return whether a word in lower case is a first name, with or without its accents."""
    if low.isascii():
        return low in FIRST_NAMES
    plain = unicodedata.normalize("NFD", low)
    return "".join(char for char in plain if not unicodedata.combining(char)) in FIRST_NAMES


# How people take back what they have just said: parts of regular expressions.

CORRECTING = r"(?:actually|wait|sorry|correction)"
"""May begin a correction, or something else."""
TAKING_BACK = (
    r"(?:make (?:that|it)|scratch that|strike that|or rather|on second thou?ghts?|i meant?)"
)
"""Says that something else was meant."""

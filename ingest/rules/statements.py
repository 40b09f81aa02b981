"""Read the few statements that are certain without a model: what speakers say plainly of themselves.

A statement is read only if a whole clause has one of the forms of :data:`FRAMES`, so no argument of
it is lost, and only if nothing in its sentence or message says that it might not be meant: a
question, a condition, a doubt, a dream, a quotation, a joke, a pasted letter, a correction. Whatever
else is said is found as a message and is no fact.

A clause begins at the start of a sentence, or after "so", "and", "but" and the like. A clause that
follows with "but" or "or" must itself be understood, because it may take back the one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cognigraph.english import words
from cognigraph.english.sentences import Sentence, Token, join
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.verbs import BE, FINITE_AUX, HAVE, known_verb, third_person
from cognigraph.english.words import PLACES, word_set
from cognigraph.resolution.name_forms import NAME_TYPE

CALLED = "is called"
"""The relation of a person and the name that the person wants to be called by."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one clause states. ``when`` is canonical text of :mod:`cognigraph.times`.

    ``alias`` is another name of the subject that the clause gives: "my sister" for Anna.
    """

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: str | None = None
    negated: bool = False
    alias: str | None = None


# What makes a message or a sentence say something that is not meant, or not meant by its speaker.

_UNREAL_MESSAGE = word_set(
    """dream dreams dreamt dreamed dreaming nightmare imagine imagining pretend pretending
    hypothetical hypothetically suppose roleplay role-play fictional fiction persona translate
    translated translation proofread rephrase paraphrase rewrite summarize summarise lyrics poem
    screenplay quote quotes quoted kidding joking jk sarcasm sarcastic scratch oops typo
    correction autocorrect"""
)
"""Words of messages whose sentences may be somebody else's, unreal, or taken back later on."""
_MOST_LETTERS, _MOST_LINES = 1200, 6
"""A longer message may be a document that somebody pasted."""
_UNREAL_PHRASES = re.compile(
    r"\b(?:act as|acting as|cover letter|for example|for instance|e\.g\.|made that up|april fools?"
    r"|wait,? no|no,? wait|i meant?|make that|strike that|or rather|on second thou?ght"
    r"|not really|just in a|in the (?:story|book|film|movie|novel|song|game|show|series|script))\b",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^\s*(?:dear|subject:|from:|to:|re:|hi [A-Z]\w+,$|hello [A-Z]\w+,$|(?:best|kind|warm) (?:regards|wishes)"
    r"|regards|sincerely|yours|cheers,$|signed)\b",
    re.IGNORECASE | re.MULTILINE,
)
_DOUBT = word_set(
    """if unless whether would could might may should maybe perhaps probably possibly supposedly
    apparently allegedly wish wishing hope hoping hopefully guess think thought thinking believe
    seem seems almost nearly until till unsure doubt wonder wondering bet except said says say
    saying told tells asked claims claimed joke jokes anymore character actor actress film movie
    book novel song episode story plot scene verse lyric"""
)
"""Words of sentences that are not certain, hold only under a condition, or report others."""
_QUOTES = re.compile(r"[\"“”«»„]|(?<!\w)'\w[^']*'(?!\w)")

_OPENER = re.compile(
    r"(?:(?:(?:and|but|so|because|since|also|well|oh|ah|hey|hi|hello|yes|yeah|yep|no|nope|ok|okay|sure"
    r"|thanks|thank you|actually|anyway|btw|by the way|fyi|for context|for the record|as you know"
    r"|in case it matters|just so you know|important|ps|nb|context|background|update|personally|honestly|currently|these days|at the moment"
    r"|right now|now|quick note|heads up|one more thing|please note|note|remember|please remember"
    r"|keep in mind|bear in mind|just a reminder|reminder)(?: that)?|@\w+)(?: [,:;–—-])* |[,:;–—•-] )"
)
_TAKING_BACK = frozenset(("but", "or", "except", "though", "although", "however", "not", "only"))
"""A clause that begins with one of these may take back what the clause before it says."""
_SPLIT = re.compile(
    r" (?:[,;–—-] )?(?=(?:and|but|so|because|since|or|though|although|except|however|which|who|where)"
    r" (?:(?:please|also|now|just|then) )?(?:I|we|my|our|it|that|this|there|you|he|she|they|please"
    r"|never|always|do not|call me|not|only)\b)"
    r"| (?=and (?:also )?(?:live|work|speak|love|hate|like|have|take|am|do not)\b)"
    r"| [,;–—-] (?=(?:I|we|my|our|it|that|this|there|you|he|she|they|please|never|always|do not"
    r"|call me|thanks|thank you|but|so|because|though|although|which|who|where|not|if|when|just|and)\b)"
)

_SHARED = re.compile(r"^and (?:also )?(?=(?:live|work|speak|love|hate|like|have|take|am|do not)\b)")
"""Where "I" is left out: "I live in Leeds and work as a nurse"."""

# The parts of frames. A frame has to match a clause from its first to its last word.

_CAP = r"[A-Z][\w'’&.-]*"
_NAME = rf"{_CAP}(?: (?:(?:of|de|da|do|van|der|la|el|upon|le) )?{_CAP}){{0,3}}"
_PERSON = rf"{_CAP}(?: {_CAP}){{0,2}}"
_PLACE = rf"(?:the )?{_NAME}(?: , {_NAME})?"
_WORDS = r"[\w'’+#/.-]+(?: [\w'’+#&/.-]+){0,5}"
_LIST = rf"{_WORDS}(?: , {_WORDS})*(?: ,)? (?:and|or) {_WORDS}|{_WORDS}"
_NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_WHEN = r"(?: ⟦(?P<when>\d+)⟧)?"
_PRESENT = frozenset(("now", "currently", "at the moment", "these days", "right now"))
_NOW = r"(?: (?:now|currently|at the moment|these days))?"
_EVER = (
    r"(?:(?:really|absolutely|also|just|still|do|always|particularly|especially|totally|truly) )?"
)

_KIN_WORDS = (
    "sister|brother|mother|father|mum|mom|dad|wife|husband|daughter|son|aunt|uncle|niece|nephew|cousin"
    "|grandmother|grandfather|grandma|grandpa|partner|girlfriend|boyfriend|fiancée?|ex-wife|ex-husband"
    "|stepmother|stepfather|stepson|stepdaughter|godmother|godfather|mother-in-law|father-in-law"
    "|sister-in-law|brother-in-law|twin"
)
_ROLE_WORDS = (
    "boss|manager|supervisor|landlord|landlady|doctor|gp|dentist|therapist|lawyer|accountant|tutor"
    "|teacher|coach|trainer|roommate|flatmate|neighbou?r|colleague|coworker|best friend|friend|mentor"
    "|physio|physiotherapist|hairdresser|childminder|nanny|line manager|vet"
)
_PET_WORDS = (
    "dog|cat|puppy|kitten|horse|pony|parrot|budgie|rabbit|hamster|guinea pig|tortoise|turtle"
    "|goldfish|ferret|gecko|snake"
)
_OLDER = r"(?:(?:older|younger|elder|eldest|youngest|oldest|big|little|twin|half|late) )?"
_ONES = rf"{_OLDER}(?:{_KIN_WORDS}|{_ROLE_WORDS}|{_PET_WORDS})"
_KIN = rf"{_OLDER}(?:{_KIN_WORDS})"
_THIRD = rf"(?P<third>{_CAP}(?: {_CAP}){{0,2}})"
_WHO = rf"(?:I|[Mm]y (?P<kin>{_KIN})(?: (?P<named>{_PERSON}))?)"
_ANYONE = rf"(?:I|[Mm]y (?P<kin>{_KIN})(?: (?P<named>{_PERSON}))?|{_THIRD})"
_ATTRIBUTE = (
    "(?:(?:first|last|full|middle|maiden|family) name|surname|nickname|birthday|date of birth"
    "|(?:(?:work|home|mobile|cell|office|private) )?(?:phone|phone number|mobile number|number)"
    "|(?:(?:work|private|personal) )?e-?mail(?: address)?|(?:home |postal )?address|post code|postcode"
    "|zip code|time zone|timezone|job title|pronouns|blood type|shoe size|hometown|home town|mother tongue"
    "|native language|first language|nationality|rent|salary|height|weight|username|user name"
    "|(?:github|discord|slack|telegram) (?:handle|username|name))"
)
_FAVOURITE = r"(?:all-time )?favou?rite (?P<what>[a-z][\w-]*(?: [a-z][\w-]*){0,2})"
_EMPTY_FAVOURITES = word_set(
    """part thing things one ones bit aspect moment memory memories spot line option example way
    approach version idea feature is are was has so person people quote time"""
)
_OCCUPATIONS = (
    "accountant|actor|actress|analyst|architect|artist|baker|banker|barista|biologist|bricklayer"
    "|builder|carer|carpenter|cashier|chef|chemist|cleaner|consultant|copywriter|data scientist"
    "|dentist|designer|developer|dietitian|doctor|economist|editor|electrician|engineer|farmer"
    "|firefighter|freelancer|gardener|geologist|hairdresser|historian|illustrator|journalist|judge"
    "|lawyer|lecturer|librarian|mechanic|midwife|musician|novelist|nurse|optician|painter|paralegal"
    "|paramedic|pharmacist|photographer|physicist|physiotherapist|pilot|plumber|police officer"
    "|postdoc|product manager|professor|programmer|project manager|psychologist|receptionist"
    "|researcher|sailor|scientist|secretary|social worker|solicitor|student|surgeon|surveyor"
    "|teacher|technician|therapist|translator|tutor|vet|veterinarian|waiter|waitress|welder"
)
_JOB = rf"(?:[a-z][\w-]* ){{0,3}}(?:{_OCCUPATIONS})"
_DIET = "(?:vegan|vegetarian|pescatarian|pescetarian|lactose intolerant|gluten intolerant|coeliac|celiac|diabetic|teetotal)"
_LIKING = "loves?|likes?|enjoys?|dislikes?|hates?|prefers?|adores?"
_EATING = "eat|drink|smoke|take|use"

_TAIL = re.compile(r" (?:[,;:(–—-]|(?:and|with|near|which|where|who) )(?=.)")

_POINTING = word_set(
    """this that these those it them here there such same other another both either neither former
    latter option options version versions idea ideas way ways plan suggestion suggestions point
    approach title name draft second third last next previous above below one ones what how when
    where why who which everything anything something nothing everyone anyone someone more less
    enough much lot lots bit too instead though now then again already the your his her their its
    my our you he she they we me him us to not never no myself ourselves yourself"""
)
"""Words that point at something outside of the clause, so that nobody could tell what is meant."""
_NOBODY = (
    words.PRONOUNS | words.DETERMINERS | words.POSSESSIVES | words.CONJUNCTIONS | words.ADVERBS
    | words.INTERJECTIONS | words.PREPOSITIONS | words.LIGHT | words.PERSON_NOUNS
)  # fmt: skip
_PLURAL_VERBS = word_set("live work am are have love like enjoy dislike hate prefer adore")
_JOINING = word_set("and or with without in at on of for from by about over than")


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, with its time expressions as ⟦n⟧; ``whole`` is the sentence as it was written."""

    text: str
    times: Sequence[TimeSpan]
    tokens: Sequence[Token]
    speaker: str


_Reading = Callable[[re.Match[str], _Clause], Statement | None]


def statements(
    said: Sequence[tuple[Sentence, Sequence[TimeSpan], bool]],
    text: str,
    speaker: str,
    *,
    to_assistant: bool,
) -> list[Statement]:
    """Return what a message states for certain.

    ``said`` are its sentences, each with its time expressions and whether it is English; ``text`` is
    the message. ``to_assistant`` is whether it is said to an assistant, who may be told how to work.
    """
    if _is_unreal(text):
        return []
    found: list[Statement] = []
    quoting = pasted = False
    for sentence, times, english in said:
        quotes = len(_QUOTES.findall(sentence.text))
        if english and not (quotes or quoting or pasted):
            found += _of_sentence(sentence, times, speaker, to_assistant)
        quoting ^= sentence.text.count('"') % 2 == 1
        pasted |= sentence.text.rstrip().endswith(":")
    return list(dict.fromkeys(found))


def _is_unreal(text: str) -> bool:
    if len(text) > _MOST_LETTERS or len([line for line in text.split("\n") if line]) > _MOST_LINES:
        return True
    lows = set(re.findall(r"[a-z-]+", text.lower()))
    return bool(lows & _UNREAL_MESSAGE or _UNREAL_PHRASES.search(text) or _LETTER.search(text))


def _of_sentence(
    sentence: Sentence,
    times: Sequence[TimeSpan],
    speaker: str,
    to_assistant: bool,
) -> Iterator[Statement]:
    text = _with_times(sentence.tokens, times)
    clause = _Clause(text, times, sentence.tokens, speaker)
    if to_assistant and (order := _standing_order(sentence, speaker)) is not None:
        yield order
        return
    timed = {at for span in times for at in range(span.start, span.end)}
    lows = {token.low for at, token in enumerate(sentence.tokens) if at not in timed}
    if sentence.question or lows & _DOUBT:
        return
    yield from _appositions(clause)
    parts = _SPLIT.split(re.sub(r"[^\w⟧)]+$", "", text).strip())
    read: list[Statement | None] = []
    for part in parts:
        shared = _SHARED.match(part.strip())
        if shared is not None and not (read and read[-1] is not None):
            read.append(None)  # "so much energy and love everywhere": "love" is no verb here
            continue
        order = _order_in(part, speaker) if to_assistant else None
        read.append(order or _of_clause(_without_openers(part), clause))
    for one, following, part in zip(read, [*read[1:], None], [*parts[1:], ""], strict=True):
        taken_back = following is None and _first_word(part) in _TAKING_BACK
        if one is not None and not taken_back:
            yield one


def _with_times(tokens: Sequence[Token], times: Sequence[TimeSpan]) -> str:
    """Return the tokens as text, with a sign for each time expression that may be a date."""
    parts: list[str] = []
    at = 0
    spans = {
        span.start: (number, span)
        for number, span in enumerate(times)
        if (span.when or (span.readings and span.bound == "" and not span.outdated))
        and not _is_now(tokens[span.start : span.end])
    }
    while at < len(tokens):
        if at in spans:
            number, span = spans[at]
            parts.append(f"⟦{number}⟧")
            at = span.end
            continue
        parts.append(tokens[at].text)
        at += 1
    return " ".join(parts).replace(" 's", "'s")


def _is_now(tokens: Sequence[Token]) -> bool:
    return " ".join(token.low for token in tokens) in _PRESENT


def _first_word(part: str) -> str:
    return part.strip(" ,;–—-").partition(" ")[0].lower()


def _without_openers(part: str) -> str:
    part = _SHARED.sub("I ", part.strip(" ,;–—-"))
    for _ in range(4):
        opener = re.compile(_OPENER.pattern, re.IGNORECASE).match(part)
        if opener is None:
            break
        part = part[opener.end() :]
    return part


def _of_clause(text: str, clause: _Clause) -> Statement | None:
    """Return what the first fitting frame reads; a frame that is closed may have a tail after it."""
    head, tail = _head_and_tail(text)
    for frame in FRAMES:
        match = frame.pattern.fullmatch(text)
        if match is None and frame.closed and tail and _first_word(tail) not in _TAKING_BACK:
            match = frame.pattern.fullmatch(head)
        if match is not None and (found := frame.read(match, clause)) is not None:
            return found
    return None


def _head_and_tail(text: str) -> tuple[str, str]:
    """Part a clause where something is added to it: "I live in Leeds | , near the canal"."""
    parted = _TAIL.search(text)
    return (text, "") if parted is None else (text[: parted.start()], text[parted.start() :])


# Frames: how a statement is said, and what it states.


def _subject(match: re.Match[str], clause: _Clause) -> tuple[str, str]:
    found = match.groupdict()
    kin, named = found.get("kin"), found.get("named") or found.get("third")
    return named or (f"{clause.speaker}'s {kin.lower()}" if kin else clause.speaker), "person"


def _time(match: re.Match[str], clause: _Clause) -> str | None:
    number = match.groupdict().get("when")
    return clause.times[int(number)].when or None if number else None


def _shown(text: str, clause: _Clause) -> str:
    """Return a value with the words of its time expressions in their place."""

    def words_of(match: re.Match[str]) -> str:
        span = clause.times[int(match[1])]
        return join(list(clause.tokens[span.start : span.end]))

    shown = re.sub(r"⟦(\d+)⟧", words_of, text)
    return re.sub(r" ([,.])|(?<=\w) (/) (?=\w)", lambda mark: mark[1] or mark[2], shown)


def _states(
    relation: str,
    type: str,
    accepts: Callable[[str], bool] = lambda value: True,
    *,
    negated: bool = False,
) -> _Reading:
    """A frame whose ``value`` is the object of a relation."""

    def read(match: re.Match[str], clause: _Clause) -> Statement | None:
        value = match["value"]
        if not accepts(value) or not _has_subject(match):
            return None
        subject, subject_type = _subject(match, clause)
        shown = _shown(value, clause)
        return Statement(
            subject, subject_type, relation, shown, type, _time(match, clause), negated
        )

    return read


def _is_thing(value: str) -> bool:
    """Whether a phrase says by itself what it means: "hiking", "a peanut butter sandwich"."""
    lows = [word.lower() for word in value.replace(" ,", "").split(" ")]
    if _POINTING & set(lows) or "⟦" in value or lows[-1] in _JOINING or lows[0] in _JOINING:
        return False
    if any(low in FINITE_AUX or low in BE or low in HAVE for low in lows):
        return False
    return not (len(lows) == 1 and (lows[0] in words.LIGHT or lows[0] in words.ADVERBS))


def _has_subject(match: re.Match[str]) -> bool:
    """Whether a subject in the third person is a name, and the verb is one of a single person.

    "Either like" and "Others love" begin with a capital, too.
    """
    name = match.groupdict().get("third")
    if name is None:
        return True
    before_value = match.string[match.end("third") : match.start("value")].split(" ")
    return _PLURAL_VERBS.isdisjoint(before_value) and not any(
        low in _NOBODY or low in words.KIN or low in words.NOT_NAMES
        for low in name.lower().split(" ")
    )


def _is_name(value: str) -> bool:
    lows = value.lower().split(" ")
    return not any(low in words.NOT_NAMES or low in words.PRONOUNS for low in lows)


def _liking(match: re.Match[str], clause: _Clause) -> Statement | None:
    value, verb = match["value"], match["verb"].lower().removesuffix("s")
    if not _has_subject(match):
        return None
    words_of = value.split(" ")
    if verb == "prefer":
        # Without what it is compared with, only the message before tells what is meant.
        parts = re.split(r" (?:to|over) ", value)
        if len(parts) == 1:
            return None
    else:
        parts = [value]
    # "I love seeing you smile" tells of a moment, "I love hiking" of a person.
    passing = words_of[0].endswith("ing") and words_of[1:2] not in ([], ["and"], ["or"], [","])
    if passing or re.match(r"(?:an?|some|any|to) ", value) or not all(map(_is_thing, parts)):
        return None
    return Statement(*_subject(match, clause), third_person(verb), _shown(value, clause), "concept")


def _avoiding(match: re.Match[str], clause: _Clause) -> Statement | None:
    value = match["value"]
    if not _is_thing(value):
        return None
    relation = third_person(match["verb"].lower())
    shown = _shown(value, clause)
    return Statement(*_subject(match, clause), relation, shown, "object", negated=True)


def _attribute(match: re.Match[str], clause: _Clause) -> Statement | None:
    value, what = match["value"], match["attribute"].lower()
    shown = _shown(value, clause)
    exact = any(letter.isupper() or letter.isdigit() or letter in "@/" for letter in shown)
    if not exact or (_POINTING & set(value.lower().split(" "))):
        return None
    if re.fullmatch(r"⟦\d+⟧", value):
        shown, type = re.sub(r"^(?:on|in|at) (?:the )?", "", shown), "time"
    else:
        shown, type = re.sub(r"^on (?=\d)", "", shown), "object"
    return Statement(f"{clause.speaker}'s {what}", "concept", "is", shown, type)


def _favourite(match: re.Match[str], clause: _Clause) -> Statement | None:
    what, value = match["what"], match["value"]
    if _EMPTY_FAVOURITES & set(what.split(" ")) or not _is_thing(value.removeprefix("the ")):
        return None
    return Statement(f"{clause.speaker}'s favourite {what}", "concept", "is", value, "object")


def _named_one(match: re.Match[str], clause: _Clause) -> Statement | None:
    """Read "my sister is called Anna": Anna is the speaker's sister."""
    one, name = match["one"].lower(), match["value"]
    if not _is_name(name) or name == clause.speaker:
        return None
    type = "animal" if re.fullmatch(f"{_OLDER}(?:{_PET_WORDS})", one) else "person"
    of = f"{clause.speaker}'s {one}"
    return Statement(name, type, "is", of, type, alias=of)


def _own_name(match: re.Match[str], clause: _Clause) -> Statement | None:
    name = match["value"]
    if not _is_name(name) or name == clause.speaker:
        return None
    return Statement(clause.speaker, "person", CALLED, name, NAME_TYPE)


def _moved(match: re.Match[str], clause: _Clause) -> Statement | None:
    place = match["value"]
    when = _time(match, clause)
    known = place.partition(" , ")[0].lower() in PLACES
    if (
        not _is_name(place)
        or not _has_subject(match)
        or not (known or match.groupdict().get("back"))
    ):
        return None
    return Statement(
        *_subject(match, clause), "moved to", place.replace(" ,", ","), "location", when
    )


def _living_since(match: re.Match[str], clause: _Clause) -> Statement | None:
    span = clause.times[int(match["since"])]
    if clause.tokens[span.start].low != "since" or not _is_name(match["value"]):
        return None
    place = match["value"].replace(" ,", ",")
    return Statement(clause.speaker, "person", "lives in", place, "location", span.when)


def _job_at(match: re.Match[str], clause: _Clause) -> Statement | None:
    """Read "I work at Google as an engineer" as "I work as an engineer at Google"."""
    if not _has_subject(match):
        return None
    job = f"{match['value']} at {match['employer']}"
    return Statement(*_subject(match, clause), "works as", job, "concept")


def _age(match: re.Match[str], clause: _Clause) -> Statement:
    return Statement(*_subject(match, clause), "is", f"{match['value']} years old", "concept")


def _owning(match: re.Match[str], clause: _Clause) -> Statement | None:
    return Statement(clause.speaker, "person", "has", match["value"], "concept")


@dataclass(frozen=True, slots=True)
class Frame:
    """A form of a clause, and what it states.

    ``closed`` is whether its value has a form of its own, such as a name or a number, so that what
    follows after a comma cannot be a part of it. "I love hiking, swimming and climbing" is open.
    """

    pattern: re.Pattern[str]
    read: _Reading
    closed: bool


def _frame(pattern: str, read: _Reading, *, closed: bool = True) -> Frame:
    return Frame(re.compile(pattern), read, closed)


FRAMES: tuple[Frame, ...] = (
    _frame(rf"(?:[Ww]e|{_ANYONE}) (?:am living|live|lives|is living|are living|am based|is based|are based) in (?P<value>{_PLACE}){_NOW}{_WHEN}",
           _states("lives in", "location", _is_name)),
    _frame(rf"(?:I|[Ww]e) have (?:lived|been living) in (?P<value>{_PLACE}) ⟦(?P<since>\d+)⟧",
           _living_since),
    _frame(rf"(?:I|[Ww]e|[Mm]y (?P<kin>{_KIN})(?: (?P<named>{_PERSON}))?|{_THIRD}) (?:have |has )?(?:just |recently |finally )?(?:moved|relocated) (?P<back>back )?to (?P<value>{_PLACE}){_WHEN}",
           _moved),
    _frame(rf"{_WHO} (?:am|is) (?:originally )?from (?P<value>{_PLACE})",
           _states("is from", "location", _is_name)),
    _frame(rf"{_WHO} (?:was born|were born) in (?P<value>{_PLACE}){_WHEN}",
           _states("was born in", "location", _is_name)),
    _frame(rf"{_WHO} grew up in (?P<value>{_PLACE})", _states("grew up in", "location", _is_name)),
    _frame(rf"{_ANYONE} (?:work|works|am working|is working) (?:at|for) (?P<value>(?:the )?{_NAME}){_NOW}",
           _states("works at", "organization", _is_name)),
    _frame(rf"{_ANYONE} (?:work|works|am working|is working) (?:at|for) (?P<employer>(?:the )?{_NAME}) as an? (?P<value>{_JOB}){_NOW}",
           _job_at),
    _frame(rf"{_ANYONE} (?:work|works|am working|is working) as an? (?P<value>{_JOB}(?: (?:at|for|in) (?:the )?{_NAME})?){_NOW}",
           _states("works as", "concept")),
    _frame(rf"{_WHO} (?:am|is) an? (?P<value>{_JOB}(?: (?:at|for|in) (?:the )?{_NAME})?){_NOW}",
           _states("works as", "concept")),
    _frame(rf"I (?:have )?(?:just |finally )?(?:started|got) (?:a |my )new job at (?P<value>{_NAME}){_WHEN}",
           _states("started a new job at", "organization", _is_name)),
    _frame(rf"{_ANYONE} (?:am|is) (?:severely |very |quite |mildly )?allergic to (?P<value>{_LIST})",
           _states("is allergic to", "object", _is_thing), closed=False),
    _frame(rf"{_WHO} (?:have|has) an? (?:severe |serious |bad |mild )?(?P<value>[a-z]+(?: [a-z]+)?) allergy",
           _states("is allergic to", "object", _is_thing)),
    _frame(rf"{_WHO} (?:am|is) (?:a )?(?P<value>{_DIET}){_NOW}", _states("is", "concept")),
    _frame(rf"I (?:really )?do not (?P<verb>{_EATING}|like|enjoy) (?:any )?(?P<value>{_LIST})",
           _avoiding, closed=False),
    _frame(rf"{_ANYONE} {_EVER}(?P<verb>{_LIKING}) (?P<value>{_LIST})", _liking,
           closed=False),
    _frame(rf"{_WHO} (?:speak|speaks) (?:fluent |native |some |a little )?(?P<value>[A-Z][a-z]+(?:(?: ,| and| ,? and) [A-Z][a-z]+)*)",
           _states("speaks", "concept", _is_name), closed=False),
    _frame(rf"{_WHO} (?:am|is) (?P<value>[1-9]\d?) (?:years?|yrs?)(?: old| of age)", _age),
    _frame(rf"{_WHO} (?:am|is) (?:married|engaged) to (?P<value>{_PERSON})",
           _states("is married to", "person", _is_name)),
    _frame(rf"{_WHO} (?:take|takes|am on|is on) (?P<value>\d[\d.,]* ?(?:mg|mcg|µg|ml|g|iu|units|milligrams|micrograms) (?:of )?[a-z]+(?: (?:daily|once a day|twice a day|every (?:day|morning|evening|night)|a day))?)",
           _states("takes", "object")),
    _frame(rf"I have (?P<value>(?:an?|{_NUMBER}) (?:{_OLDER}(?:{_PET_WORDS}|kid|child|son|daughter|brother|sister|sibling|grandchild)s?|children|grandchildren|kids))",
           _owning),
    _frame(rf"[Mm]y {_FAVOURITE} (?:is|are) (?P<value>(?:the )?{_WORDS})", _favourite,
           closed=False),
    _frame(rf"[Mm]y (?P<attribute>{_ATTRIBUTE}) (?:is|are) (?P<value>(?:[^\s,;]+ ?){{1,8}})", _attribute),
    _frame(rf"[Mm]y (?P<one>{_ONES})(?: is called| is named|'s name is| is|'s) (?P<value>{_PERSON})", _named_one),
    _frame(rf"(?P<value>{_PERSON}) is my (?P<one>{_ONES})", _named_one),
    _frame(rf"I have an? (?P<one>{_ONES}) (?:called|named) (?P<value>{_PERSON})", _named_one),
    _frame(rf"(?:[Pp]lease |[Yy]ou can |[Jj]ust )*[Cc]all me (?P<value>{_PERSON})", _own_name),
    _frame(rf"[Mm]y name is (?P<value>{_PERSON})", _own_name),
)  # fmt: skip

_APPOSITION = re.compile(rf"\b[Mm]y (?P<one>{_ONES}) (?P<value>{_PERSON})(?!\w)")


def _appositions(clause: _Clause) -> Iterator[Statement]:
    """Read "my sister Anna" wherever it stands."""
    for match in _APPOSITION.finditer(clause.text):
        parts: list[str] = []
        for part in match["value"].split(" "):
            owner = part.removesuffix("'s").removesuffix("’s").rstrip(".")
            if not owner[1:].islower() or not _is_name(owner):
                break
            parts.append(owner)
            if owner != part:
                break
        name, one = " ".join(parts), match["one"].lower()
        if not name or name == clause.speaker:
            continue
        type = "animal" if re.fullmatch(f"{_OLDER}(?:{_PET_WORDS})", one) else "person"
        of = f"{clause.speaker}'s {one}"
        yield Statement(name, type, "is", of, type, alias=of)


# Orders that are meant for good, to an assistant.

_COURTESY = r"(?:(?:can|could|would|will) you )?(?:(?:please|and|but|so|also|ok|okay|oh|just|thanks|remember(?: to)?|note)(?: ,)? )*"
_LASTING = r"(?:from now on|from here on|going forward|in future|in the future)"
_ORDER = re.compile(
    rf"{_COURTESY}(?:(?P<lasting>{_LASTING})(?: ,)? )?(?:please )?"
    r"(?P<how>always|never|do not ever|do not|)(?: ?please)? ?(?P<verb>[a-z]+)(?P<rest>(?: .+?)?)"
    r"(?:(?: ,)? (?:please|pls|thanks|thank you))?",
    re.IGNORECASE,
)
_ORDERS = word_set(
    """answer reply respond write use give show send tell suggest recommend offer propose include
    add mention ask check format speak talk explain keep make put start end run call address treat
    assume book order remind commit push test be cite quote translate convert summarise summarize
    round print return name avoid leave delete remove change touch edit skip prefer list"""
)
"""Verbs of what an assistant does for its user."""


def _standing_order(sentence: Sentence, speaker: str) -> Statement | None:
    """Read a whole sentence such as "Please never use emojis." or "From now on, write in German."."""
    text = join(list(sentence.tokens)).rstrip(" .!?")
    return _order_in(text, speaker)


def _order_in(text: str, speaker: str) -> Statement | None:
    text = text.strip(" ,;–—-.!")
    match = _ORDER.fullmatch(text)
    if match is None:
        return None
    how, verb = match["how"].lower(), match["verb"].lower()
    for_good = bool(match["lasting"]) or how in ("always", "never", "do not ever")
    rest = match["rest"].strip()
    known = known_verb(verb)
    if not for_good or not rest or verb not in _ORDERS or known is None:
        return None
    relation = "asks to never" if how in ("never", "do not ever", "do not") else "asks to always"
    return Statement(
        speaker, "person", relation, re.sub(r" ([,.])", r"\1", f"{verb} {rest}"), "concept"
    )

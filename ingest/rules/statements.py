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
from cognigraph.english.first_names import FIRST_NAMES
from cognigraph.english.sentences import Sentence, Token, join
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.times.readers import DAYPARTS, MONTHS, WEEKDAYS
from cognigraph.english.verbs import (
    BE,
    FINITE_AUX,
    HAVE,
    guess_verb,
    is_past,
    third_person,
    verb_only,
)
from cognigraph.english.words import PLACES, TITLES, word_set
from cognigraph.ingest.extraction import Fact
from cognigraph.ingest.rules.names import NOUN_ENDINGS
from cognigraph.resolution.name_forms import NAME_TYPE

CALLED = "is called"
"""The relation of a person and the name that the person wants to be called by."""


# What makes a message or a sentence say something that is not meant, or not meant by its speaker.

_UNREAL_MESSAGE = word_set(
    """dream dreams dreamt dreamed dreaming nightmare imagine imagining pretend pretending
    hypothetical hypothetically suppose scenario character characters roleplay role-play fictional fiction persona translate
    translated translation proofread rephrase paraphrase rewrite summarize summarise lyrics poem
    screenplay quote quotes quoted kidding joking jk lol lmao haha hahaha sarcasm sarcastic scratch oops typo
    correction autocorrect"""
)
"""Words of messages whose sentences may be somebody else's, unreal, or taken back later on."""
_MOST_LETTERS, _MOST_LINES = 1200, 6
"""A longer message may be a document that somebody pasted."""
_UNREAL_PHRASES = re.compile(
    r"\b(?:act as|acting as|(?:like|as if) i\s?'?\s?a?m|user story|persona is|cover letter|for example|for instance|e\.g\.|made that up|april fools?"
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
    r"|keep in mind|bear in mind|just a reminder|reminder)(?: that)?|@\w+)(?: [,:;–—-])* |[,:;–—•-] )",
    re.IGNORECASE,
)
_CLOSER = re.compile(
    r"(?:(?: ,)? (?:please|pls|thanks|thank you|btw|by the way|as well|remember))?"
    r"(?: [:;] [)DP]| [^\w⟧)])*$",
    re.IGNORECASE,
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
_EVER = r"(?:(?:really|absolutely|also|just|still|do|always|particularly|totally) )?"

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
_WHO = rf"(?:I|[Mm]y (?P<kin>{_OLDER}(?:{_KIN_WORDS}))(?: (?P<named>{_PERSON}))?)"
_ANYONE = rf"(?:{_WHO}|(?P<third>{_PERSON}))"
_FAVOURITE = r"(?:all-time )?favou?rite (?P<what>[a-z][\w-]*(?: [a-z][\w-]*){0,2})"
_EMPTY_FAVOURITES = word_set(
    """part thing things one ones bit aspect moment memory memories spot line option example way
    approach version idea feature is are was has so person people quote time"""
)
_ATTRIBUTES: tuple[tuple[str, str], ...] = (
    ("(?:first|last|full|middle|maiden|family) name|surname|nickname|home ?town|nationality"
     "|(?:native|first) language|mother tongue|job title", r"[A-Z].*"),
    ("(?:(?:work|home|mobile|cell|office|private) )?(?:phone|phone number|mobile number|number)",
     r"\+?[(\d][\d ()/.-]{5,}"),
    ("(?:(?:work|private|personal) )?e-?mail(?: address)?", r"\S+@\S+"),
    ("(?:github|discord|slack|telegram) (?:handle|username|name)|user ?name",
     r"(?=\S*[^a-z])\S+"),
    ("(?:home |postal )?address|post ?code|zip code|rent|salary|height|weight|shoe size",
     r".*\d.*"),
    ("time ?zone", r"[A-Z].*"),
    ("blood type", r"(?:A|B|AB|O|0)(?:[+-]| ?\w+| [+-])?"),
    ("pronouns", r"\w+ ?/.*"),
    ("birthday|date of birth", rf"(?i:.*\b(?:{'|'.join(MONTHS)})\b.*)"),
)  # fmt: skip
"""What people have one of, and the form of its values."""
_ATTRIBUTE = "|".join(names for names, _ in _ATTRIBUTES)
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
_AT = rf"(?: (?:at|for|in) (?:the )?{_NAME})?"
_JOB = rf"(?:[a-z][\w-]* ){{0,3}}(?:{_OCCUPATIONS})"
_DIET = "(?:vegan|vegetarian|pescatarian|pescetarian|lactose intolerant|gluten intolerant|coeliac|celiac|diabetic|teetotal)"
_WORK = r"(?:work|works|am working|is working)"
_MARK = re.compile(r" (?:[,;:(–—-]) (?=.)")
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
_JOINING = word_set("and or with without in at on of for from by about over than")
_OTHERS = word_set("he she they you everyone somebody someone guy") | words.PERSON_NOUNS


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, with its time expressions as ⟦n⟧; ``written`` is its sentence as it was written."""

    text: str
    written: str
    times: Sequence[TimeSpan]
    tokens: Sequence[Token]
    speaker: str


_Reading = Callable[[re.Match[str], _Clause], Fact | None]


def statements(
    said: Sequence[tuple[Sentence, Sequence[TimeSpan], bool]],
    text: str,
    speaker: str,
    *,
    to_assistant: bool,
) -> list[Fact]:
    """Return what a message states for certain, as facts without evidence.

    ``said`` are its sentences, each with its time expressions and whether it is English; ``text`` is
    the message. ``to_assistant`` is whether it is said to an assistant, who may be told how to work.
    """
    if _is_unreal(text):
        return []
    found: list[Fact] = []
    quoting = pasted = False
    for sentence, times, english in said:
        quotes = len(_QUOTES.findall(sentence.text))
        if english and not (quotes or quoting or pasted):
            found += _of_sentence(sentence, times, speaker, to_assistant)
        quoting ^= sentence.text.count('"') % 2 == 1
        pasted |= sentence.text.rstrip().endswith(":")
    return list(dict.fromkeys(found))


def alias_in(fact: Fact) -> str | None:
    """Return another name of the subject that a fact gives: "Tom's sister", if Anna is that."""
    kin = _KINSHIP.fullmatch(fact.relation)
    return None if kin is None else f"{fact.object}'s {kin[1]}"


_KINSHIP = re.compile(rf"is ({_ONES}) of")


def _is_unreal(text: str) -> bool:
    if len(text) > _MOST_LETTERS or len([line for line in text.split("\n") if line]) > _MOST_LINES:
        return True
    lows = set(re.findall(r"[a-z-]+", text.lower()))
    return bool(lows & _UNREAL_MESSAGE or _UNREAL_PHRASES.search(text) or _LETTER.search(text))


def _of_sentence(
    sentence: Sentence, times: Sequence[TimeSpan], speaker: str, to_assistant: bool
) -> Iterator[Fact]:
    said = join(sentence.tokens)
    order = _order(said, sentence.text, speaker, asked=sentence.question)
    if to_assistant and order is not None:
        yield order
        return
    if sentence.question or _is_doubtful(sentence.tokens, times) or _is_labelled(said):
        return
    text = _with_times(sentence.tokens, times)
    clause = _Clause(text, sentence.text, times, sentence.tokens, speaker)
    yield from _appositions(clause)
    parts = _SPLIT.split(_without_openers(_CLOSER.sub("", clause.text)))
    read: list[Fact | None] = []
    for number, part in enumerate(parts):
        plain = _without_openers(part)
        fact = _order(plain, sentence.text, speaker) if to_assistant else None
        unread = number > 0 and read[-1] is None and fact is None
        if unread and _is_framed(parts[number - 1], part):
            break
        if fact is None and not (unread and _SHARED.match(part.strip())):
            fact = _of_clause(plain, clause)  # "so much energy and love": "love" is no verb there
        read.append(fact)
    for one, following, part in zip(read, [*read[1:], None], [*parts[1:], ""], strict=False):
        taken_back = following is None and _first_word(part) in _TAKING_BACK
        if one is not None and not taken_back:
            yield one


def _is_doubtful(tokens: Sequence[Token], times: Sequence[TimeSpan]) -> bool:
    """Whether a word of doubt is in a sentence; not that of "until May" or "my favourite film"."""
    apart = {at for span in times for at in range(span.start, span.end)}
    apart |= {at for at in range(1, len(tokens)) if tokens[at - 1].low in ("favourite", "favorite")}
    return any(token.low in _DOUBT for at, token in enumerate(tokens) if at not in apart)


def _is_labelled(said: str) -> bool:
    """Whether a sentence is somebody's line: "Client: I live in Vienna"."""
    label = re.match(r"[\w .-]{1,40} : (?=\w)", said)
    return label is not None and _without_openers(label[0]) != ""


def _is_framed(before: str, part: str) -> bool:
    """Whether the clause before one may say that it is not meant, or who says it.

    "She was like, I'm a nurse", "For the exercise, I'm a nurse".
    """
    joined = re.match(r"[, ]*(?:and|but|so|because|since|which|who)\b", part.strip())
    lows = re.findall(r"\w+", before.lower())
    others = any(low in _OTHERS or low in FIRST_NAMES for low in lows)
    return joined is None and (others or (lows[:1] != [] and lows[0] in words.PREPOSITIONS))


def _with_times(tokens: Sequence[Token], times: Sequence[TimeSpan]) -> str:
    """Return the tokens as text, with a sign for each time expression that may be a date."""
    parts: list[str] = []
    at = 0
    spans = {
        span.start: (number, span)
        for number, span in enumerate(times)
        if (span.when or (span.readings and span.bound == "" and not span.outdated))
        and " ".join(token.low for token in tokens[span.start : span.end]) not in _PRESENT
    }
    while at < len(tokens):
        number, span = spans.get(at, (0, None))
        parts.append(tokens[at].text if span is None else f"⟦{number}⟧")
        at = at + 1 if span is None else span.end
    return " ".join(parts).replace(" 's", "'s")


def _first_word(part: str) -> str:
    return part.strip(" ,;:(–—-").partition(" ")[0].lower()


def _without_openers(part: str) -> str:
    part = _SHARED.sub("I ", part.strip(" ,;–—-")) + " "
    for _ in range(4):
        opener = _OPENER.match(part)
        if opener is None:
            break
        part = part[opener.end() :]
    return part.strip(" ,;–—-")


def _of_clause(text: str, clause: _Clause) -> Fact | None:
    """Return what the first fitting frame reads, of the whole clause or of it without its tail."""
    closed, open_ = _without_tail(text, closed=True), _without_tail(text, closed=False)
    for frame in FRAMES:
        match = frame.pattern.fullmatch(text)
        if match is None and (head := closed if frame.closed else open_):
            match = frame.pattern.fullmatch(head)
        if match is not None and (found := frame.read(match, clause)) is not None:
            return found
    return None


def _without_tail(text: str, *, closed: bool) -> str:
    """Return a clause without what is added to it: "I live in Leeds | , near the canal".

    A value that may be a list ends at a comma only if what follows cannot be one of its items.
    Empty if there is no such tail.
    """
    for parted in (_TAIL if closed else _MARK).finditer(text):
        tail = text[parted.start() :]
        low = _first_word(tail)
        if low not in _TAKING_BACK and (closed or verb_only(low) or is_past(low) or low in _ADDING):
            return text[: parted.start()]
        if closed:
            break
    return ""


_ADDING = words.PRONOUNS | word_set("especially particularly particular")


# Frames: how a statement is said, and what it states.


def _fact(
    subject: str,
    relation: str,
    object: str,
    type: str,
    *,
    subject_type: str = "person",
    when: str | None = None,
    negated: bool = False,
) -> Fact:
    return Fact(subject, subject_type, relation, object, type, (), when, negated)


def _subject(match: re.Match[str], clause: _Clause) -> str:
    parts = match.groupdict()
    kin, named = parts.get("kin"), parts.get("named") or parts.get("third")
    return named or (f"{clause.speaker}'s {kin.lower()}" if kin else clause.speaker)


def _time(match: re.Match[str], clause: _Clause) -> str | None:
    number = match.groupdict().get("when")
    return clause.times[int(number)].when or None if number else None


def _shown(text: str, clause: _Clause) -> str:
    """Return a value with the words of its time expressions in their place."""

    def words_of(match: re.Match[str]) -> str:
        span = clause.times[int(match[1])]
        return join(clause.tokens[span.start : span.end])

    return _as_written(re.sub(r"⟦(\d+)⟧", words_of, text), clause.written)


def _as_written(said: str, written: str) -> str:
    """Return tokens joined by spaces as the text has them: "Europe / Berlin", "a , b"."""
    letters = r"\s*".join(map(re.escape, said.replace(" ", "")))
    match = re.search(letters, written, re.IGNORECASE)
    return said if match is None else " ".join(match[0].split())


def _states(
    relation: str,
    type: str,
    accepts: Callable[[str], bool] = lambda value: True,
    *,
    negated: bool = False,
) -> _Reading:
    """A frame whose ``value`` is the object of a relation."""

    def read(match: re.Match[str], clause: _Clause) -> Fact | None:
        value = match["value"]
        if not accepts(value) or not _has_subject(match):
            return None
        named = relation or third_person(match["verb"].lower().removesuffix("s"))
        shown, when = _shown(value, clause), _time(match, clause)
        return _fact(_subject(match, clause), named, shown, type, when=when, negated=negated)

    return read


def _has_subject(match: re.Match[str]) -> bool:
    """Whether a subject in the third person is surely somebody: "Academia" loves tradition, too."""
    name = match.groupdict().get("third")
    return name is None or _is_person(name)


def _is_thing(value: str) -> bool:
    """Whether a phrase says by itself what it means: "hiking", "a peanut butter sandwich"."""
    lows = [word.lower() for word in value.replace(" ,", "").split(" ")]
    if _POINTING & set(lows) or "⟦" in value or lows[-1] in _JOINING or lows[0] in _JOINING:
        return False
    if any(low in FINITE_AUX or low in BE or low in HAVE or low in _TIMES for low in lows):
        return False
    return not (len(lows) == 1 and (lows[0] in words.LIGHT or lows[0] in words.ADVERBS))


_TIMES = WEEKDAYS.keys() | DAYPARTS | {f"{part}s" for part in DAYPARTS}


def _is_allergen(value: str) -> bool:
    """Whether one can be allergic to something other than as a joke ("to commitment")."""
    return _is_thing(value) and not value.endswith(NOUN_ENDINGS)


def _is_name(value: str) -> bool:
    lows = value.lower().split(" ")
    if len(lows) > 1 and lows[0].rstrip(".") in TITLES:
        lows = lows[1:]
    return not any(low in words.NOT_NAMES or low in words.PRONOUNS for low in lows)


def _is_person(value: str) -> bool:
    """Whether a name is surely one of a person: "My boss is Irish" names nobody."""
    first, _, rest = value.lower().partition(" ")
    return _is_name(value) and (
        first in FIRST_NAMES or (first.rstrip(".") in TITLES and rest != "")
    )


def _is_known_place(value: str) -> bool:
    return value.partition(" , ")[0].removeprefix("the ").lower() in PLACES


def _is_place(value: str) -> bool:
    strange = words.LIGHT.intersection(value.lower().split(" "))
    return _is_known_place(value) or (_is_name(value) and not strange)


def _is_liked(value: str) -> bool:
    first, _, rest = value.partition(" ")
    # "I love seeing you smile" tells of a moment, "I love hiking" of a person.
    passing = first.endswith("ing") and rest.partition(" ")[0] not in ("", "and", "or", ",")
    return not passing and first not in ("a", "an", "some", "any") and _is_thing(value)


def _is_compared(value: str) -> bool:
    """Whether a preference says what it is compared with; else only the message before tells."""
    parts = re.split(r" (?:to|over) ", value)
    return len(parts) == 2 and all(map(_is_thing, parts))


def _attribute(match: re.Match[str], clause: _Clause) -> Fact | None:
    what, value = match["attribute"].lower(), match["value"]
    shown = re.sub(r"^(?:on|in|at) (?:the )?(?=\w)", "", _shown(value, clause))
    form = next(form for names, form in _ATTRIBUTES if re.fullmatch(names, what))
    if re.fullmatch(form, shown) is None or _POINTING & set(value.lower().split(" ")):
        return None
    type = "time" if re.fullmatch(r"⟦\d+⟧", value) else "object"
    return _fact(f"{clause.speaker}'s {what}", "is", shown, type, subject_type="concept")


def _favourite(match: re.Match[str], clause: _Clause) -> Fact | None:
    what, value = match["what"], match["value"]
    if _EMPTY_FAVOURITES & set(what.split(" ")) or not _is_thing(value.removeprefix("the ")):
        return None
    subject = f"{clause.speaker}'s favourite {what}"
    return _fact(subject, "is", _shown(value, clause), "object", subject_type="concept")


def _kinship(accepts: Callable[[str], bool]) -> _Reading:
    """A frame that names who or what is whose: "my sister is called Anna"."""

    def read(match: re.Match[str], clause: _Clause) -> Fact | None:
        parts = match.groupdict()
        name, owner = parts.get("value") or clause.speaker, parts.get("owner") or clause.speaker
        given = [part for part in (parts.get("value"), parts.get("owner")) if part]
        if name == owner or not all(map(accepts, given)):
            return None
        return _kin_of(name, match["one"].lower(), owner)

    return read


def _kin_of(name: str, one: str, owner: str) -> Fact:
    type = "animal" if re.fullmatch(f"{_OLDER}(?:{_PET_WORDS})", one) else "person"
    return _fact(name, f"is {one} of", owner, "person", subject_type=type)


def _own_name(match: re.Match[str], clause: _Clause) -> Fact | None:
    name = match["value"]
    if not _is_name(name) or name == clause.speaker:
        return None
    return _fact(clause.speaker, CALLED, name, NAME_TYPE)


def _age(match: re.Match[str], clause: _Clause) -> Fact | None:
    value, of_speaker = match["value"], match["kin"] is None
    if of_speaker and int(value.split(" ")[0]) < _YOUNGEST:
        return None  # "I'm five years old, explain it to me"
    return _fact(_subject(match, clause), "is", value, "concept")


_YOUNGEST = 13


def _living_since(match: re.Match[str], clause: _Clause) -> Fact | None:
    span, place = clause.times[int(match["since"])], match["value"]
    if clause.tokens[span.start].low != "since" or not _is_place(place):
        return None
    return _fact(clause.speaker, "lives in", _shown(place, clause), "location", when=span.when)


def _job_at(match: re.Match[str], clause: _Clause) -> Fact | None:
    """Read "I work at Google as an engineer" as "I work as an engineer at Google"."""
    if not _has_subject(match) or not _is_thing(match["value"]):
        return None
    job = f"{match['value']} at {match['employer']}"
    return _fact(_subject(match, clause), "works as", job, "concept")


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
    _frame(rf"(?:[Ww]e|{_ANYONE}) (?:live|lives|(?:am|is|are) (?:living|based)) in (?P<value>{_PLACE})(?: now)?{_WHEN}",
           _states("lives in", "location", _is_place)),
    _frame(rf"(?:I|[Ww]e) have (?:lived|been living) in (?P<value>{_PLACE}) ⟦(?P<since>\d+)⟧",
           _living_since),
    _frame(rf"(?:[Ww]e|{_ANYONE}) (?:have |has )?(?:just |recently |finally )?(?:moved|relocated) (?:back )?to (?P<value>{_PLACE}){_WHEN}",
           _states("moved to", "location", _is_known_place)),
    _frame(rf"{_WHO} (?:am|is) (?:originally )?from (?P<value>{_PLACE})",
           _states("is from", "location", _is_known_place)),
    _frame(rf"{_WHO} was born in (?P<value>{_PLACE}){_WHEN}",
           _states("was born in", "location", _is_name)),
    _frame(rf"{_WHO} grew up in (?P<value>{_PLACE})", _states("grew up in", "location", _is_name)),
    _frame(rf"{_ANYONE} {_WORK} (?:at|for) (?P<value>(?:the )?{_NAME}){_NOW}",
           _states("works at", "organization", lambda name: _is_name(name) and not _is_person(name))),
    _frame(rf"{_ANYONE} {_WORK} (?:at|for) (?P<employer>(?:the )?{_NAME}) as an? (?P<value>[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}){_NOW}",
           _job_at),
    _frame(rf"{_ANYONE} {_WORK} as an? (?P<value>[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?{_AT}){_NOW}",
           _states("works as", "concept", _is_thing)),
    _frame(rf"{_WHO} (?:am|is) an? (?P<value>{_JOB}{_AT}){_NOW}", _states("works as", "concept")),
    _frame(rf"I (?:have )?(?:just |finally )?(?:started|got) (?:a |my )new job at (?P<value>{_NAME}){_WHEN}",
           _states("started a new job at", "organization", _is_name)),
    _frame(rf"{_ANYONE} (?:am|is) (?:severely |very |quite |mildly )?allergic to (?P<value>{_LIST})",
           _states("is allergic to", "object", _is_allergen), closed=False),
    _frame(rf"{_WHO} (?:have|has) an? (?:severe |serious |bad |mild )?(?P<value>[a-z]+(?: [a-z]+)?) allergy",
           _states("is allergic to", "object", _is_thing)),
    _frame(rf"{_WHO} (?:am|is) (?:a )?(?P<value>{_DIET}){_NOW}", _states("is", "concept")),
    _frame(rf"I (?:really )?do not (?P<verb>eat|drink|smoke|like|enjoy) (?:any )?(?P<value>{_LIST})",
           _states("", "object", _is_thing, negated=True), closed=False),
    _frame(rf"{_ANYONE} {_EVER}(?P<verb>loves?|likes?|enjoys?|dislikes?|hates?|adores?) (?P<value>{_LIST})",
           _states("", "concept", _is_liked), closed=False),
    _frame(rf"{_ANYONE} {_EVER}prefers? (?P<value>{_LIST})",
           _states("prefers", "concept", _is_compared), closed=False),
    _frame(rf"{_WHO} (?:am|is) (?P<value>[1-9]\d? (?:years?|yrs?) old)", _age),
    _frame(rf"{_WHO} (?:am|is) (?:married|engaged) to (?P<value>{_PERSON})",
           _states("is married to", "person", _is_name)),
    _frame(rf"{_WHO} (?:take|takes|am on|is on) (?P<value>\d[\d.,]* ?(?:mg|mcg|µg|ml|iu|milligrams|micrograms) (?:of )?[a-z]+(?: (?:daily|once a day|twice a day|every (?:day|morning|evening|night)|a day))?)",
           _states("takes", "object")),
    _frame(rf"I have (?P<value>(?:an?|{_NUMBER}) (?:{_OLDER}(?:{_PET_WORDS}|kid|child|son|daughter|brother|sister|sibling|grandchild)s?|children|grandchildren|kids))",
           _states("has", "concept")),
    _frame(rf"[Mm]y {_FAVOURITE} (?:is|are) (?P<value>(?:the )?{_WORDS})", _favourite, closed=False),
    _frame(r"[Mm]y (?P<attribute>(?:home |postal )?address) is (?P<value>\S+(?: \S+){0,11})",
           _attribute, closed=False),
    _frame(rf"[Mm]y (?:new |current )?(?P<attribute>(?i:{_ATTRIBUTE})) (?:is|are) (?P<value>[^\s,;]\S*(?: [^\s,;]\S*){{0,7}})",
           _attribute),
    _frame(rf"[Mm]y (?P<one>{_ONES})(?: is called| is named|'s name is) (?P<value>{_PERSON})",
           _kinship(_is_name)),
    _frame(rf"[Mm]y (?P<one>{_ONES})(?: is|'s) (?P<value>{_PERSON})", _kinship(_is_person)),
    _frame(rf"(?P<value>{_PERSON}) is my (?P<one>{_ONES})", _kinship(_is_person)),
    _frame(rf"(?:I am|(?P<value>{_PERSON}) is) (?P<owner>{_PERSON})'s (?P<one>{_ONES})",
           _kinship(_is_person)),
    _frame(rf"I have an? (?P<one>{_ONES}) (?:called|named) (?P<value>{_PERSON})", _kinship(_is_name)),
    _frame(rf"(?:[Pp]lease |[Yy]ou can |[Jj]ust )*[Cc]all me (?P<value>{_PERSON})", _own_name),
    _frame(rf"[Mm]y name is (?P<value>{_PERSON})", _own_name),
)  # fmt: skip

_APPOSITION = re.compile(rf"\b[Mm]y (?P<one>{_ONES}) (?P<value>{_PERSON})(?!\w)")


def _appositions(clause: _Clause) -> Iterator[Fact]:
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
        name = " ".join(parts)
        if name and name != clause.speaker and _is_end_of_name(clause.text, match.end()):
            yield _kin_of(name, match["one"].lower(), clause.speaker)


def _is_end_of_name(text: str, end: int) -> bool:
    """Whether a name may end there; a noun after it makes it part of something else."""
    low = text[end:].strip().partition(" ")[0].lower()
    owner = text[:end].endswith("'s")
    return owner or not low.isalpha() or low in _AFTER_NAME or guess_verb(low) is not None


_AFTER_NAME = (
    words.PRONOUNS | words.OBJECT_PRONOUNS | words.ADVERBS | words.PREPOSITIONS
    | words.CONJUNCTIONS | words.POSSESSIVES | words.DETERMINERS | FINITE_AUX | BE
)  # fmt: skip


# Orders that are meant for good, to an assistant.

_COURTESY = r"(?P<ask>(?:can|could|would|will) you )?(?:(?:please|and|but|so|also|ok|okay|oh|just|thanks|remember(?: to)?|note)(?: ,)? )*"
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


def _order(text: str, written: str, speaker: str, *, asked: bool = False) -> Fact | None:
    """Read "Please never use emojis." or "From now on, write in German."."""
    match = _ORDER.fullmatch(_CLOSER.sub("", text).strip(" ,;–—-"))
    if match is None or (asked and not match["ask"]):
        return None
    how, verb, rest = match["how"].lower(), match["verb"].lower(), match["rest"].strip()
    lows = rest.lower().split(" ")
    for_good = bool(match["lasting"]) or how in ("always", "never", "do not ever")
    empty = len(lows) == 1 and (lows[0] in words.PARTICLES or lows[0] in _POINTING or not rest)
    if not for_good or empty or verb not in _ORDERS or _SAYING & set(lows):
        return None
    relation = "asks to never" if how in ("never", "do not ever", "do not") else "asks to always"
    return _fact(speaker, relation, _as_written(f"{verb} {rest}", written), "concept")


_SAYING = word_set("said says say told tells")
"""With these, an order is one that somebody else gives: "Always write tests, they say"."""

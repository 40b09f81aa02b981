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
from itertools import dropwhile, takewhile

from cognigraph.english import words
from cognigraph.english.sentences import Sentence, Token, join
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.times.readers import MONTHS, WEEKDAYS
from cognigraph.english.verbs import (
    BE,
    FINITE_AUX,
    HAVE,
    guess_verb,
    is_ing,
    is_past,
    third_person,
    verb_only,
)
from cognigraph.english.words import (
    FAMILY,
    PLACES,
    ROLES,
    TAKING_BACK,
    TITLES,
    is_first_name,
    listed,
    word_set,
)
from cognigraph.ingest.extraction import Fact
from cognigraph.ingest.rules.names import NOUN_ENDINGS
from cognigraph.resolution.name_forms import NAME_TYPE

CALLED = "is called"
"""The relation of a person and the name that the person wants to be called by."""


# What makes a message or a clause say something that is not meant, or not meant by its speaker.

_UNREAL_MESSAGE = word_set(
    """dream dreams dreamt dreamed dreaming nightmare imagine imagining pretend pretending
    hypothetical hypothetically suppose scenario character characters roleplay role-play fictional
    fiction persona translate translated translation proofread rephrase paraphrase rewrite summarize
    summarise lyrics poem screenplay quote quotes quoted kidding joking joked jk sarcasm sarcastic
    oops typo correction autocorrect"""
)
"""Words of messages whose sentences may be somebody else's, unreal, or taken back later on."""
_MOST_LETTERS, _MOST_LINES = 1200, 6
"""A longer message may be a document that somebody pasted."""
_UNREAL_PHRASES = re.compile(
    r"\b(?:act as|acting as|(?:like|as if) i\s?'?\s?a?m|let us say|let's say|user story|persona is"
    r"|cover letter|for example|for instance|e\.g\.|made that up|april fools?|wait,? no|no,? wait"
    r"|(?<=[.…,;:!?–—-] )(?:oh,? )?wait(?! for| until| till)|(?<=[.…])wait"
    rf"|{TAKING_BACK}|not really|just in a"
    r"|in (?:my|your|the|a|her|his) (?:head|mind|story|book|film|movie|novel|song|game|show|series|script))\b",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^\s*(?:dear|subject:|from:|to:|re:|hi [A-Z]\w+,$|hello [A-Z]\w+,$|(?:best|kind|warm) (?:regards|wishes)"
    r"|regards|sincerely|yours|cheers,$|signed)\b",
    re.IGNORECASE | re.MULTILINE,
)
_DOUBT = word_set(
    """if unless once whether would could might may should maybe perhaps probably possibly supposedly
    apparently allegedly wish wishing hope hoping hopefully guess think thought thinking believe
    seem seems almost nearly until unsure doubt wonder wondering bet except said says say saying told
    tells asked claims claimed actor actress plot scene"""
)
"""Words of what is not certain, holds only under a condition, or reports others."""
_FICTION = word_set("joke jokes character film movie book novel song episode story verse lyric")
"""Words of what may be invented: "my sister Anna" is then perhaps nobody's sister."""
_QUOTES = re.compile(r"[\"“”«»„]|(?<!\w)'\w[^']*'(?!\w)")
_LAUGHTER = r"(?:lol|lmao|rofl|xd|(?:ha){2,}h?|(?:he){2,})"
_LAUGHING = re.compile(rf"\w.* {_LAUGHTER}\b", re.IGNORECASE)
"""Laughter after the first words, at what they say."""

# What stands before a clause or after it and says nothing of it, as words and a few phrases.

_BY_THE_WAY = (
    r"btw|by the way|fyi|just so you know|(?:just )?in case it matters|as you know|you know|please|pls"
    r"|thanks|thank you|actually|honestly|currently|these days|at the moment|right now|now|ok|okay"
    rf"|remember|of course|sadly|luckily|unfortunately|tbh|{_LAUGHTER}|[^\w\s()\"'⟦⟧“”/#*]+"
)
_OPENERS = re.compile(
    rf"(?:(?:{_BY_THE_WAY}|and|but|so|because|since|also|well|oh|ah|hey|hi|hello|morning|yes|yeah|yep|no"
    r"|nope|sure|anyway|for (?:context|the record)|important|ps|nb|update|personally|that|@\w+"
    r"|(?:(?:some|a|one|good|bad|quick|little|more|please|just|keep|bear|in) )*"
    r"(?:note|background|context|news|heads up|thing|mind|reminder)(?: is)?) )*",
    re.IGNORECASE,
)
_CLOSERS = re.compile(
    rf"(?: (?:{_BY_THE_WAY}|as well|though|too|anymore|any more|originally|already|obviously|for work|at work"
    r"|for everything(?: here)?|[()]))*$",
    re.IGNORECASE,
)
_TAKING_BACK = frozenset(("but", "or", "except", "though", "although", "however", "not", "only"))
"""A clause that begins with one of these may take back what the clause before it says."""
_COORDINATING = frozenset(("and", "so", "because", "since", "but"))
_LINKS = _COORDINATING | frozenset("or except though although however which who where".split())
_BEGINNINGS = (words.PRONOUNS - word_set("one another these those")) | word_set(
    "never always not only call thanks thank"
)
"""First words of clauses, after "and", a comma and the like."""
_ASKING = word_set("what where when who whom whose why how which any") | FINITE_AUX
_LONGEST_TAG = 2
"""Words of "don't I" and "do you", which ask about what is before them."""

# The parts of frames. A frame has to match a clause from its first to its last word.

_CAP = r"[A-Z][\w'’&.-]*"
_NAME = rf"{_CAP}(?: (?:(?:of|de|da|do|van|der|la|el|upon|le) )?{_CAP}){{0,3}}"
_PERSON = rf"{_CAP}(?: {_CAP}){{0,2}}"
_PLACE = rf"(?:the )?{_NAME}(?: , {_NAME})?"
_WORDS = r"[\w'’+#/.-]+(?: [\w'’+#&/.-]+){0,5}"
_LIST = rf"{_WORDS}(?: , {_WORDS})*(?: ,)? (?:and|or) {_WORDS}|{_WORDS}"
_LASTING = r"(?:from now on|from here on|going forward|in future|in the future)"
_NUMBER = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_WHEN = r"(?: ⟦(?P<when>\d+)⟧)?"
_PRESENT = frozenset(("now", "currently", "at the moment", "these days", "right now"))
_MY = r"(?:[Mm]y|[Oo]ur)"
_WE = r"(?:I|[Ww]e)"
_AM = r"(?:am|is|are)"
_NOT = r"(?P<not>do not |does not )?"
_EVER = r"(?:(?:really|absolutely|also|just|still|do|always|particularly|totally) )?"

_KIN_WORDS = "|".join(sorted(FAMILY, key=len, reverse=True))
_ROLE_WORDS = "|".join(["best friend", "line manager", *sorted(ROLES)])
_PET_WORDS = (
    "dog|cat|puppy|kitten|horse|pony|parrot|budgie|rabbit|hamster|guinea pig|tortoise|turtle"
    "|goldfish|ferret|gecko|snake"
)
_OLDER = r"(?:(?:older|younger|elder|eldest|youngest|oldest|big|little|twin|half|late) )?"
_RELATIVES = rf"{_OLDER}(?:{_KIN_WORDS}|{_ROLE_WORDS}|{_PET_WORDS})"
_WHO = rf"(?:I|{_MY} (?P<kin>{_OLDER}(?:{_KIN_WORDS}))(?: (?P<named>{_PERSON}))?)"
_ANYONE = rf"(?:{_WHO}|(?P<third>{_PERSON}))"
_ATTRIBUTES: tuple[tuple[str, str], ...] = (
    ("(?:first|last|full|middle|maiden|family) name|surname|nickname|home ?town|nationality"
     "|(?:native|first) language|mother tongue|job title", r"[A-Z].*"),
    ("(?:(?:work|home|mobile|cell|office|private) )?(?:phone|phone number|mobile number|number)",
     r"\+?[(\d][\d ()/.-]{5,}"),
    ("(?:(?:work|private|personal) )?e-?mail(?: address)?", r"\S+@\S+"),
    ("(?:home |postal )?address|post ?code|zip code|rent|salary|height|weight|shoe size",
     r".*\d.*"),
    ("time ?zone", r"[A-Z].*"),
    ("pronouns", r"\w+ ?/.*"),
    ("birthday|date of birth", rf"(?i:.*\b(?:{'|'.join(MONTHS)})\b.*)"),
)  # fmt: skip
"""What people have one of, and the form of its values."""
_ATTRIBUTE = "|".join(names for names, _ in _ATTRIBUTES)
_OCCUPATIONS = "|".join(listed("occupations.txt"))
_AT = rf"(?: (?:at|for|in|on) {_WORDS}(?: (?:at|for|in|on|of) {_WORDS})?)?"
_JOB = rf"(?:[a-z][\w'’-]* ){{0,3}}(?:{_OCCUPATIONS})"
_TRAIT = (
    r"(?:vegan|vegetarian|pescatarian|pescetarian|(?:lactose|gluten)[ -]intolerant|coeliac|celiac|diabetic|teetotal|left-handed|right-handed"
    r"|colou?r-?blind|dyslexic|autistic|deaf|asthmatic|retired|single|divorced|widowed|self-employed|pregnant|an only child"
    "|(?:an? )?(?:single )?(?:mum|mom|mother|dad|father|grandmother|grandfather|aunt|uncle)(?: of [a-z]+)?)"
)
"""What people are for long, and nobody as a joke."""

_WORK = r"(?:work|works|am working|is working)"
_TAIL = re.compile(
    r" (?:[,;:(–—-]|and|with|near|which|where|who) "
    rf"(?!(?:{'|'.join(sorted(_TAKING_BACK))})\b)"
)
"""Begins what is added to a clause: "I live in Leeds | , near the canal"."""

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
_Read = tuple[str, Fact]
"""The name of a frame, and what it has read."""


def statements(
    said: Sequence[tuple[Sentence, Sequence[TimeSpan], bool]],
    text: str,
    speaker: str,
    *,
    to_assistant: bool,
) -> dict[Fact, str]:
    """Return what a message states for certain: facts without evidence, each with its frame.

    ``said`` are its sentences, each with its time expressions and whether it is English; ``text`` is
    the message. ``to_assistant`` is whether it is said to an assistant, who may be told how to work.
    """
    if _is_unreal(text):
        return {}
    found: dict[Fact, str] = {}
    quoting = pasted = False
    for sentence, times, english in said:
        if english and not (quoting or pasted):
            written = _with_times(sentence.tokens, times)
            clause = _Clause(written, sentence.text, times, sentence.tokens, speaker)
            if not (_QUOTES.search(sentence.text) or _is_labelled(written)):
                read = list(_appositions(clause))
                if not _LAUGHING.search(written):
                    read += _of_sentence(sentence, clause, to_assistant)
                found = {fact: frame for frame, fact in read} | found
        quoting ^= sentence.text.count('"') % 2 == 1
        pasted |= sentence.text.rstrip().endswith(":")
    return found


def alias_in(fact: Fact) -> str | None:
    """Return another name of the subject that a fact gives: "Tom's sister", if Anna is that."""
    kin = _KINSHIP.fullmatch(fact.relation)
    return None if kin is None else f"{fact.object}'s {kin[1]}"


_KINSHIP = re.compile(rf"is ({_RELATIVES}) of")


def _is_unreal(text: str) -> bool:
    if len(text) > _MOST_LETTERS or len([line for line in text.split("\n") if line]) > _MOST_LINES:
        return True
    lows = set(re.findall(r"[a-z-]+", text.lower()))
    return bool(lows & _UNREAL_MESSAGE or _UNREAL_PHRASES.search(text) or _LETTER.search(text))


def _of_sentence(sentence: Sentence, clause: _Clause, to_assistant: bool) -> Iterator[_Read]:
    parts = list(_clauses(_without_openers(clause.text)))
    end = _question(parts) if sentence.question else len(parts)
    read: list[_Read | None] = []
    for number, (link, part) in enumerate(parts):
        plain = _trimmed(part)
        order = _order(plain, clause, link, asked=number >= end) if to_assistant else None
        if order is not None:
            read.append(("order", order))
            continue
        said = None
        unread = number > 0 and read[-1] is None
        if number < end:
            if unread and link not in _COORDINATING and _is_framed(parts[number - 1][1]):
                break
            said = _of_clause(plain, clause)
        if _is_doubtful(part):
            break  # also of what follows: "I wish I lived by the sea and had a dog"
        read.append(said)
    for number, said in enumerate(read):
        link, part = parts[number + 1] if number + 1 < len(parts) else ("and", "")
        following = read[number + 1] if number + 1 < len(read) else None
        taken_back = following is None and {link, _first_word(part)} & _TAKING_BACK
        doubted = link not in _COORDINATING and _is_doubtful(part)
        if said and not (taken_back or doubted):
            yield said


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Split a sentence into clauses, each with the word or the mark that links it to the others."""
    said = text.split(" ")
    lows = text.lower().split(" ")
    link, start, at = "", 0, 0
    while at < len(said):
        marked = lows[at] in _MARKS
        word = at + marked
        linked = word < len(said) and lows[word] in _LINKS
        if linked or marked:
            new, first = (lows[word], word + 1) if linked else (",", word)
            if at > start and (lows[at] == ")" or _opens_clause(new, lows[first:])):
                yield link, " ".join(said[start:at])
                link, start, at = new, first, first
                continue
        at += 1
    yield link, " ".join(said[start:])


_MARKS = frozenset(",;:()–—-")


def _opens_clause(link: str, lows: Sequence[str]) -> bool:
    """Whether words after a conjunction or a mark are a clause, and no item of a list."""
    rest = list(dropwhile(lambda low: low in words.ADVERBS or low == "please", lows))
    first = rest[0] if rest else ""
    if link == "so" or first in _BEGINNINGS or rest[:2] == ["do", "not"]:
        return True
    near = takewhile(lambda low: low not in words.CONJUNCTIONS and low not in _MARKS, rest[:7])
    return any(low in FINITE_AUX or (verb_only(low) and not is_ing(low)) for low in near)


def _question(parts: Sequence[tuple[str, str]]) -> int:
    """Return the number of clauses before that which asks: "I'm vegan, so what can I cook?"."""
    for number, (_, part) in enumerate(parts):
        plain = _trimmed(part)
        if _first_word(plain) in _ASKING:
            said = [word for word in plain.split(" ") if word != "not"]
            return number if len(said) > _LONGEST_TAG else 0
    return 0


def _is_doubtful(part: str) -> bool:
    """Whether a word of doubt is in a clause; not "my favourite film", "I forgot to say"."""
    said = part.split(" ")
    return any(
        (word.lower() in _DOUBT or word.lower() in _FICTION)
        and not (
            word == "May" or before in ("favourite", "favorite") or (before, word) == ("to", "say")
        )
        for before, word in zip(["", *said], said, strict=False)
    )


def _is_labelled(text: str) -> bool:
    """Whether a sentence is somebody's line: "Client: I live in Vienna"."""
    label = re.match(r"[\w .-]{1,40} : (?=\w)", text)
    return label is not None and _trimmed(label[0]) != ""


def _is_framed(before: str) -> bool:
    """Whether a clause may say that the one after it is not meant, or who says it.

    "She was like, I'm a nurse", "For the exercise, I'm a nurse".
    """
    lows = re.findall(r"\w+", before.lower())
    others = any(low in _OTHERS or is_first_name(low) for low in lows)
    return others or (lows[:1] != [] and lows[0] in words.PREPOSITIONS)


def _with_times(tokens: Sequence[Token], times: Sequence[TimeSpan]) -> str:
    """Return the tokens as text, with a sign for each time expression that may be a date.

    "I have got" is said as "I have", and "I no longer" as "I do not".
    """
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
        text = "I" if tokens[at].text == "i" else tokens[at].text
        parts.append(text if span is None else f"⟦{number}⟧")
        at = at + 1 if span is None else span.end
    text = " ".join(parts).replace(" 's", "'s")
    return _NO_LONGER.sub(r"\1 do not", _HAVE_GOT.sub(r"\1", text))


_HAVE_GOT = re.compile(r"\b(have|has) got\b")
_NO_LONGER = re.compile(r"\b(I|[Ww]e) no longer\b")


def _first_word(part: str) -> str:
    return part.strip(" ,;:(–—-").partition(" ")[0].lower()


def _without_openers(part: str) -> str:
    text = f"{part.strip(' ,;:()–—-')} "
    opener = _OPENERS.match(text)
    return text[opener.end() if opener else 0 :].strip(" ,;:()–—-")


def _trimmed(part: str) -> str:
    """Return a clause without what stands before it and after it by the way."""
    return _CLOSERS.sub("", _without_openers(part))


def _of_clause(text: str, clause: _Clause) -> _Read | None:
    """Return what the first fitting frame reads, of the whole clause or of it without its tail."""
    head = _trimmed(_TAIL.split(text, maxsplit=1)[0])
    for frame in FRAMES:
        match = frame.pattern.fullmatch(text)
        if match is None and frame.closed:
            match = frame.pattern.fullmatch(head)
        if match is not None and (found := frame.read(match, clause)) is not None:
            return frame.name, found
    return None


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
        verb = "" if relation else match["verb"].lower()
        named = relation or (verb if is_past(verb) else third_person(verb.removesuffix("s")))
        shown, when = _shown(value, clause), _time(match, clause)
        denied = negated or bool(match.groupdict().get("not"))
        return _fact(_subject(match, clause), named, shown, type, when=when, negated=denied)

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
    if any(low in FINITE_AUX or low in BE or low in HAVE for low in lows):
        return False
    return not (len(lows) == 1 and (lows[0] in words.LIGHT or lows[0] in words.ADVERBS))


def _is_work(value: str) -> bool:
    """Whether it is work with nothing left open: "nurse at the Royal Free", not "at that place"."""
    return _is_thing(re.sub(r"\b(?:the|an?) ", "", value))


def _is_allergen(value: str) -> bool:
    """Whether one can be allergic to it other than as a joke: "to commitment", "to Mondays"."""
    joke = value.endswith(NOUN_ENDINGS) or value.lower() in WEEKDAYS
    return _is_thing(value) and not joke


def _is_name(value: str) -> bool:
    lows = value.lower().split(" ")
    if len(lows) > 1 and lows[0].rstrip(".") in TITLES:
        lows = lows[1:]
    return not any(low in words.NOT_NAMES or low in words.PRONOUNS for low in lows)


_WORKPLACES = word_set("shop restaurant clinic firm startup bakery factory farm garage pub vet's")


def _is_employer(value: str) -> bool:
    kind = words.NAME_SUFFIXES["organization"] | _WORKPLACES
    common = value.startswith(("a ", "an ")) and value.rpartition(" ")[2] in kind
    named = value.removeprefix("the ")[:1].isupper() and _is_name(value)
    return common or (named and not _is_person(value))


def _is_person(value: str) -> bool:
    """Whether a name is surely one of a person: "My boss is Irish" names nobody."""
    first, _, rest = value.lower().partition(" ")
    return _is_name(value) and (
        is_first_name(first) or (first.rstrip(".") in TITLES and rest != "")
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
    vague = value in words.PARTICLES or first in ("a", "an", "some", "any")
    # "I like Kirsty", "I like Swanport Sallies": somebody, or what is to choose from.
    named = value.istitle() or is_first_name(value)
    return not (passing or vague or named) and _is_thing(value)


def _attribute(match: re.Match[str], clause: _Clause) -> Fact | None:
    what, value = match["attribute"].lower(), match["value"]
    shown = re.sub(r"^(?:on|in|at) (?:the )?(?=\w)", "", _shown(value, clause))
    form = next(form for names, form in _ATTRIBUTES if re.fullmatch(names, what))
    if re.fullmatch(form, shown) is None or _POINTING & set(shown.lower().split(" ")):
        return None
    type = "time" if re.fullmatch(r"⟦\d+⟧", value) else "object"
    return _fact(f"{clause.speaker}'s {what}", "is", shown, type, subject_type="concept")


def _kinship(accepts: Callable[[str], bool]) -> _Reading:
    """A frame that names who or what is whose: "my sister is called Anna"."""

    def read(match: re.Match[str], clause: _Clause) -> Fact | None:
        name, owner = match["value"], clause.speaker
        known = name != owner and accepts(name)
        return _kin_of(name, match["relative"].lower(), owner) if known else None

    return read


def _kin_of(name: str, relative: str, owner: str) -> Fact:
    type = "animal" if re.fullmatch(f"{_OLDER}(?:{_PET_WORDS})", relative) else "person"
    return _fact(name, f"is {relative} of", owner, "person", subject_type=type)


def _own_name(match: re.Match[str], clause: _Clause) -> Fact | None:
    name = match["value"]
    if not _is_name(name) or name == clause.speaker:
        return None
    return _fact(clause.speaker, CALLED, name, NAME_TYPE)


def _age(match: re.Match[str], clause: _Clause) -> Fact | None:
    value, of_speaker = match["value"], match["kin"] is None
    bare = value.isdigit()
    if (of_speaker and int(value.split(" ")[0]) < _YOUNGEST) or (bare and len(clause.tokens) < 6):
        return None  # "I'm five years old, explain it to me"; "I'm 43" may be a size
    return _fact(_subject(match, clause), "is", f"{value} years old" if bare else value, "concept")


_YOUNGEST = 13


@dataclass(frozen=True, slots=True)
class Frame:
    """A form of a clause, and what it states. ``name`` is the one in the table of frames.

    ``closed`` is whether its value has a form of its own, such as a name or a number, so that what
    follows after a comma cannot be a part of it. "I love hiking, swimming and climbing" is open.
    """

    name: str
    pattern: re.Pattern[str]
    read: _Reading
    closed: bool


def _frame(name: str, pattern: str, read: _Reading, *, closed: bool = True) -> Frame:
    return Frame(name, re.compile(pattern), read, closed)


FRAMES: tuple[Frame, ...] = (
    _frame("live", rf"(?:[Ww]e|{_ANYONE}) {_NOT}(?:live|lives|{_AM} (?:living|based|renting(?: an? [a-z]+)?)) (?:alone )?(?:in an? [a-z]+ )?in (?P<value>{_PLACE})",
           _states("lives in", "location", _is_place)),
    _frame("moved to", rf"(?:[Ww]e|{_ANYONE}) (?:have |has )?(?:just |recently |finally )?(?:moved|relocated) (?:back )?(?:from {_PLACE} )?to (?P<value>{_PLACE}){_WHEN}",
           _states("moved to", "location", _is_known_place)),
    _frame("work at", rf"{_ANYONE} {_NOT}{_WORK} (?:at|for) (?P<value>(?:the )?{_NAME}|an? {_WORDS})",
           _states("works at", "organization", _is_employer)),
    _frame("work as", rf"{_ANYONE} {_WORK} as an? (?P<value>[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?{_AT})",
           _states("works as", "concept", _is_work)),
    _frame("job", rf"{_ANYONE} {_AM} an? (?P<value>{_JOB}{_AT})", _states("works as", "concept", _is_work)),
    _frame("allergic", rf"{_ANYONE} {_AM} (?:severely |very |quite |mildly )?allergic to (?P<value>{_LIST})",
           _states("is allergic to", "object", _is_allergen), closed=False),
    _frame("allergy", rf"{_WHO} (?:have|has) an? (?:severe |serious |bad |mild )?(?P<value>[a-z]+(?: [a-z]+)?) allergy",
           _states("is allergic to", "object", _is_thing)),
    _frame("trait", rf"{_ANYONE} {_AM} (?:a )?(?P<value>{_TRAIT})", _states("is", "concept"), closed=False),
    _frame("negated verb", rf"{_WE} (?:(?:really )?do not|can not(?= eat| drink)) (?P<verb>eat|drink|smoke|like|enjoy) (?:any )?(?P<value>{_LIST})",
           _states("", "object", _is_thing, negated=True), closed=False),
    _frame("stopped", rf"{_WE} (?:have )?(?:just |recently |finally )?(?:stopped|quit|given up|gave up) (?P<value>(?:eating|drinking|smoking|vaping|using|taking)(?: {_WORDS})?){_WHEN}",
           _states("stopped", "concept", _is_thing)),
    _frame("like", rf"{_ANYONE} {_EVER}(?P<verb>loves?|likes?|enjoys?|dislikes?|hates?|adores?) (?P<value>{_LIST})",
           _states("", "concept", _is_liked), closed=False),
    _frame("speak", rf"{_WHO} (?:speak|speaks) (?P<value>{_NAME}(?: and (?:a (?:little|bit of) )?{_NAME})?)",
           _states("speaks", "concept", _is_name)),
    _frame("learning", rf"I am learning (?P<value>{_NAME})", _states("is learning", "concept", _is_name)),
    _frame("age", rf"{_WHO} {_AM} (?P<value>[1-9]\d?(?: (?:years?|yrs?) old)?)", _age),
    _frame("have", rf"{_WE} have (?P<value>(?:an?|{_NUMBER}) (?:{_OLDER}(?:{_PET_WORDS}|kid|child|son|daughter|brother|sister|sibling|grandchild)s?|children|grandchildren))",
           _states("has", "concept")),
    _frame("attribute", rf"{_MY} (?:new |current )?(?P<attribute>(?i:{_ATTRIBUTE})) (?:is|are) (?P<value>[^\s,;]\S*(?: [^\s,;]\S*){{0,7}})",
           _attribute),
    _frame("called", rf"{_MY} (?P<relative>{_RELATIVES})(?: is called| is named|'s name is) (?P<value>{_PERSON})",
           _kinship(_is_name)),
    _frame("kin is", rf"{_MY} (?:new |current )?(?P<relative>{_RELATIVES})(?: is|'s) (?P<value>{_PERSON})", _kinship(_is_person)),
    _frame("is kin", rf"(?P<value>{_PERSON}) is my (?P<relative>{_RELATIVES})", _kinship(_is_person)),
    _frame("have called", rf"{_WE} have an? (?P<relative>{_RELATIVES}) (?:called|named) (?P<value>{_PERSON})", _kinship(_is_name)),
    _frame("call me", rf"(?:(?:(?:you can|just|always|{_LASTING}) )*[Cc]all me|[Mm]y name is) (?P<value>{_PERSON})(?: instead of {_PERSON})?", _own_name),
)  # fmt: skip

_APPOSITION = re.compile(rf"\b[Mm]y (?P<relative>{_RELATIVES}) (?P<value>{_PERSON})(?!\w)")


def _appositions(clause: _Clause) -> Iterator[_Read]:
    """Read "my sister Anna" wherever it stands: a doubt or a question takes it for granted."""
    if _FICTION & set(clause.text.lower().split(" ")):
        return
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
            yield "apposition", _kin_of(name, match["relative"].lower(), clause.speaker)


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

_ORDER = re.compile(
    r"(?P<ask>(?:(?:can|could|would|will) you|I (?:would like|want|need) you to) )?"
    rf"(?P<please>please )?(?:remember to )?(?:(?P<lasting>{_LASTING})(?: ,)? )?(?:please )?"
    r"(?P<how>always|never|do not ever|)(?: ?please)? ?(?P<verb>[a-z]+)(?P<rest>(?: .+?)?)"
    r"(?P<after> from now on)?",
    re.IGNORECASE,
)
_ANSWERING = word_set(
    """answer reply respond write explain summarise summarize translate cite quote format call
    address suggest recommend propose"""
)
"""Verbs of what only an assistant is told to do."""
_DOING = word_set(
    """use give show send tell offer include mention ask check speak talk keep treat assume remind
    convert round print return avoid prefer list commit add make put start end run book order push
    test be name leave delete remove change"""
)
"""Verbs of what recipes tell as well: "please" or "me" says who is told, or no article what."""
_RECIPES = word_set("add make put start end run book order push test be leave remove change with")
_ADDRESSING = word_set("me my i our us")


def _order(text: str, clause: _Clause, link: str, *, asked: bool) -> Fact | None:
    """Read "Please never use emojis.", "From now on, write in German.", "Keep answers short."."""
    match = _ORDER.fullmatch(text)
    if match is None or (asked and not match["ask"]):
        return None
    how, verb, rest = match["how"].lower(), match["verb"].lower(), match["rest"].strip()
    lows = rest.lower().split(" ")
    after = match["after"] and link != "and"  # not "to note it and use it from now on"
    for_good = match["lasting"] or after or how in ("always", "never", "do not ever")
    for_good = for_good or (
        verb == "keep" and bool({"answers", "replies", "responses"} & set(lows))
    )
    if verb == "call" and lows[0] == "me" and how != "never" and rest[3:4].isupper():
        return None  # a name
    addressed = match["please"] or match["ask"] or match["lasting"] or _ADDRESSING & set(lows)
    general = not (words.DETERMINERS | words.POSSESSIVES | _RECIPES) & {verb, *lows}
    is_order = verb in _ANSWERING or (verb in _DOING and (addressed or general))
    empty = (
        not rest
        or lows[-1] in _POINTING - _ADDRESSING
        or (len(lows) == 1 and lows[0] in words.PARTICLES)
    )
    if not for_good or empty or not is_order or _SAYING & set(lows):
        return None
    relation = "asks to always" if how in ("always", "") else "asks to never"
    return _fact(clause.speaker, relation, _as_written(f"{verb} {rest}", clause.written), "concept")


_SAYING = word_set("said says say told tells")
"""With these, an order is one that somebody else gives: "Always write tests, they say"."""

"""Proper names and key phrases in a sentence, and the types of entities that they name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cognigraph.english import words
from cognigraph.english.sentences import TITLES, Token
from cognigraph.english.verbs import BE, FINITE_AUX, VERBS, guess_verb, is_past, verb_only
from cognigraph.english.words import CITIES, REGIONS, is_first_name, word_set

_INSIDE = word_set("of de la van von der di da del al bin")
_MAX_NAME = 6
_LONGEST_PERSON = 3
"""First name, middle name, surname; what is longer is a title or a list."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in tokens ``[start, end)``.

    ``sure`` is whether the words of the name or its context determine its type; otherwise the type
    is a guess or comes from an earlier sentence.
    """

    start: int
    end: int
    text: str
    type: str
    sure: bool


def find_names(tokens: Sequence[Token], known: Mapping[str, str]) -> list[Name]:
    """Return the names of a sentence in order.

    ``known`` maps lower-case names to types (speakers and earlier names). A capitalised word at
    the start of a sentence counts only if it is known, a first name or part of a longer name. A
    number after it does not make it longer: of "Message 976" and "Windows 11", only what is also
    named inside a sentence is a name.
    """
    if _shouted(tokens):
        return []
    found: list[Name] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "quoted":
            title = _quoted(token, index)
            if title is not None:
                found.append(title)
            index += 1
        elif token.text[0].isupper() and (_capitalised(token) or _titled(tokens, index)):
            end = _name_end(tokens, index)
            name = _name(tokens, index, end, known)
            if name is not None:
                found.append(name)
            index = end
        else:
            index += 1
    return found


def _shouted(tokens: Sequence[Token]) -> bool:
    capitals = len([1 for token in tokens if token.text.isupper() and len(token.text) > 1])
    return capitals > 3 and capitals * 2 > len(tokens)


def _quoted(token: Token, index: int) -> Name | None:
    text = token.text.strip('"“” .,!?')
    if not text or len(text.split()) > 8 or not (text[0].isupper() or text[0].isdigit()):
        return None
    return Name(index, index + 1, text, "object", True)


def _capitalised(token: Token) -> bool:
    return token.kind == "word" and token.text[0].isupper() and token.low not in words.NOT_NAMES


def _titled(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a title starts a name: "Dr. Berg"."""
    return tokens[index].low in TITLES and any(map(_capitalised, tokens[index + 1 : index + 2]))


def _name_end(tokens: Sequence[Token], start: int) -> int:
    end = start + 1
    while end < len(tokens) and end - start < _MAX_NAME:
        if _capitalised(tokens[end]) or tokens[end].low.isdigit():
            end += 1
        elif tokens[end].low in _INSIDE and any(map(_capitalised, tokens[end + 1 : end + 2])):
            end += 2
        else:
            break
    return end


_COMMON = (
    words.INTERJECTIONS | words.CONJUNCTIONS | words.DETERMINERS | words.PRONOUNS
    | words.POSSESSIVES | words.PREPOSITIONS | words.ADVERBS | words.SENTIMENT | words.LIGHT
    | BE | FINITE_AUX
)  # fmt: skip


def _common(low: str) -> bool:
    return low in _COMMON or guess_verb(low) is not None


def _opens(tokens: Sequence[Token], index: int) -> bool:
    return index == 0 or (
        tokens[index - 1].kind == "mark" and tokens[index - 1].low not in "&/-'\"(,;"
    )


def _name(tokens: Sequence[Token], start: int, end: int, known: Mapping[str, str]) -> Name | None:
    if end - start > 1 and _opens(tokens, start) and _common(tokens[start].low):
        start += 1  # "Thanks Anna": "Thanks" is capitalised only as the first word
    text = " ".join(token.text for token in tokens[start:end])
    common = all(_common(token.low) and not _rare(token) for token in tokens[start:end])
    if common or not any(char.isalpha() for char in text):
        return None
    type_ = known.get(text.lower())
    if type_ is not None:
        return Name(start, end, text, type_, False)
    told = _type_by_words(tokens, start, end)
    if told == "concept" and _opens(tokens, start):
        told = None  # "Cherish ..." ends in -ish but is not a language
    if (
        _is_one_word(tokens[start:end])
        and _opens(tokens, start)
        and not (told or (text.isupper() and len(text) > 1))
    ):
        return None
    return Name(start, end, text, told or "object", told is not None)


def _is_one_word(name: Sequence[Token]) -> bool:
    """Return whether a name is one word, with or without numbers: "Message 976", "Windows 11".

    At the start of a sentence any word has a capital, and a number after it does not make it a
    name: "Step 2 is to sand it".
    """
    return all(token.kind == "number" for token in name[1:])


def _rare(token: Token) -> bool:
    return len(token.text) > 1 and token.text.isupper() and token.low != "i"


def _type_by_words(tokens: Sequence[Token], start: int, end: int) -> str | None:
    """Return the type that the words of the name itself imply; cities need an "in" before them."""
    first, last = tokens[start].low, tokens[end - 1].low
    whole = " ".join(token.low for token in tokens[start:end])
    if first in words.TITLES and end - start > 1:
        return "person"
    if is_first_name(first) and end - start <= _LONGEST_PERSON:
        return "person"
    if whole in REGIONS or (whole in CITIES and start and tokens[start - 1].low in _PLACING):
        return "location"
    if end - start > 1:
        suffixes = words.NAME_SUFFIXES
        return next((type_ for type_, known in suffixes.items() if last in known), None)
    return "concept" if last.endswith(words.DEMONYM_ENDINGS) and len(last) > 5 else None


_PLACING = word_set("in from near")


def _is_abstract(head: str) -> bool:
    """Whether the last word of a phrase is no thing."""
    return head.endswith(_ABSTRACT) or verb_only(head)


_ABSTRACT = (
    "tion", "sion", "ness", "ity", "ism", "ment", "ance", "ence", "ship", "hood", "dom", "ing",
    "ful", "ive", "ous", "ble", "al", "ic", "ly", "ed", "ate", "th", "ics", "logy",
)  # fmt: skip


# Key phrases: runs of content words between function words, verbs and punctuation marks.
#
# The score of a phrase depends only on its own words, not on its frequency or position, and so not
# on the text read before.

_BREAKS = (
    words.PREPOSITIONS | words.DETERMINERS | words.PRONOUNS | words.OBJECT_PRONOUNS
    | words.POSSESSIVES | words.CONJUNCTIONS | words.INTERJECTIONS | words.ADVERBS
    | words.NEGATIONS | words.LIGHT | words.TRAILING | words.PARTICLES - {"home"}
    | BE | FINITE_AUX
    | word_set(
        """'s start starts need else less sounds look looks looking hope hoping wish keep let found
        year years month months week weeks hour hours minute minutes weekend morning evening night
        alone older harder than except whatever yours mine hers ours theirs himself herself itself
        ourselves themselves yourself"""
    )
)  # fmt: skip
NOUN_ENDINGS = ("tion", "sion", "ment", "ness", "ity", "ship", "ance", "ence", "ics")
_MAX_WORDS = 4
_COMPOUND = word_set(
    """running cooking swimming dining living sleeping camping painting dancing parking shopping
    washing wedding meeting training building drawing fishing hiking climbing sewing landing
    boarding driving walking writing reading gaming waiting"""
)
"""Forms of verbs with which compound nouns begin: "running shoes"."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_CONTENT_RUN = re.compile(r"[\u30a0-\u30ff]{2,12}|[\u3400-\u9fff\uf900-\ufaff]{2,8}")


@dataclass(frozen=True, slots=True)
class KeyPhrase:
    """A phrase characteristic of a text. ``score`` lies between 0 and about 1.6."""

    text: str
    type: str
    score: float
    proper: bool = False


def key_phrases(
    tokens: Sequence[Token],
    names: Mapping[int, Name],
    timed: Collection[int],
    known: Collection[str],
) -> list[KeyPhrase]:
    """Return the key phrases of a sentence in order.

    ``timed`` are the token indices of time expressions, which are not part of any phrase. Names in
    ``known`` (the speakers, in lower case) are left out.
    """
    found: list[KeyPhrase] = []
    for start, end in _runs(tokens, names, timed):
        name = names.get(start)
        if name is not None:
            if name.text.lower() not in known:
                score = 1.0 + 0.1 * min(name.end - name.start, 3)
                found.append(KeyPhrase(name.text, name.type, score, True))
        elif _UNSPACED.search(tokens[start].text):
            found.extend(_unspaced(tokens[start].text))
        else:
            phrase = _phrase(tokens[start:end])
            if phrase is not None:
                found.append(phrase)
    return found


def _runs(
    tokens: Sequence[Token], names: Mapping[int, Name], timed: Collection[int]
) -> Iterator[tuple[int, int]]:
    index, start = 0, -1
    while index < len(tokens):
        name = names.get(index)
        broken = name is not None or index in timed or _is_break(tokens[index])
        if broken and start >= 0:
            yield start, index
            start = -1
        if name is not None:
            yield index, name.end
            index = name.end
            continue
        if not broken and start < 0:
            start = index
        index += 1
    if start >= 0:
        yield start, len(tokens)


def _is_break(token: Token) -> bool:
    low = token.low
    if token.kind != "word":
        return True
    return (
        low in _BREAKS
        or verb_only(low)
        or (low.endswith("ed") and is_past(low))
        or (low.endswith("ly") and len(low) > 4 and low != "family")
    )


def _phrase(run: Sequence[Token]) -> KeyPhrase | None:
    """Return the last words of a run, where the head is, without evaluative words at the ends."""
    start = max(0, len(run) - _MAX_WORDS)
    while start < len(run) and run[start].low in words.SENTIMENT:
        start += 1
    while start < len(run) - 1 and _is_verb_form(run[start].low):
        start += 1  # "checking body condition" is about the condition
    part = run[start:]
    while part and part[-1].low in words.SENTIMENT:
        part = part[:-1]
    if not part or (len(part) == 1 and len(part[0].low) < 4):
        return None
    weights = [min(len(token.low), 9) / (18 if token.low in words.SOFT else 9) for token in part]
    length_bonus = (0.0, 0.0, 0.35, 0.4, 0.3)[len(part)]
    text = " ".join(token.low if token.text[1:].islower() else token.text for token in part)
    abstract = _is_abstract(part[-1].low)
    score = sum(weights) / len(weights) + length_bonus
    if len(part) == 1 and abstract:
        score *= 0.7 if text.endswith(NOUN_ENDINGS) else 0.4
    return KeyPhrase(text, "concept" if abstract else "object", round(score, 4))


def _is_verb_form(low: str) -> bool:
    found = VERBS.get(low)
    return found is not None and found.form in ("s", "ing") and low not in _COMPOUND


def _unspaced(text: str) -> Iterator[KeyPhrase]:
    """Return runs of Han or katakana characters, which approximate words in unspaced scripts."""
    for match in _CONTENT_RUN.finditer(text):
        yield KeyPhrase(match[0], "object", round(0.5 + min(len(match[0]), 6) / 12, 4))

"""Key phrases: runs of content words between function words, verbs and punctuation marks.

The score of a phrase depends only on its own words, not on its frequency or position, and so not
on the text read before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.verbs import BE, FINITE_AUX, is_past, known_verb, verb_only
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name, phrase_type

_BREAKS = (
    words.PREPOSITIONS
    | words.DETERMINERS
    | words.PRONOUNS
    | words.OBJECT_PRONOUNS
    | words.POSSESSIVES
    | words.CONJUNCTIONS
    | words.INTERJECTIONS
    | words.ADVERBS
    | words.NEGATIONS
    | words.LIGHT
    | words.TRAILING
    | words.PARTICLES - {"home"}
    | BE
    | FINITE_AUX
    | word_set(
        """to 's let look hope wish keep start need us other else ago able less sounds looks
    feels seems grateful thankful woohoo whatever others year years month months week weeks hour
    hours minute minutes weekend today tomorrow yesterday morning evening night
    forever alone nobody somebody anybody everybody better worse bigger smaller older younger
    easier harder than except besides yours mine hers ours theirs himself herself themselves
    yourself itself myself ourselves found starts"""
    )
)
NOUN_ENDINGS = ("tion", "sion", "ment", "ness", "ity", "ship", "ance", "ence", "ics")
_MAX_WORDS = 4
_COMPOUND = word_set(
    """running cooking swimming dining living sleeping camping painting dancing parking shopping
    washing wedding meeting training building drawing fishing hiking climbing sewing sports goods
    landing boarding driving walking writing reading gaming waiting"""
)
"""Forms of verbs with which compound nouns begin: "running shoes"."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_CONTENT_RUN = re.compile(r"[\u30a0-\u30ff]{2,12}|[\u3400-\u9fff\uf900-\ufaff]{2,8}")
_PER_SENTENCE = 12


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
        if len(found) >= _PER_SENTENCE:
            break
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
    type_ = phrase_type(part)
    score = sum(weights) / len(weights) + length_bonus
    if len(part) == 1 and type_ == "concept":
        score *= 0.7 if text.endswith(NOUN_ENDINGS) else 0.4
    return KeyPhrase(text, type_, round(score, 4))


def _is_verb_form(low: str) -> bool:
    found = known_verb(low)
    return found is not None and found.form in ("s", "ing") and low not in _COMPOUND


def _unspaced(text: str) -> Iterator[KeyPhrase]:
    """Return runs of Han or katakana characters, which approximate words in unspaced scripts."""
    for match in _CONTENT_RUN.finditer(text):
        yield KeyPhrase(match[0], "object", round(0.5 + min(len(match[0]), 6) / 12, 4))

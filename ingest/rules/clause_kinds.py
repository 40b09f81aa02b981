"""Recognise kinds of clauses and fragments: settings, reduced relatives, lists, opinions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.clauses import Clause
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices, noun_phrase
from cognigraph.ingest.rules.objects import MAX_RELATION
from cognigraph.ingest.rules.relations import Relation, is_manner
from cognigraph.ingest.rules.subjects import Subject

_OTHERS_THOUGHTS = word_set("thinks thought reckons believes claims imagines fears hopes sure")
_CONDITIONAL = word_set("without like as if than")
_SETTING = 7
"""Largest number of words of a phrase that says where or when, before the subject."""
_NEAREST = words.PREPOSITIONS | word_set("and or a an the")
_LIST_MARKS = word_set(", and & or")
_LIST_AHEAD = 12
_LONGEST_ITEM = 4


def opening(
    tokens: Sequence[Token],
    names: Mapping[int, Name],
    timed: Collection[int],
    voices: Voices,
    clause: Clause,
) -> int:
    """Skip interjections, adverbs, times, the name of the person addressed, and settings."""
    start, end = clause.start, clause.end
    while start < end:
        low, name = tokens[start].low, names.get(start)
        if start in timed:
            start += 1
        elif name is not None:
            addressed = name.end >= end or tokens[name.end].low in words.PRONOUNS
            if name.text != voices.other or not addressed:
                break
            start = name.end
        elif (
            low in words.INTERJECTIONS
            or is_manner(low)
            or (low in ("glad", "happy") and _is_subject(tokens, names, start + 1, end))
        ):
            start += 1
        else:
            break
    return past_setting(tokens, start, end)


def _is_subject(tokens: Sequence[Token], names: Mapping[int, Name], index: int, end: int) -> bool:
    low = tokens[index].low if index < end else ""
    return low in words.PRONOUNS or low in words.POSSESSIVES or index in names


_OPENS_PHRASE = words.PREPOSITIONS | words.DETERMINERS


def past_setting(tokens: Sequence[Token], start: int, end: int) -> int:
    """Skip a phrase before the subject: "For now I take the tram", "After the review my pay is"."""
    first = tokens[start].low if start < end else ""
    if first not in _OPENS_PHRASE or first in _CONDITIONAL:
        return start
    for index in range(start + 1, min(start + _SETTING, end - 1)):
        low, following = tokens[index].low, tokens[index + 1].low
        if low in words.NOMINATIVE:
            verb = following in verbs.FINITE_AUX or verbs.known_verb(following) is not None
            return index if verb or is_manner(following) else start
        if verbs.verb_only(low) or low in verbs.FINITE_AUX or low in words.CONJUNCTIONS:
            return start
        if _begins_subject(tokens, index, end) and index > start + 1:
            return index
    return start


def _begins_subject(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Whether a subject such as "my salary" begins here, after a noun and before a verb."""
    before = tokens[index - 1].low
    if tokens[index].low not in ("my", "our") or before in _OPENS_PHRASE:
        return False
    return any(token.low in verbs.FINITE_AUX for token in tokens[index + 2 : min(index + 4, end)])


def is_week_away(tokens: Sequence[Token], span: TimeSpan) -> bool:
    """Return whether weeks are counted from a day, which is then not the day that is meant."""
    after = tokens[span.end].low if span.end < len(tokens) else ""
    before = {token.low for token in tokens[max(0, span.start - 2) : span.start]}
    return after == "week" or bool(before & {"week", "weeks"})


def is_reduced_relative(
    tokens: Sequence[Token], timed: Collection[int], clause: Clause, *, is_quoted: bool
) -> bool:
    """Return whether a clause describes the noun before it: "the support I get from Ben".

    What somebody else thinks ("he thinks I am Mum") is as little a fact unless it ``is_quoted``.
    """
    before = clause.start - 1
    if clause.connector != "+" or before < 0 or before in timed:
        return False
    low = tokens[before].low
    own = before > 0 and tokens[before - 1].low in words.FIRST_PERSON
    if low in _OTHERS_THOUGHTS and not is_quoted and not own:
        return True
    said = low in verbs.REPORTING or verbs.verb_only(low) or low == "afraid"
    loose = low in words.INTERJECTIONS | words.OBJECT_PRONOUNS | words.PRONOUNS or is_manner(low)
    return tokens[before].kind == "word" and not said and not loose


def brings_up(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Return whether a clause only brings something up: "here is ...", "there was ..."."""
    low = tokens[start].low
    if start + 2 >= end or tokens[start + 1].low not in verbs.BE:
        return False
    own = tokens[start + 2].low in words.SPEAKER_POSSESSIVES
    return low in ("here", "there") or (own and low in ("this", "that", "these", "it"))


def goes_on(tokens: Sequence[Token], clause: Clause, start: int, end: int) -> bool:
    """Return whether a fragment is a further item of a list, which has an "and" somewhere."""
    lows = [token.low for token in tokens[start:end]]
    rest = {token.low for token in tokens[start : start + _LIST_AHEAD]}
    if clause.connector not in _LIST_MARKS or len(lows) > _LONGEST_ITEM:
        return False
    if clause.connector == "," and not rest & {"and", "or", "&"}:
        return False  # "a book, excellent" is no list
    opening = words.SENTIMENT | words.NEGATIONS | words.PREPOSITIONS | words.PRONOUNS
    if is_manner(lows[0]) or lows[0] in opening:
        return False
    return not any(low in verbs.FINITE_AUX or verbs.verb_only(low) for low in lows)


def opinion(
    tokens: Sequence[Token], who: Subject, relation: Relation, end: int
) -> tuple[Relation, Phrase] | None:
    """Read an opinion ("Hiking in the north was amazing"), kept for the sake of its subject."""
    said = [tokens[index].low for index in range(relation.end, end)]
    if not relation.copula or who.pronoun or " " not in who.phrase.text or not said:
        return None
    judged = said[-1] in words.SENTIMENT and len(said) < 3
    return (relation, Phrase(said[-1], "concept")) if judged else None


def is_only_time(
    tokens: Sequence[Token], timed: Collection[int], who: Subject, relation: Relation, end: int
) -> bool:
    """Return whether a time stands in place of an object: "we married in 2015"."""
    bare = relation.copula and relation.main == "be"
    if bare and (who.pronoun or who.speaker):
        return False
    short = relation.text.count(" ") < MAX_RELATION
    return short and all(index in timed for index in range(relation.end, end))


def time_of(tokens: Sequence[Token], times: Sequence[TimeSpan], clause: Clause) -> str | None:
    """Return the time that a clause names."""
    for span in times:
        within = clause.start <= span.start < clause.end
        if is_week_away(tokens, span):
            continue
        if span.when and (within or clause.start < span.end <= clause.end):
            return span.when
    return None


def named_thing(
    tokens: Sequence[Token], names: Mapping[int, Name], voices: Voices, start: int, end: int
) -> tuple[Name, Phrase] | None:
    """Return Rex and the dog for "a dog named Rex"."""
    for index in range(start + 1, min(end - 1, start + 8)):
        if tokens[index].low not in ("named", "called", "titled"):
            continue
        name = names.get(index + 1)
        near = max((p + 1 for p in range(start, index) if tokens[p].low in _NEAREST), default=start)
        what = noun_phrase(tokens, near, index, names, voices)
        return None if name is None or what is None else (name, what)
    return None

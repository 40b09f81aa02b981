"""Split sentences into clauses, each with at most one subject and verb."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.verbs import (
    FINITE_AUX,
    REPORTING,
    is_finite,
    is_ing,
    is_past,
    known_verb,
    verb_only,
)
from cognigraph.english.words import word_set

_ALWAYS = word_set(
    """because but although though unless if whereas which who whose where why whenever when
    whether"""
)
_IF_CLAUSE_FOLLOWS = word_set("while after before since until as once")
_RELATIVE = word_set("who which that whose")
_COORDINATING = word_set("and or then plus")
_STARTERS = words.PRONOUNS - {"that", "those", "these", "this"}


class Clause(NamedTuple):
    """The clause in tokens ``[start, end)``.

    ``connector`` is the punctuation mark or conjunction before it, "" at the start of the sentence
    and "+" if the clauses are not connected by any token.
    """

    connector: str
    start: int
    end: int


def split_clauses(
    tokens: Sequence[Token], names: Collection[int], inside: Collection[int]
) -> list[Clause]:
    """Split a sentence at punctuation marks, conjunctions and new subjects.

    ``names`` are the indices of tokens that start a name. ``inside`` are the indices of tokens
    within a name or time expression, where the sentence is never split.
    """
    clauses: list[Clause] = []
    connector, start, has_verb = "", 0, False
    for index, token in enumerate(tokens):
        if index in inside:
            continue
        low = token.low
        if token.kind == "mark":
            if index > start:
                clauses.append(Clause(connector, start, index))
                connector = low
            elif connector not in words.CONJUNCTIONS or connector in ("what", "how"):
                connector = low  # "Guess what, we moved"
            start, has_verb = index + 1, False
        elif index == start:
            if low in words.CONJUNCTIONS and not _is_subject(tokens, index):
                connector, start = low, index + 1
            has_verb = has_verb or known_verb(low) is not None
        elif _breaks(tokens, index, names, inside, has_verb):
            clauses.append(Clause(connector, start, index))
            joins = low in words.CONJUNCTIONS or low == "cause"
            connector, start = (low, index + 1) if joins else ("+", index)
            has_verb = False
        elif low in FINITE_AUX or known_verb(low) is not None or is_past(low) or low == "'s":
            has_verb = True
    if start < len(tokens):
        clauses.append(Clause(connector, start, len(tokens)))
    return clauses


def _low(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].low if index < len(tokens) else ""


def _is_subject(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "that" is a subject or determiner ("That is ...") and not a conjunction."""
    return tokens[index].low == "that" and _low(tokens, index + 1) not in words.PRONOUNS


def _breaks(
    tokens: Sequence[Token],
    index: int,
    names: Collection[int],
    inside: Collection[int],
    has_verb: bool,
) -> bool:
    low, following = tokens[index].low, _low(tokens, index + 1)
    if low == "and" and not has_verb and _is_person(tokens, index - 1, names, inside):
        return False  # "Ann and Tom moved" has one subject
    if low in _ALWAYS:
        return True
    if low in ("what", "how"):
        return has_verb
    if low in ("so", "cause"):
        return following in words.PRONOUNS or following in words.POSSESSIVES or index + 1 in names
    if low in _COORDINATING:
        after_time = index + 1
        while after_time in inside or (after_time + 1) in inside:
            after_time += 1
        return _starts_verb_phrase(tokens, index + 1) or _starts_clause(tokens, after_time, names)
    if low in _IF_CLAUSE_FOLLOWS:
        return is_ing(following) or _starts_clause(tokens, index + 1, names)
    if not has_verb:
        return False
    if low == "that":
        return is_finite(following) or _starts_clause(tokens, index + 1, names)
    if low in words.NOMINATIVE:
        return True
    return _new_subject(tokens, index, names)


def _is_person(
    tokens: Sequence[Token], index: int, names: Collection[int], inside: Collection[int]
) -> bool:
    return index in names or index in inside or tokens[index].low in words.PERSON_NOUNS


def _new_subject(tokens: Sequence[Token], index: int, names: Collection[int]) -> bool:
    """Return whether a clause without conjunction starts here: "I heard | Mary moved"."""
    low, before, following = tokens[index].low, tokens[index - 1].low, _low(tokens, index + 1)
    if low in ("you", "it", "there", "this"):
        verb = following in FINITE_AUX or (low == "you" and known_verb(following) is not None)
        free = before in REPORTING or not (
            before in words.PARTICLES
            or before in words.PREPOSITIONS
            or known_verb(before) is not None
            or before == "to"
        )
        return verb and free
    return before in REPORTING and _starts_clause(tokens, index, names)


def _starts_verb_phrase(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a verb phrase starts here: in "and asked for help", but not "and apples"."""
    while _low(tokens, index) in words.ADVERBS or _low(tokens, index) in words.NEGATIONS:
        index += 1
    low = _low(tokens, index)
    if low in FINITE_AUX or is_past(low):
        return _low(tokens, index + 1) not in ("'s", "and")
    found = known_verb(low)
    if found is None:
        return False
    if found.form == "s" and verb_only(low):
        return True
    following = _low(tokens, index + 1)
    return (
        following in words.DETERMINERS
        or following in words.POSSESSIVES
        or (
            (
                following in words.OBJECT_PRONOUNS
                or following in words.RELATION_PREPOSITIONS
                or following in words.PARTICLES
            )
            and (found.form != "ing" or verb_only(low))
        )
    )


def _starts_clause(tokens: Sequence[Token], index: int, names: Collection[int]) -> bool:
    """Return whether a subject starts here and a finite verb follows within a few tokens."""
    while _low(tokens, index) in words.ADVERBS:
        index += 1
    low = _low(tokens, index)
    if low in _STARTERS:
        return low in words.NOMINATIVE or low == "you" or is_finite(_low(tokens, index + 1))
    if low not in words.DETERMINERS and low not in words.POSSESSIVES and index not in names:
        return False
    for ahead in range(index + 1, min(index + 6, len(tokens))):
        token = tokens[ahead]
        if token.kind == "mark" or token.low in _COORDINATING or token.low in _RELATIVE:
            return False
        if is_finite(token.low) and (ahead > index + 1 or index in names):
            return True
    return False

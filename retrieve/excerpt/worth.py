"""How likely each unit of a message is to answer a question, from its words alone.

The signals are late interaction over static word vectors (the mean best match of the question's
words, weighted by idf), absolute and relative to the best unit of the message; names, numbers and
the expected form of the answer; and two marks of what is asked rather than told: a question, and
the last sentence of a user, which is mostly a request. Vectors of sentences add nothing to them
(bench/TRIED.md). The weights were learned on ``bench/labels/answers.jsonl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords, word_vectors
from cognigraph.english.words import PLEASANTRIES
from cognigraph.retrieve.excerpt.units import Unit
from cognigraph.retrieve.question.analyse import Analysis, form_features
from cognigraph.text.terms import START, STOP_WORDS, is_question

_MATCH, _RELATIVE, _NAMES, _FORM, _DIGITS = 6.5, 6.2, 0.9, 0.45, 0.5
_ASKS, _REQUEST, _SHORT = -1.2, -0.9, -0.6
_BIAS = -1.5
_ENOUGH_WORDS = 5.0


@dataclass(frozen=True, slots=True)
class MessageUnits:
    """The units of one message with their texts; ``user`` says whether its role is user."""

    units: tuple[Unit, ...]
    texts: tuple[str, ...]
    user: bool = False


def unit_worths(
    messages: Sequence[MessageUnits], analysis: Analysis, idf: Mapping[str, float]
) -> list[Floats]:
    """For each message the probability of each of its units to answer; (units,) in (0, 1).

    ``idf`` holds the weights of the question's terms; a term without one weighs as much as the
    heaviest.
    """
    texts = [text for message in messages for text in message.texts]
    if not texts:
        return [np.zeros(0) for _ in messages]
    said = word_vectors().read(texts)
    match = _match(said, analysis, idf)
    form = form_features(texts, said, ("user", "assistant"), analysis.form)
    telling = _telling(said)
    score = _MATCH * match + _NAMES * form["names"] + _DIGITS * _have_digits(texts)
    score += _FORM * form.get("answer form", np.zeros(len(texts)))
    score += _ASKS * np.array([is_question(text) for text in texts], float)
    score += _SHORT * np.maximum(0.0, np.log1p(_ENOUGH_WORDS) - np.log1p(telling)) + _BIAS
    score[telling == 0] -= 4.0
    worths, first = [], 0
    for message in messages:
        last = first + len(message.texts)
        own = score[first:last]
        if len(own):
            own = own + _RELATIVE * (match[first:last] - match[first:last].max())
            if message.user and len(own) > 1:
                own[-1] += _REQUEST
        worths.append(1 / (1 + np.exp(-own)))
        first = last
    return worths


def best_worths(
    messages: Sequence[MessageUnits], analyses: Sequence[Analysis], idf: Mapping[str, float]
) -> list[Floats]:
    """As :func:`unit_worths`, for the query that each unit answers best."""
    worths = [unit_worths(messages, analysis, idf) for analysis in analyses]
    return [np.maximum.reduce(own) for own in zip(*worths, strict=True)]


def matches(texts: Sequence[str], analysis: Analysis, idf: Mapping[str, float]) -> Floats:
    """Late interaction of the question with each text (n,), in [0, 1]."""
    return _match(word_vectors().read(texts), analysis, idf)


def _match(said: TextWords, analysis: Analysis, idf: Mapping[str, float]) -> Floats:
    heaviest = max(idf.values(), default=1.0)
    weights = np.array([idf.get(term, heaviest) for term in analysis.terms])
    similar = word_vectors().best_matches(analysis.words, said)
    return np.asarray(similar @ weights / max(float(weights.sum()), 1e-9))


def _telling(said: TextWords) -> Floats:
    """Number of words (n,) of each text that are neither stop words nor pleasantries."""
    tells = said.vocabulary.marks("tells", _tells)
    return said.count(tells[said.rows]).astype(float)


def _tells(word: str) -> bool:
    return word not in STOP_WORDS and word not in PLEASANTRIES and word != START


def _have_digits(texts: Sequence[str]) -> Floats:
    return np.array([any(map(str.isdigit, text)) for text in texts], float)

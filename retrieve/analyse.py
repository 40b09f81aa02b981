"""Query analysis by rules: terms to look up, entity names to anchor on, no model call."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from cognigraph.lexical import STOP_WORDS, fold, query_terms, terms, words
from cognigraph.retrieve.asked_time import AskedTime, Stretch
from cognigraph.retrieve.question_time import QuestionTime, read_time

_LONGEST_NAME = 4
_MOST_WORDS = 64
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the rules read out of a question.

    ``terms`` are stemmed, without stop words; ``anchors`` all word n-grams in the stemmed form of
    ``EntityRow.key``; ``entities`` the phrases that name things, in the question's own words;
    ``time`` what it says about time.
    """

    question: str
    terms: tuple[str, ...]
    anchors: tuple[str, ...]
    entities: tuple[str, ...]
    time: QuestionTime = field(default_factory=QuestionTime)

    @property
    def times(self) -> tuple[AskedTime | Stretch, ...]:
        """The times that turns should lie near."""
        return self.time.times


def analyse(question: str, now: datetime) -> Analysis:
    """Read a question asked at ``now``. An empty one has no terms, anchors or entities."""
    found = query_terms(question)[:_MOST_WORDS]
    return Analysis(
        question, found, _anchors(question), _entities(question), read_time(question, now)
    )


def _anchors(question: str) -> tuple[str, ...]:
    stems, plain = terms(question)[:_MOST_WORDS], words(question)[:_MOST_WORDS]
    found: dict[str, None] = {}
    for size in range(_LONGEST_NAME, 0, -1):
        for start in range(len(stems) - size + 1):
            span = plain[start : start + size]
            if span[0] not in STOP_WORDS and span[-1] not in STOP_WORDS:
                found[" ".join(stems[start : start + size])] = None
    return tuple(found)


def _entities(question: str) -> tuple[str, ...]:
    """Runs of content words; a run also ends where capitalisation changes ("Ann" | "oil paint")."""
    runs: list[list[str]] = [[]]
    end = 0
    for match in _WORD.finditer(question):
        word = match[0].removesuffix("'s").removesuffix("’s")
        apart = question[end : match.start()].strip() != ""
        end = match.end()
        if fold(word) in STOP_WORDS:
            runs.append([])
            continue
        if runs[-1] and (apart or runs[-1][-1][:1].isupper() != word[:1].isupper()):
            runs.append([])
        runs[-1].append(word)
    return tuple(dict.fromkeys(" ".join(run) for run in runs if run))[:8]

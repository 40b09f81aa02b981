"""Query analysis by rules: terms to look up, entity names to anchor on, no model call."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from cognigraph.retrieve.answer_form import Form, expected_form
from cognigraph.retrieve.asked_time import AskedTime, Stretch
from cognigraph.retrieve.question_time import QuestionTime, read_time
from cognigraph.text.terms import STOP_WORDS, fold, query_words, terms, words

_LONGEST_NAME = 4
_MOST_WORDS = 64
_AUXILIARIES = frozenset(
    "did does do is was has have are were would will can could might had".split()
)
_SHORTEST_PLURAL = 3
_NO_PLURALS = frozenset("this plus always besides".split())
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the rules read out of a question.

    ``terms`` are stemmed, without stop words; ``anchors`` all word n-grams in the stemmed form of
    ``EntityRow.key``; ``entities`` the phrases that name things, in the question's own words;
    ``time`` what it says about time; ``words`` the word that each term stands for; ``enumerates``
    whether the answer seems to be a list, said piece by piece in several places; ``form`` what a
    single answer would hold.
    """

    question: str
    terms: tuple[str, ...]
    anchors: tuple[str, ...]
    entities: tuple[str, ...]
    time: QuestionTime = field(default_factory=QuestionTime)
    words: tuple[str, ...] = ()
    enumerates: bool = False
    form: Form | None = None

    @property
    def times(self) -> tuple[AskedTime | Stretch, ...]:
        """The times that turns should lie near."""
        return self.time.times


def analyse(question: str, now: datetime) -> Analysis:
    """Read a question asked at ``now``. An empty one has no terms, anchors or entities."""
    found = list(query_words(question).items())[:_MOST_WORDS]
    asked, time = words(question), read_time(question, now)
    return Analysis(
        question=question,
        terms=tuple(term for term, _ in found),
        anchors=_anchors(question),
        entities=_entities(question),
        time=time,
        words=tuple(word for _, word in found),
        enumerates=_enumerates(asked),
        form=expected_form(asked, time.asks),
    )


def _enumerates(asked: list[str]) -> bool:
    """ "How many ...", "in what ways ...", "what|which <plural noun> ..." or "... both ..."."""
    if asked[:2] == ["how", "many"] or "ways" in asked[:3] or "both" in asked:
        return True
    if asked[:1] not in (["what"], ["which"]):
        return False
    for word in asked[1:4]:
        if word in _AUXILIARIES:
            return word in ("are", "were")
        if len(word) > _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
            return word not in _NO_PLURALS
    return False


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

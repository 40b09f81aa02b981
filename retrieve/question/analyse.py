"""Analyse a question by rules, without a model: terms, entities, times, form of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from cognigraph.model.roles import ANONYMOUS
from cognigraph.retrieve.question.aim import Aim, aim_of
from cognigraph.retrieve.question.answer_form import AnswerForm, expected_form
from cognigraph.retrieve.question.dates import NamedDate, TimeWindow
from cognigraph.retrieve.question.temporal import QuestionTime, read_time
from cognigraph.text.language import is_english
from cognigraph.text.terms import STOP_WORDS, fold, parts, query_words, terms, words

_T = TypeVar("_T")

_LONGEST_NAME = 4
_MOST_WORDS = 64
_MOST_PARTS = 256
_AUXILIARIES = frozenset(
    "did does do is was has have are were would will can could might had".split()
)
_SHORTEST_PLURAL = 3
_NO_PLURALS = frozenset("this plus always besides".split())
_OWN = re.compile(r"\b(?:i|my|me|mine|myself)\b", re.IGNORECASE)
_REQUEST = re.compile(r"\b(?:tell|show|give|remind|let|help)\s+me\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of analysing a question by rules.

    - ``terms``: stems without stop words; ``words``: the word that each term comes from.
    - ``parts``: the parts of its words (:func:`cognigraph.text.terms.parts`), unless it is English.
    - ``is_english``: ``None`` if too little of it tells.
    - ``anchors``: possible entity names, all word n-grams in the stemmed form of ``EntityRow.key``.
    - ``entities``: the phrases that name things, in the words of the question.
    - ``time``: what the question says about time.
    - ``enumerates``: whether the answer seems to be a list whose items are in several messages.
    - ``form``: what a message with the answer would contain.
    - ``is_own``: whether it is about the one who asks ("Where do I live?").
    - ``aim``: whether it is about what an assistant said, or asks for work or advice.
    """

    question: str
    terms: tuple[str, ...]
    anchors: tuple[str, ...]
    entities: tuple[str, ...]
    time: QuestionTime = field(default_factory=QuestionTime)
    words: tuple[str, ...] = ()
    enumerates: bool = False
    form: AnswerForm | None = None
    is_own: bool = False
    aim: Aim = field(default_factory=Aim)
    parts: tuple[str, ...] = ()
    is_english: bool | None = True

    @property
    def sought(self) -> tuple[str, ...]:
        """The terms and parts that are looked up."""
        return self.terms + self.parts

    @property
    def times(self) -> tuple[NamedDate | TimeWindow, ...]:
        """The dates and time windows near which the answer should be."""
        return self.time.times

    @property
    def asks_state(self) -> bool:
        """Whether it asks the user how things are ("Where do I live?"), and not for advice."""
        return self.time.present and not self.aim.request and not self.aim.assistant

    @property
    def may_ask_state(self) -> bool:
        """Whether it asks how one thing is, or may do so in a language that the rules cannot read.

        There, only a date says that it is about another time.
        """
        unread = self.time.unread and not (self.times or self.aim.request or self.aim.assistant)
        return (self.asks_state or unread) and not self.enumerates


def analyse(question: str, now: datetime) -> Analysis:
    """Analyse a question asked at ``now``. An empty one has no terms, anchors or entities."""
    found = _both_ends(list(query_words(question).items()))
    asked, time, english = words(question), read_time(question, now), is_english(question)
    return Analysis(
        question=question,
        terms=tuple(term for term, _ in found),
        anchors=_anchors(question),
        entities=_entities(question),
        time=time,
        words=tuple(word for _, word in found),
        enumerates=_enumerates(asked),
        form=expected_form(question, time.asks),
        is_own=_OWN.search(_REQUEST.sub(" ", question)) is not None,
        aim=aim_of(question),
        parts=_parts(question) if english is False else (),
        is_english=english,
    )


def about(analysis: Analysis, speakers: Sequence[str]) -> Analysis:
    """Add the one who asks to the anchors of a question about them.

    That is the user, who is called so or has it as an alias, or else one of ``speakers``.
    """
    if not analysis.is_own:
        return analysis
    own = (" ".join(terms(name)) for name in speakers or (ANONYMOUS,))
    return replace(analysis, anchors=tuple(dict.fromkeys((*analysis.anchors, *filter(None, own)))))


def _parts(question: str) -> tuple[str, ...]:
    """The distinct parts of a question, at most 256: Lucene refuses more than 1,024 clauses."""
    return tuple(_both_ends([*dict.fromkeys(parts(question))], _MOST_PARTS))


def _both_ends(items: list[_T], most: int = _MOST_WORDS) -> list[_T]:
    """Return the first and last of many words: a question precedes or follows a long quotation."""
    half = most // 2
    return items if len(items) <= most else items[:half] + items[-half:]


def _enumerates(asked: list[str]) -> bool:
    """Whether the question has the form "how many ...", "what <plural noun> ..." or the like."""
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
    """Return all n-grams that neither begin nor end with a stop word, longest first."""
    stems, plain = _both_ends(terms(question)), _both_ends(words(question))
    found: dict[str, None] = {}
    for size in range(_LONGEST_NAME, 0, -1):
        for start in range(len(stems) - size + 1):
            span = plain[start : start + size]
            if span[0] not in STOP_WORDS and span[-1] not in STOP_WORDS:
                found[" ".join(stems[start : start + size])] = None
    return tuple(found)


def _entities(question: str) -> tuple[str, ...]:
    """Return runs of content words; a change of capitalisation ends a run ("Ann" | "oil paint")."""
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

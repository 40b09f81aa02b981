"""What a question asks for: its words, names and times, and the form and aim of its answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords
from cognigraph.english.sentences import split_text
from cognigraph.english.times.readers import COUNTS, MONTHS, SIMPLE, UNITS, WEEKDAYS
from cognigraph.english.verbs import is_past
from cognigraph.model.answers import Shape
from cognigraph.model.messages import ANONYMOUS
from cognigraph.retrieve.question.languages import read_question
from cognigraph.retrieve.question.temporal import (
    Asks,
    NamedDate,
    QuestionTime,
    TimeWindow,
    read_time,
)
from cognigraph.stores.candidates import StoredTexts
from cognigraph.text.terms import (
    STOP_WORDS,
    fold,
    is_english,
    is_question,
    name_words,
    names_in,
    parts,
    query_words,
    terms,
    words,
)
from cognigraph.text.word_book import NumberedTexts

_T = TypeVar("_T")

_LONGEST_NAME = 4
_MOST_WORDS = 64
_MOST_PARTS = 256
_AUXILIARIES = frozenset(
    "did does do is was has have are were would will can could might had".split()
)
_SHORTEST_PLURAL = 3
_NO_PLURALS = frozenset("this plus always besides".split())
_ORDINAL = re.compile(r"(\d)\. (?=\w)")
"""A dot that ends no sentence: "am 3. Mai". Two sentences taken for one do no harm here."""
_STATEMENTS, _LONG_ENOUGH = 2, 12
"""From so many statements and words on, a text tells more than it asks. A question is preceded by
one statement at most ("I'm back in Oslo. Where did I eat last time?")."""
_OWN = re.compile(r"\b(?:i|my|me|mine|myself)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\b(?:tell|show|give|remind|let|help)\s+me\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Aim:
    """What a question aims at; by default at what the user said.

    - ``assistant``: at what the assistant said.
    - ``request``: at advice or work, for which the wishes of the user matter.
    """

    assistant: bool = False
    request: bool = False


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
    - ``is_message``: whether it tells more than it asks, as the next message of a user does. Then
      ``time``, ``enumerates``, ``form`` and ``aim`` are those of the sentences that ask.
    """

    question: str
    terms: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    time: QuestionTime = field(default_factory=QuestionTime)
    words: tuple[str, ...] = ()
    enumerates: bool = False
    form: AnswerForm | None = None
    is_own: bool = False
    aim: Aim = field(default_factory=Aim)
    parts: tuple[str, ...] = ()
    is_english: bool | None = True
    is_message: bool = False

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
    is_message, asking = _asking(question)
    english = is_english(question)
    read = (
        _read_english(question, asking, now) if english is not False else _read_other(asking, now)
    )
    return replace(
        read,
        question=question,
        terms=tuple(term for term, _ in found),
        anchors=_anchors(question),
        entities=_entities(question),
        words=tuple(word for _, word in found),
        parts=_parts(question) if english is False else (),
        is_english=english,
        is_message=is_message,
    )


def _read_english(question: str, asking: str, now: datetime) -> Analysis:
    time = read_time(asking, now)
    return Analysis(
        question,
        time=time,
        enumerates=_enumerates(words(asking)),
        form=expected_form(asking, time.asks),
        is_own=_OWN.search(_ASIDE.sub(" ", question)) is not None,
        aim=aim_of(asking),
    )


def _read_other(asking: str, now: datetime) -> Analysis:
    """What is read of another language: no rules for English, as "was" and "me" are words there."""
    read = read_question(asking, now)
    form: AnswerForm | None = "number" if read.counts else None
    return Analysis(
        asking,
        time=read.time,
        enumerates=read.enumerates,
        form="time" if read.time.asks else form,
        is_own=read.is_own,
        aim=Aim(assistant=read.of_assistant),
    )


def _asking(question: str) -> tuple[bool, str]:
    """Whether a text tells more than it asks, and what of it asks: then only its questions."""
    whole = _ORDINAL.sub(r"\1 ", question)
    sentences = [sentence for sentence in split_text(whole) if words(sentence)]
    asking = [sentence for sentence in sentences if is_question(sentence)]
    tells = len(sentences) - len(asking) >= _STATEMENTS
    is_message = tells and len(words(question)) >= _LONG_ENOUGH
    return is_message, " ".join(asking) if is_message else question


def with_asker(analysis: Analysis, speakers: Sequence[str]) -> Analysis:
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


# Detect texts of the form that the answer must have: with a number, an amount, a time or a name.
#
# Rules for English; no model. "How many" and "what size" are answered by a turn with a number,
# "what did it cost" by one with an amount of money, "when" and "which came first" by one with a
# time, "who" and "where" by one with a name. Turns with names also answer questions of every other
# kind more often than turns without (bench/TRIED.md).

AnswerForm = Literal["number", "money", "time", "name"]

_MANY_NAMES = 3
_PLACES = frozenset(
    "city cities country countries state states town towns place places island region".split()
)
_AMOUNT = re.compile(
    r"\b(?:costs?|prices?|priced|pricier|cheaper|cheapest|dearer|dearest|fees?|fares?|rent|mortgage"
    r"|salary|salaries|wages?|income|deposit|budget|bills?|invoices?|refund(?:ed)?|how much money"
    r"|debts?|savings|earn(?:s|ed)?|owed?|owes|outstanding|charged?|adds? up to)\b"
    r"|\bpay(?:s|ing)?\b(?! attention)|\bpaid\b|\bcomes? to in total\b"
    r"|^(?!.*\bmuch (?:\w+ ){0,3}time\b).*\bspen[dt]\b"
    r"(?! (?:\w+ ){0,3}(?:time|days?|nights?|weekends?|holidays?|christmas|birthday)\b)"
    r"|\bhow much (?:\w+ ){1,4}(?:give for|get (?:back )?for|hand(?:ed)? over)\b"
)
_OF_WHAT_SIZE = re.compile(r"\bwhats?\b|\bhow (?:much|big|large|high|low|expensive|cheap|far)\b")
_DATE = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,3}(?:dates?|days?|weekdays?|weekends?|months?|years?|birthday)\b"
    r"|\bdate of\b|\bbefore or after\b"
    r"|\b(?:what|which) (?:came|comes|happened|was|is) (?:the )?(?:first|earlier|later|sooner)\b"
)
_FIGURE = re.compile(
    r"\bhow (?:many|much|often|old|big|large|small|tall|high|low|far|near|heavy|wide|deep|thick"
    r"|fast|slow|hot|cold|strong|loud|close)\b"
    r"|\b(?:what|which) (?:(?:\w+ ){0,4}(?:codes?|pin|sizes?|percentages?|amounts?|quantity"
    r"|quantities|dos(?:e|es|age)|strength|weight|height|length|distance|temperature|ages?|scores?"
    r"|rate|speed|total|interval|mileage|capacity|number of)|numbers?|figures?)\b"
)
"""Matched with the words of a question in lower case, as :func:`words` returns them."""
_SYMBOLS = "$€£¥₹"
_PRICE = re.compile(rf"[{_SYMBOLS}]\s?\d|\d\s?[{_SYMBOLS}]")
_WORDS: dict[AnswerForm, frozenset[str]] = {
    "number": frozenset(COUNTS).union(
        "once twice couple dozen few several hundred hundreds thousand thousands".split()
    ),
    "money": frozenset(
        "dollar dollars buck bucks euro euros pound pounds quid pence cents usd eur gbp chf yen "
        "rupees francs kronor kroner".split()
    ),
    "time": frozenset({*SIMPLE, *UNITS, *WEEKDAYS, *MONTHS}).union(
        "ago last next since recently soon".split()
    ),
}
_DIGITS: dict[AnswerForm, re.Pattern[str]] = {
    "number": re.compile(r"\d+"),
    "money": re.compile(r"\d+k"),
    "time": re.compile(r"(?:19|20)\d\d|\d+(?:st|nd|rd|th)"),
}


def _has_form(form: AnswerForm, word: str) -> bool:
    return word in _WORDS[form] or (word[0].isdigit() and _DIGITS[form].fullmatch(word) is not None)


_DATES = frozenset({*WEEKDAYS, *MONTHS})


def expected_form(question: str, asks: Asks | None) -> AnswerForm | None:
    """Return what a message with the answer contains; ``None`` if the question does not say.

    ``asks`` is what the question asks about time. Who and where come before amounts ("Who paid the
    rent?"), and amounts before other numbers ("How much did the tent cost?").
    """
    if asks is not None:
        return "time"
    asked = words(question)
    if asked[:2] == ["how", "many"]:
        return "number"
    if asked[:1] in (["who"], ["whom"], ["whose"], ["where"]) or _PLACES.intersection(asked):
        return "name"
    low = " ".join(asked)
    if _AMOUNT.search(low) and _OF_WHAT_SIZE.search(low):
        return "money"
    if _DATE.search(low):
        return "time"
    return "number" if _FIGURE.search(low) else None


def form_features(
    texts: Sequence[str],
    text_words: TextWords,
    speakers: Iterable[str | None],
    form: AnswerForm | None,
) -> dict[str, Floats]:
    """Score each text by its number of names and by whether it has the expected form.

    Returns arrays (n,) in [0, 1]. ``text_words`` are the words of the texts, and of any other texts
    after them. The names of the ``speakers`` occur in many texts, so they do not count as names
    nor, for a speaker called "May", as times.
    """
    called = frozenset[str]().union(*(name_words(name) for name in speakers if name))
    names = _names(texts, _DATES | called)
    features = {"names": np.minimum(names, _MANY_NAMES) / _MANY_NAMES}
    if form == "name":
        features["answer form"] = (names > 0).astype(float)
    elif form is not None:
        features["answer form"] = _holding(text_words.first(len(texts)), form, called)
    if form == "money":
        features["answer form"] = np.maximum(features["answer form"], _priced(texts))
    return features


def _priced(texts: Sequence[str]) -> Floats:
    """Return 1 for each text with a price, such as "£5" or "5 €", 0 for the others."""
    return np.array(
        [
            any(symbol in text for symbol in _SYMBOLS) and _PRICE.search(text) is not None
            for text in texts
        ],
        float,
    )


def _names(texts: Sequence[str], ignored: Collection[str]) -> Floats:
    """Count the different proper names in each text (n,), judging by capital letters."""
    if isinstance(texts, StoredTexts) and texts.names is not None:
        return _stored_names(texts, texts.names, ignored)
    owners = [owner for owner, name in names_in(texts) if name.casefold() not in ignored]
    return np.bincount(np.array(owners, np.int64), minlength=len(texts)).astype(float)


def _stored_names(texts: StoredTexts, stored: NumberedTexts, ignored: Collection[str]) -> Floats:
    """As :func:`_names`; only the texts are read whose names the store does not know."""
    different, which = np.unique(stored.values, return_inverse=True)
    names = stored.book.strings(different)
    counts = np.array([name.casefold() not in ignored for name in names], bool)[which]
    owners = np.repeat(np.arange(len(texts)), stored.sizes)[counts]
    found = np.bincount(owners, minlength=len(texts)).astype(float)
    unknown = np.flatnonzero(~stored.known)
    if len(unknown):
        found[unknown] = _names([*texts.some(unknown)], ignored)
    return found


def _holding(text_words: TextWords, form: AnswerForm, ignored: Collection[str]) -> Floats:
    """Return 1 for each text with a number (or a time), 0 for the others."""
    vocabulary = text_words.vocabulary
    has_form = vocabulary.marks(form, partial(_has_form, form)).copy()
    has_form[vocabulary.rows(ignored)] = False
    return text_words.holding(has_form[text_words.rows]).astype(float)


# What a question to an assistant aims at: what the assistant said, or a piece of work.
#
# Rules for English, no model. "What did you suggest?" is answered by the assistant. A request
# ("Write me a script", "What should I cook?") has no answer in the memory; what helps with it is
# what the user wants and does not want.

_TELLS = frozenset("tell told remind show name list say know recall remember".split())
"""Verbs that ask for what is known: "can you tell me where I live?" is no request for work."""
_GIVES = frozenset("tell told give gave given show showed send sent ask asked".split())
"""Verbs whose object may be "you": in "the trips I told you about" the assistant says nothing."""
_LISTING = re.compile(r"\b(?:give|make) me (?:a|the) (?:full |complete )?(?:list|overview)\b")
_SENTENCE = re.compile(r"[.!?;:]\s+")
_POLITE = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hi|hello|hey|now|then|also|please|thanks|thank you)[,!]* )+"
)
_WORK = frozenset(
    "add adapt advise analyse analyze arrange book brainstorm bring build calculate change check "
    "choose code come compare compose convert cook correct cover create debug decide describe "
    "design develop draft draw edit estimate evaluate explain expand extend find finish fix "
    "format generate give go guide help implement improve invent keep let make organise organize "
    "outline pick plan prepare propose proofread put recommend refactor reply rephrase research "
    "review revise rewrite schedule set shorten sketch solve sort start structure suggest "
    "summarise summarize teach test think translate turn update use walk work write".split()
)
"""Verbs that open an order: "write me a letter"."""
_REQUESTS = re.compile(
    r"^i(?:'d| would)? (?:need|want|like|love|am looking for)\b|^i(?:'m| am) looking for\b"
    r"|\b(?:should|could|shall|might|can) (?:i|we|the \w+ of us|my \w+)\b"
    r"|^how (?:do|can|should|could|would|might|best)(?: i| we| to| one)\b"
    r"|\b(?:suggest|recommend|advise)\b|\b(?:ideas?|tips|suggestions|recommendations|advice) "
    r"(?:for|on|about|how)\b|\bwhat (?:would|do) you (?:think|say)\b|\bhelp me\b"
)
_OFFERS = re.compile(r"\b(?:can|could|would|will) you (?:please |maybe |also )?(\w+)")
_DID_YOU = re.compile(r"\b(?:did|had|was it|were) you\b(?! know\b)")
_YOURS = re.compile(r"\byours?\b|\bassistant\b")
_YOU = re.compile(r"(?:\b(\w+) )?\byou (?:also |already |just |once |first |then )?(\w+)")


def aim_of(question: str) -> Aim:
    """Read what a question aims at. Never raises on any text."""
    low = " ".join(question.casefold().replace("’", "'").split())
    request = _is_request(low)
    return Aim(assistant=not request and _asks_assistant(low), request=request)


def _is_request(low: str) -> bool:
    if _LISTING.search(low):
        return False
    return any(_orders(_POLITE.sub("", sentence)) for sentence in _SENTENCE.split(low))


def _orders(sentence: str) -> bool:
    """Whether a sentence in lower case asks for work or advice."""
    if _DID_YOU.search(sentence):
        return False
    offer = _OFFERS.search(sentence)
    if offer is not None:
        return offer[1] not in _TELLS
    first = words(sentence)[:1]
    return (bool(first) and first[0] in _WORK) or _REQUESTS.search(sentence) is not None


def _asks_assistant(low: str) -> bool:
    """Whether "you" or "your" names somebody who said or made something."""
    if _DID_YOU.search(low) or _YOURS.search(low):
        return True
    return any(match[1] not in _GIVES and is_past(match[2]) for match in _YOU.finditer(low))


# Words with which a question asks for an overview: a summary, an order in time, a development.
#
# Only words that ask for nothing else: a question without one is answered as usual, and a caller
# who knows better says so (``shape`` of :meth:`cognigraph.Space.context`). ``…`` stands for other
# words between two parts, ``*`` for any ending, and ``^`` for the beginning of the question.

CUES: Mapping[str, Sequence[str]] = {
    "en": (
        "^summarize", "^summarise", "you summarize", "you summarise", "please summarize",
        "please summarise", "a summary", "summary of", "^recap", "a recap",
        "overview", "timeline", "chronolog*",
        "in which order", "in what order", "walk me through", "how … over time",
        "how … develop", "how … developed", "how … evolve*", "have we talked about",
        "did we talk about", "have we discussed",
    ),
    "de": (
        "fass … zusammen", "fasse … zusammen", "eine zusammenfassung", "zusammenfassen",
        "überblick", "reihenfolge", "chronolog*",
        "zeitleiste", "wie … entwickelt", "wie … verlaufen", "im laufe der zeit",
        "haben wir … gesprochen",
    ),
    "fr": (
        "^résume", "résumer", "résumez", "résumé de*", "vue d'ensemble", "dans quel ordre",
        "chronolog*", "comment … évolué", "au fil du temps", "avons-nous parlé",
    ),
    "es": (
        "resumen", "resumir", "resúmeme", "resume el", "resume la", "resume lo*", "resume las",
        "en qué orden", "cronolog*", "cronológic*", "cómo … evolucion*", "con el tiempo",
        "hemos hablado",
    ),
    "pt": (
        "resuma", "resumo", "resumir", "em que ordem", "cronolog*", "cronológic*", "visão geral",
        "como … evolu*", "ao longo do tempo", "temos falado",
    ),
    "it": (
        "riassum*", "riassunto", "panoramica", "in che ordine", "in quale ordine", "cronolog*",
        "come … evolut*", "nel corso del tempo", "abbiamo parlato",
    ),
    "nl": (
        "samenvat*", "vat … samen", "overzicht", "in welke volgorde", "tijdlijn", "chronolog*",
        "hoe … ontwikkeld", "in de loop van de tijd", "hebben we het … gehad",
    ),
    "zh": (
        "^总结", "^總結", "总结一下", "總結一下", "概述一下", "概括一下",
        "梳理一下", "回顾一下", "时间线", "時間線", "时间顺序", "時間順序", "什么顺序", "什麼順序",
        "来龙去脉", "來龍去脈", "怎么发展", "如何发展", "聊过什么", "聊过哪些",
    ),
    "ja": (
        "要約", "まとめて", "概要", "時系列", "経緯", "どんな順", "どの順", "どう変わっ",
        "何を話し",
    ),
    "ko": (
        "요약", "정리해", "개요", "타임라인", "시간순", "어떤 순서", "어떻게 변",
        "무슨 이야기를 나",
    ),
}  # fmt: skip
EVERYTHING = (
    "so far", "until now", "everything", "what", "all", "us", "about", "me", "did", "give",
    "worüber", "was", "bisher", "alles", "gib", "mir", "wir", "über",
    "de quoi", "tout", "jusqu'ici", "jusqu'à présent", "de qué", "todo", "hasta ahora",
    "do que", "tudo", "até agora", "di cosa", "tutto", "finora",
    "waarover", "alles", "tot nu toe",
    "我们", "到目前为止", "所有", "一切", "これまで", "すべて", "전부", "지금까지",
)  # fmt: skip
"""What may be left of a question that asks for an overview of all that was ever said."""
_UNSPACED = ("zh", "ja", "ko")
_BETWEEN = r"\b(.{1,120}?)\b"
_LONGEST = 200
"""Characters of a question; a longer one is a message, which may name a summary in passing."""


def _pattern(language: str, cue: str) -> str:
    start, words = (r"^\W*", cue[1:]) if cue.startswith("^") else ("", cue)
    if language in _UNSPACED:
        return start + re.escape(words)
    parts = (re.escape(part.strip()).replace(r"\*", r"\w*") for part in words.split("…"))
    return rf"{start}\b{_BETWEEN.join(parts)}\b"


_LONGEST_FIRST = sorted(
    ((language, cue) for language, cues in CUES.items() for cue in cues),
    key=lambda pair: -len(pair[1].removeprefix("^")),
)
_CUE = re.compile("|".join(_pattern(*pair) for pair in _LONGEST_FIRST), re.IGNORECASE)
_EVERYTHING = re.compile(
    "|".join(re.escape(words) if not words.isascii() and words[0] > "\u3000"
             else rf"\b{re.escape(words)}\b" for words in EVERYTHING),
    re.IGNORECASE,
)  # fmt: skip


def overview_subject(question: str) -> str | None:
    """What an overview is asked of: the question without its cue. ``None`` if it asks for none.

    It is empty if the overview is to be of everything.
    """
    question = question.replace("’", "'")
    if len(question) > _LONGEST or _CUE.search(question) is None:
        return None
    subject = " ".join(_CUE.sub(_without_cue, question).split())
    return subject if re.search(r"\w", _EVERYTHING.sub(" ", subject)) else ""


def _without_cue(match: re.Match[str]) -> str:
    return f" {' '.join(filter(None, match.groups()))} "


def subject_of(question: str, shape: Shape | None) -> str | None:
    """What an overview is to be given of; ``None`` if the block is to answer the question.

    It is empty for everything. The caller says with ``shape`` whether it is to be an overview;
    otherwise the words of the question say it.
    """
    if shape == "answer":
        return None
    subject = overview_subject(question)
    return question if subject is None and shape == "overview" else subject

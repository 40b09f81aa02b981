"""Detect texts of the form that the answer must have: with a number, an amount, a time or a name.

Rules for English; no model. "How many" and "what size" are answered by a turn with a number, "what
did it cost" by one with an amount of money, "when" and "which came first" by one with a time, "who"
and "where" by one with a name. Turns with names also answer questions of every other kind more
often than turns without (bench/TRIED.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Literal

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords
from cognigraph.english.times.time_words import COUNTS, MONTHS, SIMPLE, UNITS, WEEKDAYS
from cognigraph.retrieve.question.temporal import Asks
from cognigraph.stores.candidates import StoredTexts
from cognigraph.text.terms import name_words, names_in, words
from cognigraph.text.word_book import NumberedTexts

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


_TESTS: dict[AnswerForm, Callable[[str], bool]] = {
    form: partial(_has_form, form) for form in _WORDS
}
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
    has_form = vocabulary.marks(form, _TESTS[form]).copy()
    has_form[vocabulary.rows(ignored)] = False
    return text_words.holding(has_form[text_words.rows]).astype(float)

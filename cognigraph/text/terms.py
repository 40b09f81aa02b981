"""Lexical analysis: convert text to index terms, in the same way for all stores and for queries.

Terms are words in NFKC and folded case, stemmed as English (Snowball). Scripts without spaces
between words (Chinese, Japanese, Thai, ...) become overlapping character bigrams. A text in
another language than English also has parts: its words' overlapping four letters without accents,
and the single characters of scripts without spaces. They find inflected words and compounds in any
language ("Heizungsrohre" for "Heizung"), and need neither a stemmer nor a dictionary (McNamee &
Mayfield, "Character N-Gram Tokenization for European Language Text Retrieval", 2004).

Stores index these terms and never put user text into a query language, so no user text can cause a
syntax error, and document frequencies are counted per space. Proper names are told by their capital
letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.forks import ProcessLock
from cognigraph.text.language import is_english

_NAME = re.compile(r"[^\W\d_]{2,}")
_OPENING = np.array([ord(mark) for mark in '"“('])
_ENDING = np.array([ord(mark) for mark in ' .!?…"”)\n\r\t'])


def names_in(texts: Sequence[str]) -> list[tuple[int, str]]:
    """The different names in each text as they are spelled, as (index of the text, name).

    A name has two letters or more and a capital after a word or an opening mark, not after a full
    stop. The texts are in their order, the names of a text in any order.
    """
    joined = "\n".join(texts)
    starts = _inner_capitals(joined)
    owners = np.searchsorted(np.cumsum([len(text) + 1 for text in texts]), starts, side="right")
    found = dict[tuple[int, str], None]()
    for owner, start in zip(owners.tolist(), starts.tolist(), strict=True):
        name = _NAME.match(joined, start)
        if name and name[0][0].isupper():
            found[owner, name[0]] = None
    return [*found]


def _inner_capitals(text: str) -> Ints:
    """Return the positions of possible capitals after a word or opening mark, not a full stop."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    at = np.flatnonzero(((codes >= ord("A")) & (codes <= ord("Z"))) | (codes >= ord("À")))
    at = at[at > 0]
    before, further = codes[at - 1], codes[np.maximum(at - 2, 0)]
    spaced = (before == ord(" ")) & np.isin(further, _ENDING, invert=True)
    return np.asarray(at[spaced | np.isin(before, _OPENING)], np.int64)


ANALYZER = "cognigraph-english-1"
"""Name of this analysis, recorded in every store; a store with another one must be re-indexed.

Texts that were stored before there were parts lack them; what the others have is the same.
"""

PART = "+"
"""What a part of a word begins with, so that it is no word."""

_PART_LETTERS = 4

# Letters of scripts that put no spaces between words: Han, kana, Thai, Lao, Khmer, Myanmar.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
START = "\0"
"""Marker before the words of each text in :func:`marked_words`."""

_WORDS_ONLY = bytes(byte if chr(byte).isalnum() or byte in b"_\0" else 0x20 for byte in range(128))
_WORDS_ONLY += bytes(range(128, 256))
_PLAIN_WORD = re.compile(r"\w+", re.ASCII)
_APOSTROPHE = re.compile(r"['’ʼ](?:s|S)\b|['’ʼ]")
_ASCII_APOSTROPHE = re.compile(r"'(?:s\b)?")  # of folded text; found much faster
_MAX_TERM = 64
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe"})

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can
    could did do does doing for from had has have having he her here hers him his how i if in into
    is it its just me more most my no nor not of off on once only or other our ours out over own
    she should so some such than that the their theirs them then there these they this those
    through to too under until up very was we were what when where which while who whom why will
    with would you your yours""".split()
)
"""Words without a topic. They are indexed like all others, but queries skip them."""

_stemmer_lock = ProcessLock()
"""Snowball's stemmers keep state in the object and are not thread-safe."""


@cache
def _stemmer() -> Any:
    import snowballstemmer  # which imports the stemmers of all languages

    return snowballstemmer.stemmer("english")


@cache
def _token_pattern() -> re.Pattern[str]:
    """A pattern for runs of unspaced script and for words, compiled at first use.

    ``\\w`` of ``re`` does not match vowel signs and other combining marks, without which words of
    Hindi, Tamil or vocalised Arabic would be broken apart.
    """
    marks = "".join(
        chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"
    )
    return re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[\w{marks}])+)")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The index term of a word."""
    with _stemmer_lock:
        return str(_stemmer().stemWord(word))[:_MAX_TERM]


def fold(text: str) -> str:
    """The text in NFKC and folded case, without possessive endings and apostrophes."""
    return _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())


def words(text: str) -> list[str]:
    """Case-folded, unstemmed tokens in order; unspaced script becomes character bigrams."""
    if text.isascii():  # gives the same result four times as fast
        return _PLAIN_WORD.findall(_ASCII_APOSTROPHE.sub("", text.casefold()))
    tokens: list[str] = []
    for match in _token_pattern().finditer(fold(text)):
        run = match["run"]
        if run is None:
            tokens.append(match["word"])
        elif len(run) == 1:
            tokens.append(run)
        else:
            tokens.extend(run[i : i + 2] for i in range(len(run) - 1))
    return tokens


@lru_cache(maxsize=4096)
def name_words(name: str) -> frozenset[str]:
    """The words of a name that recurs, such as that of a speaker."""
    return frozenset(words(name))


def marked_words(texts: Sequence[str]) -> list[str]:
    """The words of many texts in one list, with a ``START`` before those of each text."""
    joined = START + START.join(texts)
    if joined.isascii() and joined.count(START) == len(texts):  # one pass is much faster
        folded = _ASCII_APOSTROPHE.sub("", joined.casefold())
        plain = folded.encode("ascii").translate(_WORDS_ONLY)
        return plain.replace(b"\0", b" \0 ").decode("ascii").split()
    return [token for text in texts for token in (START, *words(text))]


def terms(text: str) -> list[str]:
    """Index terms of a text, in order, with repetitions."""
    return [stem(word) for word in words(text)]


def term_counts(text: str) -> Counter[str]:
    """What is indexed of a text, its terms and parts, with their frequencies."""
    counts = Counter(terms(text))
    if is_english(text) is False:
        counts.update(parts(text))
    return counts


def parts(text: str) -> Iterator[str]:
    """The parts of the words of a text in order, with repetitions.

    A word of four letters or fewer has none: it is its own part.
    """
    for match in _token_pattern().finditer(fold(text)):
        if match["run"]:
            yield from (f"{PART}{character}" for character in match["run"])
        elif match["word"].isalpha():
            word = _without_accents(match["word"])
            last = len(word) - _PART_LETTERS
            if last > 0:
                yield from (f"{PART}{word[at : at + _PART_LETTERS]}" for at in range(last + 1))


@lru_cache(maxsize=65_536)
def _without_accents(word: str) -> str:
    """The folded word with German umlauts as two letters, and other letters without accents."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_TWO_LETTERS))
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def query_words(text: str) -> dict[str, str]:
    """The distinct terms of a query in order, each with its first word.

    Stop words are left out, unless the query consists of nothing else.
    """
    tokens = words(text)
    content = [token for token in tokens if token not in STOP_WORDS] or tokens
    found: dict[str, str] = {}
    for token in content:
        found.setdefault(stem(token), token)
    return found


def query_terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a query in order, without stop words unless there are no others."""
    return tuple(query_words(text))

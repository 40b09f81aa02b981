"""Text in any language: cleaned, told apart by language, and converted to index terms.

Terms are made in the same way for all stores and for queries.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.english.verbs import VERBS

_SURROGATE = re.compile("[\ud800-\udfff]")
# C0 controls (except tab and line feed), C1 controls, and marks that reorder the following text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What :func:`printable` replaces."""
QUESTION_MARKS = frozenset("?？؟\u037e")
_TAIL = 16
MAX_NAME = 512
NAME_RULE = f"1 to {MAX_NAME} characters, without NUL or lone surrogates"


def replace_surrogates(text: str) -> tuple[str, int]:
    """Replace lone surrogates, which no database can store, by U+FFFD; return text and count."""
    return (text, 0) if text.isascii() else _SURROGATE.subn("\ufffd", text)


def storable(text: str) -> str:
    """The text as it would be stored, so that lookups match it."""
    return replace_surrogates(text)[0]


def is_name(text: str) -> bool:
    """Whether a text can name a space, a session, a speaker or a message."""
    return (
        bool(text.strip()) and len(text) <= MAX_NAME and "\0" not in text and storable(text) == text
    )


def printable(text: str) -> str:
    """The text without control characters and bidi overrides, for prompts and terminals."""
    return CONTROL.sub(" ", text)


def is_question(text: str) -> bool:
    """Whether the text has a question mark, of any script, after its last word."""
    for character in reversed(text[-_TAIL:]):
        if character in QUESTION_MARKS:
            return True
        if character.isalnum():
            return False
    return False


def headed(title: str, summary: str) -> str:
    """A theme as the text that is embedded and indexed."""
    return f"{title}. {summary}"


def searched(speaker: str | None, text: str, fresh: str | None) -> str:
    """A chunk as the text that is embedded and indexed, without recalled prompt blocks.

    ``fresh`` is the text without such blocks, or ``None`` if it has none. If ``fresh`` is empty,
    so is the result.
    """
    return "" if fresh == "" else spoken(speaker, text if fresh is None else fresh)


def spoken(speaker: str | None, text: str) -> str:
    """The text, preceded by its speaker if there is one."""
    return f"{speaker}: {text}" if speaker else text


# Tell whether a text is English, by its script and its most common words, or source code.
#
# The words that carry the grammar of a language make up a third of any talk, so a few words of a
# message are enough. A message without any ("ok", "Oslo!") stays undecided. Words that several
# languages share ("in", "die", "so") count for none of them.

_FEWEST_LINES = 3
_SHARE = 0.7
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•>|]|\d{1,3}[.)])[ \t]")
_CODE = re.compile(
    r".*[;{}]\s*\Z"  # an end of a statement or a block
    r"|[ \t]*(?:def|class|func|fn|function)\b.*[:{(,]\s*\Z"
    r"|[ \t]*(?:if|for|while|with|try|else|elif|except)\b.*:\s*\Z"
    r"|(?:from [\w.]+ import |import [\w.]+\s*(?:as \w+\s*)?\Z|#include\b|package \w+\s*\Z|@\w+)"
    r"|[ \t]*(?:const|let|var)\s+\w+\s*[:=]"
    r"|[ \t]+return\b"
)
_INDENTED = re.compile(r"(?:\t| {2,})\S")


def is_source_code(text: str) -> bool:
    """Whether nearly all lines are code or stand indented under code, and some are code for sure.

    An indented list is none, nor is an indented paragraph.
    """
    if text.count("\n") < _FEWEST_LINES - 1:
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _FEWEST_LINES or any(_LIST_ITEM.match(line) for line in lines):
        return False
    sure = [_CODE.match(line) is not None for line in lines]
    likely = sum(
        code or _INDENTED.match(line) is not None for code, line in zip(sure, lines, strict=True)
    )
    return any(sure) and likely >= _SHARE * len(lines)


_ENGLISH = """
the and of to is are was were be been being have has had having do does did not you your yours
my mine we our ours they their them he his she her hers it its this that these those there what
which who whose why how when where will would can could should must might shall i'm i've i'd
i'll it's that's don't didn't doesn't isn't wasn't won't can't couldn't we're we've you're
they're let's there's what's with from for about into after before because but if then than
very just also some any every each other another much many more most only still again always
never often here now today yesterday tomorrow tonight last next ago since until while yes
please thanks thank hello hey get got go going went gone come came make made take took know
knew think thought want wanted need like love said say says tell told work works worked live
lives lived moved bought sold met started stopped left found lost i myself been us him our at
by up out over down off back really number phone birthday new old good house money weekend month
year years friend friends wife husband brother sister mother father daughter
""".split()
_SHARED = """
a an as in on so no me man am was die war not will hat den bin or come do i of is for all son
by her sur en de un pas per van men dan had ben al toe were
""".split()
_OTHERS = {
    "de": """der das und ist nicht ich du wir ihr sie es ein eine einen einem einer mein meine
    meinen dein sein ihre habe haben wird werden wurde sind auch auf aus bei mit nach von vom zu
    zum zur für über aber oder wenn weil dass als wie was wer wo warum noch schon nur sehr mehr
    kein keine keinen mich mir dich dir uns euch gestern heute morgen jetzt immer nie bitte
    danke dem des im am um bis seit gibt geht gehe kann muss soll will war waren hatte hätte
    wäre diese dieser dieses
    welche welcher welches welchen wann wen wem wohin woher wieviel""",
    "fr": """le les des du une et est pas je il vous ils elles mon ma mes ton ta tes ses notre
    votre leur qui que quoi où quand comment pourquoi avec dans pour par sur sous chez mais ou
    donc ne très bien aussi suis es sommes êtes sont était étais ai avons avez ont aujourd'hui
    hier demain toujours jamais ici là ce cette ces cela ça c'est j'ai j'aime d'un d'une l'a
    qu'il n'est merci bonjour au aux moi toi lui""",
    "es": """del una unos unas y es yo tú él ella nosotros ellos mi mis tu tus su sus que quién
    qué dónde cuándo cómo por para sobre pero porque muy más menos también ya hoy ayer mañana
    siempre nunca aquí allí este esta estos estas eso estoy está están soy eres somos son fue
    tengo tiene tienes han hacer al lo le les nos gracias hola se
    cuánto cuánta cuántos cuántas cuál cuáles adónde quiénes hace desde hasta antes después pasado
    pasada semana año años""",
    "it": """il lo gli della dello degli delle un uno una è non io tu lui lei noi voi loro mio
    mia tuo tua suo sua che chi cosa dove quando perché per tra ma anche molto più sono sei
    siamo siete ho hai abbiamo hanno oggi ieri domani sempre mai questo questa nel nella sul
    sulla dal dalla al alla mi ti ci vi si grazie ciao di da
    quale quali quanto quanta quanti quante prima dopo anno scorso scorsa settimana""",
    "pt": """os da das dos uma um é não eu ele ela nós eles meu minha seu sua que quem onde
    quando como por para com sem mas porque muito mais também já hoje ontem amanhã sempre nunca
    aqui este esta isso estou está estão sou são foi tenho tem há ao à na nos nas pelo pela
    obrigado olá você vocês
    qual quais quanto quanta quantos quantas antes depois desde até ano""",
    "nl": """het een en niet ik jij je wij zij ze hij mijn jouw zijn haar onze die deze dit met
    voor naar maar omdat als ook nog heel veel meer vandaag gisteren morgen altijd nooit hier
    daar waren heb hebt heeft hebben wordt worden werd kan moet zal op aan bij uit om te
    waar wat wie wanneer welke welk hoeveel waarom geleden vorig vorige weken nu er ons""",
    "sv": """och är inte jag du han hon vi ni det den ett en som att på med för till från av om
    när var hur varför också mycket mer idag igår imorgon alltid aldrig här där min mitt mina
    har hade blev blir kan ska skulle""",
    "da": """og er ikke jeg du han hun vi det den et som på med for til fra af om når hvor
    hvorfor også meget mere dag går altid aldrig der min mit har havde blev bliver kan skal
    ville fordi eller""",
    "pl": """w na z się nie to jest są był była byłem jestem mam ma mój moja jak że co kto gdzie
    kiedy dlaczego tak już jeszcze bardzo dziś wczoraj jutro zawsze nigdy tu tam dla od po przez
    oraz""",
    "tr": """ve bir bu için ile de da sen biz siz onlar çok daha ama değil var yok ne kim nerede
    neden nasıl bugün dün yarın zaman gibi kadar sonra önce""",
    "cs": """je se na že v jsem jsi jsme jste jsou byl byla bylo to ta můj moje když kde proč
    jak dnes včera zítra vždy nikdy tady pro od po s z""",
    "fi": """ja ei olen olet olemme ovat oli minä sinä hän te minun sinun se tämä että kun missä
    miksi miten mutta myös nyt tänään eilen huomenna aina kanssa""",
    "id": """yang di ke dari untuk dengan ini itu saya aku kamu kami mereka tidak ada adalah
    akan sudah juga karena tetapi hari kemarin besok selalu""",
    "ro": """și este sunt nu eu tu ea noi voi ei meu mea mei care ce unde când cum pentru cu pe
    dar foarte mai azi ieri mâine acum am ai are avem""",
    "hu": """és az nem egy hogy vagyok volt én te ő mi ti ők az hol mikor miért hogyan de is már
    még nagyon ma tegnap holnap mindig soha""",
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_FOREIGN_LETTERS = re.compile("[äöüßéèêëàâçñõãåøæœłęąśżźćńčřšžěůığşőűîïôûùìòáíóúýđțăß¿¡]")
_OWNER = re.compile(r"\w+[bcdfghjklmnpqrtvwxz]'s")
"""An owner in English: "Omar's". Dutch writes this only after a vowel."""
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,255}|https?://[^\s<>\"]+")
"""Mail addresses and links: ".com" is no Portuguese "with"."""
_MOST_WORDS = 400
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
"""The language that is most often written in a script; kana stand before the Han characters."""
_VERB_LETTERS = 4
_LATIN_END = "\u024f"


@lru_cache(maxsize=1)
def _vocabularies() -> tuple[frozenset[str], frozenset[str]]:
    """Words that only English has, and words that it lacks."""
    others = {word for words in _OTHERS.values() for word in words.split()}
    shared = {*_SHARED, *(others & set(_ENGLISH))}
    return frozenset(_ENGLISH) - shared, frozenset(others - shared)


def is_english(text: str) -> bool | None:
    """Return whether a text is English; ``None`` if too little of it tells."""
    prose = _ADDRESS.sub(" ", text) if "@" in text or "/" in text else text
    spelled = [match[0] for match in islice(_WORD.finditer(prose), _MOST_WORDS)]
    if not spelled:
        return None
    told = [_signs_of(word, at == 0) for at, word in enumerate(spelled)]
    other_scripts = sum([item.other_script for item in told])
    if other_scripts * 2 > len(told):
        return False
    in_favour = sum([item.english for item in told])
    against = other_scripts + sum([item.foreign for item in told])
    return None if in_favour == against else in_favour > against


def languages_of(text: str) -> list[str]:
    """Return the likely languages of a text that is not English, the best ones only.

    By its script, or by its most common words; as in ISO 639-1. Several that share all its words
    ("no" and "da") are all returned; none if nothing tells.
    """
    for language, letters in _SCRIPTS.items():
        if letters.search(text):
            return [language]
    words = {match[0].lower().replace("’", "'") for match in islice(_WORD.finditer(text), 400)}
    counts = {language: len(words & known) for language, known in _common_words().items()}
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most] if most else []


@lru_cache(maxsize=1)
def _common_words() -> dict[str, frozenset[str]]:
    return {language: frozenset(words.split()) for language, words in _OTHERS.items()}


def is_foreign_word(word: str) -> bool:
    """Return whether a lower-case word is a common one of another language only."""
    return word in _vocabularies()[1]


class _LanguageSigns(NamedTuple):
    """What a word tells: how much it speaks for English and for others, and of its letters."""

    english: float
    foreign: float
    other_script: bool


@lru_cache(maxsize=8192)
def _signs_of(word: str, first: bool) -> _LanguageSigns:
    """What a word tells of its language; ``first`` says whether it is the first of its text.

    Of English, a common word tells 1, and "I", "Omar's" or a verb form 0.5. A base form is often a
    noun elsewhere, so it counts only as the first word, an order. Of other languages, a common word
    tells 1, unless it is capitalised like a name, and a letter that English lacks a third.
    """
    english, foreign = _vocabularies()
    low = word.lower().replace("’", "'")
    against = (low in foreign and (first or word.islower())) + (
        _FOREIGN_LETTERS.search(low) is not None and len(low) > 2
    ) / 3
    verb = VERBS.get(low) if len(low) >= _VERB_LETTERS else None
    is_form = verb is not None and (first or verb.form != "base")
    in_favour = 0.5 if word == "I" or _OWNER.fullmatch(low) or is_form else 0.0
    return _LanguageSigns(1.0 if low in english else in_favour, against, max(low) > _LATIN_END)


# Lexical analysis: convert text to index terms, in the same way for all stores and for queries.
#
# Terms are words in NFKC and folded case, stemmed as English (Snowball). Scripts without spaces
# between words (Chinese, Japanese, Thai, ...) become overlapping character bigrams. A text in
# another language than English also has parts: its words' overlapping four letters without accents,
# and the single characters of scripts without spaces. They find inflected words and compounds in
# any language ("Heizungsrohre" for "Heizung"), and need neither a stemmer nor a dictionary (McNamee
# & Mayfield, "Character N-Gram Tokenization for European Language Text Retrieval", 2004).
#
# Stores index these terms and never put user text into a query language, so no user text can cause
# a syntax error, and document frequencies are counted per space. Proper names are told by their
# capital letters.

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


class _Stemmer(threading.local):
    """English Snowball, one for each thread: a stemmer keeps state in the object."""

    def __init__(self) -> None:
        import snowballstemmer  # which imports the stemmers of all languages

        self.stem: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord


@cache
def _stemmer() -> _Stemmer:
    return _Stemmer()


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
    return _stemmer().stem(word)[:_MAX_TERM]


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


# What was read out of texts, remembered: searches and blocks meet the same messages again.

_MOST_REMEMBERED = 32_768
_remembered: dict[tuple[Hashable, ...], Any] = {}
_Read = TypeVar("_Read")


def remembered(key: tuple[Hashable, ...], read: Callable[[], _Read]) -> _Read:
    """What was read for a key before, or else what ``read`` returns now (not ``None``).

    A key has the hash of a text and not the text: none may stay here when it is forgotten.
    """
    known: _Read | None = _remembered.get(key)
    if known is None:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        known = _remembered[key] = read()
    return known

"""Tell whether a text is English, by its script and its most common words, or source code.

The words that carry the grammar of a language make up a third of any talk, so a few words of a
message are enough. A message without any ("ok", "Oslo!") stays undecided. Words that several
languages share ("in", "die", "so") count for none of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from cognigraph.english.verbs import known_verb

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
    wäre diese dieser dieses""",
    "fr": """le les des du une et est pas je il vous ils elles mon ma mes ton ta tes ses notre
    votre leur qui que quoi où quand comment pourquoi avec dans pour par sur sous chez mais ou
    donc ne très bien aussi suis es sommes êtes sont était étais ai avons avez ont aujourd'hui
    hier demain toujours jamais ici là ce cette ces cela ça c'est j'ai j'aime d'un d'une l'a
    qu'il n'est merci bonjour au aux moi toi lui""",
    "es": """del una unos unas y es yo tú él ella nosotros ellos mi mis tu tus su sus que quién
    qué dónde cuándo cómo por para sobre pero porque muy más menos también ya hoy ayer mañana
    siempre nunca aquí allí este esta estos estas eso estoy está están soy eres somos son fue
    tengo tiene tienes han hacer al lo le les nos gracias hola se""",
    "it": """il lo gli della dello degli delle un uno una è non io tu lui lei noi voi loro mio
    mia tuo tua suo sua che chi cosa dove quando perché per tra ma anche molto più sono sei
    siamo siete ho hai abbiamo hanno oggi ieri domani sempre mai questo questa nel nella sul
    sulla dal dalla al alla mi ti ci vi si grazie ciao di da""",
    "pt": """os da das dos uma um é não eu ele ela nós eles meu minha seu sua que quem onde
    quando como por para com sem mas porque muito mais também já hoje ontem amanhã sempre nunca
    aqui este esta isso estou está estão sou são foi tenho tem há ao à na nos nas pelo pela
    obrigado olá você vocês""",
    "nl": """het een en niet ik jij je wij zij ze hij mijn jouw zijn haar onze die deze dit met
    voor naar maar omdat als ook nog heel veel meer vandaag gisteren morgen altijd nooit hier
    daar waren heb hebt heeft hebben wordt worden werd kan moet zal op aan bij uit om te""",
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
    told = [_of_word(word, at == 0) for at, word in enumerate(spelled)]
    other_scripts = sum([one.other_script for one in told])
    if other_scripts * 2 > len(told):
        return False
    for_ = sum([one.english for one in told])
    against = other_scripts + sum([one.foreign for one in told])
    if for_ == against:
        return None
    return for_ > against


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


class _Told(NamedTuple):
    """What a word tells: how much it speaks for English and for others, and of its letters."""

    english: float
    foreign: float
    other_script: bool


@lru_cache(maxsize=8192)
def _of_word(word: str, first: bool) -> _Told:
    english, foreign = _vocabularies()
    low = word.lower().replace("’", "'")
    against = (low in foreign and (first or word.islower())) + (
        _FOREIGN_LETTERS.search(low) is not None and len(low) > 2
    ) / 3
    return _Told(_weight(word, english, first), against, low[0] > _LATIN_END)


def _weight(word: str, english: frozenset[str], first: bool) -> float:
    """Return how much a word speaks for English: a common word 1, "I", "Omar's" or a verb form 0.5.

    A base form is often a noun elsewhere, so it counts only as the ``first`` word, an order.
    """
    low = word.lower().replace("’", "'")
    if low in english:
        return 1.0
    verb = known_verb(low) if len(low) >= _VERB_LETTERS else None
    return (
        0.5
        if word == "I"
        or _OWNER.fullmatch(low)
        or (verb is not None and (first or verb.form != "base"))
        else 0.0
    )

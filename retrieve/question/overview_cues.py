"""Words with which a question asks for an overview: a summary, an order in time, a development.

Only words that ask for nothing else: a question without one is answered as usual, and a caller who
knows better says so (``shape`` of :meth:`cognigraph.Space.context`). ``…`` stands for other words
between two parts, ``*`` for any ending, and ``^`` for the beginning of the question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cognigraph.model.layers import Shape

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

    It is empty for everything.
    That is what the caller says with ``shape``, and otherwise what the words of the question say.
    """
    if shape == "answer":
        return None
    subject = overview_subject(question)
    return question if subject is None and shape == "overview" else subject

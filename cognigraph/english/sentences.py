"""Clean text, split it into sentences and split sentences into tokens, in linear time.

Every regular expression is possessive or bounded and cannot match again from inside a run it has
already rejected. A megabyte of dots or quotes therefore costs no more than a megabyte of prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_TOKENS = 120
"""Sentences with more tokens are split into pieces of this size."""
_MAX_WORD = 60

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{41,200}`", re.DOTALL)
_NAME_IN_CODE = re.compile(r"`([^`\n]{1,40})`")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]++", re.IGNORECASE)
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "\u00a0": " "})
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"')\]”*]{0,3}+(?=\s|\Z)|(?<![。！？؟।])[。！？؟।]++[」』”]?+|(?<!\n)\n++"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?i:mr|mrs|ms|dr|st|prof|vs|jr|sr|e\.g|i\.e|approx|fig)|(?:\A|[\s.])[A-HJ-Z])\Z"
)
_NUMERO = re.compile(r"\b(?:nos?|nr|ref)\Z", re.IGNORECASE)
"""Before a number: "contract no. 2024-11-05"."""
_TAG_QUESTION = re.compile(
    r",?\s(?:right|you know|huh|yeah|eh|ok|okay|don't you think|isn't it|doesn't it)\s?\?\Z",
    re.IGNORECASE,
)
TITLES = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr"))
_TOKEN = re.compile(
    r"(?P<quoted>[\"“][^\"“”\n]{2,60}[\"”])"
    r"|(?P<number>[$€£¥]?+\d++(?:[.,:/-]\d++)*+%?+\w*+)"
    r"|(?P<word>[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+|\w++(?:['&.-]\w++)*+(?:[+#]{1,2}+(?!\w))?+)"
    r"|(?P<mark>[^\w\s])"
)
_WHOLE = {
    "can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"),
    "ain't": ("is", "not"), "shan't": ("shall", "not"), "gonna": ("going", "to"),
    "wanna": ("want", "to"), "gotta": ("have", "to"), "let's": ("let", "us"),
    "cuz": ("because",), "dont": ("do", "not"), "doesnt": ("does", "not"),
    "didnt": ("did", "not"), "cant": ("can", "not"), "im": ("I", "am"), "ive": ("I", "have"),
    "y'all": ("you",), "ur": ("your",), "tryna": ("trying", "to"), "u": ("you",),
    "it's": ("it", "is"), "that's": ("that", "is"), "there's": ("there", "is"),
    "here's": ("here", "is"), "what's": ("what", "is"), "who's": ("who", "is"),
    "he's": ("he", "is"), "she's": ("she", "is"), "where's": ("where", "is"),
    "when's": ("when", "is"), "how's": ("how", "is"), "why's": ("why", "is"),
}  # fmt: skip
_SUFFIXES = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'s": "'s"}


class Token(NamedTuple):
    """One word, number, quoted title or punctuation mark. ``low`` is the text in lower case.

    ``kind`` is "word", "number", "quoted" or "mark".
    """

    text: str
    low: str
    kind: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as text and as tokens.

    ``question`` is false for a statement that ends in a tag question such as ", right?".
    """

    text: str
    tokens: tuple[Token, ...]
    question: bool


def clean(text: str) -> str:
    """Remove code, URLs, control characters and text direction marks."""
    if "`" in text:
        text = _NAME_IN_CODE.sub(r"\1", _CODE.sub(" ", text))  # "never use `eval` without ..."
    if "http" in text or "www." in text:
        text = _URL.sub(" ", text)
    return _CONTROL.sub(" ", text.translate(_APOSTROPHES))


def split_text(text: str) -> Iterator[str]:
    """Split cleaned text into sentences, which keep their closing punctuation."""
    for start, end in sentence_spans(text):
        yield text[start:end]


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans (start, end) of the sentences of a text, without the white space around them.

    A line break ends a sentence.
    """
    start = 0
    for match in _END.finditer(text):
        before = max(start, match.start() - 12), match.start()
        if match[0] == "." and (
            _ABBREVIATION.search(text, *before)
            or (
                _NUMERO.search(text, *before)
                and text[match.end() : match.end() + 2].strip().isdigit()
            )
        ):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    kept = piece.strip()
    if kept:
        first = start + len(piece) - len(piece.lstrip())
        yield first, first + len(kept)


def tokenise(text: str) -> Iterator[Token]:
    """Split cleaned text into tokens and expand contractions (``don't`` gives ``do not``)."""
    titled = -1  # offset of the dot after a title such as "Dr."
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "mark"
        word = match[0]
        if match.start() == titled and word == ".":
            continue
        if kind == "word":
            if len(word) > _MAX_WORD:
                # Not a word. A comma in its stead keeps the words around it from being joined.
                yield Token(",", ",", "mark")
                continue
            low = word.lower()
            if low in TITLES and word[0].isupper() and text[match.end() : match.end() + 2] == ". ":
                titled = match.end()
                yield Token(f"{word}.", low, kind)
                continue
            if "'" in word or low in _WHOLE:
                yield from _expand(word, low)
                continue
            yield Token(word, low, kind)
        else:
            yield Token(word[: _MAX_WORD + 2], word[: _MAX_WORD + 2].lower(), kind)


def _expand(word: str, low: str) -> Iterator[Token]:
    whole = _WHOLE.get(low)
    if whole is not None:
        for part in whole:
            shown = part.capitalize() if word[0].isupper() and part == whole[0] else part
            yield Token(shown, part.lower(), "word")
        return
    if low.endswith("n't") and len(low) > 3:
        yield Token(word[:-3], low[:-3], "word")
        yield Token("not", "not", "word")
        return
    cut = low.rfind("'")
    expansion = _SUFFIXES.get(low[cut:])
    if expansion is None or cut == 0:
        yield Token(word, low, "word")
        return
    yield Token(word[:cut], low[:cut], "word")
    yield Token(expansion, expansion, "word")


def sentences(text: str) -> Iterator[Sentence]:
    """Clean a text and yield its sentences, each with at most :data:`MAX_TOKENS` tokens."""
    for piece in split_text(clean(text)):
        question = "?" in piece[-4:] or "？" in piece[-2:] or "؟" in piece[-2:]
        if question and _TAG_QUESTION.search(piece, max(0, len(piece) - 24)):
            question = False
        tokens = tuple(tokenise(piece))
        if len(tokens) <= MAX_TOKENS:
            if tokens:
                yield Sentence(piece, tokens, question)
            continue
        for start in range(0, len(tokens), MAX_TOKENS):
            part = tokens[start : start + MAX_TOKENS]
            yield Sentence(join(part), part, question)


def join(tokens: Sequence[Token]) -> str:
    """Join tokens to text with single spaces; "'s" is attached to the word before it."""
    return " ".join(token.text for token in tokens).replace(" 's", "'s")

"""Estimate the number of tokens of a text without a tokenizer, on the high side."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z]+")
_LINES = re.compile(r"\n+")
_WORDS_AND_SPACE = re.compile(r"[A-Za-z\s]+")
_SHORT_WORD = 6
_LETTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens that a BPE tokenizer makes of a text.

    A word of up to six letters counts as one token, a longer word as one token per four letters or
    part thereof, and each digit as one (as in Llama and Qwen; GPT joins up to three). Any other
    character counts as one, as two in Indic and wide scripts, and as three from U+10000. The
    estimate is .9 to 1.1 of the count of the Llama 2 tokenizer on English prose, chat, code and
    licence texts, and more on CJK.
    """
    total = len(_LINES.findall(text)) if "\n" in text else 0
    for size in map(len, _WORD.findall(text)):
        total += 1 if size <= _SHORT_WORD else -(-size // _LETTERS_PER_TOKEN)
    others = _WORDS_AND_SPACE.sub("", text)
    return total + (len(others) if others.isascii() else sum(map(_cost, others)))


def _cost(character: str) -> int:
    if character.isdecimal():
        return 1
    if character >= "\U00010000":
        return 3
    return 2 if character >= "\u2e80" or "\u0900" <= character <= "\u0fff" else 1

"""Counting tokens without a model's tokenizer: an estimate that rather errs high."""

from __future__ import annotations

import re

_PIECE = re.compile(r"(?P<word>[A-Za-z]+)|(?P<digits>\d+)|(?P<space>\n+)|(?P<other>[^\sA-Za-z\d])")
_LETTERS_PER_TOKEN = 5


def estimate_tokens(text: str) -> int:
    """Tokens a BPE tokenizer would make of a text, estimated from its words.

    English words cost one token for each started five letters, digits one for each three, any
    other character one (wide scripts and emoji may cost two: those above U+2E80 are counted so).
    """
    total = 0
    for match in _PIECE.finditer(text):
        if word := match["word"]:
            total += -(-len(word) // _LETTERS_PER_TOKEN) if len(word) > 7 else 1
        elif digits := match["digits"]:
            total += -(-len(digits) // 3)
        elif match["space"]:
            total += 1
        else:
            total += 2 if match["other"] >= "\u2e80" else 1
    return total

"""Tell questions and examples from statements, also where the question mark is missing.

People who write to an assistant leave question marks out ("what do I check first") and put what
they tell before what they ask ("I'm on 61k, what's realistic?"). What comes before the question is
a statement.
"""

from __future__ import annotations

from dataclasses import replace

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.statement import PreparedSentence

_ASKING = word_set("what how why where when who which whose whom whats wheres hows")
_INVERTED = verbs.FINITE_AUX | verbs.DO
_SUBJECTS = words.PRONOUNS | words.POSSESSIVES | word_set("the a an any my your")
_WISHES = word_set("any anything anyone anybody anywhere thoughts ideas tips advice suggestions")
"""First words of a question without a verb: "I moved to Leeds, any tips?"."""
_FEWEST = 3
"""Fewest words that can be a statement before a question."""
_EXAMPLES = (
    ("for", "example"),
    ("for", "instance"),
    ("e", "g"),
    ("eg",),
    ("example",),
    ("say", ","),
)


def without_question(sentence: PreparedSentence) -> PreparedSentence:
    """Return what a sentence states: nothing of a question or an example, else all of it."""
    tokens = sentence.tokens
    if _is_example(tokens) or _asks(tokens, 0):
        return replace(sentence, tokens=())
    if not sentence.question:
        return sentence
    cut = next((index for index in _breaks(tokens) if _asks_after(tokens, index + 1)), 0)
    if cut < _FEWEST:
        return replace(sentence, tokens=())
    names = {start: name for start, name in sentence.names.items() if name.end <= cut}
    times = tuple(span for span in sentence.times if span.end <= cut)
    return replace(sentence, tokens=tokens[:cut], names=names, times=times)


def _breaks(tokens: tuple[Token, ...]) -> list[int]:
    """Return the positions of marks that a question may follow."""
    return [index for index, token in enumerate(tokens) if token.low in (",", ";", ":", "-", "–")]


def _asks(tokens: tuple[Token, ...], index: int) -> bool:
    """Return whether a question starts here: "what do I", "do you", "is that"."""
    while index < len(tokens) and _is_opening(tokens[index]):
        index += 1
    low = tokens[index].low if index < len(tokens) else ""
    following = tokens[index + 1].low if index + 1 < len(tokens) else ""
    if low in _ASKING:
        return following in _INVERTED or following in ("'s", "about", "if", "to", "many", "much")
    return low in _INVERTED and low != "may" and following in _SUBJECTS


def _asks_after(tokens: tuple[Token, ...], index: int) -> bool:
    """Return whether a question starts here after a statement, also one without a verb."""
    low = tokens[index].low if index < len(tokens) else ""
    return low in _WISHES or _asks(tokens, index)


def _is_opening(token: Token) -> bool:
    return (
        token.kind == "mark"
        or token.low in words.INTERJECTIONS
        or token.low in ("and", "but", "or", "so", "now", "then")
    )


def _is_example(tokens: tuple[Token, ...]) -> bool:
    lows = tuple(token.low for token in tokens[:2])
    return any(lows[: len(opening)] == opening for opening in _EXAMPLES)

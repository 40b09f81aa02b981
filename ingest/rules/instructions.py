"""Read what speakers want to be called and how they want an assistant to work.

"Call me Sam" and "Never use tabs" are orders, which give no facts otherwise. These two kinds say
something lasting about the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Voices, noun_phrase
from cognigraph.ingest.rules.statement import Statement
from cognigraph.resolution.name_forms import NAME_TYPE
from cognigraph.states.habits import answer_slot

CALLED = "is called"
_WORKING = word_set("give show send tell suggest recommend offer propose include add mention")
"""What an assistant does for the user: who says "never suggest nuts" does not want nuts."""
_STYLE = _WORKING | word_set("use write answer reply respond format speak talk")
"""Verbs of how an assistant works: "don't use emojis" is meant for good, "don't send it" is not."""
ASKED_ONCE = "wants to answer in"
"""What is wanted of the answer to a message, or of all: only a message of its own means all."""
_SKIPPED = word_set("please and so just but also ok okay hi hello hey yes well oh thanks remember")
_FOR_GOOD = (
    ("from", "now", "on"), ("from", "here", "on"), ("from", "today", "on"), ("going", "forward"),
    ("in", "future"), ("in", "the", "future"), ("for", "all", "future", "answers"),
)  # fmt: skip
_HOW = (
    "short|brief|concise|terse|long|detailed|thorough|formal|informal|casual|friendly|professional"
)
_KEPT = re.compile(
    r"(?:always )?(?:be (?:more )?|(?P<keep>(?:keep|make) (?:your|the|all|all your) "
    rf"(?:answers|replies|responses) (?:more )?))(?P<how>{_HOW})\b"
)
_ANSWERING = word_set("answer reply respond")
_BEFORE_ORDER = word_set("and please , ; just")
_ME = word_set("me us")
_MOST_WORDS = 3
_CASUAL = word_set("crazy lucky old later back when if maybe anytime tomorrow today now a the")


def own_name(
    tokens: Sequence[Token], names: Mapping[int, Name], voices: Voices
) -> tuple[Statement, int] | None:
    """Read "call me Sam", "you can call me Sam", "my name is Sam"; also return where it ends."""
    lows = [token.low for token in tokens]
    for index in range(len(lows) - 2):
        called = lows[index : index + 2] == ["call", "me"]
        if called and index and not _may_order(lows[:index]):
            called = False
        named = lows[index : index + 3] in (["my", "name", "is"], ["my", "name", "'s"])
        if not (called or named):
            continue
        start = index + (2 if called else 3)
        name = _name_at(tokens, names, start)
        if name is not None and name != voices.speaker:
            stated = Statement(voices.speaker, "person", CALLED, name, NAME_TYPE)
            return stated, start + len(name.split())
    return None


def _may_order(before: Sequence[str]) -> bool:
    """Return whether only words of an order come before: "please", "you can", "friends"."""
    allowed = _SKIPPED | {
        "you",
        "can",
        "could",
        "may",
        "people",
        "friends",
        "everyone",
        "everybody",
    }
    allowed |= {"my", "all", ",", "they", "most", "!", ".", "always"}
    return all(low in allowed for low in before)


def _name_at(tokens: Sequence[Token], names: Mapping[int, Name], start: int) -> str | None:
    """Return the name that starts here: capitalised, or the last word of the sentence."""
    name = names.get(start)
    if name is not None:
        return name.text
    said = []
    for token in tokens[start : start + _MOST_WORDS]:
        if token.kind != "word" or not token.text[:1].isupper():
            break
        said.append(token.text)
    if said and said[0].lower() not in _CASUAL:
        return " ".join(said)
    return None


def standing_order(
    tokens: Sequence[Token], names: Mapping[int, Name], voices: Voices
) -> Statement | None:
    """Read "never use tabs", "don't use tabs", "always answer in German", said to an assistant."""
    if not voices.to_assistant:
        return None
    lows = [token.low for token in tokens]
    begins, stop = _lasting(lows)
    start = _without_courtesy(tokens, begins)
    lasting = (begins, stop) != (0, len(lows))
    if (order := _order_at(tokens, start, stop, lasting=lasting)) is not None:
        start = order - 1
        return _wanted(tokens, names, voices, start, stop, always="always " * lasting)
    if (kept := _KEPT.match(" ".join(lows[start:stop]))) is not None and (lasting or kept["keep"]):
        wanted = f"{kept['how']} answers"
        return Statement(voices.speaker, "person", "always wants", wanted, "concept")
    never = lows[start : start + 1] == ["never"]
    if lows[start : start + 3] == ["do", "not", "ever"]:
        never, start = True, start + 2
    elif lows[start : start + 2] == ["do", "not"] and _is_about_style(tokens, start + 2):
        never, start = True, start + 1
    if start + 2 >= len(tokens) or not (never or lows[start] == "always"):
        return None
    return _wanted(
        tokens, names, voices, start, stop, always="" if never else "always ", never=never
    )


def _lasting(lows: Sequence[str]) -> tuple[int, int]:
    """Return where the words between "from now on" at the start or the end begin and stop."""
    for at in range(len(lows)):
        for phrase in _FOR_GOOD:
            if tuple(lows[at : at + len(phrase)]) == phrase:
                first = all(low in _SKIPPED or low == "," for low in lows[:at])
                return (at + len(phrase), len(lows)) if first else (0, at)
    return 0, len(lows)


def _without_courtesy(tokens: Sequence[Token], start: int) -> int:
    while start < len(tokens) and (tokens[start].low in _SKIPPED or tokens[start].kind == "mark"):
        start += 1
    return start


def _order_at(tokens: Sequence[Token], start: int, stop: int, *, lasting: bool) -> int | None:
    """Return where an order of how to answer begins that lacks "always".

    "From now on" makes any order of style one, and also after another: "drop the list and answer
    in prose from now on". Otherwise it is the whole sentence, and names a language or a format.
    """
    lows = [token.low for token in tokens[:stop]]
    if lasting:
        starts = (at for at in range(start, stop) if lows[at] in _STYLE)
        return next((at for at in starts if at == start or lows[at - 1] in _BEFORE_ORDER), None)
    said = [token.low for token in tokens[start:] if token.kind != "mark" and token.low != "please"]
    whole = said[:1] and said[0] in _ANSWERING and said[1:2] == ["in"]
    return (
        start if whole and ":" not in lows and answer_slot(" ".join(said[2:])) is not None else None
    )


def _wanted(
    tokens: Sequence[Token],
    names: Mapping[int, Name],
    voices: Voices,
    start: int,
    stop: int,
    *,
    always: str,
    never: bool = False,
) -> Statement | None:
    """Read what is wanted of an assistant by the order after ``start``."""
    low = tokens[start + 1].low
    verb = verbs.known_verb("answer" if low in _ANSWERING else low)
    if verb is None or verb.form not in ("base", "part"):
        return None
    end = next((index for index in range(start + 2, stop) if _ends(tokens[index])), stop)
    end = next((index for index in range(start + 3, end) if _in_yours(tokens, index)), end)
    first = start + 2 + (tokens[start + 2 : start + 3] != () and tokens[start + 2].low in _ME)
    preposition = ""
    if first < end and tokens[first].low in words.PREPOSITIONS:
        preposition, first = f" {tokens[first].low}", first + 1
    phrase = noun_phrase(tokens, first, end, names, voices) if first < end else None
    if phrase is None:
        return None
    wanted = f" to {verb.base}{preposition}" if verb.base not in _WORKING else ""
    relation = f"{always}wants{wanted}"
    return Statement(voices.speaker, "person", relation, phrase.text, phrase.type, negated=never)


def _is_about_style(tokens: Sequence[Token], verb: int) -> bool:
    """Return whether "don't" forbids a kind of thing: "use emojis", but not "use that file"."""
    if verb + 1 >= len(tokens) or tokens[verb].low not in _STYLE:
        return False
    first = tokens[verb + 1 + (tokens[verb + 1].low in ("me", "us")) :]
    kinds = words.DETERMINERS | words.POSSESSIVES | words.PRONOUNS
    some = [token.low for token in first[:2]]
    return bool(some) and some[0] not in kinds - {"any"} and first[0].kind == "word"


def _in_yours(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "in your replies" starts here, which goes without saying."""
    following = tokens[index + 1].low if index + 1 < len(tokens) else ""
    return tokens[index].low in words.PREPOSITIONS and following == "your"


def _ends(token: Token) -> bool:
    return (token.kind == "mark" and token.low not in "-/'&") or token.low in _ENDING


_ENDING = words.NOMINATIVE | word_set("because unless when if even but so please")

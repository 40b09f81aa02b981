"""The plain form of a sentence that frames are matched with.

Words that change nothing about what is said ("finally", "actually") are left out, "no longer" and
"do not" become a mark on the word before (``¬``), and a time becomes a numbered sign, so that a
frame need not list where any of these may stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name

DENIED = "¬"
_FILLERS = word_set(
    """finally just recently actually already also basically officially really totally fully
    completely eventually currently presently anyway honestly luckily sadly apparently obviously
    simply pretty kinda definitely absolutely happily proudly quietly suddenly immediately okay ok
    well so hey hi oh update correction fyi btw yes yep lol haha wow still meanwhile ultimately then
    both even literally surprisingly permanently effectively technically
    myself ourselves too once recently newly freshly primarily mainly exclusively"""
)
_NOW = (
    ("from", "now", "on"), ("as", "of", "now"), ("as", "of", "today"), ("these", "days"),
    ("right", "now"), ("at", "the", "moment"), ("for", "good"), ("now",), ("nowadays",),
    ("going", "forward"), ("after", "all"), ("as", "of"), ("starting",), ("instead",),
)  # fmt: skip
_OPENINGS = (
    ("turns", "out"), ("turned", "out"), ("guess", "what"), ("good", "news"),
    ("quick", "update"), ("small", "update"), ("bad", "news"), ("heads", "up"),
)  # fmt: skip
_ANY_MORE = (("any", "more"), ("anymore",), ("any", "longer"), ("no", "more"))
_DO = word_set("do does did")
_DENIABLE = _DO | verbs.BE | verbs.HAVE
_IN_PHRASES = frozenset(phrase[0] for phrase in (*_NOW, *_OPENINGS, *_ANY_MORE))


@dataclass(frozen=True, slots=True)
class Plain:
    """A sentence in plain form; ``now`` is whether it says that something is so now."""

    text: str
    now: bool
    times: tuple[TimeSpan, ...]


def plain(tokens: Sequence[Token], names: Mapping[int, Name], times: Sequence[TimeSpan]) -> Plain:
    """Return the plain form of a sentence."""
    dated = tuple(span for span in times if span.when)
    starts = {span.start: number for number, span in enumerate(dated)}
    said: list[str] = []
    now, index = False, 0
    while index < len(tokens):
        if index in starts:
            said.append(f"⟦{starts[index]}⟧")
            index = dated[starts[index]].end
            continue
        name = names.get(index)
        if name is not None and name.end > index:
            said.extend(token.text for token in tokens[index : name.end])
            index = name.end
            continue
        lows = tuple(token.low for token in tokens[index : index + 3])
        opens = lows[0] in _IN_PHRASES
        if opens and lows[:2] in _OPENINGS and not said:
            index += 2
            continue
        phrase = next((one for one in _NOW if lows[: len(one)] == one), None) if opens else None
        if phrase is not None:
            dated_next = phrase == ("as", "of") and index + 1 in starts
            now, index = True, index + (1 if dated_next else len(phrase))
            if phrase == ("instead",) and lows[1:2] == ("of",):
                said.append("instead")
            continue
        step = _take(tokens[index], lows, said, first=not said)
        index += step
    return Plain(" ".join(said), now, dated)


def _take(token: Token, lows: tuple[str, ...], said: list[str], *, first: bool) -> int:
    """Add the next word, unless it says nothing; return how many words were read."""
    low = token.low
    if low == "no" and lows[:2] == ("no", "longer"):
        _deny(said)
        return 2
    if low in _IN_PHRASES:
        gone = next((one for one in _ANY_MORE if lows[: len(one)] == one), None)
        if gone is not None:
            return len(gone)
    if low == "not" and said and said[-1].lower() in _DENIABLE:
        if said[-1].lower() in _DO:
            said.pop()
        _deny(said)
    elif low == "never" and said:
        _deny(said)
    elif (low in _FILLERS and not _says_something(lows, first)) or (first and token.kind == "mark"):
        pass
    elif low == "i":
        said.append("I")
    elif first and _is_common(low):
        said.append(low)
    else:
        said.append(token.text)
    return 1


def _says_something(lows: tuple[str, ...], first: bool) -> bool:
    """Whether a filler counts here: "vegan, so I ..." joins, and "once a week" tells how often."""
    if lows[0] == "so":
        return not first and lows[1:2] != ("far",)
    return lows[0] == "once" and lows[1:2] not in (("again",), ("more",))


def _deny(said: list[str]) -> None:
    if said:
        said[-1] += DENIED


def _is_common(low: str) -> bool:
    """Whether a capital at the start of a sentence says nothing about a word."""
    return low in _COMMON or verbs.known_verb(low) is not None or low in _OPENING


_COMMON = words.DETERMINERS | words.POSSESSIVES | words.PRONOUNS | words.PREPOSITIONS
_OPENING = word_set(
    """new rent bye out down up back ditched dumped swapped traded binned finally correction scratch
    sorry please number weight salary first second today yesterday work turns upgraded downgraded
    migrated relocated been and but so because since still quit promoted hired landlord legal gone
    got grinding slaving switched goodbye
    text ring phone message email mail call reach contact write use"""
)

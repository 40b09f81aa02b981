"""Which frames a sentence may match, and where: what makes hundreds of patterns cheap to try.

A frame is only tried on a sentence that has the words that it needs, and only where a clause may
begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from cognigraph.ingest.rules.frames.lexicon import WORDS
from cognigraph.ingest.rules.frames.plain import DENIED
from cognigraph.ingest.rules.frames.table import Frame, frames
from cognigraph.ingest.rules.frames.triggers import beginnings, needs
from cognigraph.ingest.rules.frames.values import GROUPS, boundary

_WHO = (
    rf"(?P<who>(?:[Mm]y|[Oo]ur) (?:{WORDS['KIN']})(?: {WORDS['PERSON']})?|I|[Ww]e|he|she"
    rf"|{WORDS['PERSON']})"
)
_MACRO = re.compile(r"\{([A-Z_]+)\}")
_GROUP = re.compile(r"<(\w+):([A-Z_]+)>")
_JOINING = "and but so because since that though cause as while"
_STARTS = re.compile(
    r"^|(?<=[,;:!–—-] )|(?<=⟧ )|(?<=[\U0001F000-\U0001FAFF☀-➿️] )|"
    + "|".join(rf"(?<=\b{word} )" for word in _JOINING.split())
)


def possible(text: str) -> list[Frame]:
    """Return the frames that a text may match by its words, changes first."""
    order, further, by_word, always = _in_order()
    said = beginnings(text)
    found = set(always).union(*(by_word[word] for word in by_word.keys() & said))
    return [
        order[index]
        for index in sorted(found)
        if not any(said.isdisjoint(words) for words in further[index])
    ]


class _Order(NamedTuple):
    """All frames, and for each the words of which it needs one of each set beside the first.

    The indices of frames are listed by each word of their first set; ``always`` are those of the
    frames that need no word.
    """

    frames: list[Frame]
    further: list[tuple[frozenset[str], ...]]
    by_word: dict[str, list[int]]
    always: list[int]


@cache
def _in_order() -> _Order:
    # Changes first: "moved to" says more than "is in".
    order = _Order(sorted(frames(), key=lambda frame: not frame.change), [], {}, [])
    for index, frame in enumerate(order.frames):
        needed = needs(frame.pattern, GROUPS)
        order.further.append(needed[1:])
        if not needed:
            order.always.append(index)
        for word in needed[0] if needed else ():
            order.by_word.setdefault(word, []).append(index)
    return order


def clause_starts(text: str) -> list[int]:
    """Return the positions at which a frame may begin."""
    return [found.start() for found in _STARTS.finditer(text)]


def matches(pattern: str, text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yield the matches of a frame from left to right, without overlaps.

    To try the few starts of clauses is much faster than to search from each letter.
    """
    compiled, end = _compiled(pattern), 0
    for start in starts:
        found = compiled.match(text, start) if start >= end else None
        if found is not None:
            yield found
            end = found.end()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Only on demand: to compile all of them takes a third of a second.
    return re.compile(_regex(pattern))


def _regex(pattern: str) -> str:
    """Return the regular expression of a frame; a name that comes twice is a value once.

    It does not say where a clause may begin (see :func:`clause_starts`).
    """
    seen: set[str] = set()

    def subject(found: re.Match[str]) -> str:
        whom = f"{_WHO}{DENIED}?"
        return f"(?:{whom} )?" if found[1] else whom

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return f"(?:{GROUPS[found[2]]})"
        seen.add(name)
        return f"(?P<{name}>{GROUPS[found[2]]})"

    text = pattern.replace("{AUX}?", "{AUX}").replace("{AUX} ", "{AUX}")
    text = text.replace("{AUX}", f"(?:(?:{WORDS['AUX']}|'s|'ve){DENIED}? )*")
    text = text.replace("{BE}", f"(?:{WORDS['BE']}|'s){DENIED}?")
    text = _GROUP.sub(value, text)
    text = _MACRO.sub(lambda found: f"(?:{GROUPS[found[1]]})", text)
    text = re.sub(r"(?<!\?P)<who(\??)> ?", lambda m: subject(m) + ("" if m[1] else " "), text)
    return f"(?:{text}){boundary()}"

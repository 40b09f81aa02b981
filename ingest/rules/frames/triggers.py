"""Words without which a frame cannot match, found in its pattern.

Most sentences have none of the words of most frames, and are not compared with those at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_FEWEST = 2
_FREQUENT = frozenset("am and are at been have has in is my of on to the with 's".split())
_BE = frozenset(("am", "is", "are", "been", "'s"))
_WORD = re.compile(r"[a-z]{2,}")
_SIGNS = {"0": re.compile(r"\d"), "@": re.compile("@"), "'s": re.compile("'s")}
"""What stands for the digits and the signs that a text has."""
_SIGNS_OF = {
    "MONEY": "0", "WEIGHT": "0", "DOSE": "0", "PHONE": "0", "MAIL": "@",
}  # fmt: skip
"""Classes of values that are not words, and a sign that each of them has."""


def needs(pattern: str, classes: Mapping[str, str]) -> tuple[frozenset[str], ...]:
    """Return sets of beginnings of words; a text that matches has one of each, rarest first."""
    found = [words for part in _parts(pattern) if (words := _of_part(part, classes)) is not None]
    distinct = dict.fromkeys(found)
    return tuple(sorted(distinct, key=lambda one: (not one.isdisjoint(_FREQUENT), len(one))))


def triggers(pattern: str, classes: Mapping[str, str]) -> frozenset[str] | None:
    """Return beginnings of words of which a text that matches has one; ``None`` if unknown."""
    return next(iter(needs(pattern, classes)), None)


def beginnings(text: str) -> frozenset[str]:
    """Return all beginnings of the words of a text that a trigger may be, and its signs."""
    words = set(_WORD.findall(text.lower()))
    signs = [sign for sign, form in _SIGNS.items() if form.search(text)]
    return frozenset(
        (*signs, *(word[:end] for word in words for end in range(_FEWEST, len(word) + 1)))
    )


def _parts(pattern: str) -> Iterator[str]:
    """Yield what stands between spaces, outside of brackets."""
    depth, part = 0, ""
    for letter in pattern:
        depth += (letter in "(<{[") - (letter in ")>}]")
        if letter == " " and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _of_part(part: str, classes: Mapping[str, str]) -> frozenset[str] | None:
    part = re.sub(r"^(?:\{AUX\}\??|\(\?:[^()]*\)[?*]\??)+", "", part)
    part = re.sub(r"(?:\(\?:[^()]*\)[?*]\??|\(\?[=!][^()]*\))+$", "", part)
    if (word := re.match(r"[a-z]{2,}(?=\(|$)", part)) is not None:
        return frozenset((word.group(),))
    if (value := re.fullmatch(r"<\w+:([A-Z_]+)>|\{([A-Z_]+)\}", part)) is not None:
        if part == "{BE}":
            return _BE
        name = value[1] or value[2]
        if name in _SIGNS_OF:
            return frozenset((_SIGNS_OF[name],))
        part = classes[name]
        part = part if part.startswith("(?:") else f"(?:{part})"
    if not (part.startswith("(?:") and part.endswith(")")):
        return None
    found: set[str] = set()
    for one in _alternatives(part[3:-1]):
        words = _of_alternative(one, classes)
        if words is None:
            return None
        found |= words
    return frozenset(found)


def _of_alternative(text: str, classes: Mapping[str, str]) -> frozenset[str] | None:
    word = _beginning(text)
    return triggers(text, classes) if word is None else frozenset((word,))


def _alternatives(text: str) -> Iterator[str]:
    depth, part = 0, ""
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth < 0:
            yield "("  # the brackets are not around all of it
            return
        if letter == "|" and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def _beginning(text: str) -> str | None:
    match = re.match(r"(?P<word>[a-z]+)(?P<loose>[?*])?", text)
    if match is None:
        return None
    word = match["word"][:-1] if match["loose"] else match["word"]
    return word if len(word) >= _FEWEST else None

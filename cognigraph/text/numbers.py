"""The numbers that a text states: in digits of any script, in English words, in Chinese characters.

Numbers are compared by value: "9,000", "9.000", "9k" and "nine thousand" all state 9000. Where a
text can be read in several ways, all of them count, because the reader is used to find out whether
a text *may* state a number, not to compute with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from cognigraph.english.times.readers import COUNTS, ORDINALS

_DIGITS = re.compile(
    r"\d+(?:[.,'’ \u00a0\u202f]\d{3}(?!\d))*(?:[.,]\d+)?"
    r"(?=(?P<scale>\s?(?:k|m|bn?|thousand|million|billion|百|千|万|萬|億|亿|tausend|mille|mil"
    r"|millionen|milliarden)(?![^\W\d_一-鿿]))?)",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"[.,'’ \u00a0\u202f](?=\d{3}(?:\D|\Z))")
_POINT = re.compile(r"[,.](?=\d+\Z)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RUN = re.compile(r"\d+")
_NAMED = re.compile(r"[A-Za-z][-.]?\Z")
_WORD = re.compile(r"[a-z]+")
_LINKS = frozenset(("and", "a", "an", "of"))
_MOST_WORDS = 10
_LONG_RUN = 5
"""Digits from which a number is compared however it is grouped, such as that of a telephone."""

_SCALES = {
    "k": 3, "thousand": 3, "tausend": 3, "mille": 3, "mil": 3, "千": 3, "百": 2, "万": 4, "萬": 4,
    "m": 6, "million": 6, "millionen": 6, "b": 9, "bn": 9, "billion": 9, "milliarden": 9,
    "億": 8, "亿": 8,
}  # fmt: skip
_UNITS = COUNTS | {"zero": 0, "nil": 0, "seventy": 70, "eighty": 80, "ninety": 90}
_TENS = {word: value for word, value in _UNITS.items() if value >= 20}
_MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
_OTHERS: dict[str, tuple[str, ...]] = {
    "no": ("0",), "none": ("0",), "once": ("1",), "single": ("1",), "twice": ("2",),
    "both": ("2",), "pair": ("2",), "double": ("2",), "twins": ("2",), "thrice": ("3",),
    "triple": ("3",), "triplets": ("3",), "half": ("0.5", "30", "50"), "noon": ("12",),
    "midday": ("12",), "midnight": ("0", "12", "24"), "quarter": ("0.25", "15", "25", "45"),
    "quarters": ("0.75", "75"), "fortnight": ("2", "14"), "decade": ("10",), "century": ("100",),
}  # fmt: skip
"""Words that may stand for a number beside those that count."""
_HAN = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2, "俩": 2, "半": 0,
}  # fmt: skip
_HAN_SCALES = {
    "十": 10, "百": 100, "千": 1000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8,
}  # fmt: skip
_MIXED = re.compile(r"(\d{1,9})([百千万萬])(\d)(?!\d)")
_HAN_RUN = re.compile(f"[{''.join((*_HAN, *_HAN_SCALES))}]+")


def stated_numbers(text: str) -> frozenset[str]:
    """All numbers that a text may state, as plain decimals such as ``"9000"`` and ``"3.5"``."""
    plain = _plain(text)
    found = {value for match in _DIGITS.finditer(plain) for value in _readings(match)}
    found.update(_value(run) for run in _RUN.findall(plain))
    found.update(_in_words(_WORD.findall(plain.casefold())))
    for whole, scale, rest in _MIXED.findall(plain):  # "3万2"
        found.add(str((10 * int(whole) + int(rest)) * _HAN_SCALES[scale] // 10))
    for run in _HAN_RUN.findall(plain):
        found.update(_in_han(run))
    return frozenset(found)


def written_values(number: str) -> frozenset[str]:
    """What one of :func:`quantities` may mean."""
    plain = _plain(number)
    match = _DIGITS.match(plain)
    return frozenset(_readings(match) if match else (_value(plain),))


def has_digits(text: str, number: str) -> bool:
    """Whether a text has the many digits of a number, such as that of a telephone."""
    digits = "".join(_RUN.findall(_plain(number)))
    return len(digits) >= _LONG_RUN and digits in "".join(_RUN.findall(_plain(text)))


def quantities(text: str) -> tuple[str, ...]:
    """The numbers that a text has in digits, but for those in names such as "TX81Z" or "MS-20"."""
    if not (_RUN.search(text) if text.isascii() else any(map(str.isdigit, text))):
        return ()
    plain = _plain(text)
    return tuple(
        match[0] + (match["scale"] or "") for match in _DIGITS.finditer(plain)
        if not _NAMED.search(plain, max(match.start() - 2, 0), match.start())
    )  # fmt: skip


class _Each(dict[int, str]):
    """What becomes of each character, for :meth:`str.translate`; made when it is first met."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change

    def __missing__(self, code: int) -> str:
        self[code] = changed = self._change(chr(code))
        return changed


def _fraction(character: str) -> str:
    """A fraction such as "½" as a decimal; any other character as it is."""
    if unicodedata.category(character) == "No" and not character.isdigit():
        value = unicodedata.numeric(character, 0.0)
        if 0 < value < 1:
            return f"{value:g}"[1:]
    return character


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_FRACTIONS = _Each(_fraction)
_AS_ASCII = _Each(lambda item: str(unicodedata.digit(item)) if item.isdigit() else item)


def _plain(text: str) -> str:
    """The text in NFKC with ASCII digits; fractions such as "½" as decimals."""
    if text.isascii():
        return text
    text = text.replace("，", ", ").replace("。", ". ")  # else they would stand within a number
    folded = _BEYOND_ASCII.sub(lambda run: run[0].translate(_FRACTIONS), text)
    normal = unicodedata.normalize("NFKC", folded)
    return _BEYOND_ASCII.sub(lambda run: run[0].translate(_AS_ASCII), normal)


def _value(digits: str) -> str:
    """A number without leading zeros, and without a fraction of zeros."""
    value = Decimal(digits)
    return f"{value.normalize():f}" if "." in digits else digits.lstrip("0") or "0"


def _readings(match: re.Match[str]) -> Iterator[str]:
    """What a number in digits may mean: "3.500" is three and a half, or three thousand and more."""
    forms = (_POINT.sub(".", form) for form in (_THOUSANDS.sub("", match[0]), match[0]))
    readings = {_value(form) for form in forms if _NUMBER.fullmatch(form)}
    yield from readings
    scale = (match["scale"] or "").strip().casefold()
    for reading in readings if scale else ():
        yield _value(f"{Decimal(reading).scaleb(_SCALES[scale]):f}")


def _in_words(words: Sequence[str]) -> Iterator[str]:
    """The numbers in English words; each part of a longer one counts by itself, too."""
    for index, word in enumerate(words):
        singular = word.removesuffix("s")
        if word in _OTHERS:
            yield from _OTHERS[word]
        value = _count(word)
        if value is None and singular in _MULTIPLES:
            value = _MULTIPLES[singular]
        if value is not None:
            yield str(value)
            yield from _longer(words, index)


def _count(word: str) -> int | None:
    if (value := _UNITS.get(word, ORDINALS.get(word))) is not None:
        return value
    stem = word.removesuffix("th").removesuffix("s")  # "sixties", "fortieth"
    return _TENS.get(f"{stem[:-2]}y" if stem.endswith("ie") else stem)


def _longer(words: Sequence[str], start: int) -> Iterator[str]:
    """The numbers that begin at a word and have more words: "two hundred and five"."""
    first = _count(words[start])
    if first is not None and 10 <= first <= 20:
        yield from _year(first, words[start + 1 : start + 3])
    total, current = Decimal(0), Decimal(0)
    for index in range(start, min(len(words), start + _MOST_WORDS)):
        word = words[index]
        multiple, value = _MULTIPLES.get(word.removesuffix("s")), _count(word)
        if multiple is not None and multiple <= 100:
            current = max(current, Decimal(1)) * multiple
        elif multiple is not None:
            total, current = total + max(current, Decimal(1)) * multiple, Decimal(0)
        elif word in _LINKS and index > start:
            continue
        elif value is not None and (index == start or current % 10 == 0 or value >= 100):
            current += value
        elif word == "half" and words[index - 1] == "a":
            current += Decimal("0.5")
        else:
            return
        if index > start:
            yield _value(f"{total + current:f}")


def _year(first: int, rest: Sequence[str]) -> Iterator[str]:
    """The years that begin with "nineteen", "twenty" and so on, in words."""
    second, third = ((*(_count(word) for word in rest), None, None))[:2]
    if second is not None and 10 <= second < 100:
        yield str(first * 100 + second)
        if second >= 20 and third is not None and third < 10:
            yield str(first * 100 + second + third)


def _in_han(run: str) -> Iterator[str]:
    """The number in Chinese characters: of one run, and of each of its digits."""
    yield from (str(_HAN[item]) for item in run if item in _HAN and item != "半")
    if "半" in run:
        yield "0.5"
    if all(item in _HAN for item in run):  # "二〇二六"
        yield str(int("".join(str(_HAN[item]) for item in run)))
        return
    total = section = digit = 0
    for item in run:
        if item in _HAN:
            digit = _HAN[item]
            continue
        scale = _HAN_SCALES[item]
        if scale >= 10_000:
            total, section, digit = (total + section + digit) * scale, 0, 0
        else:
            section, digit = section + (digit or 1) * scale, 0
    yield str(total + section + digit)

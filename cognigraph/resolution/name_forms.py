"""The forms of a name: its comparable parts, its canonical spelling, names relative to a speaker.

Parts are words, titles, numbers and signs, by which names are assigned to blocks. These depend only
on the normalised name and the type, so it does not matter which spelling arrived first.

Every chunk keeps how it spells what it mentions, so that the canonical spelling can be found again
when the chunk that gave it is read anew and no longer does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b

from cognigraph.english.words import KIN, PERSON_NOUNS, word_set
from cognigraph.ids import normalise
from cognigraph.times import to_micros

_BEFORE_ALL = 1 << 62
_SEPARATOR = "\x1f"
UNSPELLED = "\U0010ffff"
"""The sort key of a row that no chunk mentions; it sorts after every other."""


def order(at: datetime, *names: str) -> str:
    """Return a sort key for spellings: the earliest first, then the plainest, then A to Z.

    A spelling is plainer with fewer capitals inside words and less punctuation at its ends. It has
    one name, or those of a triple: subject, relation and object.
    """
    return _order(to_micros(at), names)


def rank(spelled: str) -> str:
    """Return the part of a sort key after the time, which orders spellings of the same time."""
    return spelled[20:]


def instant(at: datetime) -> str:
    """Return the prefix of the sort keys of all spellings of this time."""
    return f"{to_micros(at) + _BEFORE_ALL:019d}"


def kept(*names: str) -> str:
    """Encode spellings for storage; a name that equals its normalised form becomes empty."""
    return _SEPARATOR.join("" if name == normalise(name) else name for name in names)


def given(stored: str | None, normal: Sequence[str], canonical: Sequence[str]) -> tuple[str, ...]:
    """Decode what :func:`kept` returned, given the normalised forms of the names.

    Older versions stored no spellings (``None``), which stands for the canonical ones.
    """
    if stored is None:
        return tuple(canonical)
    parts = stored.split(_SEPARATOR)
    return tuple(part or plain for part, plain in zip(parts, normal, strict=True))


def first(spellings: Iterable[tuple[int, tuple[str, ...]]]) -> tuple[str, tuple[str, ...]]:
    """Return the sort key and the names of the spelling that sorts first.

    Each spelling has a time in microseconds and its names: one for an entity or alias; subject,
    relation and object for a triple.
    """
    return min((_order(at, names), names) for at, names in spellings)


def _order(at: int, names: tuple[str, ...]) -> str:
    if len(names) == 3:
        subject, relation, object = names
        names = subject, object, relation.casefold(), relation
    fuss = min(sum(map(_fuss, names)), 9999)
    return f"{at + _BEFORE_ALL:019d} {fuss:04d} " + _SEPARATOR.join(names)


def _fuss(name: str) -> int:
    capitals = 0
    if not name.islower():
        capitals = sum(character.isupper() for word in name.split() for character in word[1:])
    ends = sum(unicodedata.category(character)[0] == "P" for character in {name[0], name[-1]})
    return capitals + ends


_OWN = frozenset({"my", "our"})
_OTHERS = frozenset("your his her its their this that these those some another".split())
_PRONOUNS = frozenset(
    "i me you he him she her it we us they them mine ours yours his hers theirs this that who "
    "someone somebody anyone everybody everyone one".split()
)
_ROLES = frozenset(
    "boss manager colleague coworker friend roommate flatmate neighbour neighbor landlord teacher "
    "coach therapist doctor partner girlfriend boyfriend fiance fiancee ex hubby".split()
)


_PARENTS = word_set(
    "mother mom mum mama mommy mummy father dad papa daddy grandma grandmother grandpa grandfather"
)
"""Kinship terms that stand for one person without "my": "Mum called". A "baby" is anybody's."""


def spelled_out(name: str, type: str, speaker: str | None) -> str:
    """Replace "my" or "our" by the speaker (``Ann's sister``); return other names unchanged.

    A bare term for a parent or grandparent ("mother") also becomes the speaker's. Other bare
    kinship terms stay: "she is expecting a baby" does not speak of the speaker's.
    """
    words = name.split()
    if speaker and words and normalise(words[0]) in _OWN and len(words) > 1:
        return f"{speaker}'s {' '.join(words[1:])}"
    if speaker and type == "person" and normalise(name) in _PARENTS:
        return f"{speaker}'s {name}"
    return name


def as_alias(name: str, speaker: str | None) -> str | None:
    """Return an alias in the form to store, or None if it has no meaning outside its sentence.

    Pronouns and "his sister" are dropped; "my sister" and "the boss" become the speaker's.
    """
    words = normalise(name).split()
    if not words or " ".join(words) in _PRONOUNS or words[0] in _OTHERS:
        return None
    relational = words[0] in _OWN or words[-1] in KIN or words[-1] in _ROLES
    bare = len(words) == 1 or (len(words) == 2 and words[0] in {"the", "a", "an"})
    if words[0] in _OWN or (relational and bare):
        if speaker is None or not speaker.strip():
            return None
        rest = name.split()[1:] if len(words) > 1 else [name]
        return f"{speaker}'s {' '.join(rest)}"
    return name


GENERIC_TYPES = frozenset({"concept", "entity", "other", "thing", "unknown"})
"""Generic types: an entity of such a type may be the same as an entity of a specific type."""

NAME_TYPE = "name"
"""What somebody is called: a word, which is never merged with the one who bears it."""

COUNTED_TYPES = frozenset(
    "activity animal concept event food hobby item object plant product topic".split()
)
"""Types whose names are common nouns, so that singular and plural denote the same thing."""

PROPER_TYPES = frozenset({"person", "organization", "location"})
"""Types whose names are usually proper names."""

_TITLES = {
    "doctor": "dr", "dr": "dr", "dra": "dr", "prof": "prof", "professor": "prof", "mr": "mr",
    "mister": "mr", "herr": "mr", "mrs": "mrs", "frau": "mrs", "missus": "mrs", "ms": "ms",
    "miss": "ms", "sir": "sir", "madam": "madam", "rev": "rev", "reverend": "rev",
}  # fmt: skip
_ARTICLES = frozenset({"the", "a", "an"})
_NUMBERS = {
    word: str(number)
    for number, names in enumerate(
        "zero;one first;two second;three third;four fourth;five fifth;six sixth;seven seventh;"
        "eight eighth;nine ninth;ten tenth;eleven eleventh;twelve twelfth;thirteen;fourteen;"
        "fifteen;sixteen;seventeen;eighteen;nineteen;twenty".split(";")
    )
    for word in names.split()
} | {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
     "once": "1", "twice": "2", "half": "1/2", "double": "2", "hundred": "100",
     "thousand": "1000"}  # fmt: skip
_NEGATIONS = frozenset(
    "not no non never none without anti ex former fake pseudo nicht kein ohne pas sans sin".split()
)
# Words whose form in -s has a meaning of its own, or no singular.
_UNCOUNTED = frozenset(
    "arms clothes colours contents customs gas glasses goods grounds jeans lens looks manners "
    "means minutes news pains pants quarters remains savings scissors series shorts species "
    "spectacles spirits thanks trousers woods works".split()
)
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile("['’ʼ`´]")
_POSSESSIVE = re.compile(r"(?:['’ʼ]s|s['’ʼ])(?=\s|$)")  # in a normalised name
_DIGITS = re.compile(r"\d+")
_SIGNS = frozenset("#%&@*")
_ASCII_SIGNS = re.compile(r"[#%&@*$+<=>|~]")
"""``_SIGNS`` and all other ASCII characters of the Unicode categories Sm and Sc."""
_CONNECTIVES = frozenset(
    "and or with of from the an in at on for to my your his her our their who that de la".split()
)
_PARTICLES = frozenset("af al bin da de del der di dos du el la le van von y zu s".split())
_TYPO_LENGTHS = range(9, 61)


@dataclass(frozen=True, slots=True)
class NameForm:
    """The parts of a name that are compared.

    ``words`` exclude titles and leading articles. ``squash`` is the words without spaces.
    ``singular`` is ``squash`` in the singular, for types whose names are common nouns.
    """

    words: tuple[str, ...]
    squash: str
    singular: str
    titles: frozenset[str]
    numbers: tuple[str, ...]
    signs: tuple[str, ...]
    negations: frozenset[str]
    is_name: bool
    """Whether this can be a proper name; always False unless the type is in ``PROPER_TYPES``.

    The words consist of letters only, and none is a possessive, a connective or a common noun
    for a person."""


@lru_cache(maxsize=65_536)
def form(name: str, type: str) -> NameForm:
    """Split a normalised name into its parts."""
    text = _without_marks(name)
    words = [word for word in _WORD.findall(_APOSTROPHE.sub("", text))]
    negations = frozenset(words) & _NEGATIONS
    numbers = tuple(number for word in words for number in _numbers(word))
    titles: set[str] = set()
    if type == "person":
        while len(words) > 1 and words[0] in _TITLES:
            titles.add(_TITLES[words.pop(0)])
    if type not in ("person", "organization") and len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    counted = bool(words) and type in COUNTED_TYPES and not _POSSESSIVE.search(name[-2:])
    signs = _signs(name)
    stem = [*words[:-1], singular(words[-1])] if counted else words
    return NameForm(
        words=tuple(words),
        squash="".join(words),
        singular="".join(stem),
        titles=frozenset(titles),
        numbers=numbers,
        signs=signs,
        negations=negations,
        is_name=type in PROPER_TYPES
        and bool(words)
        and all(word.isalpha() and word not in _CONNECTIVES for word in words)
        and not any(word in PERSON_NOUNS or singular(word) in PERSON_NOUNS for word in words)
        and not _POSSESSIVE.search(name)
        and not signs,
    )


@lru_cache(maxsize=65_536)
def is_proper(spelling: str) -> bool:
    """Return whether a spelling is that of a proper name: only particles begin in lower case."""
    return not any(word[0].islower() and word not in _PARTICLES for word in _WORD.findall(spelling))


def is_relational(name: str) -> bool:
    """Return whether a normalised name describes somebody by a relation: "tom's sister"."""
    possessive = _POSSESSIVE.search(name)
    return possessive is not None and possessive.end() < len(name)


def block_keys(name: str, type: str, aliases: frozenset[str] = frozenset()) -> frozenset[int]:
    """Return the keys of the blocks a name is in; names without a common block are not compared.

    These share a key: names and aliases equal in form, people with the same first word or the
    same initial and surname, acronyms and the names they stand for, and names of 9 to 60 letters
    that differ by one edit (which leaves either the first or the second half unchanged). Numbers
    are part of every key but the acronym's, so that numbered things are not compared.
    """
    own = form(name, type)
    numbers = "|".join(own.numbers)
    keys = {f"form|{own.singular}|{numbers}"} if own.singular else set()
    if type in GENERIC_TYPES and own.squash:
        keys.add(f"form|{own.squash}|{numbers}")
    for alias in aliases:
        other = form(alias, type)
        if other.singular:
            keys.add(f"form|{other.singular}|{'|'.join(other.numbers)}")
    if type == "person" and own.is_name:
        keys.add(f"first|{own.words[0]}|{numbers}")
        if len(own.words) > 1:
            keys.add(f"initial|{own.words[0][0]}|{own.words[-1]}|{numbers}")
    if type in PROPER_TYPES and (initials := acronym(own)):
        keys.add(f"acronym|{type}|{initials}")
    length = len(own.squash)
    if length in _TYPO_LENGTHS:
        for total in (length, length + 1):
            half = total // 2
            kind = f"{type}|{numbers}|{total}"
            keys.add(f"head|{kind}|{own.squash[:half]}")
            keys.add(f"tail|{kind}|{own.squash[half - total :]}")
    return frozenset(map(block_key, keys))


def acronym(own: NameForm) -> str:
    """Return the initials of 3 to 5 words, or a single word of 3 to 5 letters itself, else ''."""
    if len(own.words) == 1 and 3 <= len(own.squash) <= 5 and own.squash.isalpha():
        return own.squash
    if 3 <= len(own.words) <= 5:
        return "".join(word[0] for word in own.words)
    return ""


def block_key(key: str) -> int:
    """Hash the text that the members of a block have in common to a signed 64-bit integer."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _without_marks(text: str) -> str:
    """Strip the accents of Latin letters; in other scripts, marks distinguish letters."""
    if text.isascii():
        return text
    kept: list[str] = []
    for character in text:
        parts = unicodedata.normalize("NFD", character)
        latin = parts[0].isascii() and parts[0].isalpha()
        kept.append(parts[0] if latin and len(parts) > 1 else character)
    return "".join(kept)


def _numbers(word: str) -> list[str]:
    if word in _NUMBERS:
        return [_NUMBERS[word]]
    return [str(int(digits)) for digits in _DIGITS.findall(word)]


def _signs(name: str) -> tuple[str, ...]:
    """Return the signs that distinguish names, such as C++ from C#, A+ from A-, or emoji."""
    if name.isascii():
        signs = _ASCII_SIGNS.findall(name)
    else:
        signs = [
            character
            for character in name
            if character in _SIGNS or unicodedata.category(character) in ("Sm", "Sc", "So")
        ]
    return (*signs, "-") if name.endswith("-") else tuple(signs)


def singular(word: str) -> str:
    """Return the singular of an English word, judged by its ending."""
    if len(word) < 4 or word in _UNCOUNTED or not word.isascii() or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is", "ous")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word[:-2]
    return word[:-1]

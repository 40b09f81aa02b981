"""Names relative to the speaker, such as "my sister": make them independent of who speaks."""

from __future__ import annotations

from cognigraph.english.words import KIN, word_set
from cognigraph.ids import normalise

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

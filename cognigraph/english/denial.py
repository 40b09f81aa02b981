"""Deny a relation in the third person: "likes" becomes "does not like"."""

from __future__ import annotations

from cognigraph.english.verbs import MODALS, is_participle, known_verb

_AUXILIARY = frozenset(("is", "was", "are", "were", "am"))
_HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
_HISSING = ("ches", "shes", "xes", "sses", "zzes", "oes")


def denied(relation: str) -> str:
    """Return the negation of a relation; one that does not begin with a verb gets a "not"."""
    first, _, rest = relation.partition(" ")
    second = rest.split(" ")[0]
    if first in _AUXILIARY or first in MODALS:
        return " ".join(filter(None, (first, "not", rest)))
    if first in _HAVE and second != "been" and not (second and is_participle(second)):
        return f"{_HAVE[first]} {rest}".rstrip()
    if first in _HAVE:
        return f"{first} not {rest}"
    plain = _plain(first)
    return f"{plain} {rest}".rstrip() if plain else f"not {relation}"


def _plain(verb: str) -> str:
    """Return "does not like" for "likes", "did not buy" for "bought"; "" if it is no such form."""
    found = known_verb(verb)
    if found is not None and found.form in ("past", "s"):
        return f"{'did' if found.form == 'past' else 'does'} not {found.base}"
    if found is not None or not verb.isalpha() or not verb.endswith("s") or verb.endswith("ss"):
        return ""
    if verb.endswith("ies") and len(verb) > 4:
        return f"does not {verb[:-3]}y"
    return f"does not {verb[:-2] if verb.endswith(_HISSING) else verb[:-1]}"

"""What the sentences before leave behind: things a pronoun may mean, and who is whose sister."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cognigraph.ingest.rules.pronouns import Referent, referent, resolve

_WINDOW = 2
"""Sentences in which a pronoun looks for what it stands for."""


class Discourse:
    """Grows with one conversation. What is ambiguous is never resolved."""

    def __init__(self) -> None:
        self._recent: deque[tuple[Referent, ...]] = deque(maxlen=_WINDOW)
        self._named: dict[str, str | None] = {}
        self._aliases: dict[str, dict[str, None]] = {}
        self.pronouns: dict[str, frozenset[str]] = {}
        """Pronouns that were used of a name ("her name is ...")."""

    def introduce(self, name: str, alias: str) -> None:
        """Note that ``alias`` ("Tom's sister") is ``name``; two names for one alias cancel out."""
        key = alias.lower()
        if self._named.get(key, name) != name:
            self._named[key] = None
            return
        self._named[key] = name
        self._aliases.setdefault(name, {})[alias] = None

    def name_of(self, text: str) -> str:
        """The name behind "Tom's sister" or in "Tom's sister's dog"; else the text itself."""
        whole = self._named.get(text.lower())
        if whole is not None:
            return whole
        owner, mark, owned = text.rpartition("'s ")
        if not mark or "'s" not in owner:
            return text
        name = self._named.get(owner.lower())
        return text if name is None else f"{name}'s {owned}"

    @property
    def aliases(self) -> Mapping[str, Sequence[str]]:
        """The unambiguous other names of each name."""
        return {
            name: clear
            for name, aliases in self._aliases.items()
            if (clear := [alias for alias in aliases if self._named[alias.lower()] == name])
        }

    def referent(self, name: str, type_: str) -> Referent:
        """What a name or phrase allows a later pronoun to be."""
        found, fits = referent(self.name_of(name), type_), self.pronouns.get(name)
        return found if fits is None else replace(found, fits=fits)

    def find(self, pronoun: str, here: Iterable[Referent]) -> Referent | None:
        """The only thing the pronoun fits, in the sentences before and this one so far."""
        before = (item for one in self._recent for item in one)
        return resolve(pronoun, (*before, *here))

    def close(self, referents: Iterable[Referent]) -> None:
        """End a sentence that brought these up."""
        self._recent.append(tuple(referents))

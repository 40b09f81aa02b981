"""What the sentences before leave behind: things a pronoun may mean, and who is whose sister."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cognigraph.ingest.rules.pronouns import Referent, referent, resolve

_WINDOW = 2
"""Sentences in which a pronoun looks for its antecedent."""


class Discourse:
    """Grows with one conversation. What is ambiguous is never resolved.

    ``before`` are the discourses of the chunks just before. They help to read this one, but
    :attr:`introduced` holds only what was said here. ``consulted`` tells whether they changed
    anything: if not, the chunk reads the same without them.
    """

    def __init__(self, before: Iterable[Discourse] = ()) -> None:
        self._recent: deque[tuple[Referent, ...]] = deque(maxlen=_WINDOW)
        self._own: deque[tuple[Referent, ...]] = deque(maxlen=_WINDOW)
        self._named: dict[str, str | None] = {}
        self._pronouns: dict[str, frozenset[str]] = {}
        self._own_pronouns: dict[str, frozenset[str]] = {}
        self.introduced: dict[tuple[str, str], None] = {}
        """Names with the other names that the text gives them here, in order."""
        for one in before:
            self._recent.extend(one._own)
            self._pronouns.update(one._own_pronouns)
            for name, alias in one.introduced:
                self._take(name, alias)
        self._given = frozenset(self._named)
        self.consulted = bool(self._pronouns)

    def introduce(self, name: str, alias: str) -> None:
        """Note that ``alias`` ("Tom's sister") is ``name``; two names for one alias cancel out."""
        self.consulted = self.consulted or alias.lower() in self._given
        self.introduced[name, alias] = None
        self._take(name, alias)

    def _take(self, name: str, alias: str) -> None:
        key = alias.lower()
        self._named[key] = name if self._named.get(key, name) == name else None

    def baptise(self, name: str, pronoun: str) -> None:
        """Note the pronoun that was used of a name ("her name is ...")."""
        self._pronouns[name] = self._own_pronouns[name] = frozenset((pronoun,))

    def is_baptised(self, name: str) -> bool:
        """Whether it is known which pronoun a name takes."""
        return name in self._pronouns

    def name_of(self, text: str) -> str:
        """The name behind "Tom's sister" or in "Tom's sister's dog"; else the text itself."""
        whole = self._find_name(text)
        if whole is not None:
            return whole
        owner, mark, owned = text.rpartition("'s ")
        if not mark or "'s" not in owner:
            return text
        name = self._find_name(owner)
        return text if name is None else f"{name}'s {owned}"

    def _find_name(self, alias: str) -> str | None:
        key = alias.lower()
        self.consulted = self.consulted or key in self._given
        return self._named.get(key)

    @property
    def aliases(self) -> Mapping[str, Sequence[str]]:
        """The unambiguous other names of each name."""
        found: dict[str, list[str]] = {}
        for name, alias in self.introduced:
            if self._named[alias.lower()] == name:
                found.setdefault(name, []).append(alias)
        return found

    def referent(self, name: str, type_: str) -> Referent:
        """What a name or phrase allows a later pronoun to be."""
        found, fits = referent(self.name_of(name), type_), self._pronouns.get(name)
        return found if fits is None else replace(found, fits=fits)

    def find(self, pronoun: str, here: Iterable[Referent]) -> Referent | None:
        """The only thing the pronoun fits, in the sentences before and this one so far."""
        here = tuple(here)
        found = resolve(pronoun, (*_flat(self._recent), *here))
        if len(self._recent) > len(self._own) and not self.consulted:
            self.consulted = found != resolve(pronoun, (*_flat(self._own), *here))
        return found

    def close(self, referents: Iterable[Referent]) -> None:
        """End a sentence that brought these up."""
        sentence = tuple(referents)
        self._recent.append(sentence)
        self._own.append(sentence)


def _flat(sentences: Iterable[tuple[Referent, ...]]) -> Iterable[Referent]:
    return (item for sentence in sentences for item in sentence)

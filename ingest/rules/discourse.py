"""Discourse context: the entities that a pronoun may refer to, and the aliases of names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cognigraph.ingest.rules.pronouns import Referent, referent, resolve

_WINDOW = 2
"""Number of preceding sentences in which the referent of a pronoun is searched."""


class Discourse:
    """The context of one chunk, sentence by sentence. Ambiguity is never resolved.

    ``before`` are the discourses of the preceding chunks. They help to understand this one, but
    :attr:`introduced` contains only what this chunk states. ``consulted`` is whether they may have
    affected a result; if not, the chunk yields the same without them.
    """

    def __init__(self, before: Iterable[Discourse] = ()) -> None:
        self._recent: deque[tuple[Referent, ...]] = deque(maxlen=_WINDOW)
        self._own: deque[tuple[Referent, ...]] = deque(maxlen=_WINDOW)
        self._named: dict[str, str | None] = {}
        self._pronouns: dict[str, frozenset[str]] = {}
        self._own_pronouns: dict[str, frozenset[str]] = {}
        self.introduced: dict[tuple[str, str], None] = {}
        """Pairs of a name and an alias that this chunk states, in order."""
        for one in before:
            self._recent.extend(one._own)
            self._pronouns.update(one._own_pronouns)
            for name, alias in one.introduced:
                self._take(name, alias)
        self._given = frozenset(self._named)
        self.consulted = bool(self._pronouns)

    def introduce(self, name: str, alias: str) -> None:
        """Record that ``alias`` ("Tom's sister") denotes ``name``.

        An alias given to two names is ambiguous and resolves to neither.
        """
        self.consulted = self.consulted or alias.lower() in self._given
        self.introduced[name, alias] = None
        self._take(name, alias)

    def _take(self, name: str, alias: str) -> None:
        key = alias.lower()
        self._named[key] = name if self._named.get(key, name) == name else None

    def baptise(self, name: str, pronoun: str) -> None:
        """Record the pronoun used for a name, as in "her name is Luna"."""
        self._pronouns[name] = self._own_pronouns[name] = frozenset((pronoun,))

    def is_baptised(self, name: str) -> bool:
        """Return whether a pronoun is recorded for a name."""
        return name in self._pronouns

    def name_of(self, text: str) -> str:
        """Resolve an alias: "Tom's sister" -> "Anna", "Tom's sister's dog" -> "Anna's dog".

        Any other text is returned unchanged.
        """
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
        """The unambiguous aliases of each name."""
        found: dict[str, list[str]] = {}
        for name, alias in self.introduced:
            if self._named[alias.lower()] == name:
                found.setdefault(name, []).append(alias)
        return found

    def referent(self, name: str, type_: str) -> Referent:
        """Create the referent of a name or phrase, which a later pronoun may refer to."""
        found, fits = referent(self.name_of(name), type_), self._pronouns.get(name)
        return found if fits is None else replace(found, fits=fits)

    def find(self, pronoun: str, here: Iterable[Referent]) -> Referent | None:
        """Return the only entity that fits the pronoun, in recent sentences and in ``here``."""
        here = tuple(here)
        found = resolve(pronoun, (*_flat(self._recent), *here))
        if len(self._recent) > len(self._own) and not self.consulted:
            self.consulted = found != resolve(pronoun, (*_flat(self._own), *here))
        return found

    def close(self, referents: Iterable[Referent]) -> None:
        """End a sentence; later pronouns may refer to its entities."""
        sentence = tuple(referents)
        self._recent.append(sentence)
        self._own.append(sentence)


def _flat(sentences: Iterable[tuple[Referent, ...]]) -> Iterable[Referent]:
    return (item for sentence in sentences for item in sentence)

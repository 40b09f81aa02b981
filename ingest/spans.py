"""Noun phrases of a dependency parse as entities: attributed, trimmed, typed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from cognigraph.ingest import words
from cognigraph.ingest.names import phrase_type
from cognigraph.ingest.nounphrases import MAX_WORDS, Phrase, Voices, is_empty
from cognigraph.ingest.sentences import Token

Node = Any
TYPES = {
    "PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location",
    "FAC": "location", "EVENT": "event", "PRODUCT": "object", "WORK_OF_ART": "object",
    "LAW": "object", "NORP": "concept", "LANGUAGE": "concept",
}  # fmt: skip
"""OntoNotes entity labels in our vocabulary; numbers, money and dates are no entities."""
_INSIDE = frozenset(
    ("compound", "amod", "nummod", "poss", "nmod", "quantmod", "case", "advmod", "npadvmod",
     "punct", "cc", "conj", "det", "predet")
)  # fmt: skip
_MEASURES = frozenset(("npadvmod", "nummod", "quantmod", "compound", "nmod", "amod"))
_TAIL = frozenset(("of", "for", "in", "from", "at", "about", "with", "on"))


def as_token(node: Node) -> Token:
    """A parsed word as a token of the rules, so that their time words can read it."""
    text = str(node.text)
    low = "not" if node.lower_ in ("n't", "n’t") else str(node.lower_).replace("’", "'")
    low = {"'ll": "will", "'d": "would", "'ve": "have", "'m": "am", "'re": "are"}.get(low, low)
    kind = "number" if text[:1].isdigit() else "mark" if node.is_punct else "word"
    return Token(text or " ", low.strip() or " ", kind)


class NounReader:
    """Reads noun phrases in one sentence. ``timed`` are places that belong to a time."""

    def __init__(
        self,
        nodes: Sequence[Node],
        names: Mapping[str, str],
        voices: Voices,
        timed: Collection[int],
    ) -> None:
        self._nodes = nodes
        self._names = names
        self._voices = voices
        self._timed = timed
        self._first = nodes[0].i

    def things(self) -> list[str]:
        """Bare nouns of the sentence: each may be what a later "it" means."""
        return [n.text for n in self._nodes if n.pos_ == "NOUN" and not self._is_time(n)]

    def phrase(self, node: Node, *, short: bool = False, alone: bool = False) -> Phrase | None:
        """The entity around a noun; ``short`` without what follows it, ``alone`` what is joined."""
        if node.pos_ not in ("NOUN", "PROPN", "NUM", "X", "ADJ", "VERB") or self._is_time(node):
            return None
        if any(c.dep_ == "poss" and c.lower_ in ("other", "another") for c in node.children):
            return None  # "each other's backs"
        named = next((c for c in node.children if c.dep_ == "appos" and c.pos_ == "PROPN"), None)
        kin = self._introduced(node) or (
            self._called(node, named) if named is not None and named.i == node.i + 1 else None
        )
        if kin is not None:
            return kin
        parts = self._parts(node, short=short, alone=alone)
        while parts and (parts[0].pos_ in ("DET", "PUNCT", "CCONJ", "ADP", "ADV")):
            parts = parts[1:]
        parts = parts[:MAX_WORDS]
        while parts and parts[-1].pos_ in ("DET", "PUNCT", "CCONJ", "ADP", "PART", "ADV"):
            parts = parts[:-1]
        if not parts or is_empty([as_token(part) for part in parts]):
            return None
        text = self._text(parts)
        return Phrase(text, self._type(node, parts, text), proper=node.pos_ == "PROPN")

    def adjective(self, node: Node) -> list[Node]:
        """An adjective with what measures it: "ten months old"."""
        kept = [c for c in node.lefts if c.dep_ in _MEASURES]
        inner = [part for c in kept for part in c.subtree]
        return [*inner, node]

    def _is_time(self, node: Node) -> bool:
        return node.i - self._first in self._timed

    def introduces(self, node: Node) -> bool:
        """Tell whether a noun phrase says both a name and whose that is."""
        phrase = self.phrase(node)
        return phrase is not None and phrase.alias is not None

    def _introduced(self, node: Node) -> Phrase | None:
        """ "my sister Anna": Anna, also called the speaker's sister."""
        if node.pos_ != "PROPN":
            return None
        before = [c for c in node.children if c.i < node.i]
        kin = next((c for c in before if c.lower_ in words.PERSON_NOUNS | words.PETS), None)
        owner = next((c for c in before if c.dep_ == "poss" and c.lower_ in ("my", "our")), None)
        if kin is None or owner is None:
            return None
        name = [c for c in before if c.i > kin.i and c.pos_ == "PROPN"] + [node]
        relation = [c.lower_ for c in before if owner.i < c.i <= kin.i and c.pos_ != "PUNCT"]
        alias = f"{self._voices.speaker}'s {' '.join(relation)}"
        kind = "animal" if kin.lower_ in words.PETS else "person"
        return Phrase(" ".join(part.text for part in name), kind, alias, proper=True)

    def _called(self, node: Node, name: Node) -> Phrase | None:
        """ "my wife Claire", parsed as an apposition."""
        owner = next((c for c in node.children if c.dep_ == "poss"), None)
        if owner is None or owner.lower_ not in ("my", "our"):
            return None
        if node.lower_ not in words.PERSON_NOUNS | words.PETS:
            return None
        relation = " ".join(c.lower_ for c in node.lefts if c.i > owner.i)
        alias = f"{self._voices.speaker}'s {relation} {node.lower_}".replace("  ", " ")
        kind = "animal" if node.lower_ in words.PETS else "person"
        rest = [c.text for c in name.subtree if c.dep_ == "compound" or c.i == name.i]
        return Phrase(" ".join(rest), kind, alias, proper=True)

    def _parts(self, node: Node, *, short: bool, alone: bool = False) -> list[Node]:
        spread = self._spread(node, short=short, alone=alone, depth=0)
        parts = sorted(spread, key=lambda part: part.i)
        # Only what stands together: a time or a clause in between ends the phrase.
        start = next(place for place, part in enumerate(parts) if part.i == node.i)
        first, last = start, start
        while first and parts[first].i - parts[first - 1].i == 1:
            first -= 1
        while last + 1 < len(parts) and parts[last + 1].i - parts[last].i == 1:
            last += 1
        return parts[first : last + 1]

    def _spread(
        self, node: Node, *, short: bool, depth: int, alone: bool = False
    ) -> Iterator[Node]:
        yield node
        if depth > 4:
            return
        for child in node.children:
            behind = child.i > node.i
            if self._is_time(child) or (short and behind and child.dep_ != "case"):
                continue
            if alone and child.dep_ in ("cc", "conj"):
                continue
            if child.dep_ in _INSIDE and not (child.dep_ == "conj" and child.pos_ == "VERB"):
                yield from self._spread(child, short=short, depth=depth + 1)
            elif child.dep_ == "prep" and child.lower_ in _TAIL and behind and depth == 0:
                for inner in child.children:
                    if inner.dep_ == "pobj" and inner.pos_ in ("NOUN", "PROPN", "NUM"):
                        yield child
                        yield from self._spread(inner, short=False, depth=depth + 1)

    def _text(self, parts: Sequence[Node]) -> str:
        shown: list[str] = []
        for place, part in enumerate(parts):
            low = part.lower_
            if low in words.SPEAKER_POSSESSIVES:
                shown.append(f"{self._voices.speaker}'s")
            elif low == "your" and self._voices.other is not None:
                shown.append(f"{self._voices.other}'s")
            elif low in words.POSSESSIVES:
                if place:
                    shown.append(low)
            elif part.pos_ != "PROPN" and part.text[1:].islower():
                shown.append(low)
            else:
                shown.append(part.text)
        text = " ".join(shown)
        for found, attached in ((" 's", "'s"), (" ’s", "'s"), (" ,", ","), (" - ", "-")):
            text = text.replace(found, attached)
        return text.strip(" '\"“”-,.")

    def _type(self, node: Node, parts: Sequence[Node], text: str) -> str:
        known = self._names.get(text)
        if known is not None:
            return known
        named = node.pos_ == "PROPN" and parts[-1].i == node.i
        if named and node.ent_type_ in TYPES:
            return TYPES[node.ent_type_]
        return phrase_type([as_token(part) for part in self._parts(node, short=True)])

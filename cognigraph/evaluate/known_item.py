"""Questions made from stored messages, without a model: known-item search. Pure.

A question asks for one message by some words of one of its sentences: "What did I say about hob
receipt?". Its rarest words are left out, because with them any search finds the message. Such a
question still shares words with its message, which real questions often do not.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cognigraph.model import Role
from cognigraph.text.terms import STOP_WORDS, words

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_FEWEST, _MOST = 4, 30
"""Content words of a sentence that can be asked for."""
_KEPT = 5
_DROPPED_SHARE = 1 / 3
_UNASKED: frozenset[Role | None] = frozenset({"system", "tool"})


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and the message it was made from."""

    question: str
    session: str
    id: str


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """A message, or a part of a long one, as it is stored."""

    session: str
    id: str
    speaker: str | None
    role: Role | None
    text: str


def known_items(said: Sequence[OwnMessage], count: int, seed: int) -> list[KnownItem]:
    """Make at most ``count`` questions, each from another message; the same for the same seed.

    Texts that occur more than once are left out, and so are questions, code and very short or long
    sentences.
    """
    chosen = random.Random(seed)
    copies = Counter(each.text for each in said)
    found_in = Counter(word for each in said for word in set(words(each.text)))
    order = sorted(said, key=lambda each: (each.session, each.id, each.text))
    chosen.shuffle(order)
    items: dict[tuple[str, str], KnownItem] = {}
    for each in order:
        if len(items) == count:
            break
        key = each.session, each.id
        if key in items or copies[each.text] > 1 or each.role in _UNASKED:
            continue
        kept = _asked_words(each.text, found_in, chosen)
        if kept:
            items[key] = KnownItem(f"{_opening(each)} {' '.join(kept)}?", *key)
    return list(items.values())


def _opening(said: OwnMessage) -> str:
    """Begin the question: the user asks the assistant, or somebody about a person by name."""
    if said.role == "assistant":
        return "What did you say about"
    if said.role == "user" or not said.speaker:
        return "What did I say about"
    return f"What did {said.speaker} say about"


def _asked_words(text: str, found_in: Mapping[str, int], chosen: random.Random) -> list[str]:
    """Return words of a random sentence in order, the rarest left out; none if none is suitable."""
    sentences = [content for each in _statements(text) if (content := _content(each))]
    if not sentences:
        return []
    content = chosen.choice(sentences)
    common_first = sorted(content, key=lambda word: (-found_in[word], word))
    kept = common_first[: max(len(content) - round(len(content) * _DROPPED_SHARE), 2)]
    kept = sorted(chosen.sample(kept, min(len(kept), _KEPT)))
    return [word for word in content if word in kept]


def _statements(text: str) -> Iterable[str]:
    """Return the sentences outside code fences that are no questions."""
    plain = re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.S)
    return [each for each in _SENTENCE.split(plain) if each.strip() and "?" not in each]


def _content(sentence: str) -> list[str]:
    """Return the different content words of a sentence that is neither too short nor too long."""
    content = [word for word in words(sentence) if word not in STOP_WORDS and not word.isdigit()]
    content = list(dict.fromkeys(content))
    return content if _FEWEST <= len(content) <= _MOST else []

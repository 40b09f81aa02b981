"""Generate a large synthetic memory from a seed: conversations with natural word frequencies.

Words follow Zipf's law over a made-up vocabulary mixed with English function words, turns have
the lengths of chat messages, people and things recur, and each turn states a few facts. Only the
shape of the data matters here, not its meaning: kinds.py measures quality on real text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product

from cognigraph import Message
from cognigraph.ingest import Extraction, Extractor, Fact, Window
from cognigraph.model import Theme
from cognigraph.text.terms import is_foreign_word

FUNCTION_WORDS = """the to and a of i it in you that is was for on my with we have be this but not
so at are they just had about me do can all what really there out like from your when how""".split()
ONSETS = "b br c d f fl g h j k l m n p pr r s st t tr v w".split()
RIMES = "a ai an ar e en er i in o on or ou u".split()
SYLLABLES = [onset + rime for onset, rime in product(ONSETS, RIMES)]
START = datetime(2024, 1, 1, 9, tzinfo=UTC)
TURNS_PER_SESSION = 25


@dataclass
class World:
    """The vocabulary of one seed."""

    seed: int = 7
    size: int = 30_000

    def __post_init__(self) -> None:
        source = random.Random(self.seed)
        words: dict[str, None] = {}
        while len(words) < self.size:
            word = "".join(source.choices(SYLLABLES, k=source.choice((1, 2, 2, 3))))
            if not is_foreign_word(word):  # so that all turns are taken for English
                words[word] = None
        self.words = list(words)
        self._cumulative = list(accumulate(1 / (rank + 10) for rank in range(self.size)))
        self.people = [word.capitalize() for word in self.words[200:2200]]
        self.things = self.words[2200:12_200]
        self.verbs = self.words[50:200]

    def content(self, source: random.Random, count: int) -> list[str]:
        """Return content words by Zipf's law."""
        return source.choices(self.words, cum_weights=self._cumulative, k=count)

    def turn(self, source: random.Random) -> str:
        """Return one message of 4 to 40 words."""
        size = max(4, min(40, int(source.lognormvariate(2.7, 0.6))))
        words = self.content(source, size // 2) + source.choices(FUNCTION_WORDS, k=size - size // 2)
        source.shuffle(words)
        return " ".join(words).capitalize() + source.choice((".", ".", ".", "?", "!"))

    def question(self, text: str, source: random.Random) -> str:
        """Return a question about a turn: some of its rarer words, and the name of a person."""
        words = [word for word in text.lower().strip(".?!").split() if word not in FUNCTION_WORDS]
        picked = source.sample(words, min(len(words), source.randint(2, 5)))
        return f"When did {source.choice(self.people[:50])} {' '.join(picked)}?"


def messages(world: World, count: int, *, space: int = 0) -> Iterator[Message]:
    """Yield ``count`` messages of one space, in sessions of 25, a day apart, by two speakers."""
    source = random.Random(f"{world.seed}/{space}")
    speakers = source.sample(world.people, 2)
    for number in range(count):
        session, index = divmod(number, TURNS_PER_SESSION)
        yield Message(
            text=world.turn(source),
            id=f"m{number}",
            session=f"s{session}",
            speaker=speakers[number % 2],
            at=START + timedelta(days=session, seconds=30 * index),
        )


class SyntheticExtractor(Extractor):
    """Makes up ``per_turn`` facts from the words of each turn, to create load."""

    name = "synthetic-1"

    def __init__(self, world: World, per_turn: int) -> None:
        self._world = world
        self._per_turn = per_turn

    def extract(self, window: Window) -> Extraction:
        """Return facts about people and things that depend only on the text of each chunk."""
        facts: list[Fact] = []
        for index, chunk in enumerate(window.chunks):
            source = random.Random(chunk.text)
            subject = chunk.speaker or "user"
            for _ in range(self._per_turn):
                name = subject if source.random() < 0.5 else source.choice(self._world.people)
                thing = f"{source.choice(self._world.things)} {source.choice(self._world.things)}"
                verb = source.choice(self._world.verbs)
                facts.append(Fact(name, "person", verb, thing, "object", (index,)))
        first = window.chunks[0]
        keys = tuple((word, 1.0) for word in first.text.lower().strip(".?!").split()[:6])
        theme = Theme(f"{first.speaker} on {keys[0][0]}", first.text)
        return Extraction(facts=tuple(facts), keys=keys, themes=(theme,))

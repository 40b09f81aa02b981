"""Weights of the default profile's signals, learned by bench/fit_weights.py on open data.

One set serves all embedders. Which set applies depends on what has been read out of the text:
``plain`` while a space has no triples, ``rules`` when triples come from the built-in rules (they
help a little), ``model`` when a language model extracted them (they carry most of the ranking).
"""

from __future__ import annotations

WEIGHTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 1.2,
        "window vector": 1.8,
        "window words": 2.6,
        "similar words": 2.4,
        "window similar words": 2.8,
        "session best": 1.4,
        "speaker named": 0.6,
        "asks": -1.0,
        "answers": 0.7,
        "length": 0.8,
        "names": 1.2,
        "answer form": 1.6,
        "time": 4.4,
    },
    "rules": {
        "vector": 1.0,
        "window vector": 2.0,
        "window words": 2.5,
        "similar words": 2.1,
        "window similar words": 2.7,
        "session best": 1.2,
        "theme": 0.4,
        "theme words": 0.4,
        "speaker named": 0.6,
        "asks": -0.9,
        "answers": 0.7,
        "length": 0.6,
        "names": 1.2,
        "answer form": 1.6,
        "triple": 0.3,
        "second triple": 0.3,
        "time": 4.5,
    },
    "model": {
        "vector": 0.3,
        "window vector": 1.7,
        "window words": 1.5,
        "similar words": 0.7,
        "window similar words": 2.4,
        "session best": 0.7,
        "theme": 0.9,
        "theme words": 1.1,
        "speaker named": 0.4,
        "asks": -0.5,
        "answers": 0.4,
        "length": 0.1,
        "names": 1.3,
        "answer form": 1.4,
        "triple": 3.0,
        "second triple": 0.5,
        "time": 3.8,
    },
}

LISTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 0.5,
        "window vector": 0.3,
        "window words": -1.2,
        "similar words": -0.2,
        "window similar words": -0.7,
        "session best": -0.6,
        "speaker named": 0.7,
        "asks": 0.2,
        "answers": 0.2,
        "length": -0.1,
        "names": 0.1,
        "answer form": -0.3,
        "time": 0.2,
    },
    "rules": {
        "vector": 0.5,
        "window vector": 0.3,
        "window words": -1.2,
        "similar words": -0.2,
        "window similar words": -0.6,
        "session best": -0.5,
        "theme words": -0.3,
        "speaker named": 0.7,
        "asks": 0.2,
        "answers": 0.1,
        "names": 0.1,
        "answer form": -0.2,
        "triple": 0.2,
        "second triple": -0.5,
        "time": 0.2,
    },
    "model": {
        "vector": 0.3,
        "window vector": 0.4,
        "window words": -1.0,
        "window similar words": -0.4,
        "session best": -0.5,
        "theme words": -0.8,
        "speaker named": 0.7,
        "asks": 0.1,
        "answers": 0.1,
        "names": 0.3,
        "triple": -0.2,
        "time": 0.2,
    },
}
"""What is added to a set when the question asks for a list (``Analysis.enumerates``)."""


def choose(wanted: str, extractor: str, has_triples: bool) -> str:
    """Name of the set to use; ``wanted`` is the setting, ``extractor`` the name of the memory's."""
    if wanted != "auto":
        return wanted
    if not has_triples:
        return "plain"
    return "rules" if extractor.startswith(("rules", "spacy")) else "model"


def relative(name: str, *, enumerates: bool = False) -> dict[str, float]:
    """A set in units in which a hit that has everything scores 1; only the ratios matter."""
    more = LISTS[name] if enumerates else {}
    weights = {signal: weight + more.get(signal, 0.0) for signal, weight in WEIGHTS[name].items()}
    unit = sum(weight for weight in weights.values() if weight > 0)
    return {signal: weight / unit for signal, weight in weights.items()}

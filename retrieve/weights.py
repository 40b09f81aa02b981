"""Weights of the default profile's signals, learned by bench/fit_weights.py on open data.

One set serves all embedders. Which set applies depends on what has been read out of the text:
``plain`` while a space has no triples, ``rules`` when triples come from the built-in rules (they
help a little), ``model`` when a language model extracted them (they carry most of the ranking).
"""

from __future__ import annotations

WEIGHTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 4.0,
        "window vector": 1.0,
        "window words": 5.3,
        "session best": 1.1,
        "speaker named": 0.5,
        "asks": -1.0,
        "answers": 0.8,
        "length": 3.7,
        "time": 4.0,
    },
    "rules": {
        "vector": 2.2,
        "window vector": 1.2,
        "window words": 4.9,
        "session best": 1.0,
        "theme": 0.4,
        "theme words": 0.6,
        "speaker named": 0.5,
        "asks": -0.8,
        "answers": 0.8,
        "length": 2.6,
        "triple": 1.2,
        "time": 4.0,
    },
    "model": {
        "vector": 1.2,
        "window vector": 1.4,
        "window words": 3.3,
        "session best": 0.5,
        "theme": 1.0,
        "theme words": 1.1,
        "speaker named": 0.2,
        "asks": -0.4,
        "answers": 0.5,
        "length": 1.4,
        "triple": 3.6,
        "time": 3.9,
    },
}


def choose(wanted: str, extractor: str, has_triples: bool) -> str:
    """Name of the set to use; ``wanted`` is the setting, ``extractor`` the name of the memory's."""
    if wanted != "auto":
        return wanted
    if not has_triples:
        return "plain"
    return "rules" if extractor.startswith("rules") else "model"

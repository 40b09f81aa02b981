"""Weights of the default profile's signals, learned by bench/fit_weights.py on open data.

One set serves all embedders. Which set applies depends on what has been read out of the text:
``plain`` while a space has no triples, ``rules`` when triples come from the built-in rules (they
help a little), ``model`` when a language model extracted them (they carry most of the ranking).
"time" is held to 4: few questions of that data name a time, and then it is nearly the answer.
"""

from __future__ import annotations

WEIGHTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 3.7,
        "window vector": 1.4,
        "window words": 5.2,
        "session best": 1.0,
        "speaker named": 0.6,
        "asks": -1.0,
        "answers": 0.8,
        "length": 3.6,
        "time": 4.0,
    },
    "rules": {
        "vector": 2.8,
        "window vector": 1.6,
        "window words": 4.7,
        "session best": 1.0,
        "theme": 0.4,
        "theme words": 0.5,
        "speaker named": 0.5,
        "asks": -0.8,
        "answers": 0.7,
        "length": 2.8,
        "triple": 1.1,
        "time": 4.0,
    },
    "model": {
        "vector": 1.2,
        "window vector": 1.5,
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
    return "rules" if extractor.startswith(("rules", "spacy")) else "model"


def relative(name: str) -> dict[str, float]:
    """A set in units in which a hit that has everything scores 1; only the ratios matter."""
    unit = sum(weight for weight in WEIGHTS[name].values() if weight > 0)
    return {signal: weight / unit for signal, weight in WEIGHTS[name].items()}

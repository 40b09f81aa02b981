"""Weights of the default profile's signals, learned by bench/fit_weights.py on open data.

One set for both kinds of embedder; ``plain`` while a space has no triples, ``triples`` after.
"""

from __future__ import annotations

WEIGHTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 4.0,
        "window vector": 1.2,
        "window words": 5.4,
        "session best": 1.2,
        "speaker named": 0.5,
        "asks": -0.9,
        "answers": 0.8,
        "length": 3.8,
        "time": 4.0,
    },
    "triples": {
        "vector": 1.0,
        "window vector": 1.7,
        "window words": 3.0,
        "session best": 0.6,
        "theme": 1.0,
        "theme words": 1.5,
        "speaker named": 0.3,
        "asks": -0.4,
        "answers": 0.5,
        "length": 1.0,
        "triple": 5.5,
        "time": 3.0,
    },
}

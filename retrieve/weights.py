"""Weights of the default profile's signals."""

from __future__ import annotations

WEIGHTS: dict[str, dict[str, float]] = {
    "plain": {
        "vector": 0.6,
        "words": 0.3,
        "window vector": 0.7,
        "words of 3": 0.4,
        "words of 5": 0.6,
        "session best": 0.3,
        "theme": 0.2,
        "theme words": 0.1,
        "speaker named": 0.3,
        "asks": -0.3,
        "answers": 0.1,
        "length": 0.4,
    },
    "triples": {
        "vector": 0.4,
        "words": 0.2,
        "window vector": 0.5,
        "words of 3": 0.3,
        "words of 5": 0.4,
        "session best": 0.2,
        "theme": 0.4,
        "theme words": 0.2,
        "speaker named": 0.2,
        "asks": -0.2,
        "answers": 0.1,
        "length": 0.2,
        "triple": 0.8,
        "second triple": 0.2,
        "triple vector": 0.6,
    },
}

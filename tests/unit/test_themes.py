"""Themes in memory: replaced row by row, never growing beyond twice what there is."""

from __future__ import annotations

import numpy as np

from cognigraph.stores.sqlite.index.layer import NOBODY, ThemeRow, Themes
from cognigraph.stores.sqlite.rows import VectorFormat, pack_terms, term_hash

FORMAT = VectorFormat(4, "float32")


def theme(number: float, *words: str) -> ThemeRow:
    vector = FORMAT.pack(np.full(4, number, np.float32))
    return vector, pack_terms(dict.fromkeys(words, 1)), len(words)


def shown(themes: Themes) -> list[tuple[int, float, int]]:
    rows = zip(themes["owner"], themes["vector"][:, 0], themes["length"], strict=True)
    return sorted((int(o), float(v), int(n)) for o, v, n in rows if o != NOBODY)


def owners(themes: Themes, word: str) -> list[int]:
    rows, counts = themes.words.under(term_hash(word))
    assert set(counts.tolist()) <= {1.0}
    return sorted(owner for owner in themes["owner"][rows].tolist() if owner != NOBODY)


def test_a_session_has_its_newest_themes():
    themes = Themes(FORMAT)
    themes.replace({7: [theme(1, "rain"), theme(2, "rain", "oslo")], 9: [theme(3, "oslo")]})
    assert shown(themes) == [(7, 1.0, 1), (7, 2.0, 2), (9, 3.0, 1)]
    assert (owners(themes, "rain"), owners(themes, "oslo")) == ([7, 7], [7, 9])
    themes.replace({7: [theme(4, "fjord")], 5: []})
    assert shown(themes) == [(7, 4.0, 1), (9, 3.0, 1)]
    assert (owners(themes, "rain"), owners(themes, "oslo")) == ([], [9])
    themes.replace({7: [], 9: []})
    assert (shown(themes), owners(themes, "oslo"), themes.rows) == ([], [], 0)


def test_replaced_themes_are_removed():
    themes = Themes(FORMAT)
    themes.replace({n: [theme(n, "oslo"), theme(n + 0.5, f"w{n}")] for n in range(10)})
    for round in range(50):
        themes.replace({round % 10: [theme(round, "oslo", "rain")]})
        assert themes.rows <= 2 * len(shown(themes))
    assert shown(themes) == [(n, 40.0 + n, 2) for n in range(10)]
    assert owners(themes, "rain") == owners(themes, "oslo") == list(range(10))
    assert owners(themes, "w3") == []

"""The plots of the page about other memories: recall against cost, and insertion as it grows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docs.draw.svg import Drawing

RESULT = Path(__file__).resolve().parents[2] / "bench" / "results" / "peers-run.json"
WIDTH, HEIGHT = 900, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 210, 46, 56
_COLOURS = (
    "#4f46e5", "#059669", "#d97706", "#dc2626", "#0891b2", "#7c3aed", "#65a30d", "#db2777",
    "#475569", "#b45309", "#0d9488", "#9333ea", "#2563eb", "#a16207",
)  # fmt: skip


def result() -> Any:
    """Return the committed result."""
    return json.loads(RESULT.read_text("utf-8"))


def insert_growth(found: Mapping[str, Any]) -> str:
    """Draw how long an ``add`` takes as messages accumulate, on a logarithmic scale."""
    drawing = Drawing(WIDTH, HEIGHT, "Time to insert a message as messages accumulate")
    drawing.text(_LEFT, 26, "Insert one message (ms), by messages stored", "strong", "start")
    curves = {
        row["title"]: row["insert_curve"]
        for name, row in found["memories"].items()
        if not _same_store(found, name)
    }
    points = [point for curve in curves.values() for point in curve]
    across = Scale(0, max(x for x, _ in points), _LEFT, WIDTH - _RIGHT)
    up = log_scale([y for _, y in points], HEIGHT - _BOTTOM, _TOP)
    _axes(drawing, across, up)
    ends: list[tuple[int, str, str]] = []
    for (title, curve), colour in zip(curves.items(), _COLOURS, strict=False):
        at = [(across.at(x), up.at(math.log10(y))) for x, y in curve]
        drawing.curve(at, colour)
        ends.append((at[-1][1], title, colour))
    for y, title, colour in _apart(ends):
        drawing.text(WIDTH - _RIGHT + 10, y + 4, title, "faint", "start", colour)
    return drawing.svg()


def recall_and_cost(found: Mapping[str, Any]) -> str:
    """Draw recall against the time of a search, on a logarithmic scale."""
    drawing = Drawing(WIDTH, HEIGHT, "Evidence recall and the time of a search")
    drawing.text(_LEFT, 26, "Evidence recall@15, by the time of a search (ms)", "strong", "start")
    rows = [row for row in found["memories"].values() if row.get("search_ms")]
    across = log_scale([row["search_ms"]["p50"] for row in rows], _LEFT, WIDTH - _RIGHT)
    up = Scale(0, 1, HEIGHT - _BOTTOM, _TOP)
    for tenth in range(0, 11, 2):
        y = up.at(tenth / 10)
        drawing.line((_LEFT, y), (WIDTH - _RIGHT, y), arrow=False)
        drawing.text(_LEFT - 8, y + 4, f"{tenth / 10:.1f}", "faint", "end")
    for power in across.powers():
        x = across.at(power)
        drawing.line((x, _TOP), (x, HEIGHT - _BOTTOM), arrow=False)
        drawing.text(x, HEIGHT - _BOTTOM + 18, f"{10**power:g}", "faint")
    ends = []
    for row, colour in zip(rows, _COLOURS, strict=False):
        x, y = across.at(math.log10(row["search_ms"]["p50"])), up.at(row["recall"])
        drawing.dot(x, y, colour)
        ends.append((y, row["title"], colour))
    for y, title, colour in _apart(ends):
        drawing.text(WIDTH - _RIGHT + 10, y + 4, title, "faint", "start", colour)
    return drawing.svg()


class Scale:
    """Maps numbers to pixels."""

    def __init__(self, low: float, high: float, first: int, last: int) -> None:
        self.low, self.high, self._first, self._last = low, high, first, last

    def at(self, value: float) -> int:
        """Return the pixel of a number."""
        part = (value - self.low) / (self.high - self.low)
        return round(self._first + part * (self._last - self._first))

    def powers(self) -> range:
        """Return the powers of ten of a logarithmic scale."""
        return range(int(self.low), int(self.high) + 1)


def log_scale(values: list[float], first: int, last: int) -> Scale:
    """Return a scale of logarithms that begins and ends with a power of ten."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Scale(low, max(high, low + 1), first, last)


def _axes(drawing: Drawing, across: Scale, up: Scale) -> None:
    for power in up.powers():
        y = up.at(power)
        drawing.line((_LEFT, y), (WIDTH - _RIGHT, y), arrow=False)
        drawing.text(_LEFT - 8, y + 4, f"{10**power:g}", "faint", "end")
    for part in range(5):
        x = across.high * part / 4
        drawing.text(across.at(x), HEIGHT - _BOTTOM + 18, f"{x:.0f}", "faint")


def _same_store(found: Mapping[str, Any], name: str) -> bool:
    """Whether this is another way to search what the row before has stored."""
    rows = list(found["memories"])
    before = rows[rows.index(name) - 1] if rows.index(name) else None
    curve = "insert_curve"
    same = before and found["memories"][before][curve] == found["memories"][name][curve]
    return bool(same)


def _apart(ends: list[tuple[int, str, str]], gap: int = 15) -> list[tuple[int, str, str]]:
    """Move labels down so that they do not overlap, and up again where they would leave."""
    placed: list[tuple[int, str, str]] = []
    for y, title, colour in sorted(ends):
        y = max(y, placed[-1][0] + gap) if placed else y
        placed.append((y, title, colour))
    over = max(0, placed[-1][0] - (HEIGHT - 20)) if placed else 0
    return [(y - over, title, colour) for y, title, colour in placed]

"""The plot of a server with many users: latencies by minute, its memory and the queue."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.draw.peers import Scale, log_scale
from docs.draw.svg import Drawing

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
WIDTH, HEIGHT = 900, 560
_LEFT, _RIGHT, _TOP, _MIDDLE, _BOTTOM = 70, 150, 46, 330, 520
_GAP = 56
_COLOURS = {"search": "#4f46e5", "add": "#059669", "memory": "#d97706", "queue": "#dc2626"}
_EACH = 10 / 60
"""Minutes between two looks at memory and queue."""

Points = Sequence[tuple[float, float]]


def result(store: str) -> Any:
    """Return the committed result of a store."""
    return json.loads((RESULTS / f"serve-many-{store}.json").read_text("utf-8"))


def draw(measured: Mapping[str, Any]) -> str:
    """Draw p50 and p99 of each minute on a logarithmic scale; below, memory and queue."""
    drawing = Drawing(WIDTH, HEIGHT, "A server with many users over time")
    end = measured["seconds"] / 60
    across = Scale(0, end, _LEFT, WIDTH - _RIGHT)
    head = f"{measured['clients']} clients, {measured['spaces']:,} spaces: latency (ms), by minute"
    drawing.text(_LEFT, 26, head, "strong", "start")
    left, right = across.at(end / 3), across.at(end * 2 / 3)
    drawing.panel(left, _TOP, right - left, _BOTTOM - _TOP, "lane")
    drawing.text((left + right) // 2, _TOP + 14, "beside a greedy key", "faint")
    _latencies(drawing, measured, across)
    _growth(drawing, measured, across)
    for part in range(7):
        x = across.at(end * part / 6)
        drawing.text(x, _BOTTOM + 18, f"{end * part / 6:.0f}", "faint")
    return drawing.svg()


def _latencies(drawing: Drawing, measured: Mapping[str, Any], across: Scale) -> None:
    minutes = [item for item in measured["by_minute"] if item["minute"] < across.high]
    curves = {
        (what, name): [(item["minute"] + 0.5, item[what][f"{name}_ms"]) for item in minutes]
        for what in ("search", "add")
        for name in ("p50", "p99")
    }
    taken = [value for points in curves.values() for _, value in points]
    up = log_scale(taken, _MIDDLE, _TOP + 20)
    for power in up.powers():
        y = up.at(power)
        drawing.line((_LEFT, y), (WIDTH - _RIGHT, y), arrow=False)
        drawing.text(_LEFT - 8, y + 4, f"{10**power:g}", "faint", "end")
    ends = []
    for (what, name), points in curves.items():
        at = [(across.at(x), up.at(math.log10(value))) for x, value in points]
        drawing.curve(at, _COLOURS[what])
        ends.append((at[-1][1], f"{what}, {name}", _COLOURS[what]))
    lowest = -math.inf
    for y, title, colour in sorted(ends):
        lowest = max(y, lowest + 15)
        drawing.text(WIDTH - _RIGHT + 10, round(lowest) + 4, title, "faint", "start", colour)


def _growth(drawing: Drawing, measured: Mapping[str, Any], across: Scale) -> None:
    """Draw memory and queue, each on a scale of its own that begins with zero."""
    series: dict[str, tuple[str, Sequence[float]]] = {
        "memory": ("MB", measured["resident_mb_each_10_s"]),
        "queue": ("messages", measured["queue_each_10_s"]),
    }
    drawing.line((_LEFT, _BOTTOM), (WIDTH - _RIGHT, _BOTTOM), arrow=False)
    for number, (what, (unit, values)) in enumerate(series.items()):
        up = Scale(0, max(*values, 1), _BOTTOM, _MIDDLE + _GAP)
        points = [(x, value) for at, value in enumerate(values) if (x := at * _EACH) < across.high]
        drawing.curve([(across.at(x), up.at(value)) for x, value in points], _COLOURS[what])
        title = f"{what}: at most {max(values):,.0f} {unit}"
        x = _LEFT + 260 * number
        drawing.text(x, _MIDDLE + _GAP - 14, title, "faint", "start", _COLOURS[what])

"""Measure how long each stage of a search takes."""

from __future__ import annotations

import time


class Stopwatch:
    """Measures consecutive stages in milliseconds, starting when it is created."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = self._start = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage: record its time, and the ``total`` so far."""
        now = time.perf_counter()
        self.laps[stage] = round((now - self._last) * 1000, 3)
        self.laps["total"] = round((now - self._start) * 1000, 3)
        self._last = now

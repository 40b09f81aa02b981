"""Debouncing: when a background worker with a costly extractor starts on the pending chunks.

A model that is called after every turn costs two calls a turn. If it is called when a conversation
pauses, it costs two calls a pause and reads each turn together with its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

PATIENCE = 8
"""While new chunks keep arriving, work is delayed by at most this multiple of the settle time."""


@dataclass(slots=True)
class Debounce:
    """Decides when work may start, from repeated counts of the pending chunks.

    Work may start when no chunk has arrived for ``settle`` seconds, when ``batch`` chunks are
    pending, or when the first has waited ``PATIENCE`` times ``settle``. Times are in seconds from
    any fixed origin.
    """

    settle: float
    batch: int
    _seen: int = 0
    _first: float = 0.0
    _newest: float = 0.0

    def is_ready(self, pending: int, now: float) -> bool:
        """Whether to start now; ``pending`` is the number of pending chunks."""
        if pending > self._seen:
            self._newest = now
            if self._seen == 0:
                self._first = now
        self._seen = pending
        if pending == 0:
            return False
        return (
            pending >= self.batch
            or now - self._newest >= self.settle
            or now - self._first >= PATIENCE * self.settle
        )

    def started(self, pending: int, now: float) -> None:
        """Record that work was done; ``pending`` chunks arrived meanwhile or wait for a retry."""
        self._seen = pending
        self._first = now

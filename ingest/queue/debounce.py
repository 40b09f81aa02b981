"""When a background worker with a costly extractor starts on what waits.

A model that is asked after every single turn costs two calls a turn; asked once a conversation
pauses, it costs two calls a pause, and reads each turn together with its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

PATIENCE = 8
"""Work that keeps coming is held back for at most this many settle times."""


@dataclass(slots=True)
class Settling:
    """Decides from how many chunks wait, asked again and again. Times are seconds, any origin.

    Work may start once nothing new came for ``settle`` seconds, when ``batch`` chunks wait, or when
    the first has waited ``PATIENCE`` times as long.
    """

    settle: float
    batch: int
    _seen: int = 0
    _first: float = 0.0
    _newest: float = 0.0

    def is_ready(self, pending: int, now: float) -> bool:
        """Whether to start now; ``pending`` is how many chunks wait."""
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
        """Work was done; ``pending`` chunks came meanwhile, or wait for another attempt."""
        self._seen = pending
        self._first = now

"""How many requests a client may make: a bucket of tokens for each."""

from __future__ import annotations

import math
import time
from collections import OrderedDict

from cognigraph.server.problems import Problem

_BURST_SECONDS = 2.0
_MOST_CLIENTS = 10_000


class Rate:
    """A rate for each client. A bucket holds what two seconds give; 0 is no limit."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second * _BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float | None = None) -> None:
        """Count one request of a client.

        Raises:
            Problem: it has made too many.
        """
        if not self._per_second:
            return
        moment = time.monotonic() if now is None else now
        left, since = self._buckets.pop(client, (self._most, moment))
        left = min(self._most, left + (moment - since) * self._per_second)
        self._buckets[client] = (left - 1 if left >= 1 else left, moment)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._per_second)
            raise Problem(
                429,
                "Too many requests",
                f"{self._per_second:g} a second are allowed; wait, or raise --rate",
                wait=wait,
            )

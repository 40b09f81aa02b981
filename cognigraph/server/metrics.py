"""Metrics in the text format of Prometheus. No label names a space, a key or a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from starlette.types import Scope

from cognigraph.model.storage import WorkerState

_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of requests by operation. Used from the event loop alone."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[tuple[str, str]] = Counter()
        self._within: Counter[tuple[str, str, float]] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request that has been answered."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        key = (method, str(getattr(scope.get("route"), "name", "none")))
        self._requests[(*key, status)] += 1
        self._counts[key] += 1
        self._seconds[key] += seconds  # type: ignore[assignment]
        for bound in _BUCKETS:
            if seconds <= bound:
                self._within[(*key, bound)] += 1

    def text(self, waiting: int, longest_wait: float, worker: WorkerState | None) -> str:
        """The exposition; ``waiting`` is the number of chunks and summaries to be enriched."""
        queue = _queue(waiting, longest_wait, worker)
        return "\n".join((*self._lines(), *queue, ""))

    def _lines(self) -> Iterator[str]:
        yield "# HELP cognigraph_requests_total Requests that were answered."
        yield "# TYPE cognigraph_requests_total counter"
        for (method, operation, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",operation="{operation}",status="{status}"'
            yield f"cognigraph_requests_total{{{labels}}} {count}"
        yield "# HELP cognigraph_request_seconds Time to answer a request."
        yield "# TYPE cognigraph_request_seconds histogram"
        for key in sorted(self._counts):
            yield from self._histogram(*key)
        yield "# HELP cognigraph_requests_in_flight Requests that are in work or wait."
        yield "# TYPE cognigraph_requests_in_flight gauge"
        yield f"cognigraph_requests_in_flight {self.in_flight}"

    def _histogram(self, method: str, operation: str) -> Iterator[str]:
        name, labels = "cognigraph_request_seconds", f'method="{method}",operation="{operation}"'
        for bound in _BUCKETS:
            yield f'{name}_bucket{{{labels},le="{bound}"}} {self._within[method, operation, bound]}'
        count = self._counts[method, operation]
        yield f'{name}_bucket{{{labels},le="+Inf"}} {count}'
        yield f"{name}_sum{{{labels}}} {self._seconds[method, operation]:.6f}"
        yield f"{name}_count{{{labels}}} {count}"


def _queue(waiting: int, longest_wait: float, worker: WorkerState | None) -> Iterator[str]:
    yield "# HELP cognigraph_queue Chunks and summaries that wait to be enriched."
    yield "# TYPE cognigraph_queue gauge"
    yield f"cognigraph_queue {waiting}"
    yield "# HELP cognigraph_queue_oldest_seconds Time for which the oldest pending message waits."
    yield "# TYPE cognigraph_queue_oldest_seconds gauge"
    yield f"cognigraph_queue_oldest_seconds {longest_wait:.3f}"
    if worker is None:
        return
    yield "# HELP cognigraph_worker_last_step_seconds Time since the worker has enriched a batch."
    yield "# TYPE cognigraph_worker_last_step_seconds gauge"
    yield f"cognigraph_worker_last_step_seconds {worker.last_step:.3f}"
    yield "# HELP cognigraph_worker_restarts_total Times the worker ended unexpectedly."
    yield "# TYPE cognigraph_worker_restarts_total counter"
    yield f"cognigraph_worker_restarts_total {worker.restarts}"
    yield "# HELP cognigraph_worker_degraded Whether /health says that it is degraded."
    yield "# TYPE cognigraph_worker_degraded gauge"
    yield f"cognigraph_worker_degraded {int(worker.problem is not None)}"

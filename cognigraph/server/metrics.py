"""Metrics in the text format of Prometheus. No label names a space, a key or a message."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import Scope

from cognigraph.model.storage import WorkerState

_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts of requests by operation, and the state of the queue when it is asked for."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "cognigraph_requests", "Requests that were answered.",
            ("method", "operation", "status"), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "cognigraph_request_seconds", "Time to answer a request.",
            ("method", "operation"), buckets=_BUCKETS, registry=self._registry,
        )  # fmt: skip

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request that has been answered."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        operation = str(getattr(scope.get("route"), "name", "none"))
        self._requests.labels(method, operation, status).inc()
        self._seconds.labels(method, operation).observe(seconds)

    def text(self, waiting: int, longest_wait: float, worker: WorkerState | None) -> str:
        """The exposition; ``waiting`` is the number of chunks and summaries to be enriched."""
        now = CollectorRegistry()

        def gauge(name: str, meaning: str, value: float) -> None:
            Gauge(f"cognigraph_{name}", meaning, registry=now).set(value)

        gauge("requests_in_flight", "Requests that are in work or wait.", self.in_flight)
        gauge("queue", "Chunks and summaries that wait to be enriched.", waiting)
        gauge(
            "queue_oldest_seconds", "Time for which the oldest pending message waits.", longest_wait
        )
        if worker is not None:
            gauge(
                "worker_last_step_seconds", "Time since the worker has enriched a batch.",
                worker.last_step,
            )  # fmt: skip
            gauge(
                "worker_degraded", "Whether /health says that it is degraded.",
                worker.problem is not None,
            )  # fmt: skip
            restarts = "Times the worker ended unexpectedly."
            Counter("cognigraph_worker_restarts", restarts, registry=now).inc(worker.restarts)
        return (generate_latest(self._registry) + generate_latest(now)).decode()

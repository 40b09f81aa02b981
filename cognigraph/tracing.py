"""Spans of OpenTelemetry, if the program uses it. No span has text of a message or a question."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_API = "opentelemetry.trace"
_NAME = "cognigraph"
_TOTAL = "total"


@contextmanager
def span(name: str, space: str, **attributes: int | str) -> Iterator[Any]:
    """A span around an operation on a space; ``None`` if nothing records spans."""
    trace = _api()
    if trace is None:
        yield None
        return
    given = {"cognigraph.space": space}
    given |= {f"cognigraph.{key}": value for key, value in attributes.items()}  # type: ignore[misc]
    with trace.get_tracer(_NAME).start_as_current_span(
        name, attributes=given, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


def stages(current: Any, name: str, timings: Mapping[str, float]) -> None:
    """Add a span for each stage of an operation that has just ended, from its milliseconds."""
    trace = _api()
    if trace is None or current is None or not current.is_recording():
        return
    parts = {stage: took for stage, took in timings.items() if stage != _TOTAL}
    begin = time.time_ns() - round(sum(parts.values()) * 1_000_000)
    tracer = trace.get_tracer(_NAME)
    for stage, milliseconds in parts.items():
        after = begin + round(milliseconds * 1_000_000)
        tracer.start_span(f"{name}.{stage}", start_time=begin).end(after)
        begin = after


def outcome(current: Any, failed: bool, **attributes: int) -> None:
    """Note on a span what came of its operation."""
    trace = _api()
    if trace is None or current is None:
        return
    for key, value in attributes.items():
        current.set_attribute(f"cognigraph.{key}", value)
    if failed:
        current.set_status(trace.StatusCode.ERROR)


def _api() -> Any:
    """The API of OpenTelemetry, if the program has imported it: only then can spans go anywhere."""
    return sys.modules.get(_API)

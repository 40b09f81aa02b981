"""Percentiles, facts about the machine and JSON output, shared by the benchmarks."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cognigraph


def percentiles(values: Sequence[float], digits: int = 2) -> dict[str, float]:
    """Return the p50, p95 and p99 of durations in milliseconds."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {f"p{p}_ms": round(cuts[p - 1], digits) for p in (50, 95, 99)}


def machine() -> dict[str, Any]:
    """Describe the machine that the figures are measured on."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "cognigraph": cognigraph.__version__,
    }


def resident_mb() -> float:
    """Return the current memory of this process in MB (or its peak, if that is all there is)."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def write(result: dict[str, Any], path: str | None, *, quiet: bool = False) -> None:
    """Print the result unless ``quiet``, and write it to ``path`` if there is one."""
    text = json.dumps(result, indent=2)
    if not quiet:
        print(text)
    if path:
        Path(path).write_text(text + "\n", "utf-8")

"""Percentiles, machine facts and JSON output, shared by the benches."""

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
    """p50, p95 and p99 of some milliseconds."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {f"p{p}_ms": round(cuts[p - 1], digits) for p in (50, 95, 99)}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "cognigraph": cognigraph.__version__,
    }


def resident_mb() -> float:
    """Memory this process holds now, in MB (the peak where the system does not tell)."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return round(int(line.split()[1]) / 1024, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def write(result: dict[str, Any], path: str | None) -> None:
    """Print the result, and write it where asked."""
    text = json.dumps(result, indent=2)
    print(text)
    if path:
        Path(path).write_text(text + "\n", "utf-8")

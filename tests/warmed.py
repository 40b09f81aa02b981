"""Imports and compiles what the library loads when it is first used, before processes are forked.

Tests count calls to kill a process in the middle of its work: loading must not be part of it.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

from cognigraph import Memory

with (
    TemporaryDirectory() as folder,
    Memory(f"{folder}/warm.db", enrich="manual", timezone="UTC") as memory,
):
    memory.add("I moved to Oslo in May 2025.", speaker="Ann", at="2026-05-20T09:00:00Z")
    memory.flush()

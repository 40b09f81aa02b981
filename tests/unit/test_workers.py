"""Names of workers: only processes of this machine can be checked, and ids are reused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cognigraph.ingest.queue.lease import has_crashed, worker_name

HOST = worker_name("x").partition(":")[0]
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux tells more")


def test_this_process_lives():
    name = worker_name("a1")
    assert name.endswith(":a1")
    assert has_crashed(f"{name}:token") is False
    assert has_crashed(f"{HOST}:{os.getpid()}:a1:token") is False  # by its number alone


def test_processes_of_another_machine_are_unknown():
    assert has_crashed(f"elsewhere:{os.getpid()}:a1:token") is None
    for token in ("", "w", f"{HOST}:", f"{HOST}:x:y"):
        assert has_crashed(token) is None


@pytest.mark.slow
def test_a_process_that_has_ended_is_dead():
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    assert has_crashed(f"{HOST}:{child.pid}:a1:token") is True
    assert has_crashed(f"{HOST}:{1 << 70}:a1:token") is True  # such a number there never was


@linux
def test_a_reused_process_id_is_recognised():
    host, process, _ = worker_name("x").split(":")
    number, started = process.split("-")
    assert has_crashed(f"{host}:{number}-{int(started) - 1}:a1:token") is True


@linux
def test_a_killed_process_is_dead_before_it_is_reaped():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        token = f"{HOST}:{child.pid}:a1:token"
        assert has_crashed(token) is False
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert has_crashed(token) is True
    finally:
        child.communicate()

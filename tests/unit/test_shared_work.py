"""Work is divided among threads, and is done in any case."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from threading import Event, get_ident

import pytest

from cognigraph import arrays
from cognigraph.arrays import SharedTasks, run_all


def test_every_task_is_run_once():
    done: list[int] = []
    run_all([partial(done.append, number) for number in range(50)])
    run_all([])
    assert sorted(done) == list(range(50))


def test_what_fails_in_a_thread_fails_here():
    def fail() -> None:
        raise MemoryError("no more")

    with pytest.raises(MemoryError, match="no more"):
        run_all([fail] * 5)
    with SharedTasks([lambda: 5]) as shared:  # the threads are still there
        assert shared.finish() == [5]


def test_results_are_kept_whoever_works(monkeypatch):
    for count in (0, 1):
        monkeypatch.setattr(arrays._THREADS, "count", count)
        with SharedTasks([partial(pow, 2, number) for number in range(20)]) as shared:
            assert shared.finish() == [2**number for number in range(20)]


def test_after_an_error_nothing_more_is_begun(monkeypatch):
    monkeypatch.setattr(arrays._THREADS, "count", 0)
    done: list[int] = []
    with pytest.raises(KeyError), SharedTasks([partial(done.append, 1)]) as shared:
        raise KeyError
    shared.finish()
    assert done == []


def test_what_no_other_thread_has_begun_is_done_here():
    go_on = Event()
    busy = [SharedTasks([partial(go_on.wait, 60)]) for _ in range(arrays._MOST_THREADS)]
    try:
        with SharedTasks([get_ident]) as shared:
            assert shared.finish() == [get_ident()]
        done: list[int] = []
        run_all([partial(done.append, number) for number in range(5)])
        assert done == [0, 1, 2, 3, 4]
    finally:
        go_on.set()
        for tasks in busy:
            tasks.__exit__()


def test_nobody_works_after_the_block(monkeypatch):
    steps: list[str] = []
    started = Event()

    def work() -> None:
        started.set()
        steps.append("worked")

    monkeypatch.setattr(arrays._THREADS, "count", 1)
    with pytest.raises(KeyError), SharedTasks([work]):
        assert started.wait(60)
        raise KeyError
    assert steps == ["worked"]


def test_without_other_threads_this_one_works(monkeypatch):
    monkeypatch.setattr(arrays._THREADS, "count", 0)
    with SharedTasks([get_ident]) as shared:
        assert shared.finish() == [get_ident()]
    seen: list[int] = []
    run_all([lambda: seen.append(get_ident())] * 3)
    assert seen == [get_ident()] * 3


AFTER = """
import atexit, os, sys, threading, warnings
from cognigraph import arrays
arrays._THREADS.count = 1

def meet():
    both = threading.Barrier(2)  # one thread alone would wait
    with arrays.SharedTasks([lambda: both.wait(60)]) as other:
        both.wait(60)
        other.finish()

def at_the_end():
    with arrays.SharedTasks([lambda: "at the end"]) as last:
        print(*last.finish(), flush=True)

atexit.register(at_the_end)
meet()
if hasattr(os, "fork"):
    warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
    pid = os.fork()
    if pid == 0:
        meet()
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
"""


@pytest.mark.slow
def test_forked_and_ending_processes_work_too():
    done = subprocess.run(
        [sys.executable, "-c", AFTER], capture_output=True, text=True, timeout=120, check=False
    )
    times = 2 if hasattr(os, "fork") else 1
    assert (done.returncode, done.stdout) == (0, "at the end\n" * times), done.stderr

"""A plugin that says which tests cost most: CPU seconds of the process and of those it waited for.

``make test-costs`` loads it for the fast part. A loop of known cost is timed too, so that the
seconds are those of the machine on which the limit was chosen, whatever machine this is.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Generator

import pytest

LIMIT = 0.04
"""Seconds above which a test is to be marked ``slow``, unless nothing else tests what it tests."""

_LOOP = 0.04
"""Seconds of ``_loop`` on the machine of the limit."""


class Costs:
    """Measures each test, with its fixtures, and prints a summary."""

    def __init__(self) -> None:
        self.faster = _LOOP / min(_loop() for _ in range(9))
        self.tests: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test from its set-up to its tear-down."""
        before = _seconds()
        result = yield
        self.tests[item.nodeid] = (_seconds() - before) * self.faster
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the files that cost most, and the tests above the limit."""
        files: Counter[str] = Counter()
        for test, seconds in self.tests.items():
            files[test.partition("::")[0]] += seconds
        write = terminalreporter.write_line
        write(f"{sum(files.values()):.1f} CPU seconds in {len(self.tests):,} tests; by file:")
        for name, seconds in files.most_common(15):
            write(f"{seconds:7.2f}  {name}")
        dear = [(test, cost) for test, cost in self.tests.most_common() if cost > LIMIT]
        write(f"{len(dear)} tests above {LIMIT} s (the first to load a library pays for it):")
        for test, seconds in dear:
            write(f"{seconds:7.2f}  {test}")


def pytest_configure(config: pytest.Config) -> None:
    """Measure where the tests run; the controller of a parallel run has nothing to measure."""
    config.pluginmanager.register(Costs(), "costs-of-tests")


def _seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(item.ru_utime + item.ru_stime for item in used)


def _loop() -> float:
    before = time.process_time()
    sum(number * number for number in range(1_000_000))
    return time.process_time() - before

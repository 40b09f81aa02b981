"""The command line in a process of its own (``cli``), and in this one (``quick``)."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.command_line import Cli, Result, command, environment, run_here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that start processes as slow."""
    for item in items:
        if "cli" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    def run(*arguments: object, stdin: str = "", **extra: str) -> Result:
        return subprocess.run(
            command(*arguments),
            input=stdin,
            capture_output=True,
            encoding=extra.get("PYTHONIOENCODING", "utf-8"),
            cwd=tmp_path,
            env=environment(**extra),
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def quick(tmp_path: Path) -> Cli:
    """The same command line without a process of its own."""
    return partial(run_here, folder=tmp_path)

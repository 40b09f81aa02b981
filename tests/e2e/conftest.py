"""The command line in a process of its own (``cli``), and in this one (``quick``)."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from cognigraph.cli import main
from tests.e2e.command_line import Cli, Result, command, environment


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
def quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    """The same command line without a process of its own: ten times as fast."""

    def run(*arguments: object, stdin: str = "", **extra: str) -> Result:
        with (
            monkeypatch.context() as patch,
            mock.patch.dict(os.environ, environment(**extra), clear=True),
        ):
            patch.chdir(tmp_path)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            capsys.readouterr()
            try:
                code = main([str(argument) for argument in arguments])
            except SystemExit as ended:
                code = int(str(ended.code))
            out, err = capsys.readouterr()
        return Result(list(map(str, arguments)), code, out, err)

    return run

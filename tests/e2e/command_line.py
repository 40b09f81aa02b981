"""How the tests run the command line, and what they expect of its output."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from cognigraph.cli import main

Result = subprocess.CompletedProcess[str]
Cli = Callable[..., Result]


def environment(**extra: str) -> dict[str, str]:
    """Return this process's environment without variables that affect commands."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COGNIGRAPH_", "OPENAI_", "COLUMNS"))
        and not name.endswith("_API_KEY")
        and "proxy" not in name.lower()
    }
    none = {"COGNIGRAPH_CONFIG": "/nonexistent/cognigraph.toml"}  # not that of who runs the tests
    return (
        kept
        | none
        | {"PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error::RuntimeWarning"}
        | extra
    )


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "cognigraph", *map(str, arguments)]


def run_here(
    *arguments: object,
    folder: Path,
    stdin: str = "",
    variables: dict[str, str] | None = None,
    **extra: str,
) -> Result:
    """Run it in this process, ten times as fast: for what does not depend on a process.

    ``variables`` are the whole environment, in place of ``extra``.
    """
    words = [str(argument) for argument in arguments]
    encoding = extra.get("PYTHONIOENCODING", "utf-8")
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(text.encode(encoding)), encoding, write_through=True)
        for text in (stdin, "", "")
    )
    with (
        mock.patch.dict(os.environ, variables or environment(**extra), clear=True),
        mock.patch.object(sys, "stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
        chdir(folder),
    ):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(str(ended.code))
    return Result(words, code, *(file.buffer.getvalue().decode(encoding) for file in (out, err)))


def document(result: Result, code: int = 0) -> Any:
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


def error_of(result: Result, code: int) -> str:
    """The one line on standard error of a command that failed."""
    assert result.returncode == code, (result.stdout, result.stderr)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("cognigraph: error: ")
    assert "Traceback" not in result.stderr
    return lines[0]

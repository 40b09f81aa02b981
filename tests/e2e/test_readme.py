"""The README does what it says: its Python blocks run, its commands exist, its figures are ours."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cognigraph.cli.parser import build_parser

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("cognigraph ")
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_every_python_block_runs(number: int, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(PYTHON[number], "utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    if ".context(" in PYTHON[number]:
        assert "[memory]" in done.stdout
        assert "I moved to Oslo in May." in done.stdout


def test_there_are_blocks_to_run() -> None:
    assert len(PYTHON) >= 2
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_understood(command: str) -> None:
    build_parser().parse_args(shlex.split(command)[1:])


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile, target


def test_figures_are_those_of_the_committed_results() -> None:
    """A figure is written as ``value<!-- file.json path.to.value -->`` and must agree."""
    pages = README + (ROOT / "bench" / "ABLATION.md").read_text("utf-8")
    found = re.findall(r"([-+−]?[\d.,]+)<!-- (\S+\.json) (\S+) -->", pages)
    assert len(found) >= 100
    for shown, file, path in found:
        value = json.loads((ROOT / "bench" / "results" / file).read_text("utf-8"))
        for part in path.split("/"):
            value = value[int(part)] if isinstance(value, list) else value[part]
        digits = len(shown.partition(".")[2])
        assert float(shown.replace(",", "").replace("−", "-")) == pytest.approx(
            float(value), abs=0.51 * 10**-digits
        )

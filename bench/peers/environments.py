"""A virtual environment for each memory, made from its pinned requirements."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
DEFAULT = Path(__file__).resolve().parents[2] / ".cache" / "peers"
INSTALL_TIMEOUT = 1800


def python_of(name: str, root: Path) -> Path:
    """Return the Python of the environment; make it if it is missing or its pins have changed.

    ``cognigraph`` is run by the Python of the bench itself.

    Raises:
        RuntimeError: pip failed; the message has its last lines.
    """
    if name == "cognigraph":
        return Path(sys.executable)
    wanted = REQUIREMENTS / f"{name}.txt"
    stamp, folder = root / f"{name}.made", root / name
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (python.exists() and stamp.exists() and stamp.read_text() == digest):
        _make(python, folder, wanted)
        stamp.write_text(digest)
    return python


def _make(python: Path, folder: Path, wanted: Path) -> None:
    print(f"installing {wanted.stem} into {folder}", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True, clear=folder.exists())
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--requirement", wanted],
        capture_output=True, text=True, timeout=INSTALL_TIMEOUT, check=False,
    )  # fmt: skip
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise RuntimeError(f"{wanted.stem} could not be installed:\n{last}")


def versions(name: str) -> tuple[str, list[str]]:
    """Return the date of the pins and the pins themselves."""
    if name == "cognigraph":
        return "", []
    lines = (REQUIREMENTS / f"{name}.txt").read_text("utf-8").splitlines()
    return lines[0].removeprefix("# ").strip(), [line for line in lines[1:] if line]

"""Render the Helm chart, and keep what comes out, so that it is tested where there is no Helm.

``make chart`` installs Helm, if it is not there, and runs ``python -m tests.chart``, which writes
the renderings into ``tests/data/chart``. Each names the digest of what it was made from.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "docker" / "helm" / "cognigraph"
DATA = ROOT / "tests" / "data" / "chart"
KUBERNETES = "1.34.0"
"""Helm renders for this one; built from source, it would take an old one."""
CASES = sorted(path.name.removesuffix(".values.yaml") for path in DATA.glob("*.values.yaml"))


def helm() -> str | None:
    """The command, which ``make chart`` puts into ``.cache``."""
    path = os.pathsep.join((str(ROOT / ".cache" / "helm"), os.environ.get("PATH", "")))
    return shutil.which("helm", path=path)


def values(case: str) -> Path:
    return DATA / f"{case}.values.yaml"


def rendered(values: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``helm template`` with a file of values."""
    command = helm()
    assert command is not None, "no Helm: make chart installs it, if Go is installed"
    return subprocess.run(
        [command, "template", "memory", str(CHART), "--namespace", "agents",
         "--kube-version", KUBERNETES, "--values",
         str(values), *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def heading(case: str) -> str:
    """The first line of a rendering."""
    digest = hashlib.sha256(values(case).read_bytes())
    for file in sorted(path for path in CHART.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(CHART)}\n".encode() + file.read_bytes())
    return f"# By `make chart` from what has the SHA-256 {digest.hexdigest()}\n"


def write() -> None:
    """Render every case."""
    for case in CASES:
        done = rendered(values(case))
        assert done.returncode == 0, done.stderr
        text = re.sub(r"[ \t]+$", "", done.stdout, flags=re.MULTILINE)
        (DATA / f"{case}.rendered.yaml").write_text(heading(case) + text, "utf-8")


if __name__ == "__main__":
    write()

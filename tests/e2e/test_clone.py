"""A clone without symbolic links, as Git for Windows makes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a clone")
def test_a_clone_without_symbolic_links_can_be_imported_and_used(tmp_path):
    git = shutil.which("git")
    assert git is not None
    clone = tmp_path / "clone"
    subprocess.run(
        [git, "-c", "core.symlinks=false", "clone", "--quiet", "--no-hardlinks", ROOT, clone],
        check=True,
    )
    assert (clone / "cognigraph" / "ingest").read_text() == "../ingest"
    code = (
        "from cognigraph import Memory; import cognigraph.ingest\n"
        f"with Memory({str(tmp_path / 'a.db')!r}) as memory:\n"
        "    memory.add('I moved to Oslo in May.', speaker='Ann')\n"
        "    print(memory.search('Where did Ann move?')[0].text, cognigraph.ingest.__file__)"
    )
    environment = {**os.environ, "PYTHONPATH": str(clone)}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split(". ")[0] == "I moved to Oslo in May"
    assert str(clone / "ingest") in ran.stdout

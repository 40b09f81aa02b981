"""The TypeScript client: its types are those of this server, and it works with a real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import openapi

FOLDER = openapi.FILE.parent
TYPES = FOLDER / "src" / "schema.ts"


@pytest.mark.slow
def test_the_document_it_was_made_from_is_that_of_the_server() -> None:
    assert openapi.FILE.read_text("utf-8") == openapi.text(), "run `make typescript`"


needs_node = pytest.mark.skipif(
    shutil.which("npm") is None or not (FOLDER / "node_modules").is_dir(),
    reason="needs Node and `npm ci` in clients/typescript, which `make test-typescript` does",
)


def npm(*words: str, **variables: str) -> str:
    """Run npm in the client's folder; returns what it prints."""
    done = subprocess.run(
        ["npm", "--silent", *words], cwd=FOLDER, env={**os.environ, **variables}, text=True,
        capture_output=True, timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_node
@pytest.mark.slow
def test_its_types_are_made_from_the_document(tmp_path: Path) -> None:
    made = tmp_path / "schema.ts"
    npm("run", "generate", "--", str(made))
    assert made.read_text("utf-8") == TYPES.read_text("utf-8"), "run `make typescript`"


@needs_node
@pytest.mark.slow
def test_it_works_with_a_server_of_its_own() -> None:
    told = npm("test", COGNIGRAPH_PYTHON=sys.executable)
    assert "# pass 4" in told and "# fail 0" in told, told

"""The OpenAPI document of the server, as the TypeScript client has it.

``python -m tests.openapi`` writes it; ``make typescript`` also makes the types from it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from cognigraph import Memory
from cognigraph.server.app import ServerSettings, create_app

FILE = Path(__file__).parents[1] / "clients" / "typescript" / "openapi.json"


def text() -> str:
    """The document, without the version of this package."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "openapi.db", enrich="manual") as memory,
    ):
        found = create_app(memory, ServerSettings(is_local=True)).openapi()
    found["info"]["version"] = "1"
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")

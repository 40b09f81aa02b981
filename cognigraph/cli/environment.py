"""Reads the environment variables of the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass

PIPE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Environment:
    """``COGNIGRAPH_DB``, ``_AUTH``, ``_EMBEDDER``, ``_EXTRACTOR``, ``_KEYS`` and so on.

    ``width`` is the width in columns of output that does not go to a terminal.
    """

    db: str | None
    auth: str | None
    embedder: str | None
    extractor: str | None
    prices: str | None
    keys: str | None
    mcp_token: str | None
    model: str | None
    debug: bool
    width: int


def read_environment() -> Environment:
    """Read all variables."""
    columns = os.environ.get("COLUMNS", "")
    return Environment(
        db=os.environ.get("COGNIGRAPH_DB") or None,
        auth=os.environ.get("COGNIGRAPH_AUTH") or None,
        embedder=os.environ.get("COGNIGRAPH_EMBEDDER") or None,
        extractor=os.environ.get("COGNIGRAPH_EXTRACTOR") or None,
        prices=os.environ.get("COGNIGRAPH_MODEL_PRICES") or None,
        mcp_token=os.environ.get("COGNIGRAPH_MCP_TOKEN") or None,
        keys=os.environ.get("COGNIGRAPH_KEYS") or None,
        model=os.environ.get("COGNIGRAPH_MODEL") or None,
        debug=os.environ.get("COGNIGRAPH_DEBUG", "") not in ("", "0"),
        width=max(40, int(columns)) if columns.isdecimal() else PIPE_WIDTH,
    )

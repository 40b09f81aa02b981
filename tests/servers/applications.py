"""Applications that serve a memory, of which the tests make many."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from cognigraph import Memory
from cognigraph.server.app import ServerSettings, create_app

_ROUTES: list[Any] = []
"""Those of the first application, for all: FastAPI completes a route when it is first called, which
takes longer than most tests of a served memory."""


def application(memory: Memory, **settings: Any) -> FastAPI:
    """Make an application on loopback that does not warm up, unless told otherwise."""
    app = create_app(memory, ServerSettings(**{"is_local": True, "warm_up": False} | settings))
    if _ROUTES:
        app.router.routes[:] = _ROUTES
    else:
        _ROUTES.extend(app.router.routes)
    return app

"""The application: routes, the gate before them, and the answers to errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from cognigraph._version import __version__
from cognigraph.errors import CogniGraphError
from cognigraph.memory import Memory
from cognigraph.server.access import Doorkeeper, bearer
from cognigraph.server.gate import Gate, ServerLimits
from cognigraph.server.keys import KeyFile
from cognigraph.server.long_work import LongWork
from cognigraph.server.metrics import Metrics
from cognigraph.server.page_files import SecurityHeaders, add_page
from cognigraph.server.problems import Problem, invalid_request, of_error, problem
from cognigraph.server.routes import (
    decisions,
    enrichment,
    files,
    graph,
    messages,
    questions,
    spaces,
    system,
)
from cognigraph.server.warm_up import WarmUp

logger = logging.getLogger("cognigraph.server")
_DESCRIPTION = """\
Memory for LLM agents: messages go in, and answers to questions come out with their sources.

Errors are `application/problem+json`; their `detail` says what to do. Times are ISO 8601 with an
offset. Names in paths are percent-encoded, also slashes. With an `id`, adding a message can be
repeated without effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a memory is served.

    ``keys`` holds the API keys. ``is_local`` says that only this machine can connect: then no key
    is needed until the first one is made. With ``warm_up`` the server loads at its start what
    the first questions need, and is ready afterwards.
    """

    keys: KeyFile | None = None
    is_local: bool = False
    warm_up: bool = True
    limits: ServerLimits = field(default_factory=ServerLimits)


def create_app(memory: Memory, settings: ServerSettings) -> FastAPI:
    """Build the application that serves a memory. The caller closes the memory."""
    app = FastAPI(
        title="cognigraph",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        responses={"4XX": _PROBLEM, "5XX": _PROBLEM},
    )
    app.state.memory = memory
    app.state.limits = settings.limits
    app.state.metrics = Metrics()
    app.state.warm_up = WarmUp(memory, is_wanted=settings.warm_up)
    doorkeeper = Doorkeeper(settings.keys, is_open=settings.is_local)
    app.state.doorkeeper = doorkeeper
    _add_routes(app)
    _add_answers_to_errors(app)
    app.add_middleware(
        Gate,
        doorkeeper=doorkeeper,
        limits=settings.limits,
        metrics=app.state.metrics,
        is_local=settings.is_local,
    )
    app.add_middleware(SecurityHeaders)
    return app


_PROBLEM: dict[str, Any] = {
    "description": "A problem: what is wrong, and what to do.",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "retryable"],
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                    "retryable": {"type": "boolean"},
                },
            }
        }
    },
}


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    limits: ServerLimits = app.state.limits
    # The gate decides how many requests of each client are in work. There is a thread for each, so
    # that none waits for a thread which a slow request of another client has.
    to_thread.current_default_thread_limiter().total_tokens = max(1, limits.requests)
    app.state.long_work = LongWork(limits.long, limits.patience)
    app.state.warm_up.start()
    yield
    app.state.warm_up.stop()
    app.state.long_work.stopping.set()


def _add_routes(app: FastAPI) -> None:
    with_key = [Depends(bearer)]
    app.include_router(spaces.store, prefix="/v1", dependencies=with_key)
    app.include_router(spaces.router, dependencies=with_key)
    for module in (messages, questions, graph, decisions, enrichment, files):
        app.include_router(module.router, prefix="/v1/spaces/{space}", dependencies=with_key)
    app.include_router(system.router)
    add_page(app)


def _add_answers_to_errors(app: FastAPI) -> None:
    @app.exception_handler(CogniGraphError)
    async def ours(request: Request, error: CogniGraphError) -> Response:
        return of_error(error)

    @app.exception_handler(Problem)
    async def refused(request: Request, error: Problem) -> Response:
        return error.response()

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        detail = _ADVICE.get(error.status_code, str(error.detail))
        return problem(error.status_code, str(error.detail), detail, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return invalid_request(error.errors(), request.headers.get("content-type", ""))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:
        logger.error("%s %s failed", request.method, request.scope.get("route"), exc_info=error)
        return problem(500, "Internal error", "this is a bug; the log of the server has the reason")


_ADVICE = {
    404: "there is no such path; GET /openapi.json lists all",
    405: "this path does not know the method; GET /openapi.json lists all",
}

"""The application: routes, the gate before them, and the answers to errors."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from anyio import to_thread
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognigraph._version import __version__
from cognigraph.errors import CogniGraphError, ConfigurationError
from cognigraph.memory import Memory
from cognigraph.server.access import Doorkeeper, bearer
from cognigraph.server.gate import Gate, ServerLimits
from cognigraph.server.keys import KeyFile
from cognigraph.server.long_work import LongWork
from cognigraph.server.metrics import Metrics
from cognigraph.server.problems import Problem, invalid_request, of_error, problem
from cognigraph.server.routes import derived, enrichment, files, messages, questions, spaces, system

logger = logging.getLogger("cognigraph.server")
_DESCRIPTION = """\
Memory for LLM agents: messages go in, and answers to questions come out with their sources.

Errors are `application/problem+json`; their `detail` says what to do. Times are ISO 8601 with an
offset. Names in paths are percent-encoded, also slashes. With an `id`, adding a message can be
repeated without effect."""


_ORIGIN = re.compile(r"https?://[^/*?#@\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a memory is served.

    ``keys`` holds the API keys. ``is_local`` says that only this machine can connect: then no key
    is needed until the first one is made. With ``warm_up`` the server loads at its start what
    the first questions need, and is ready afterwards. ``origins`` are the web pages of others that
    may use the API in a browser, such as ``https://app.example``.
    """

    keys: KeyFile | None = None
    is_local: bool = False
    warm_up: bool = True
    limits: ServerLimits = field(default_factory=ServerLimits)
    origins: Sequence[str] = ()

    def __post_init__(self) -> None:
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigurationError(
                    f"{origin!r} is no origin of web pages; give its scheme and host, and a port "
                    "if it has one, such as https://app.example or http://localhost:5173"
                )


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
    app.state.stopping = Event()
    app.state.warm_up = WarmUp(memory, is_wanted=settings.warm_up)
    doorkeeper = Doorkeeper(settings.keys, is_open=settings.is_local)
    app.state.doorkeeper = doorkeeper
    app.state.keys = settings.keys
    _add_routes(app)
    _add_answers_to_errors(app)
    app.add_middleware(
        Gate,
        doorkeeper=doorkeeper,
        limits=settings.limits,
        metrics=app.state.metrics,
        is_local=settings.is_local,
        origins=settings.origins,
    )
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "If-None-Match"],
            expose_headers=["ETag", "Location", "Retry-After"],
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
    with_key = [Depends(bearer), Depends(_refuse_unknown_parameters)]
    app.include_router(spaces.store, prefix="/v1", dependencies=with_key)
    app.include_router(spaces.router, dependencies=with_key)
    for module in (messages, questions, derived, enrichment, files):
        app.include_router(module.router, prefix="/v1/spaces/{space}", dependencies=with_key)
    app.include_router(system.router)
    add_page(app)


def _refuse_unknown_parameters(request: Request) -> None:
    """Refuse a misspelt parameter, which would otherwise have no effect.

    Raises:
        Problem: the request has one in its query that the operation does not read.
    """
    if not request.query_params:
        return
    known = _query_parameters(request.app)[request.scope["route"].name]
    if unknown := sorted(set(request.query_params) - set(known)):
        what = f"this operation has {', '.join(known)}" if known else "this operation has none"
        errors = [{"field": name, "problem": f"is no parameter; {what}"} for name in unknown]
        detail = f"{', '.join(unknown)}: no such parameter; {what}"
        raise Problem(422, "The request is not valid", detail, errors=errors)


def _query_parameters(app: FastAPI) -> dict[str, list[str]]:
    """The names of the parameters in the query of each operation, by its id; made once."""
    if not hasattr(app.state, "query_parameters"):
        app.state.query_parameters = {
            operation["operationId"]: [
                given["name"] for given in operation.get("parameters", ()) if given["in"] == "query"
            ]
            for path in app.openapi()["paths"].values()
            for operation in path.values()
        }
    known: dict[str, list[str]] = app.state.query_parameters
    return known


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


FOLDER = Path(__file__).parent / "page"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""No inline script or style, nothing from elsewhere, and no frame around the page."""


def add_page(app: FastAPI) -> None:
    """Serve the folder: ``index.html`` at ``/``, Swagger UI at ``/docs``, all under ``/page/``."""

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(FOLDER / "index.html", headers={"Cache-Control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return FileResponse(FOLDER / "docs.html", headers={"Cache-Control": "no-cache"})

    app.mount("/page", StaticFiles(directory=FOLDER), name="page")


class SecurityHeaders:
    """ASGI middleware that adds the headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its response."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


_MOST_SPACES = 10
"""Each has an index of its own; those of further spaces are loaded with their first question."""
_SECONDS_TO_STOP = 10
_QUESTION = "Where does everybody live now?"


class WarmUp:
    """Asks a question of some spaces in a thread: that loads the embedder and their indexes."""

    def __init__(self, memory: Memory, *, is_wanted: bool) -> None:
        self._memory = memory
        self._done, self._stopping = Event(), Event()
        self._thread: Thread | None = None
        if not is_wanted:
            self._done.set()

    @property
    def is_done(self) -> bool:
        """Whether everything is loaded."""
        return self._done.is_set()

    def start(self) -> None:
        """Begin, unless it is done or not wanted."""
        if not self.is_done:
            self._thread = Thread(target=self._run, name="cognigraph-warm-up", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End it after the present space, because the memory is about to be closed."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_STOP)

    def _run(self) -> None:
        try:
            for name in self._memory.spaces()[:_MOST_SPACES] or ("default",):
                if self._stopping.is_set():
                    return
                self._memory.space(name).search(_QUESTION, 1)
        except CogniGraphError as error:  # each request will say so again
            logger.warning("the server could not load everything at its start: %s", error)
        finally:
            self._done.set()

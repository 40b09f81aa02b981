"""Routes that take and give whole files: import, export and restore."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from cognigraph.errors import InvalidMessageError
from cognigraph.server.access import Readable, Writable
from cognigraph.server.documents import described
from cognigraph.server.long_work import Report, run_long
from cognigraph.server.tracing import span
from cognigraph.space import Space

router = APIRouter(tags=["files"])
_LINES = {"requestBody": {"content": {"application/jsonl": {"schema": {"type": "string"}}}}}
Derived = Annotated[bool, Query(description="Also what was read out of the messages.")]


@router.post("/import", responses=described(dict[str, object]), openapi_extra=_LINES)
async def import_messages(
    request: Request,
    space: Writable,
    skip_invalid: Annotated[bool, Query(description="Leave out lines that fail.")] = False,
) -> Response:
    """Store messages from JSON lines, each as for `POST messages`. Repeating it changes nothing.

    With `Accept: text/event-stream` each transaction is an event `progress`.
    """
    path = await _received(request)
    work = _Import(space, path, skip_invalid)
    return await run_long(request, work.run, partial(path.unlink, missing_ok=True))


class _Import:
    def __init__(self, space: Space, path: Path, skip_invalid: bool) -> None:
        self._space, self._path, self._skip = space, path, skip_invalid
        self._bad: list[dict[str, Any]] = []
        self._numbers: list[int] = []

    def run(self, report: Report) -> dict[str, object]:
        with span("cognigraph.import", self._space.name), self._path.open("rb") as file:
            total = os.fstat(file.fileno()).st_size
            result = self._space.add_many(
                self._messages(file),
                on_progress=lambda done: report(
                    {"messages": done, "bytes": file.tell(), "total_bytes": total}
                ),
                skip_invalid=self._skip,
            )
        rejected = [
            {"line": self._numbers[one.index], "reason": one.reason} for one in result.rejected
        ]
        return {
            "messages": len(result.ids),
            "new": len(result.new),
            "forgotten": len(result.forgotten),
            "rejected": sorted(self._bad + rejected, key=lambda one: one["line"]),
        }

    def _messages(self, file: Any) -> Iterator[dict[str, Any]]:
        line = file.readline()
        number = 1
        while line:
            if line.strip():
                found = self._message(line, number)
                if found is not None:
                    self._numbers.append(number)
                    yield found
            line = file.readline()
            number += 1

    def _message(self, line: bytes, number: int) -> dict[str, Any] | None:
        try:
            found = json.loads(line)
            problem = None if isinstance(found, dict) else "is not a JSON object"
        except (ValueError, RecursionError):
            found, problem = None, "is not JSON"
        if problem is None:
            return found  # type: ignore[no-any-return]
        if not self._skip:
            raise InvalidMessageError(f"line {number} {problem}", index=number - 1)
        self._bad.append({"line": number, "reason": problem})
        return None


@router.get("/export", responses=described(str, what="JSON lines."))
async def export_space(request: Request, space: Readable, derived: Derived = False) -> Response:
    """Write the space as JSON lines, with earlier texts and what users decided."""
    path = _temporary()
    path.unlink()
    remove = partial(path.unlink, missing_ok=True)
    try:
        await to_thread.run_sync(lambda: space.export_space(path, derived=derived))
    except BaseException:
        remove()
        raise
    return FileResponse(
        path,
        media_type="application/jsonl",
        filename="space.jsonl",
        background=BackgroundTask(remove),
    )


@router.post("/restore", responses=described(dict[str, int]), openapi_extra=_LINES)
async def import_space(request: Request, space: Writable) -> Response:
    """Read a file that `export` has written into a space that holds no messages."""
    path = await _received(request)
    return await run_long(
        request,
        lambda report: {"messages": space.import_space(path)},
        partial(path.unlink, missing_ok=True),
    )


async def _received(request: Request) -> Path:
    """The body of a request in a temporary file."""
    path = _temporary()
    try:
        with path.open("wb") as file:
            async for part in request.stream():
                await to_thread.run_sync(file.write, part)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _temporary() -> Path:
    handle, name = tempfile.mkstemp(prefix="cognigraph-", suffix=".jsonl")
    os.close(handle)
    return Path(name)

"""Routes that take and give whole files: import, export and restore."""

from __future__ import annotations

import errno
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.importers.fields import parse_columns
from cognigraph.importers.source import locate
from cognigraph.model import ImportReport
from cognigraph.server.access import Readable, Writable
from cognigraph.server.answers import described, described_text, schema_of
from cognigraph.server.long_work import Report, Turn, begin_long, long_work_of, run_long
from cognigraph.server.problems import Problem
from cognigraph.tracing import span

logger = logging.getLogger("cognigraph.server")
router = APIRouter(tags=["files"])
_ANY_FILE = {
    "requestBody": {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    }
}
_LINES = "application/jsonl"
_EXPORT = "space.jsonl"
_NAME = re.compile(r"[\w .-]{1,100}")
_MOST_BYTES_OF_NAME = 255
"""The most that common file systems take."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Derived = Annotated[bool, Query(description="Also what was read out of the messages.")]


@router.post(
    "/files/import-file", responses=described(schema_of(ImportReport)), openapi_extra=_ANY_FILE
)
async def import_file(
    request: Request,
    space: Writable,
    name: Annotated[str, Query(description="The file's name: Markdown is a session by it.")] = "f",
    format: Annotated[str, Query(description="auto, jsonl, openai, chatgpt, csv, ...")] = "auto",
    session: Annotated[str | None, Query(description="The session of all messages.")] = None,
    speaker: Annotated[str | None, Query(description="Who said what has no speaker.")] = None,
    columns: Annotated[str | None, Query(description="FIELD=COLUMN,FIELD=COLUMN.")] = None,
    skip_invalid: Annotated[bool, Query(description="Leave out what is bad.")] = False,
    dry_run: Annotated[bool, Query(description="Only say what would be stored.")] = False,
) -> Response:
    """Store the messages of a file in any format that `cognigraph import` reads.

    The body is the file. Repeating it changes nothing. With `Accept: text/event-stream` each
    transaction is an event `progress`.
    """
    options = partial(
        space.files.import_file,
        format=format,
        session=session,
        speaker=speaker,
        columns=parse_columns(columns),
        skip_invalid=skip_invalid,
        dry_run=dry_run,
    )
    upload = await _received(request, _safe_name(name))

    def work(report: Report) -> ImportReport:
        _check_unpacked(upload.path, request.app.state.limits.upload)
        with span("cognigraph.import", space.name):
            return options(upload.path, on_progress=report)

    return await run_long(request, work, upload.discard)


@router.get(
    "/files/export", response_class=Response, responses=described_text(_LINES, "JSON lines.")
)
async def export(request: Request, space: Readable, derived: Derived = False) -> Response:
    """Write the space as JSON lines, with earlier texts and what users decided."""
    path = _new_path(_EXPORT)

    def work(report: Report) -> int:
        with _room():
            return space.files.export(path, derived=derived)

    try:
        run = await begin_long(request, work)
        await run.result(request)
    except BaseException:
        _remove(path)
        raise
    return FileResponse(
        path,
        media_type=_LINES,
        filename=_EXPORT,
        background=BackgroundTask(_remove, path),
    )


@router.post("/files/load", responses=described(dict[str, int]), openapi_extra=_ANY_FILE)
async def load(request: Request, space: Writable) -> Response:
    """Read a file that `export` has written into a space that holds no messages."""
    upload = await _received(request, _EXPORT)
    return await run_long(
        request,
        lambda report: {"messages": space.files.load(upload.path)},
        upload.discard,
    )


class _Upload:
    """A file that a client has sent, with its place among the files that may be here at once."""

    def __init__(self, name: str, place: Turn) -> None:
        self.path = _new_path(name)
        self._place = place

    def discard(self) -> None:
        """Remove the file, and let the next one come."""
        _remove(self.path)
        self._place.end()


async def _received(request: Request, name: str) -> _Upload:
    """The body of a request in a file of this name, alone in a temporary folder."""
    state = long_work_of(request)
    place = await state.place(state.files, request)
    upload = _Upload(name, place)
    try:
        with _room(), upload.path.open("wb") as file:
            async for part in request.stream():
                await to_thread.run_sync(file.write, part)
    except BaseException as error:
        upload.discard()
        if isinstance(error, ClientDisconnect):
            raise Problem(499, "The client has left", "its file did not come whole") from None
        raise
    return upload


@contextmanager
def _room() -> Iterator[None]:
    """Tell a client that its file cannot be kept here, such as because the disk is full."""
    try:
        yield
    except (OSError, StoreError) as error:
        reason = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(reason, OSError) or reason.errno not in _NO_ROOM:
            raise
        logger.error("a temporary file cannot be written", exc_info=error)
        raise Problem(
            507,
            "No room for the file",
            f"the server cannot keep the file while it works on it: {reason.strerror}; its "
            "operator must make room in the folder of temporary files (TMPDIR)",
        ) from error


def _check_unpacked(path: Path, most: int) -> None:
    """Refuse an archive whose files are larger than an upload may be."""
    size = sum(location.size or 0 for location in locate(path, ()))
    if size > most:
        raise Problem(
            413,
            "The archive is too large",
            f"its conversations have {size:,} bytes unpacked, and at most {most:,} are taken",
        )


def _new_path(name: str) -> Path:
    return Path(tempfile.mkdtemp(prefix="cognigraph-")) / name


def _remove(path: Path) -> None:
    shutil.rmtree(path.parent, ignore_errors=True)


def _safe_name(name: str) -> str:
    """A client's name for a file, if it is no more than a name."""
    is_short = len(name.encode("utf-8", "replace")) <= _MOST_BYTES_OF_NAME
    if is_short and _NAME.fullmatch(name) and not name.startswith("."):
        return name
    raise ConfigurationError(
        f"the file name {name[:40]!r} is not accepted: give up to 100 letters, digits, spaces and "
        f"._- without a folder, of at most {_MOST_BYTES_OF_NAME} bytes in UTF-8"
    )

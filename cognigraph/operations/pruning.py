"""Find the messages of notes that are no longer there: of sections, and of whole files."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator

from cognigraph.importers.notes import TAG
from cognigraph.model import StoredMessage
from cognigraph.operations.housekeeping import Housekeeping

_PAGE = 500


def gone_sections(
    space: Housekeeping, session: str, file: str, folder: str | None, present: Collection[str]
) -> list[StoredMessage]:
    """The messages of a file's sections, but for those with the ids that are ``present``."""
    return [
        message
        for message in _notes(space, session, folder)
        if message.metadata.get("file") == file and message.id not in present
    ]


def gone_files(space: Housekeeping, folder: str, present: Container[str]) -> list[StoredMessage]:
    """The messages of files of a folder, but for those files that are ``present``."""
    found: list[StoredMessage] = []
    offset = 0
    while sessions := space.sessions(_PAGE, offset):
        offset += len(sessions)
        for session in sessions:
            if session.id not in present:
                found += [
                    message
                    for message in _notes(space, session.id, folder)
                    if message.metadata.get("file") not in present
                ]
    return found


def _notes(space: Housekeeping, session: str, folder: str | None) -> Iterator[StoredMessage]:
    page = space.messages(session=session, limit=_PAGE)
    while page:
        for message in page:
            if TAG in message.tags and message.metadata.get("folder") == folder:
                yield message
        page = space.messages(session=session, limit=_PAGE, after=page.cursor)

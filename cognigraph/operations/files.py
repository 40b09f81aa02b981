"""``Files``: bring files into a space, and write it to one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cognigraph.engine import Engine
from cognigraph.importers.record import ReadOptions
from cognigraph.model import (
    ImportCallback,
    ImportReport,
)
from cognigraph.operations import copying
from cognigraph.operations.file_import import FileImport
from cognigraph.operations.tenant import Target, Tenant
from cognigraph.validation import checked


class Files(Tenant):
    """A space as files: those of other programs, and its own export."""

    def __init__(self, engine: Engine, space: Target) -> None:
        super().__init__(engine, space.name)
        self._space = space

    @checked
    def import_file(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        session: str | None = None,
        speaker: str | None = None,
        columns: Mapping[str, str] | None = None,
        skip_invalid: bool = False,
        dry_run: bool = False,
        prune: bool = False,
        on_progress: ImportCallback | None = None,
    ) -> ImportReport:
        """Store the messages of a file, an exported archive, or a folder of notes.

        Messages that are already stored are skipped, so an import that was interrupted continues
        when it is repeated. The file is read piece by piece, however large it is.

        Args:
            path: the file or folder; ``-`` is standard input.
            format: ``"auto"``, or one of ``"jsonl"``, ``"openai"``, ``"chatgpt"``, ``"claude"``,
                ``"claude-code"``, ``"langchain"``, ``"langgraph"``, ``"slack"``, ``"telegram"``,
                ``"whatsapp"``, ``"mbox"``, ``"csv"``, ``"markdown"``, ``"mem0"`` and
                ``"graphiti"``. A folder is read as Markdown unless this says otherwise, or it is
                an export of Slack or Telegram.
            session: the session of all messages, instead of those in the file; for JSON lines and
                tables, of messages without one.
            speaker: who said what has neither a speaker nor a role.
            columns: which column or field holds what: ``{"text": "body", "at": "sent"}``.
            skip_invalid: leave out what cannot be stored, and list it in ``rejected``.
            dry_run: store nothing; the report says what would be stored.
            prune: forget messages of Markdown notes that are no longer in the file or folder.
            on_progress: called after each transaction.

        Raises:
            BadRecordError: a message is bad; all messages before it are stored.
            ConfigurationError: the file cannot be read, or its format cannot be told. A file of
                :meth:`export` is read by :meth:`load`.
        """
        options = ReadOptions(session, speaker, columns or {}, self._engine.zone)
        run = FileImport(
            self._engine, self._space, path, format=format, options=options,
            skip_invalid=skip_invalid, dry_run=dry_run, prune=prune, on_progress=on_progress,
        )  # fmt: skip
        return run.run()

    @checked
    def export(self, path: str | Path, *, derived: bool = False) -> int:
        """Write this space to a new file of JSON lines; returns the number of messages.

        The file has the messages with their earlier texts, stated facts, what users decided on
        entities and facts, and the hashes of forgotten messages. Either store reads it with
        :meth:`load`.

        Args:
            path: a new file.
            derived: also write what was read out of the messages, so that nothing needs to be
                read again. The revisions of summaries are written, too.

        Raises:
            StoreError: the file exists or cannot be written.
        """
        return copying.export(self._engine, self._name, Path(path), derived=derived)

    @checked
    def load(self, path: str | Path) -> int:
        """Read a file that :meth:`export` has written; returns the number of messages.

        This space must hold no messages; it may have another name than the exported one, and then
        messages that were forgotten there may be added here. Without derived rows in the file the
        messages are queued to be enriched. It is all or nothing: after an error the space is as
        empty as before, and what a killed process has left is deleted when the call is repeated.

        Args:
            path: the file.

        Raises:
            ConfigurationError: the space holds messages, or the file is not an export.
        """
        return copying.restore(self._engine, self._name, Path(path))

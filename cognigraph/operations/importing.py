"""``Importing``: the operation of a space that reads the files people have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cognigraph.errors import ConfigurationError
from cognigraph.importers.columns import check_columns
from cognigraph.importers.record import ReadOptions
from cognigraph.model import ImportCallback, ImportReport
from cognigraph.operations.copying_spaces import is_export
from cognigraph.operations.file_import import FileImport, Target
from cognigraph.validation import checked


class Importing(Target):
    """One tenant of a memory, as far as files are read into it."""

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
                ``"claude-code"``, ``"langchain"``, ``"csv"``, ``"markdown"``, ``"mem0"`` and
                ``"graphiti"``. A folder is read as Markdown unless this says otherwise.
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
                :meth:`export_space` is read by :meth:`import_space`.
        """
        check_columns(columns or {})
        if is_export(path):
            raise ConfigurationError(
                f"{path} is the export of a space; import_space() reads it, into a space that "
                "holds no messages"
            )
        options = ReadOptions(session, speaker, columns or {}, self._engine.zone)
        run = FileImport(
            self._engine, self, path, format=format, options=options, skip_invalid=skip_invalid,
            dry_run=dry_run, prune=prune, on_progress=on_progress,
        )  # fmt: skip
        return run.run()

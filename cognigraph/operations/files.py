"""``Files``: bring files into a space, batch by batch, and write a space to a file."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NoReturn

from cognigraph.engine import Engine
from cognigraph.errors import BadRecordError, ConfigurationError, ConflictError, InvalidMessageError
from cognigraph.importers.fields import Identifier, check_columns, prepared
from cognigraph.importers.formats import files_of, reader_of
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import FolderFiles, Input, Location, Tally
from cognigraph.model import (
    BadRecord,
    ImportCallback,
    ImportProgress,
    ImportReport,
    StoredMessage,
)
from cognigraph.operations import copying
from cognigraph.operations.adding import REMEDY, as_stored
from cognigraph.operations.copying import is_export
from cognigraph.operations.forgetting import gone_files, gone_sections
from cognigraph.operations.tenant import Target, Tenant
from cognigraph.text.terms import is_name
from cognigraph.times import to_utc
from cognigraph.validation import checked


class Files(Tenant):
    """A space as files: those of other programs, and its own export."""

    def __init__(self, engine: Engine, space: Target, by: str | None = None) -> None:
        super().__init__(engine, space.name, by)
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
                ``"claude-code"``, ``"opencode"``, ``"codex"``, ``"gemini"``,
                ``"langchain"``, ``"langgraph"``, ``"slack"``, ``"telegram"``, ``"whatsapp"``,
                ``"mbox"``, ``"csv"``, ``"markdown"``, ``"mem0"`` and ``"graphiti"``. A folder is
                read as Markdown unless this says otherwise, or it is an export of Slack or
                Telegram.
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
        return copying.restore(self._engine, self._name, Path(path), self._by)


# Bring the messages of files into a space, batch by batch, and count what became of them.

MAX_LISTED = 1000
"""Largest number of bad records and notes that are listed; all are counted."""
_INDEX = re.compile(r"^message \d+:? ")


class FileImport:
    """One run over a file, an archive or a folder.

    With ``space_named``, each message goes to the space of its owner, and those without an owner
    to ``space``.
    """

    def __init__(
        self,
        engine: Engine,
        space: Target,
        path: str | Path,
        *,
        format: str,
        options: ReadOptions,
        skip_invalid: bool,
        dry_run: bool,
        prune: bool,
        on_progress: ImportCallback | None,
        space_named: Callable[[str], Target] | None = None,
    ) -> None:
        self._engine = engine
        self._space = space
        self._own = space.name
        self._space_named = space_named
        self._spaces: dict[str, None] = {}
        self._path = path
        self._format = format
        self._reader: Reader | None = None
        self._options = options
        self._skip_invalid = skip_invalid
        self._dry_run = dry_run
        self._prune = prune
        self._on_progress = on_progress
        self._started = time.perf_counter()
        self._tally = Tally()
        self._counts: Counter[str] = Counter()
        self._rejected: list[BadRecord] = []
        self._notes: list[str] = []
        self._formats: dict[str, None] = {}
        self._times: list[datetime] = []
        self._anonymous: Counter[str] = Counter()
        self._files = 0
        self._many = False
        self._is_repetition = False
        self._total: int | None = None

    def run(self) -> ImportReport:
        """Read everything.

        Raises:
            BadRecordError: a record is bad, and bad ones are not to be skipped.
            ConfigurationError: the file cannot be read, or its format is unknown.
        """
        check_columns(self._options.columns)
        if is_export(self._path):
            raise ConfigurationError(
                f"{self._path} is the export of a space; files.load() reads it, into a space that "
                "holds no messages"
            )
        self._reader, locations = files_of(self._path, self._format)
        self._many = isinstance(locations, FolderFiles) or len(locations) > 1
        self._total = _total(locations)
        with Identifier() as identifier:
            for location in locations:
                with location.open(self._tally) as file:
                    self._read(location, file, identifier)
            sessions = identifier.sessions
        if self._prune and isinstance(locations, FolderFiles):
            self._forget_files(locations)
        return self._report(sessions)

    def _read(self, location: Location, file: Input, identifier: Identifier) -> None:
        reader = self._reader or reader_of(location, file)
        self._formats[reader.name] = None
        self._files += 1
        met: set[str] = set()
        before = self._counts["bad"]
        size = self._engine.settings.insert.batch
        with closing(prepared(reader, file, self._options, identifier)) as records:
            while batch := list(islice(records, size)):
                self._counts["read"] += len(batch)
                for record in batch:
                    self._note(record, identifier)
                    if reader.can_change and isinstance(record.value, dict):
                        met.add(record.value["id"])
                for part in self._by_space(batch):
                    self._store(part, reader, location)
                self._tell()
        if self._prune and reader.can_change and self._counts["bad"] == before:
            session = self._options.session or file.name
            for section in gone_sections(self._space, session, file.name, file.folder, met):
                self._forget(section)

    def _note(self, record: Record, identifier: Identifier) -> None:
        if isinstance(record.value, dict):
            identifier.note_session(str(record.value.get("session", "default")))
            at = record.value.get("at")
            if isinstance(at, str):
                self._note_time(at)

    def _note_time(self, at: str) -> None:
        try:
            moment = to_utc(at, self._engine.zone)
        except InvalidMessageError:
            return  # refused with a reason when it is stored
        self._times = [min([moment, *self._times]), max([moment, *self._times])]

    # What becomes of a batch

    def _by_space(self, batch: Sequence[Record]) -> Iterator[Sequence[Record]]:
        """The records of each space, while this import is directed at it."""
        if self._space_named is None:
            yield batch
            return
        parts: dict[str, list[Record]] = {}
        for record in batch:
            name = record.space or self._own
            if not is_name(name):
                record = replace(record, value=Bad(f"belongs to {name[:80]!r}, no name of a space"))
                name = self._own
            parts.setdefault(name, []).append(record)
        for name, records in parts.items():
            if any(isinstance(record.value, dict) for record in records):
                self._spaces[name] = None
            self._space = self._space_named(name)
            yield records

    def _store(self, batch: Sequence[Record], reader: Reader, location: Location) -> None:
        self._anonymous.clear()  # counts equal messages of one batch, as add_many does
        if self._dry_run or reader.can_change:
            for record in batch:
                self._store_one(record, reader, location)
            return
        if self._is_repetition:
            batch = [record for record in batch if not self._is_known(record)]
        new = self._counts["new"]
        self._add_batch(batch, location)
        self._is_repetition = self._counts["new"] == new

    def _is_known(self, record: Record) -> bool:
        """Whether a message is stored as it is, so that it need not be embedded again."""
        if not isinstance(record.value, dict) or record.value.get("id") is None:
            return False
        try:
            message = as_stored(self._engine, self._space.name, record.value, self._anonymous)
        except InvalidMessageError:
            return False  # refused with a reason when it is stored
        stored = self._space.get(message.id, message.session)
        if stored is None or not stored.text.strip():
            return False
        known = (stored.text, stored.speaker) == (message.text, message.speaker)
        self._counts["known"] += known
        return known

    def _add_batch(self, batch: Sequence[Record], location: Location) -> None:
        values = [record.value for record in batch]
        try:
            result = self._space.add_many(values, skip_invalid=self._skip_invalid)  # type: ignore[arg-type]
        except InvalidMessageError as error:
            # Before an invalid message, everything is stored. With a conflict, everything is stored
            # except for the conflicting messages.
            stored = error.index
            if isinstance(error, ConflictError):
                stored = len(batch) - len(error.ids)
            self._stop(batch[error.index], location, str(error), stored, error)
        self._counts["new"] += len(result.new)
        self._counts["known"] += result.duplicates
        self._counts["forgotten"] += len(result.forgotten)
        self._keep_notes(result.notes)
        for rejection in result.rejected:
            self._reject(batch[rejection.index], location, rejection.reason)

    def _store_one(self, record: Record, reader: Reader, location: Location) -> None:
        """Store a message that may have changed, or only see what would become of it."""
        try:
            self._counts[self._outcome(record, reader)] += 1
        except InvalidMessageError as error:
            if not (self._skip_invalid or self._dry_run):
                self._stop(record, location, str(error), 0, error)
            self._reject(record, location, str(error))

    def _outcome(self, record: Record, reader: Reader) -> str:
        message = as_stored(self._engine, self._space.name, record.value, self._anonymous)
        stored = self._space.get(message.id, message.session)
        if stored is None:
            return self._add(record)
        if stored.text == message.text or not reader.can_change:
            if stored.text != message.text:
                raise InvalidMessageError(
                    f"message 0 has the id {message.id!r}, which already belongs to another text "
                    "in its session"
                )
            return "known"
        if not self._dry_run:
            self._space.update(message.id, message.text, session=message.session)
        return "updated"

    def _add(self, record: Record) -> str:
        if self._dry_run:
            return "new"
        result = self._space.add_many([record.value])  # type: ignore[list-item]
        self._keep_notes(result.notes)
        return "forgotten" if result.forgotten else "new"

    # What is left out

    def _stop(
        self, record: Record, location: Location, reason: str, stored: int, error: Exception
    ) -> NoReturn:
        bad = self._bad(record, location, reason)
        raise BadRecordError(
            bad.position,
            bad.reason,
            stored=self._stored + stored,
            index=self._counts["read"],
        ) from error

    def _reject(self, record: Record, location: Location, reason: str) -> None:
        self._counts["bad"] += 1
        if len(self._rejected) < MAX_LISTED:
            self._rejected.append(self._bad(record, location, reason))

    def _bad(self, record: Record, location: Location, reason: str) -> BadRecord:
        if isinstance(record.value, Bad):
            reason = record.value.problem
        where = f"{location.name}: " if self._many else ""
        return BadRecord(
            f"{where}{record.position}",
            _INDEX.sub("", reason).replace(REMEDY, ""),
            _line(record.position),
        )

    def _keep_notes(self, notes: Sequence[str]) -> None:
        self._notes += notes[: MAX_LISTED - len(self._notes)]

    def _forget(self, message: StoredMessage) -> None:
        self._counts["pruned"] += 1
        if not self._dry_run:
            self._space.forget(message=message.id, session=message.session, allow_again=True)

    def _forget_files(self, files: FolderFiles) -> None:
        for message in gone_files(self._engine, self._space, files.name, files):
            self._forget(message)

    # What is told

    @property
    def _stored(self) -> int:
        return sum(self._counts[name] for name in ("new", "known", "updated"))

    @property
    def _seconds(self) -> float:
        return round(time.perf_counter() - self._started, 3)

    def _tell(self) -> None:
        if self._on_progress is not None:
            counts = self._counts
            self._on_progress(
                ImportProgress(
                    counts["read"], self._stored, self._tally.bytes, self._total, self._seconds
                )
            )

    def _report(self, sessions: int) -> ImportReport:
        counts = self._counts
        return ImportReport(
            formats=tuple(self._formats),
            files=self._files,
            sessions=sessions,
            read=counts["read"],
            new=counts["new"],
            known=counts["known"],
            updated=counts["updated"],
            forgotten=counts["forgotten"],
            pruned=counts["pruned"],
            rejected=tuple(self._rejected),
            rejected_count=counts["bad"],
            notes=tuple(self._notes),
            first_at=self._times[0] if self._times else None,
            last_at=self._times[-1] if self._times else None,
            seconds=self._seconds,
            is_dry_run=self._dry_run,
            spaces=tuple(self._spaces) or (self._own,),
        )


def _total(locations: Iterable[Location]) -> int | None:
    total = 0
    for location in locations:
        if location.size is None:
            return None
        total += location.size
    return total


def _line(position: Position) -> int | None:
    return position.number if position.unit == "line" else None

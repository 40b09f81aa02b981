"""The files to import: a file, standard input, an archive of an export, or a folder."""

from __future__ import annotations

import io
import os
import posixpath
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib import import_module
from lzma import LZMAError
from pathlib import Path
from typing import Any, BinaryIO

from cognigraph.errors import ConfigurationError
from cognigraph.text.terms import storable

HEAD = 64 * 1024
"""Number of bytes from which the format is guessed."""
STDIN = "-"
_UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, LZMAError)
"""What opening and unpacking a file may raise."""
_EXPORTED = ("conversations*.json", "result.json", "_chat.txt", "*WhatsApp*.txt", "*.mbox")
"""The files with messages in the archives of ChatGPT and Claude, Telegram, WhatsApp, and mail."""
_TELEGRAM = "result.json"
SLACK_USERS = "users.json"
SLACK_DAY = re.compile(r"(?:^|.*/)([^/]+)/\d{4}-\d{2}-\d{2}\.json")
"""A day of a channel in an export of Slack, in the channel's folder."""
_PACKED = ".zst"
"""Codex compresses older sessions. Such a file goes by the name of the file in it."""
NOTES = (".md", ".markdown")
"""Suffixes of Markdown notes."""
_MAX_SIBLING = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Input:
    """One opened file.

    ``name`` is its path relative to the given folder, with ``/``, or its file name; ``folder`` is
    the whole path of that folder, if one was given: names of folders repeat. ``stream`` counts what
    was read. ``archive`` is the name of the archive without its suffix, if it was in one.
    ``sibling`` reads another file by its path from this one, and ``cache`` is what a reader keeps
    for the other files of the same import.
    """

    name: str
    stream: io.BufferedReader[Any]
    modified: datetime | None = None
    folder: str | None = None
    archive: str | None = None
    sibling: Callable[[str], bytes | None] = lambda path: None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The file name without its suffix; ``default`` for standard input."""
        return "default" if self.name == STDIN else Path(self.name).stem

    def head(self) -> bytes:
        """The first bytes, which are read again."""
        return self.stream.peek(HEAD)[:HEAD]


class Counted(io.RawIOBase):
    """A stream that adds the number of bytes read to a tally."""

    def __init__(self, stream: BinaryIO, tally: Tally) -> None:
        self._stream = stream
        self._tally = tally

    def readable(self) -> bool:
        """Return true: :class:`io.BufferedReader` asks before it reads."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there, without waiting until the buffer is full."""
        read = getattr(self._stream, "read1", self._stream.read)
        data = read(len(buffer))
        buffer[: len(data)] = data
        self._tally.bytes += len(data)
        return len(data)


@dataclass(slots=True)
class Tally:
    """Number of bytes that an import has read, and what a reader keeps from earlier files of it."""

    bytes: int = 0
    cache: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Location:
    """A file that can be opened: in the file system, in an archive, or standard input.

    ``format`` is that of the export it belongs to, if the export tells.
    """

    name: str
    path: Path | None = None
    member: str | None = None
    size: int | None = None
    folder: str | None = None
    format: str | None = None

    @contextmanager
    def open(self, tally: Tally) -> Iterator[Input]:
        """Open it.

        Raises:
            ConfigurationError: it cannot be read.
        """
        modified = None
        try:
            with ExitStack() as opened:
                if self.path is None:
                    stream: Any = sys.stdin.buffer
                elif self.member is None:
                    modified = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
                    stream = opened.enter_context(self.path.open("rb"))
                else:
                    archive = opened.enter_context(zipfile.ZipFile(self.path))
                    stream = opened.enter_context(archive.open(self.member))
                raw: Any = Counted(stream, tally)
                if self.path is not None and self.path.suffix.lower() == _PACKED:
                    raw = _unpacked(raw)
                yield Input(
                    self.name,
                    io.BufferedReader(raw, HEAD),
                    modified,
                    self.folder,
                    self.path.stem if self.path is not None and self.member is not None else None,
                    self._sibling,
                    tally.cache,
                )
        except _errors() as error:
            raise _unreadable(self.name, error) from error

    def _sibling(self, path: str) -> bytes | None:
        """Another file of the same archive or folder, whole; ``None`` if it is not there."""
        name = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), path))
        if self.path is None or name.startswith((".", "/")):
            return None
        try:
            if self.member is not None:
                with zipfile.ZipFile(self.path) as archive, archive.open(name) as stream:
                    return stream.read(_MAX_SIBLING)
            if self.folder is None:
                return None
            with (Path(self.folder) / name).open("rb") as stream:
                return stream.read(_MAX_SIBLING)
        except (KeyError, *_UNREADABLE):
            return None


def locate(path: str | Path, suffixes: Sequence[str] = ()) -> list[Location] | FolderFiles:
    """The files to read: the file itself, the conversations of an archive, or a folder's files.

    Of a folder, files with one of the ``suffixes`` are read, in the order of their names, also in
    its folders. Hidden files and folders are not, nor links that lead out of the folder. Without
    ``suffixes``, the folder is an export of Slack or Telegram, or one of notes.

    Raises:
        ConfigurationError: there is no such file, or nothing to read in it.
    """
    if str(path) == STDIN:
        return [Location(STDIN)]
    given = Path(path).expanduser()
    try:
        mode = given.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(str(path), error) from error
    if stat.S_ISDIR(mode):
        return _in_folder(given, suffixes) if suffixes else _export_in(given)
    if given.suffix.lower() == ".zip":
        return _in_archive(given)
    size = given.stat().st_size if stat.S_ISREG(mode) else None
    return [Location(_without_packing(given.name), given, size=size)]


class FolderFiles:
    """The files of a folder in the order of their names, looked up each time they are listed.

    There may be many, so only the names in the folders on the way to the present file are kept.
    """

    def __init__(self, folder: Path, suffixes: Sequence[str], format: str | None = None) -> None:
        self._root = folder.resolve()
        self._suffixes = tuple(suffixes)
        self._format = format
        self.name = storable(str(self._root))

    def __iter__(self) -> Iterator[Location]:
        return self._below(self._root)

    def __contains__(self, name: object) -> bool:
        """Whether a file with this name, relative to the folder, is one of them now."""
        if any(_is_hidden(part) for part in str(name).split("/")):
            return False
        files = (self._root.joinpath(f"{name}{packing}") for packing in ("", _PACKED))
        return any(self._location(file) is not None for file in files)

    def _below(self, folder: Path) -> Iterator[Location]:
        for name, is_folder in _visible(folder):
            path = folder / name
            if is_folder:
                yield from self._below(path)
            elif (location := self._location(path)) is not None:
                yield location

    def _location(self, path: Path) -> Location | None:
        name = _without_packing(path.relative_to(self._root).as_posix())
        if not name.lower().endswith(self._suffixes) or not _is_inside(path, self._root):
            return None
        if self._format == "slack" and not SLACK_DAY.fullmatch(name):
            return None
        try:
            size = path.stat().st_size
        except OSError:  # it has just vanished
            return None
        return Location(name, path, size=size, folder=self.name, format=self._format)


def _visible(folder: Path) -> list[tuple[str, bool]]:
    """The names in a folder in order, each with whether it is a folder and not a link to one."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if not _is_hidden(entry.name)
            )
    except OSError:  # it has just vanished, or may not be read
        return []


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or not name


def _export_in(folder: Path) -> list[Location] | FolderFiles:
    """The files of an export of Slack or Telegram that was unpacked; else the notes."""
    if (folder / SLACK_USERS).is_file():
        days = FolderFiles(folder, (".json",), "slack")
        if next(iter(days), None) is not None:
            return days
    if (folder / _TELEGRAM).is_file():
        return locate(folder / _TELEGRAM)
    return _in_folder(folder, NOTES)


def _in_folder(folder: Path, suffixes: Sequence[str]) -> FolderFiles:
    files = FolderFiles(folder, suffixes)
    if next(iter(files), None) is None:
        raise ConfigurationError(
            f"there are no files with the suffix {' or '.join(suffixes)} in {folder}; "
            "for a folder of other files, give its format"
        )
    return files


def _without_packing(name: str) -> str:
    return name[: -len(_PACKED)] if name.lower().endswith(_PACKED) else name


def _unpacked(stream: Counted) -> Any:
    """What is in a file that was packed with Zstandard.

    Raises:
        ConfigurationError: Python is older than 3.14 and the extra is missing.
    """
    try:
        if sys.version_info >= (3, 14):
            return import_module("compression.zstd").ZstdFile(stream)
        reader = import_module("zstandard").ZstdDecompressor().stream_reader
    except ImportError as error:
        raise ConfigurationError(
            "a .zst file needs an extra: pip install 'cognigraph-memory[zstd]'"
        ) from error
    return reader(stream, read_across_frames=True)


def _errors() -> tuple[type[Exception], ...]:
    """What opening and unpacking a file may raise, also by the library that unpacks."""
    loaded = (sys.modules.get(name) for name in ("compression.zstd", "zstandard"))
    return (*_UNREADABLE, *(library.ZstdError for library in loaded if library is not None))


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a file lies in a folder, also after links are followed."""
    try:
        return path.is_file() and path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _in_archive(path: Path) -> list[Location]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
    except (OSError, zipfile.BadZipFile) as error:
        raise _unreadable(path.name, error) from error
    names = [member.filename for member in members]
    is_slack = any(name.rpartition("/")[2] == SLACK_USERS for name in names)
    days = {name for name in names if is_slack and SLACK_DAY.fullmatch(name)}
    chosen = days or _exported(names)
    if not chosen:
        raise ConfigurationError(
            f"{path.name} has no conversations.json, as the exports of ChatGPT and Claude have, "
            "and is no export of Slack, Telegram, WhatsApp or a mailbox; unpack it and import the "
            "files"
        )
    format = "slack" if days else None
    return [
        Location(member.filename, path, member.filename, member.file_size, format=format)
        for member in members
        if member.filename in chosen
    ]


def _exported(names: Sequence[str]) -> set[str]:
    """The files of the first kind of export that there are any of."""
    for pattern in _EXPORTED:
        if found := {name for name in names if fnmatch(name.rpartition("/")[2], pattern)}:
            return found
    return set()


def _unreadable(name: str, error: Exception) -> ConfigurationError:
    reason = getattr(error, "strerror", None) or error
    return ConfigurationError(f"cannot read {name}: {reason}")

"""All formats, and which one a file is in."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from cognigraph.errors import ConfigurationError
from cognigraph.importers import csv_rows, mail, notes, slack, telegram, whatsapp
from cognigraph.importers.agent_sessions import CLAUDE_CODE, CODEX, GEMINI, OPENCODE
from cognigraph.importers.chat_exports import CHATGPT, CLAUDE
from cognigraph.importers.chat_messages import LANGCHAIN, LINES, OPENAI
from cognigraph.importers.memory_dumps import GRAPHITI, LANGGRAPH, MEM0
from cognigraph.importers.record import Head, Reader
from cognigraph.importers.source import FolderFiles, Input, Location, locate

AUTO = "auto"
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        notes.READER, csv_rows.READER, mail.READER, whatsapp.READER, telegram.READER, slack.READER,
        CHATGPT, CLAUDE, GEMINI, CLAUDE_CODE, OPENCODE, CODEX, GRAPHITI, MEM0,
        LANGGRAPH, LANGCHAIN, OPENAI, LINES,
    )
}  # fmt: skip
"""The readers, in the order in which they are asked whether a file is theirs."""


def reader_named(name: str) -> Reader:
    """The reader of a format.

    Raises:
        ConfigurationError: there is none.
    """
    if name in READERS:
        return READERS[name]
    near = get_close_matches(name, READERS, 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    known = ", ".join([AUTO, *sorted(READERS)])
    raise ConfigurationError(f"unknown format {name!r}{hint}; the formats are {known}")


def reader_for(head: Head) -> Reader:
    """The reader for a file, chosen by how the file begins.

    Raises:
        ConfigurationError: no reader knows it.
    """
    for reader in READERS.values():
        if reader.sniff(head):
            return reader
    if head.name == "-" or not head.text:
        return READERS["jsonl"]
    raise ConfigurationError(
        f"cannot tell the format of {head.name}; give its format: {', '.join(sorted(READERS))} "
        "(other files, such as PDF or Word, must be converted to text first)"
    )


def reader_of(location: Location, file: Input) -> Reader:
    """The reader for an opened file: that of the export it belongs to, or by how it begins.

    Raises:
        ConfigurationError: no reader knows it.
    """
    if location.format is not None:
        return READERS[location.format]
    return reader_for(Head(file.name, file.head()))


def files_of(path: str | Path, format: str) -> tuple[Reader | None, list[Location] | FolderFiles]:
    """The reader of a format, and the files to read; ``"auto"`` has none, each file is sniffed.

    Raises:
        ConfigurationError: there is no such format or file, or nothing to read in it.
    """
    reader = None if format == AUTO else reader_named(format)
    return reader, locate(path, () if reader is None else reader.suffixes)

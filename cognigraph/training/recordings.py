"""Reads the calls of writers that ``MemBuilderExtractor(record=...)`` has recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.membuilder.actions import WRITERS
from cognigraph.ingest.membuilder.recording import WriterCall


def read_calls(path: Path) -> Iterator[WriterCall]:
    """The calls of a file, in order.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not a call.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _call(line, number, path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error


def _call(line: str, number: int, path: Path) -> WriterCall:
    try:
        fields = json.loads(line)
        call = WriterCall(**{**fields, "refused": tuple(fields["refused"])})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigurationError(
            f"line {number} of {path} is not a call of a writer; record calls with "
            "MemBuilderExtractor(record=...)"
        ) from error
    if call.writer not in WRITERS:
        raise ConfigurationError(f"line {number} of {path}: there is no writer {call.writer!r}")
    return call

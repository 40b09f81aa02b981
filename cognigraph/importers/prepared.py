"""Prepare what a reader yields for the memory: our field names, an id, a time, a speaker."""

from __future__ import annotations

from collections.abc import Generator

from cognigraph.importers.columns import with_keys, with_time
from cognigraph.importers.identify import Identifier
from cognigraph.importers.record import Bad, Reader, ReadOptions, Record
from cognigraph.importers.source import Input


def prepared(
    reader: Reader, file: Input, options: ReadOptions, identifier: Identifier
) -> Generator[Record, None, None]:
    """The messages of a file, each with what the memory needs to recognise it."""
    for record in reader.read(file, options):
        if isinstance(record.value, Bad):
            yield record
            continue
        message = with_keys(record.value, options.columns)
        identifier.identify(message)  # before the time is converted: ids stay those of old versions
        message = with_time(message)
        if options.speaker and not any(message.get(n) for n in ("speaker", "role", "name")):
            message["speaker"] = options.speaker
        yield Record(record.position, message)

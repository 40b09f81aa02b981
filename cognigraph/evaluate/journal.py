"""An append-only file of JSON lines; an incomplete last line, left by a crash, is dropped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cognigraph.evaluate.files import DatasetError


class Journal:
    """Records by key in one append-only file; the last record of a key counts."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key
        self.records: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with self._path.open("r+b") as stream:
                stream.truncate(whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                record = json.loads(line)
                self.records[record[self._key]] = record
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise DatasetError(
                    f"line {number} of {self._path} is damaged; remove the file to do that part "
                    "of the evaluation again"
                ) from error

    def write(self, record: dict[str, Any]) -> None:
        """Append a record; it is on disk when this returns."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        with self._path.open("ab") as stream:
            stream.write(line.encode("utf-8", "surrogatepass"))
            stream.flush()
            os.fsync(stream.fileno())
        self.records[record[self._key]] = record

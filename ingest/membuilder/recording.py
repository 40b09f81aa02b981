"""Records what writers were asked and what they answered, as examples for training."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from cognigraph.ingest.membuilder.actions import Writer


@dataclass(frozen=True, slots=True)
class WriterCall:
    """One call: the prompt, the answer (a JSON object), and why parts of it were not valid."""

    writer: Writer
    version: str
    space: str
    session: str
    system: str
    user: str
    answer: Any
    refused: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether all of the answer was valid."""
        return not self.refused


class Recording:
    """Appends calls to a file of JSON lines. Thread-safe. The file quotes messages."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = Lock()

    def __call__(self, call: WriterCall) -> None:
        """Append a call."""
        line = json.dumps(asdict(call), ensure_ascii=False)
        with self._lock, self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n")

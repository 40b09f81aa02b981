"""``cognigraph import``: adds messages from JSON lines; reports line numbers and can be resumed."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from cognigraph.cli.open_memory import in_our_words
from cognigraph.errors import ConfigurationError, ConflictError, InvalidMessageError
from cognigraph.model import Rejection
from cognigraph.settings import InsertSettings
from cognigraph.space import Space

_INDEX = re.compile(r"^message \d+:? ")
_BATCH = InsertSettings().batch
_CHAT = ("role", "name", "content", "tool_calls", "function_call", "tool_call_id", "raw")
"""What tells chat messages apart, beside the fields that every message has."""

Numbered = tuple[int, Any]
"""A line number (from 1) and the message on that line."""


class LineError(ConfigurationError):
    """A line cannot be stored; ``stored`` is the number of messages that this run has stored."""

    def __init__(self, message: str, *, stored: int) -> None:
        super().__init__(message)
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a line that is not a JSON object, so that it is rejected in order."""

    problem: str


class Lines:
    """Reads messages, one JSON object per line, in batches with their line numbers."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._seen: Counter[bytes] = Counter()
        self.bytes = 0

    def batches(self) -> Iterator[list[Numbered]]:
        """Batches of messages, each the size of one transaction."""
        messages = self._messages()
        while batch := list(islice(messages, _BATCH)):
            yield batch

    def _messages(self) -> Iterator[Numbered]:
        for number, line in enumerate(self._stream, 1):
            self.bytes += len(line)
            if line.strip() and line.strip() != codecs.BOM_UTF8:
                yield number, self._message(line, number)

    def _message(self, line: bytes, number: int) -> object:
        try:
            message = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            return Unreadable("is not UTF-8")
        except ValueError as error:
            return Unreadable(f"is not JSON: {error}")
        except RecursionError:
            return Unreadable("is nested too deeply")
        if not isinstance(message, dict):
            return Unreadable('is not a JSON object such as {"text": "..."}')
        if message.get("id") is None:
            self._identify(message)
        return message

    def _identify(self, message: dict[str, Any]) -> None:
        """Assign an id, the same on every run, to a message that would not be recognised otherwise.

        This applies to a message without a time, and to a repetition of an equal message with the
        same time.
        """
        parts = [message.get(name) for name in ("session", "speaker", "text", "at")]
        chat = {name: message[name] for name in _CHAT if message.get(name) is not None}
        if chat:  # the ids of other lines stay those of older versions
            parts.append(chat)
        same = hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()
        self._seen[same] += 1
        if message.get("at") is None or self._seen[same] > 1:
            digest = hashlib.blake2b(same, digest_size=8, salt=self._seen[same].to_bytes(16))
            message["id"] = f"import-{digest.hexdigest()}"


class Import:
    """One run: adds lines to a space and counts the results."""

    def __init__(self, space: Space, lines: Lines, *, skip_invalid: bool) -> None:
        self._space = space
        self._lines = lines
        self._skip_invalid = skip_invalid
        self.read = 0
        self.stored = 0
        self.new = 0
        self.notes: list[str] = []
        self.rejected: list[dict[str, Any]] = []
        self.seconds = 0.0

    @property
    def known(self) -> int:
        """Number of messages that were stored before."""
        return self.stored - self.new

    def run(self, on_progress: Callable[[int], None]) -> None:
        """Store all messages.

        Raises:
            LineError: a line is invalid, and invalid lines are not to be skipped.
        """
        started = time.perf_counter()
        for batch in self._lines.batches():
            self._store(batch)
            self.read += len(batch)
            on_progress(self.read)
        self.rejected.sort(key=lambda item: int(item["line"]))
        self.seconds = round(time.perf_counter() - started, 3)

    def _store(self, batch: list[Numbered]) -> None:
        try:
            result = self._space.add_many(
                [message for _, message in batch], skip_invalid=self._skip_invalid
            )
        except InvalidMessageError as error:
            line, message = batch[error.index]
            # Before an invalid message, everything is stored. With a conflict, everything is stored
            # except for the conflicting messages.
            stored = error.index
            if isinstance(error, ConflictError):
                stored = len(batch) - len(error.ids)
            problem = self._problem(str(error), message)
            raise LineError(f"line {line} {problem}", stored=self.stored + stored) from error
        self.stored += len(result.ids)
        self.new += len(result.new)
        self.notes += result.notes
        self.rejected += [self._rejection(rejection, batch) for rejection in result.rejected]

    def _rejection(self, rejection: Rejection, batch: list[Numbered]) -> dict[str, Any]:
        line, message = batch[rejection.index]
        return {"line": line, "reason": self._problem(rejection.reason, message)}

    @staticmethod
    def _problem(reason: str, message: object) -> str:
        if isinstance(message, Unreadable):
            return message.problem
        return in_our_words(_INDEX.sub("", reason))


@contextmanager
def source(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file or standard input (``-``) as bytes; yields the stream and its size, if known."""
    if name == "-":
        yield sys.stdin.buffer, None
        return
    path = Path(name).expanduser()
    try:
        stream = path.open("rb")
    except OSError as error:
        raise ConfigurationError(f"cannot read {name}: {error.strerror or error}") from error
    with stream:
        size = path.stat().st_size if path.is_file() else None
        yield stream, size

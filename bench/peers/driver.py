"""Starts an adapter as a process, sends it requests, and kills it."""

from __future__ import annotations

import json
import math
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ADAPTERS = Path(__file__).resolve().parent / "adapters"

QUIET = {
    # What each memory documents for switching its telemetry off.
    "MEM0_TELEMETRY": "False",
    "GRAPHITI_TELEMETRY_ENABLED": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "TELEMETRY_DISABLED": "1",
    "DO_NOT_TRACK": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_OFFLINE": "1",
    # Anything else is sent to a port where nobody listens.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
    "OPENAI_API_KEY": "none",
    "PYTHONUNBUFFERED": "1",
    "PYTHONWARNINGS": "ignore",
    "OMP_NUM_THREADS": "2",
}
_LEFT_OUT = ("COGNIGRAPH_", "OPENAI_", "LITELLM_", "LLM_", "EMBEDDING_", "PYTHON")


class PeerError(RuntimeError):
    """The adapter reported an error."""


class PeerDiedError(RuntimeError):
    """The process ended, or did not answer in time."""


class OverTimeError(RuntimeError):
    """What was measured took longer than it may. No error of the memory: nobody may ignore it."""


class Limit:
    """How long a measurement may take; all processes that take part in it share one."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self.begin()

    def begin(self) -> None:
        """Start the time again, for the next measurement."""
        self._end = self._now() + self.seconds

    def left(self) -> float:
        """Return the seconds left, 0 if there are none."""
        return max(0.0, self._end - self._now())


@dataclass(frozen=True)
class Answer:
    """The result of a request and the milliseconds that it took inside the adapter."""

    result: Any
    ms: float


class Peer:
    """One process of an adapter. To be used as a context manager; leaving it kills the process."""

    def __init__(
        self, python: Path, adapter: str, settings: Mapping[str, Any], limit: Limit | None = None
    ) -> None:
        self.settings = dict(settings)
        self._limit = limit or Limit(math.inf)
        self._log = (Path(settings["folder"]) / "adapter.log").open("ab")
        self._process = subprocess.Popen(
            [str(python), str(ADAPTERS / f"{adapter}.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment(Path(settings["folder"])),
            cwd=settings["folder"],
        )
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put(line)
        self._answers.put(None)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._log.close()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def send(self, do: str, **request: Any) -> None:
        """Send a request without waiting for its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:  # ValueError: the pipe was closed here
            raise PeerDiedError(self._last_words()) from error

    def receive(self, timeout: float = 180) -> Answer:
        """Wait for the answer to the oldest request.

        Raises:
            PeerError: the memory raised an exception.
            PeerDiedError: the process ended, or did not answer in time.
            OverTimeError: the time of the whole measurement is up.
        """
        left = self._limit.left()
        try:
            line = self._answers.get(timeout=min(timeout, left))
        except queue.Empty:
            if left < timeout:
                raise OverTimeError(f"stopped after {self._limit.seconds:g} s") from None
            raise PeerDiedError(f"no answer within {timeout:g} s") from None
        if line is None:
            raise PeerDiedError(self._last_words())
        answer = json.loads(line)
        if not answer["ok"]:
            raise PeerError(answer["error"])
        return Answer(answer["result"], answer["ms"])

    def ask(self, do: str, timeout: float = 180, **request: Any) -> Answer:
        """Send a request and wait for its answer."""
        self.send(do, **request)
        return self.receive(timeout)

    def open(self, timeout: float = 240) -> float:
        """Open the memory; return the seconds that it took, without starting Python."""
        return self.ask("open", timeout, settings=self.settings).ms / 1000

    def close(self) -> None:
        """Close the memory and wait for the end of the process."""
        self.ask("close")
        try:
            self._process.wait(min(60, self._limit.left()))
        except subprocess.TimeoutExpired:
            raise PeerDiedError("the process did not end after it was closed") from None

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        self._reader.join(10)
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def _last_words(self) -> str:
        self._log.flush()
        text = Path(self._log.name).read_text("utf-8", errors="replace")
        return "the process ended: " + " | ".join(text.strip().splitlines()[-3:])[-400:]


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of an adapter: its own home, no telemetry, no way out."""
    own = {name: text for name, text in os.environ.items() if not name.startswith(_LEFT_OUT)}
    quiet = QUIET | {name.lower(): text for name, text in QUIET.items() if name.endswith("_PROXY")}
    return {**own, **quiet, "HOME": str(folder)}


def wait_a_moment(seconds: float) -> None:
    """Sleep; a name of its own, so that a test can replace it."""
    time.sleep(seconds)

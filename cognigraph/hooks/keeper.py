"""The process in the background: stores the events that wait, and answers what is remembered.

At most one runs for each memory (:mod:`cognigraph.hooks.run`). It stays for some minutes after the
last event, since loading everything again takes longer than an agent waits.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from cognigraph.errors import CogniGraphError, StoreError
from cognigraph.hooks.agents import PERSON, Event
from cognigraph.hooks.spool import Spool
from cognigraph.importers.fields import Identifier, prepared
from cognigraph.importers.formats import reader_named
from cognigraph.importers.record import Bad, ReadOptions
from cognigraph.importers.source import Input
from cognigraph.ingest.extractors import chosen_extractor
from cognigraph.ingest.pieces import fresh
from cognigraph.ingest.queue.step import Limits
from cognigraph.memory import Memory
from cognigraph.model import Filter, Role
from cognigraph.space import Space
from cognigraph.stores import start_blocks

STAY = timedelta(minutes=30)
"""How long the process stays after the last event. ``COGNIGRAPH_HOOKS_STAY`` has the seconds."""
_LOOK_SECONDS = 0.5
"""How often it looks for events."""
_SWITCH_SECONDS = 0.0005
"""How long a thread computes while another one waits for its turn: a tenth of Python's default. An
answer takes its turn anew after each query, so it would wait that long a hundred times."""
_MAX_WAY_SECONDS = 1.0
"""The longest that storing waits for answers."""
_TRANSCRIPT_COMES = timedelta(minutes=10)
"""If no transcript has a message by then, what was said is stored as the event said it."""
_PIECE = 8 * 1024 * 1024
"""How many bytes of a transcript are read at once."""
_MAX_TRANSCRIPTS = 500
_SAID = ("user", "assistant")
"""The roles that are stored. Output of tools is large, may hold secrets, and is never searched."""


def run_keeper(spool: Spool) -> set[str]:
    """Store what waits, answer for a while, and return the events that cannot be stored now.

    Raises:
        CogniGraphError: the memory cannot be opened; the events wait for the next process.
    """
    stay = float(os.environ.get("COGNIGRAPH_HOOKS_STAY") or STAY.total_seconds())
    sys.setswitchinterval(_SWITCH_SECONDS)
    with open_memory(spool) as memory:
        return _Service(spool, memory, stay).run()


class _Service:
    """One run of the process: a thread stores, and the caller's thread answers."""

    def __init__(self, spool: Spool, memory: Memory, seconds: float) -> None:
        self._spool = spool
        self._memory = memory
        self._seconds = seconds
        self._answers = _AnswersFirst()
        self._events = _EventStore(spool, memory, self._answers)
        self._last = time.monotonic()

    def run(self) -> set[str]:
        """Serve until nothing has happened for long enough, and return the deferred events."""
        for project in self._events.projects:
            warm(self._memory, project)
        listener = self._listen()  # from now on agents wait for answers
        storing = threading.Thread(target=self._store_until_quiet, daemon=True)
        storing.start()
        try:
            while storing.is_alive():
                if listener is None:
                    storing.join(_LOOK_SECONDS)
                else:
                    with suppress(TimeoutError):
                        connection, _ = listener.accept()
                        self._last = time.monotonic()
                        threading.Thread(
                            target=self._answer, args=(connection,), daemon=True
                        ).start()
        finally:
            if listener is not None:
                self._spool.socket_file.unlink(missing_ok=True)
                listener.close()
        self._events.drain()  # what came while it still listened
        return self._events.deferred

    def _listen(self) -> socket.socket | None:
        """Listen in the current folder; ``None`` on a system without such sockets."""
        if not hasattr(socket, "AF_UNIX"):
            return None
        self._spool.socket_file.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self._spool.socket_file.name)  # a whole path may be too long
        listener.listen()
        listener.settimeout(_LOOK_SECONDS)
        return listener

    def _store_until_quiet(self) -> None:
        """Store events as they come, and prepare what starts of conversations show meanwhile."""
        while True:
            try:
                if self._events.drain():
                    self._last = time.monotonic()
                else:
                    self._events.refresh_start_blocks()
            except Exception as error:  # noqa: BLE001 - the next process tries again
                self._spool.log(f"storing: {type(error).__name__}: {error}")
                return
            if time.monotonic() - self._last > self._seconds:
                return
            time.sleep(_LOOK_SECONDS)

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError), connection.makefile("rb") as stream:
            line = stream.readline()
            if not line:
                return  # only to wake this process
            try:
                with self._answers.answering():
                    for block in recalled(self._memory, Event(**json.loads(line)["recall"])):
                        connection.sendall(json.dumps(block).encode() + b"\n")
            except OSError:  # the agent waits no longer
                raise
            except Exception as error:  # noqa: BLE001 - the agent goes on without it
                self._spool.log(f"recall: {type(error).__name__}: {error}")


class _AnswersFirst:
    """Lets answers, for which an agent waits, go before what is done in the background."""

    def __init__(self) -> None:
        self._pending = 0
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is made."""
        with self._changed:
            self._pending += 1
        try:
            yield
        finally:
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait while an answer is made, but not for ever."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending, _MAX_WAY_SECONDS)


@dataclass(slots=True)
class _Progress:
    """How far a transcript was read, for which space, and whether there was a message in it."""

    offset: int
    space: str
    agent: str
    session: str
    has_message: bool


class _EventStore:
    """Stores events. Whatever it does can be repeated: ids tell what is stored already.

    ``deferred`` are the names of events that wait for their transcript or for the store, and
    ``projects`` the spaces in which something has happened.
    """

    def __init__(self, spool: Spool, memory: Memory, answers: _AnswersFirst) -> None:
        self._spool = spool
        self._memory = memory
        self._answers = answers
        self._progress = _read_progress(spool.read_file)
        self._changed: set[str] = set()
        self._ended: set[str] = set()
        self.deferred: set[str] = set()
        self.projects = {
            event.space for name in spool.names() if (event := self._event(name)) is not None
        }

    def drain(self) -> bool:
        """Store all that can be stored now; whether there was an event among it."""
        names = self._spool.names()
        events = {name: event for name in names if (event := self._event(name)) is not None}
        self.projects |= {event.space for event in events.values()}
        self._ended = {event.session for event in events.values() if event.is_end}
        deferred = {name for name, event in events.items() if not self._is_settled(name, event)}
        self._catch_up()
        self._enrich()
        self.deferred = deferred
        return len(deferred) < len(names)

    def refresh_start_blocks(self) -> None:
        """Make the blocks anew whose spaces this process or another one has changed."""
        path = self._spool.db_path
        for project in self.projects:
            self._answers.give_way()
            with suppress(sqlite3.OperationalError):  # it is locked: the next time
                for name, state in start_blocks.outdated(path, project, PERSON).items():
                    space, question = self._memory.space(name), self._last_prompts(project)
                    block = space.context(question, _tokens(name)) if question else ""
                    start_blocks.write(path, project, name, state, str(block))

    def _last_prompts(self, project: str) -> str:
        """What the user said last in a project: it stands for the question that nobody asked."""
        latest = self._memory.space(project).messages(
            order="newest", limit=_RECENT, where=Filter(roles=("user",))
        )
        return "\n".join(message.text for message in reversed(list(latest)))[-_MAX_QUESTION:]

    def _event(self, name: str) -> Event | None:
        try:
            return self._spool.get(name)
        except (OSError, ValueError, TypeError) as error:
            self._set_aside(name, error)
            return None

    def _set_aside(self, name: str, error: Exception) -> None:
        self._spool.set_aside(name)
        self._spool.log(f"{name} is set aside: {type(error).__name__}: {error}")

    def _is_settled(self, name: str, event: Event) -> bool:
        """Store an event or set it aside; ``False`` if it is to be tried again later."""
        self._answers.give_way()
        try:
            if not self._store_event(event):
                return False
            self._spool.remove(name)
        except (StoreError, OSError) as error:  # later, the same may succeed
            if name not in self.deferred:
                self._spool.log(f"{name}: {type(error).__name__}: {error}")
            return False
        except Exception as error:  # noqa: BLE001 - it must not keep those behind it waiting
            self._set_aside(name, error)
        return True

    def _store_event(self, event: Event) -> bool:
        """Store what was said; ``False`` while the transcript, which says it with its own ids, may
        still come."""
        if event.memory and Path(event.memory).is_file():
            self._store_memory_file(event.agent, Path(event.memory))
        if event.transcript is not None:
            if Path(event.transcript).exists() and self._read_for(event, event.transcript):
                return True
            age = datetime.now(UTC) - datetime.fromisoformat(event.at)
            if event.text and age < _TRANSCRIPT_COMES and event.session not in self._ended:
                return False
        text = fresh(event.text).strip()
        if text:
            role: Role = "user" if event.kind == "prompt" else "assistant"
            self._memory.space(event.space).add(
                text, id=event.id, session=event.session, at=event.at, role=role
            )
            self._changed.add(event.space)
        return True

    def _store_memory_file(self, agent: str, path: Path) -> None:
        """Store what the agent keeps for the user everywhere, in the space of the person."""
        self._memory.space(PERSON).files.import_file(
            path, format="markdown", session=f"{agent}: {path.name}", prune=True, skip_invalid=True
        )
        self._changed.add(PERSON)

    # Transcripts

    def _catch_up(self) -> None:
        """Read what was added to transcripts after the event that named them."""
        for path, progress in list(self._progress.items()):
            with suppress(OSError):
                if Path(path).stat().st_size != progress.offset:
                    self._read(path, progress)

    def _read_for(self, event: Event, path: str) -> bool:
        """Store what is new in the transcript of an event; whether there is a message in it."""
        new = _Progress(0, event.space, event.agent, event.session, has_message=False)
        progress = self._progress.pop(path, new)
        self._progress[path] = progress  # the last one in the list is the newest
        self._read(path, progress)
        return progress.has_message

    def _read(self, path: str, progress: _Progress) -> None:
        """Store what is new in a transcript, up to the end of its last complete line."""
        with Path(path).open("rb") as file:
            if file.seek(0, os.SEEK_END) < progress.offset:
                progress.offset = 0  # another file by this name
            file.seek(progress.offset)
            while lines := _whole_lines(file):
                self._store_lines(Path(path).name, lines, progress)
                progress.offset += len(lines)
                self._write_progress()

    def _store_lines(self, name: str, lines: bytes, progress: _Progress) -> None:
        stored = self._memory.space(progress.space)
        file = Input(name, BufferedReader(BytesIO(lines)))
        # A line of Claude Code names its session, which may be one that was branched off from.
        session = None if progress.agent == "claude-code" else progress.session
        reader, options = reader_named(progress.agent), ReadOptions(session=session)
        with Identifier() as identifier:
            messages = [
                record.value
                for record in prepared(reader, file, options, identifier)
                if not isinstance(record.value, Bad) and _is_said(record.value)
            ]
        progress.has_message = progress.has_message or bool(messages)
        # A conversation that is resumed or branched off repeats messages under another session.
        new = [given for given in messages if stored.get(given["id"]) is None]
        if new:
            self._changed.add(progress.space)
        for rejection in stored.add_many(new, skip_invalid=True).rejected:
            self._spool.log(f"{name}: left out: {rejection.reason}")

    def _write_progress(self) -> None:
        newest = list(self._progress.items())[-_MAX_TRANSCRIPTS:]
        part = self._spool.read_file.with_suffix(".part")
        part.write_text(json.dumps({path: astuple(progress) for path, progress in newest}), "utf-8")
        part.replace(self._spool.read_file)

    def _enrich(self) -> None:
        """Read the new messages, as long as no new event waits."""
        for name in sorted(self._changed):
            space = self._memory.space(name)
            with suppress(CogniGraphError):  # such as a model's; the messages stay in the queue
                while space.queue.enrich(limits=Limits(rounds=1)):
                    self._answers.give_way()
                    if set(self._spool.names()) - self.deferred:
                        return
            self._changed.discard(name)


def _read_progress(path: Path) -> dict[str, _Progress]:
    """The places that were kept; without them all is read anew, and nothing is stored twice."""
    with suppress(OSError, ValueError, TypeError):
        given: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        return {path: _Progress(*values) for path, values in given.items()}
    return {}


def _whole_lines(file: BufferedReader) -> bytes:
    """The next lines of a file, without one that is not complete."""
    piece = file.read(_PIECE)
    end = piece.rfind(b"\n") + 1
    if not end and len(piece) == _PIECE:
        return piece + file.readline()
    file.seek(end - len(piece), os.SEEK_CUR)
    return piece[:end]


def _is_said(message: Mapping[str, Any]) -> bool:
    """Whether a message is something that the user or the agent said, not recalled from here."""
    text = str(message.get("text", ""))
    return message.get("role") in _SAID and bool(message.get("id")) and bool(fresh(text).strip())


# What is remembered of a project and of the person, as text for the agent.

_PROJECT_TOKENS = 900
_PERSON_TOKENS = 300
_MIN_CONFIDENCE = 0.5
"""The least confidence of what is shown with a prompt. Nobody has asked for it, and it stays in the
conversation, so it must be likelier to help than not."""
_IN_VIEW = 50
"""The newest messages of the conversation itself, which the agent is taken to see anyway."""
_RECENT = 4
_MAX_QUESTION = 2_000


def open_memory(spool: Spool) -> Memory:
    """The memory of coding agents, as the other commands would open it."""
    return Memory(
        spool.db,
        embedder=os.environ.get("COGNIGRAPH_EMBEDDER") or "wordllama",
        extractor=os.environ.get("COGNIGRAPH_EXTRACTOR") or chosen_extractor(),
        enrich="manual",
    )


def recalled(memory: Memory, prompt: Event) -> Iterator[str]:
    """Yield what is remembered of what the user says: of the project first, then of the person."""
    question = prompt.text[:_MAX_QUESTION]
    there = set(memory.spaces())
    for name in (prompt.space, PERSON):
        if name in there:
            space = memory.space(name)
            block = space.context(question, _tokens(name), without=_ids_in_view(space, prompt))
            if block and (block.confidence is None or block.confidence >= _MIN_CONFIDENCE):
                yield str(block)


def warm(memory: Memory, project: str) -> None:
    """Load what an answer needs, which takes a second with the first one."""
    for name in {project, PERSON} & set(memory.spaces()):
        memory.space(name).context(project, _PERSON_TOKENS)


def _tokens(name: str) -> int:
    return _PERSON_TOKENS if name == PERSON else _PROJECT_TOKENS


def _ids_in_view(space: Space, event: Event) -> list[str]:
    page = space.messages(session=event.session, order="newest", limit=_IN_VIEW)
    return [message.id for message in page]

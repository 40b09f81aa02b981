"""The process in the background: stores the events that wait, and answers what is remembered.

At most one runs for each memory (:mod:`cognigraph.hooks.alone`). It stays for some minutes after
the last event, since loading everything again takes longer than an agent waits.
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
_SWITCH_SECONDS = 0.0005
"""How long a thread computes while another one waits for its turn: a tenth of Python's default. An
answer takes its turn anew after each query, so it would wait that long a hundred times."""
_MOST_WAY_SECONDS = 1.0
_TRANSCRIPT_COMES = timedelta(minutes=10)
"""If no transcript has a message by then, what was said is stored as the event said it."""
_PIECE = 8 * 1024 * 1024
_MOST_TRANSCRIPTS = 500
_SAID = ("user", "assistant")
"""The roles that are stored. Output of tools is large, may hold secrets, and is never searched."""


def keep(spool: Spool) -> set[str]:
    """Store what waits, answer for a while, and return the events that cannot be stored now.

    Raises:
        CogniGraphError: the memory cannot be opened; the events wait for the next process.
    """
    stay = float(os.environ.get("COGNIGRAPH_HOOKS_STAY") or STAY.total_seconds())
    sys.setswitchinterval(_SWITCH_SECONDS)
    with opened(spool) as memory:
        return _Stay(spool, memory, stay).run()


class _Stay:
    """One run of the process: a thread stores, and the caller's thread answers."""

    def __init__(self, spool: Spool, memory: Memory, seconds: float) -> None:
        self._spool = spool
        self._memory = memory
        self._seconds = seconds
        self._turns = _Turns()
        self._keeper = _Keeper(spool, memory, self._turns)
        self._last = time.monotonic()

    def run(self) -> set[str]:
        """Return when nothing has happened for long enough: the events that cannot be stored now.

        They wait for their transcript, or for the store.
        """
        for project in self._keeper.projects:
            warm(self._memory, project)
        listener = self._listen()  # from now on agents wait for answers
        storing = threading.Thread(target=self._store, daemon=True)
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
        self._keeper.drain()  # what came while it still listened
        return self._keeper.left

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

    def _store(self) -> None:
        while True:
            try:
                if self._keeper.drain():
                    self._last = time.monotonic()
                else:
                    self._keeper.make_ready()
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
                with self._turns.answering():
                    for block in recalled(self._memory, Event(**json.loads(line)["recall"])):
                        connection.sendall(json.dumps(block).encode() + b"\n")
            except OSError:  # the agent waits no longer
                raise
            except Exception as error:  # noqa: BLE001 - the agent goes on without it
                self._spool.log(f"recall: {type(error).__name__}: {error}")


class _Turns:
    """Lets answers, for which an agent waits, go before what is done in the background."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers = 0
        self._quiet = threading.Event()
        self._quiet.set()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While an answer is made."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._answers += change
            if self._answers:
                self._quiet.clear()
            else:
                self._quiet.set()

    def give_way(self) -> None:
        """Wait while an answer is made, but not for ever."""
        self._quiet.wait(_MOST_WAY_SECONDS)


@dataclass(slots=True)
class _Place:
    """How far a transcript was read, for which space, and whether there was a message in it.

    It is kept in a file, in which those of earlier versions have the first two only.
    """

    offset: int
    space: str
    agent: str = "claude-code"
    session: str | None = None
    has_message: bool = True


class _Keeper:
    """Stores events. Whatever it does can be repeated: ids tell what is stored already."""

    def __init__(self, spool: Spool, memory: Memory, turns: _Turns) -> None:
        self._spool = spool
        self._memory = memory
        self._turns = turns
        self._places = _read_places(spool.read_file)
        self._changed: set[str] = set()
        self._ended: set[str] = set()
        self.left: set[str] = set()
        self.projects = {
            event.space for name in spool.names() if (event := self._event(name)) is not None
        }
        """Those in which something has happened."""

    def drain(self) -> bool:
        """Store all that can be stored now; whether there was an event among it."""
        names = self._spool.names()
        events = {name: event for name in names if (event := self._event(name)) is not None}
        self.projects |= {event.space for event in events.values()}
        self._ended = {event.session for event in events.values() if event.is_end}
        left = {name for name, event in events.items() if not self._is_settled(name, event)}
        self._catch_up()
        self._enrich()
        self.left = left
        return len(left) < len(names)

    def make_ready(self) -> None:
        """Make the blocks anew whose spaces this process or another one has changed."""
        for project in self.projects:
            self._turns.give_way()
            with suppress(sqlite3.OperationalError):  # it is locked: the next time
                make_ready(self._memory, self._spool.db_path, project)

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
        self._turns.give_way()
        try:
            if not self._keep(event):
                return False
            self._spool.remove(name)
        except (StoreError, OSError) as error:  # later, the same may succeed
            if name not in self.left:
                self._spool.log(f"{name}: {type(error).__name__}: {error}")
            return False
        except Exception as error:  # noqa: BLE001 - it must not keep those behind it waiting
            self._set_aside(name, error)
        return True

    def _keep(self, event: Event) -> bool:
        """Store an event; whether that is done. If not, the transcript must come first."""
        if event.memory and Path(event.memory).is_file():
            self._keep_person(event.agent, Path(event.memory))
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

    def _keep_person(self, agent: str, path: Path) -> None:
        self._memory.space(PERSON).files.import_file(
            path, format="markdown", session=f"{agent}: {path.name}", prune=True, skip_invalid=True
        )
        self._changed.add(PERSON)

    # Transcripts

    def _catch_up(self) -> None:
        """Read what was added to transcripts after the event that named them."""
        for path, place in list(self._places.items()):
            with suppress(OSError):
                if Path(path).stat().st_size != place.offset:
                    self._read(path, place)

    def _read_for(self, event: Event, path: str) -> bool:
        """Store what is new in the transcript of an event; whether there is a message in it."""
        new = _Place(0, event.space, event.agent, event.session, has_message=False)
        place = self._places.pop(path, new)
        self._places[path] = place  # the last one in the list is the newest
        self._read(path, place)
        return place.has_message

    def _read(self, path: str, place: _Place) -> None:
        """Store what is new in a transcript, up to the end of its last complete line."""
        with Path(path).open("rb") as file:
            if file.seek(0, os.SEEK_END) < place.offset:
                place.offset = 0  # another file by this name
            file.seek(place.offset)
            while lines := _whole_lines(file):
                self._store(Path(path).name, lines, place)
                place.offset += len(lines)
                self._write_places()

    def _store(self, name: str, lines: bytes, place: _Place) -> None:
        stored = self._memory.space(place.space)
        file = Input(name, BufferedReader(BytesIO(lines)))
        # A line of Claude Code names its session, which may be one that was branched off from.
        session = None if place.agent == "claude-code" else place.session
        reader, options = reader_named(place.agent), ReadOptions(session=session)
        with Identifier() as identifier:
            messages = [
                record.value
                for record in prepared(reader, file, options, identifier)
                if not isinstance(record.value, Bad) and _is_said(record.value)
            ]
        place.has_message = place.has_message or bool(messages)
        # A conversation that is resumed or branched off repeats messages under another session.
        new = [given for given in messages if stored.get(given["id"]) is None]
        if new:
            self._changed.add(place.space)
        for rejection in stored.add_many(new, skip_invalid=True).rejected:
            self._spool.log(f"{name}: left out: {rejection.reason}")

    def _write_places(self) -> None:
        newest = list(self._places.items())[-_MOST_TRANSCRIPTS:]
        part = self._spool.read_file.with_suffix(".part")
        part.write_text(json.dumps({path: astuple(place) for path, place in newest}), "utf-8")
        part.replace(self._spool.read_file)

    def _enrich(self) -> None:
        """Read the new messages, as long as no new event waits."""
        for name in sorted(self._changed):
            space = self._memory.space(name)
            with suppress(CogniGraphError):  # such as a model's; the messages stay in the queue
                while space.queue.enrich(limits=Limits(rounds=1)):
                    self._turns.give_way()
                    if set(self._spool.names()) - self.left:
                        return
            self._changed.discard(name)


def _read_places(path: Path) -> dict[str, _Place]:
    with suppress(OSError, ValueError):
        given: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        return {path: _Place(*values) for path, values in given.items()}
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


PROJECT_TOKENS = 900
PERSON_TOKENS = 300
SURE = 0.5
"""The least confidence of what is shown with a prompt. Nobody has asked for it, and it stays in the
conversation, so it must be likelier to help than not."""
_IN_VIEW = 50
"""The newest messages of the conversation itself, which the agent is taken to see anyway."""
_RECENT = 4
_MOST_QUESTION = 2_000


@contextmanager
def opened(spool: Spool) -> Iterator[Memory]:
    """The memory of coding agents, as the other commands would open it."""
    with Memory(
        spool.db,
        embedder=os.environ.get("COGNIGRAPH_EMBEDDER") or "wordllama",
        extractor=os.environ.get("COGNIGRAPH_EXTRACTOR") or chosen_extractor(),
        enrich="manual",
    ) as memory:
        yield memory


def recalled(memory: Memory, prompt: Event) -> Iterator[str]:
    """Yield what is remembered of what the user says: of the project first, then of the person."""
    question = prompt.text[:_MOST_QUESTION]
    there = set(memory.spaces())
    for name in (prompt.space, PERSON):
        if name in there:
            space = memory.space(name)
            block = space.context(question, _tokens(name), without=_in_view(space, prompt))
            if block and (block.confidence is None or block.confidence >= SURE):
                yield str(block)


def make_ready(memory: Memory, path: str, project: str) -> None:
    """Keep what is to be shown when a conversation about a project begins, where it has changed.

    Raises:
        sqlite3.Error: the memory cannot be read, or is locked.
    """
    for name, state in start_blocks.outdated(path, project, PERSON).items():
        question = _worked_on(memory.space(project))
        block = memory.space(name).context(question, _tokens(name)) if question else None
        start_blocks.write(path, project, name, state, str(block) if block else "")


def warm(memory: Memory, project: str) -> None:
    """Load what an answer needs, which takes a second with the first one."""
    for name in {project, PERSON} & set(memory.spaces()):
        memory.space(name).context(project, PERSON_TOKENS)


def _tokens(name: str) -> int:
    return PERSON_TOKENS if name == PERSON else PROJECT_TOKENS


def _worked_on(project: Space) -> str:
    """What the user said last in this project, which stands for the question that nobody asked."""
    latest = project.messages(order="newest", limit=_RECENT, where=Filter(roles=("user",)))
    return "\n".join(message.text for message in reversed(list(latest)))[-_MOST_QUESTION:]


def _in_view(space: Space, event: Event) -> list[str]:
    page = space.messages(session=event.session, order="newest", limit=_IN_VIEW)
    return [message.id for message in page]

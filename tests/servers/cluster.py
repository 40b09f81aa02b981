"""A leader and a follower in front of one server: the routing table is scripted, all else is real.

The Community Edition cannot form a cluster. So two proxies forward to the same server, and replace
the routing table that it answers with one that names them. They record what each of them is asked.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread

_BOLT_5_4 = bytes.fromhex("00000405")
_RUN, _BEGIN, _COMMIT, _ROLLBACK, _RESET, _ROUTE = 0x10, 0x11, 0x12, 0x13, 0x0F, 0x66
_SUCCESS = 0x70
_BOOKMARK = re.compile(rb"FB:[A-Za-z0-9+/=]+")
_DATABASE = re.compile(rb"\x82db(?:[\x81-\x8f]|\xd0.)([a-z0-9.-]+)", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A transaction that a server began: for writing or only reading, and after which bookmarks.

    ``database`` is the one that it names; empty for the user's home database.
    """

    server: str
    writes: bool
    after: tuple[str, ...]
    database: str = ""


@dataclass
class Cluster:
    """Two addresses of one server, of which one takes writes."""

    host: str
    port: int
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = Lock()
        self._sockets: list[socket.socket] = []
        self._listeners = {
            name: socket.create_server(("127.0.0.1", 0)) for name in ("leader", "follower")
        }
        self._threads = [
            Thread(target=self._accept, args=(name,), daemon=True) for name in self._listeners
        ]
        for thread in self._threads:
            thread.start()

    @property
    def uri(self) -> str:
        """The address of the leader, as a user would give it."""
        return f"neo4j://{self._address('leader')}"

    def taken(self) -> list[Asked]:
        """What was asked since this was called before."""
        with self._lock:
            asked, self.asked = self.asked, []
        return asked

    def close(self) -> None:
        """Stop listening and end all connections."""
        for listener in self._listeners.values():
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for thread in self._threads:
            thread.join(timeout=5)
        for each in self._sockets:
            _end(each)

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self._listeners[name].getsockname()[1]}"

    def _accept(self, name: str) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listeners[name].accept()
                server = socket.create_connection((self.host, self.port))
                self._sockets += [client, server]
                Thread(target=self._serve, args=(name, client, server), daemon=True).start()

    def _serve(self, name: str, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError):
            # One version of the protocol, whose messages are understood here.
            magic = _exactly(client, 20)[:4]
            server.sendall(magic + _BOLT_5_4 + bytes(12))
            client.sendall(_exactly(server, 4))
            routed: list[str] = []
            Thread(target=self._answer, args=(client, server, routed), daemon=True).start()
            self._listen(name, client, server, routed)
        _end(client)
        _end(server)

    def _listen(
        self, name: str, client: socket.socket, server: socket.socket, routed: list[str]
    ) -> None:
        is_open = False
        for message in _messages(client):
            kind, database = message[1], _database(message)
            if kind == _ROUTE:
                routed.append(database or "neo4j")
            if kind == _BEGIN or (kind == _RUN and not is_open):
                after = tuple(found.decode() for found in _BOOKMARK.findall(message))
                with self._lock:
                    self.asked.append(Asked(name, b"\x84mode\x81r" not in message, after, database))
            if kind in (_BEGIN, _COMMIT, _ROLLBACK, _RESET):
                is_open = kind == _BEGIN
            server.sendall(_chunked(message))

    def _answer(self, client: socket.socket, server: socket.socket, routed: list[str]) -> None:
        with suppress(OSError, EOFError):
            for message in _messages(server):
                is_table = message[1] == _SUCCESS and b"\x82rt" in message
                client.sendall(_chunked(self._table(routed[-1]) if is_table else message))
        _end(client)

    def _table(self, database: str) -> bytes:
        roles = {"ROUTE": "leader", "WRITE": "leader", "READ": "follower"}
        servers = [
            {"addresses": [self._address(name)], "role": role} for role, name in roles.items()
        ]
        table = {"ttl": 1000, "db": database, "servers": servers}
        return bytes([0xB1, _SUCCESS]) + _packed({"rt": table})


def _database(message: bytes) -> str:
    """The database that a message names, if any."""
    return (_DATABASE.findall(message) or [b""])[-1].decode()


def _packed(value: object) -> bytes:
    """PackStream of short lists, maps and texts, and of integers of two bytes."""
    if isinstance(value, dict):
        items = b"".join(_packed(key) + _packed(own) for key, own in value.items())
        return bytes([0xA0 + len(value)]) + items
    if isinstance(value, list):
        return bytes([0x90 + len(value)]) + b"".join(_packed(item) for item in value)
    if isinstance(value, int):
        return b"\xc9" + value.to_bytes(2, "big")
    raw = str(value).encode()
    return b"\xd0" + bytes([len(raw)]) + raw


def _messages(source: socket.socket) -> Iterator[bytes]:
    """The messages of a connection, put together from their chunks."""
    message = b""
    while True:
        size = int.from_bytes(_exactly(source, 2), "big")
        if size:
            message += _exactly(source, size)
        elif message:
            yield message
            message = b""


def _chunked(message: bytes) -> bytes:
    parts = [message[start : start + 65535] for start in range(0, len(message), 65535)]
    return b"".join(len(part).to_bytes(2, "big") + part for part in parts) + b"\0\0"


def _exactly(source: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = source.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()

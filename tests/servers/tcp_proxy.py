"""A TCP proxy that simulates network failures: it can go silent or cut connections."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Lock, Thread


class TcpProxy:
    """Forwards to ``host:port``, until told to answer nothing or to cut an answer short."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._lock = Lock()
        self._speaks = Event()
        self._speaks.set()
        self._allowed: int | None = None
        self._thread = Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def connections(self) -> int:
        """Number of connections that are open."""
        with self._lock:
            return sum(each.fileno() >= 0 for each in self._sockets) // 2

    def silence(self) -> None:
        """Accept connections and requests, but send no answers."""
        self._speaks.clear()

    def resume(self) -> None:
        """Answer again, also what was asked meanwhile."""
        self._speaks.set()

    def cut_after(self, answered: int) -> None:
        """End each connection after so many more bytes of answers."""
        self._allowed = answered

    def heal(self) -> None:
        """Forward everything again; data that was held back is lost with its connection."""
        self._allowed = None
        self._end_all()
        self._speaks.set()

    def close(self) -> None:
        """Stop listening and end all connections."""
        with suppress(OSError):  # not every system wakes accept() by this
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=5)
        self._end_all()
        self._speaks.set()

    def _end_all(self) -> None:
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            _end(each)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(self._target)
                except OSError:
                    client.close()
                    raise
                with self._lock:
                    self._sockets += [client, server]
                for source, target, answers in ((client, server, False), (server, client, True)):
                    Thread(target=self._pump, args=(source, target, answers), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if answers:
                    self._speaks.wait()
                    data = self._permitted(data)
                target.sendall(data)
                if answers and self._allowed is not None and self._allowed <= 0:
                    break
        _end(source)
        _end(target)

    def _permitted(self, data: bytes) -> bytes:
        if self._allowed is None:
            return data
        with self._lock:
            data = data[: max(self._allowed, 0)]
            self._allowed -= len(data)
        return data


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()

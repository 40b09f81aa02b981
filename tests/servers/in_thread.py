"""An application on a port of loopback, served by a thread of the process of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp

from cognigraph.listening import _config, _listening


@contextmanager
def in_thread(app: ASGIApp) -> Iterator[tuple[str, int]]:
    """Yield the address; the server ends with the block."""
    with _listening("127.0.0.1", 0) as listener:
        server = uvicorn.Server(_config(app))
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()

"""The side of an adapter: reads requests from standard input and answers on standard output.

Both are JSON, one object a line. An adapter is started in the environment of its memory, so this
module uses the standard library only. It defines a class with these methods and calls ``serve``:

``__init__(settings)``
    Opens the memory. ``settings`` has ``folder`` (its own, kept when it is opened again), ``url``
    (an OpenAI-compatible endpoint on loopback), ``model``, ``embedder``, ``dimension``, ``neo4j``
    (a URI or null) and the options of the variant that is measured.
``add(space, message)``
    Stores a message (``id``, ``session``, ``speaker``, ``text``, ``at``) and returns when it can be
    searched. An exception counts as a refusal.
``search(space, question, k, now)``
    Asks at the time ``now``, where the memory has such a notion. Returns hits, best first:
    ``{"ids": [...]}`` with the ids of the messages that a hit comes from, or ``{"text": ...}``
    where the memory keeps no such reference.
``stored(space)``
    Returns ``{"ids": [...]}``, one entry for each copy of a message that is kept, and, for a graph,
    ``"names": [...]``, one entry for each entity. Not timed.

and, where they apply, ``prepare()`` (part of opening), ``add_batch(space, messages)`` (for what is
too slow to be added singly throughout), ``settle(space, seconds)`` (wait for background
work), ``tune(settings)`` (search in another way from now on) and ``close()``. Methods may be
coroutines. What a memory prints goes to standard error. Connections of Python code to other
machines are refused.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _stay(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to look up or to connect to another machine."""
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host and not str(host).startswith(_LOOPBACK):
        raise ConnectionRefusedError(f"this bench connects to loopback only, not to {host}")


def serve(make: Any) -> None:
    """Answer requests until ``close`` or the end of the input."""
    sys.addaudithook(_stay)
    # Libraries print to standard output; only answers may go there.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    loop = asyncio.new_event_loop()
    memory: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        try:
            if request["do"] == "open":
                memory, result = make(request["settings"]), None
                if hasattr(memory, "prepare"):
                    _finished(loop, memory.prepare)
            else:
                result = _do(loop, memory, request)
            answer = {"ok": True, "result": result}
        except Exception as error:  # noqa: BLE001 - whatever the memory raises is reported
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:500]}
        answer["ms"] = round((time.perf_counter() - started) * 1000, 4)
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()
        if request["do"] == "close":
            break


def _do(loop: Any, memory: Any, request: dict[str, Any]) -> Any:
    what, space = request["do"], request.get("space")
    if what == "add":
        _finished(loop, lambda: memory.add(space, request["message"]))
        return None
    if what == "add_batch":
        _finished(loop, lambda: memory.add_batch(space, request["messages"]))
        return None
    if what == "add_at_once":
        return _at_once(loop, memory, space, request["messages"])
    if what == "search":
        asked = request["question"], request["k"], request["now"]
        return _finished(loop, lambda: memory.search(space, *asked))
    if what == "stored":
        return _finished(loop, lambda: memory.stored(space))
    optional = getattr(memory, what, None)
    if optional is None:
        return None
    given = {"settle": [space, request.get("seconds")], "tune": [request.get("settings")]}.get(
        what, []
    )
    return _finished(loop, lambda: optional(*given))


def _finished(loop: Any, call: Any) -> Any:
    value = call()
    return loop.run_until_complete(value) if inspect.isawaitable(value) else value


def _at_once(loop: Any, memory: Any, space: str, messages: list[Any]) -> list[str]:
    """Add every message at the same time; return the errors."""
    if inspect.iscoroutinefunction(memory.add):

        async def all_of_them() -> list[Any]:
            adds = [memory.add(space, message) for message in messages]
            return await asyncio.gather(*adds, return_exceptions=True)

        found = loop.run_until_complete(all_of_them())
    else:

        def add(message: Any) -> Any:
            try:
                memory.add(space, message)
            except Exception as error:  # noqa: BLE001 - reported
                return error
            return None

        with ThreadPoolExecutor(len(messages)) as pool:
            found = list(pool.map(add, messages))
    return [f"{type(error).__name__}: {error}"[:300] for error in found if error is not None]

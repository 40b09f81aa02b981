"""Who may do what: the grant of a request, and the space it is for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from anyio import to_thread
from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPBearer

from cognigraph.memory import Memory
from cognigraph.server.keys import Key, KeyFile, Permission
from cognigraph.server.problems import Problem
from cognigraph.space import Space

bearer = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    description="A key made by `cognigraph keys create`. A server on loopback needs none until the "
    "first key is made.",
)
"""How a client sends its key, for the OpenAPI document; the gate reads it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the client of a request may do. Without a key, on loopback: everything."""

    key: Key | None

    def check(self, permission: Permission, space: str | None) -> None:
        """Refuse the request unless it is allowed; ``None`` stands for the whole store.

        Raises:
            Problem: it is not. The answer does not depend on whether the space exists.
        """
        if self.key is None:
            return
        if not self.key.allows(permission):
            raise Problem(
                403,
                "Permission missing",
                f"this needs the permission {permission!r}, and the key {self.key.id} has "
                f"{', '.join(self.key.permissions)}; make another with `cognigraph keys create`",
            )
        if space is None and self.key.spaces is not None:
            raise Problem(
                403,
                "Permission missing",
                f"this concerns the whole store, and the key {self.key.id} is for some spaces; "
                "make one with `cognigraph keys create --all-spaces`",
            )
        if space is not None and not self.key.opens(space):
            raise Problem(
                403,
                "Another space",
                f"the key {self.key.id} is not for this space; use a key of this space",
            )

    def reads(self, space: str) -> bool:
        """Whether the client may read a space."""
        return self.key is None or (self.key.allows("read") and self.key.opens(space))

    @property
    def by(self) -> str | None:
        """Who acts, for the messages that are written and the audit log."""
        return None if self.key is None else self.key.name


class Doorkeeper:
    """Decides by the key of a request. Once a key was made, every request needs one."""

    def __init__(self, keys: KeyFile | None, *, is_open: bool) -> None:
        self._keys = keys
        self._is_open = is_open

    def needs_key(self) -> bool:
        """Whether requests need a key now."""
        return not self._is_open or (self._keys is not None and not self._keys.is_empty())

    def grant(self, header: str | None) -> Grant:
        """The grant for the header ``Authorization``.

        Raises:
            Problem: a key is needed and the header has none that is valid.
        """
        if not self.needs_key():
            return Grant(None)
        scheme, _, text = (header or "").partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise Problem(
                401,
                "A key is needed",
                "send it in the header Authorization, after the word Bearer; "
                "`cognigraph keys create` makes one",
            )
        key = self._keys.find(text.strip()) if self._keys is not None else None
        if key is None:
            raise Problem(
                401,
                "The key is not valid",
                "it is unknown, has expired or was revoked; `cognigraph keys list` shows the valid "
                "ones",
            )
        return Grant(key)


def grant_of(request: Request) -> Grant:
    """The grant that the gate has found for a request."""
    found: Grant = request.scope["cognigraph.grant"]
    return found


def permitted_of(request: Request) -> Callable[[], bool]:
    """A function that says whether the key of a request is still valid."""
    if grant_of(request).key is None:
        return lambda: True
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    header = request.headers.get("authorization")

    def is_permitted() -> bool:
        try:
            doorkeeper.grant(header)
        except Problem:
            return False
        return True

    return is_permitted


async def _memory(request: Request) -> Memory:
    return memory_of(request)


def memory_of(request: Request) -> Memory:
    """The memory that the server serves."""
    memory: Memory = request.app.state.memory
    return memory


def _space(*permissions: Permission) -> Callable[..., Coroutine[Any, Any, Space]]:
    async def allowed(
        request: Request,
        space: Annotated[str, Path(description="The name of the space.")],
        existing: Annotated[
            bool, Query(description="Answer 404 if the space holds nothing, as after a typo.")
        ] = False,
    ) -> Space:
        name = unquote(space)
        grant = grant_of(request)
        for permission in permissions:
            grant.check(permission, name)
        memory = memory_of(request)
        if existing and name not in await to_thread.run_sync(memory.spaces):
            raise Problem(
                404,
                "No such space",
                f"the space {name!r} holds no messages; GET /v1/spaces lists those that do, and "
                "without `existing` the first message makes a space",
            )
        return memory.space(name, by=grant.by)

    return allowed


def _store(permission: Permission) -> Callable[..., Coroutine[Any, Any, Memory]]:
    async def allowed(request: Request) -> Memory:
        grant_of(request).check(permission, None)
        return memory_of(request)

    return allowed


Readable = Annotated[Space, Depends(_space("read"))]
"""A space that the client may read."""
Writable = Annotated[Space, Depends(_space("write"))]
"""A space that the client may add to."""
Editable = Annotated[Space, Depends(_space("read", "write"))]
"""A space that the client may read and change."""
Forgettable = Annotated[Space, Depends(_space("forget"))]
"""A space whose messages the client may forget."""
Owned = Annotated[Space, Depends(_space("admin"))]
"""A space that the client may delete."""
MemoryHere = Annotated[Memory, Depends(_memory)]
"""The memory that is served, for its settings."""
WholeStore = Annotated[Memory, Depends(_store("admin"))]
"""The memory, for clients that may administer all of it."""

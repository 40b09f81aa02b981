"""What a SQLite file keeps of a message beside its text: role, metadata, tags and raw payload."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from cognigraph.model import Role
from cognigraph.model.roles import ROLES
from cognigraph.stores.records import MessageData
from cognigraph.times import to_micros

ROLE_OF_NUMBER: tuple[Role | None, ...] = (None, *ROLES)
"""Roles by their numbers in ``chunk_index``. New roles go to the end."""
_NUMBERS = {role: number for number, role in enumerate(ROLE_OF_NUMBER)}

JOIN = "LEFT JOIN message_data d ON d.chunk_id = c.id - c.part"
"""Joins the data of a message to each of its chunks ``c``."""


def role_number(role: Role | None) -> int:
    """The number of a role in ``chunk_index``."""
    return _NUMBERS[role]


def write(
    connection: sqlite3.Connection,
    chunk_id: int | None,
    space_id: int,
    parts: int,
    data: MessageData,
) -> None:
    """Store the data of a message with its first chunk."""
    connection.execute(
        """INSERT INTO message_data
             (chunk_id, space_id, parts, metadata, tags, raw, facts, expires)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            chunk_id, space_id, parts, data.metadata, json.dumps(data.tags), data.raw, data.facts,
            None if data.expires is None else to_micros(data.expires),
        ),
    )  # fmt: skip


def metadata_of(text: str | None) -> Mapping[str, Any]:
    """Metadata as it was given."""
    return json.loads(text) if text else {}


def tags_of(text: str | None) -> tuple[str, ...]:
    """Tags, sorted."""
    return tuple(json.loads(text)) if text else ()

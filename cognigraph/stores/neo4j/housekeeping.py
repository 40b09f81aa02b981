"""``Neo4jHousekeeping``: lists, forgets, exports and imports messages, and removes spaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import StoreError
from cognigraph.model import Forgotten
from cognigraph.model.filters import MessageQuery
from cognigraph.stores.neo4j.export import Neo4jExport
from cognigraph.stores.neo4j.forget import (
    Forgetting,
    choose_messages,
    earlier_versions,
    preview_forget,
    remove_space,
    update_message,
)
from cognigraph.stores.neo4j.messages import list_messages
from cognigraph.stores.protocols import Chosen, Selection
from cognigraph.stores.records import MessageRow, Placed


class Neo4jHousekeeping(Neo4jExport):
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of (time, arrival), each with its position."""
        return list_messages(self._connection, space, query)

    # Forgetting

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget, by session."""
        return choose_messages(self._connection, space, selection)

    def preview_forget(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go with these messages, and what would stay."""
        return preview_forget(self._connection, chosen)

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages of one session with all that was read out of them."""
        self._connection.write(Forgetting(space, chosen, remember=remember, now=self._clock()).run)

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space, in bounded transactions."""
        remove_space(self._connection, self._indexes, space, remember=remember)

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds, in bounded transactions."""
        remove_space(self._connection, self._indexes, space, remember=False)

    def remember(self, space: str, uids: Sequence[str]) -> None:
        """Note messages as forgotten."""
        messages = list(uids)
        self._connection.write(
            lambda tx: tx.rows("forget/remember", space=space, messages=messages)
        )

    def forgotten(self, space: str) -> list[str]:
        """Uids of forgotten messages, sorted."""
        return [uid for (uid,) in self._connection.rows("export/forgotten", space=space)]

    # New texts

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        """Replace the text of a message; the old one stays as a version."""
        return update_message(self._connection, space, message, at)

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message and when they were replaced, oldest first."""
        return earlier_versions(self._connection, space, session, id)

    def versioned(self, space: str) -> set[str]:
        """Uids of messages that have earlier texts."""
        return {uid for (uid,) in self._connection.rows("export/versioned", space=space)}

    # The database

    def backup(self, path: str) -> None:
        """Refuse: a server has tools of its own."""
        raise StoreError(
            f"{self._connection.uri} cannot be backed up from here; use neo4j-admin database dump "
            "(or backup), or export each space"
        )

    def erase(self) -> bool | None:
        """Nothing to do: the server decides when it uses deleted space again."""
        return None

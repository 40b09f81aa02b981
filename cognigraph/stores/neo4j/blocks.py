"""Which entities are in which block on Neo4j, and what is common to ledgers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cognigraph import ids
from cognigraph.ingest.forms import is_proper
from cognigraph.ingest.resolve import Named
from cognigraph.stores.neo4j.connection import Row, Transaction


class Neo4jBlocks:
    """See :class:`cognigraph.ingest.blocking.Blocks`. The caller holds the lock of the space."""

    def __init__(self, tx: Transaction, space: str) -> None:
        self._tx = tx
        self._space = space

    def _rows(self, name: str, **parameters: Any) -> list[Row]:
        if any(isinstance(value, list) and not value for value in parameters.values()):
            return []
        return self._tx.rows(f"resolve/{name}", **parameters)

    def _block(self, key: int) -> str:
        return ids.uid("Block", self._space, str(key))

    def named(self, uids: Collection[str]) -> list[Named]:
        """Entities by uid, with their aliases."""
        return [
            Named(uid, name, type, frozenset(aliases), is_proper(spelling))
            for uid, name, type, aliases, _, spelling in self._rows("named", uids=sorted(uids))
        ]

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Put entities into blocks."""
        of = {self._block(key): key for own in keys.values() for key in own}
        rows = [
            {"uid": uid, "blocks": sorted(map(self._block, own))}
            for uid, own in sorted(keys.items())
            if own
        ]
        return {of[block]: (size, new) for block, size, new in self._rows("enter", rows=rows)}

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Take entities out of blocks."""
        of = {self._block(key): key for own in keys.values() for key in own}
        rows = [
            {"uid": uid, "blocks": sorted(map(self._block, own))}
            for uid, own in sorted(keys.items())
            if own
        ]
        return {of[block]: (size, gone) for block, size, gone in self._rows("leave", rows=rows)}

    def sizes(self, keys: Collection[int]) -> dict[int, int]:
        """Sizes of blocks."""
        of = {self._block(key): key for key in keys}
        return {of[block]: size for block, size in self._rows("sizes", blocks=sorted(of))}

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        """Members of blocks."""
        of = {self._block(key): key for key in keys}
        found: dict[int, list[str]] = {key: [] for key in keys}
        found.update(
            {of[block]: members for block, members in self._rows("blocks", blocks=sorted(of))}
        )
        return found

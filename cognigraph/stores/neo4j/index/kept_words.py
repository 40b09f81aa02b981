"""The word counts of a large space, kept in the database so that each process need not count.

To count the words of a million messages takes seconds. So a process that has counted writes the
counts to a node of its own, ``(:CogniGraph {uid})``, without the property ``space``, so that no
query of a user finds it. The others read it and count only what has arrived since. The node counts
as right as long as the space has as many chunks up to its arrival number as were counted, and none
of them was rewritten; whoever forgets or rewrites a chunk deletes it in the same transaction.

Versions before this one neither read nor delete the node. What they forget makes it wrong, which
the next reader notices.
"""

from __future__ import annotations

import logging
import struct
from dataclasses import dataclass

from cognigraph import ids
from cognigraph.errors import StoreError
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.deadlines import within

logger = logging.getLogger("cognigraph.neo4j")

_HEAD = struct.Struct("<4sqqq")
_FORMAT = b"CGW1"
_PATIENCE = 30.0
"""Seconds for writing the counts, which nobody waits for."""


@dataclass(frozen=True, slots=True)
class KeptWords:
    """The counts of the chunks of a space up to an arrival number; ``epoch`` counts rewrites."""

    seq: int
    chunks: int
    epoch: int
    frequencies: bytes
    """See :meth:`Frequencies.packed`."""

    @property
    def value(self) -> bytes:
        """What the node has: all in one, since somebody may write between the readings of two."""
        return _HEAD.pack(_FORMAT, self.seq, self.chunks, self.epoch) + self.frequencies

    @classmethod
    def of(cls, value: bytes) -> KeptWords | None:
        """The counts of a node; ``None`` if this version does not know their format."""
        if value[: len(_FORMAT)] != _FORMAT:
            return None
        _, seq, chunks, epoch = _HEAD.unpack_from(value)
        return cls(seq, chunks, epoch, value[_HEAD.size :])


def kept_uid(space: str) -> str:
    """The uid of the node with the counts of a space."""
    return ids.uid("Words", space)


def keep(connection: Connection, space: str, kept: KeptWords) -> None:
    """Write the counts, unless they are wrong by now. What fails is only logged."""
    parameters = {
        "space": space,
        "uid": kept_uid(space),
        "seq": kept.seq,
        "chunks": kept.chunks,
        "epoch": kept.epoch,
        "kept": {"seq": kept.seq, "words": kept.value},
    }
    try:
        with within(_PATIENCE):
            connection.write(lambda tx: tx.rows("words/keep", **parameters))
    except StoreError as error:  # another process, or this one later, tries again
        logger.info("the word counts of space %r were not kept: %s", space, error)


def drop(tx: Transaction, space: str) -> None:
    """Delete the counts, in a transaction that has locked the space and changes its chunks."""
    tx.rows("words/drop", uid=kept_uid(space))

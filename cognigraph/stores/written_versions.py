"""Which versions a derivation adds to what writers keep: the decision of both stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cognigraph.ids import uid
from cognigraph.states.core_profile import reapplied
from cognigraph.stores.records import WrittenRow


class NextVersion(NamedTuple):
    """A version to add. ``before`` is the uid of the one it supersedes, if there is one."""

    row: WrittenRow
    uid: str
    version: int
    text: str
    before: str | None


def next_versions(
    space: str, rows: Sequence[WrittenRow], newest: Mapping[str, tuple[int, str]]
) -> list[NextVersion]:
    """The versions to add to ``newest``, which maps each chain to its version and text.

    A row whose chain has moved on since it was made is applied to the new text, if it was made by
    an operation that can be; otherwise the newer text stays as it is.
    """
    state = dict(newest)
    added: list[NextVersion] = []
    for row in rows:
        version, text = state.get(row.chain, (0, ""))
        new: str | None = row.text
        if version != row.based_on:
            new = None if row.operation is None else reapplied(text, row.operation)
        if new is None:
            continue
        before = written_uid(space, row.chain, version) if version else None
        own = written_uid(space, row.chain, version + 1)
        added.append(NextVersion(row, own, version + 1, new, before))
        state[row.chain] = version + 1, new
    return added


def written_uid(space: str, chain: str, version: int) -> str:
    """Uid of a version: (space, chain, version)."""
    return uid("Written", space, chain, str(version))

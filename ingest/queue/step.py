"""``Step``: what became of one lease; ``Waiting``: what is left to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cognigraph.model import Usage


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one lease; with ``chunks`` 0 the lease was for the session's summary alone.

    ``rejected`` lists what was left out and why (``reason: what``). ``usage`` is what the extractor
    used, also if it failed. ``error`` is the reason if nothing was written. ``lost`` says that
    another worker took over, ``summary_due`` that the session's summary could not be written and is
    queued. ``stopped`` is the reason if the run ends here although work may be left.
    """

    space: str
    session: str
    chunks: int
    triples: int = 0
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    lost: bool = False
    summary_due: bool = False
    stopped: str | None = None


class Waiting(NamedTuple):
    """The numbers of chunks and of due summaries that wait to be enriched."""

    chunks: int
    summaries: int

    @property
    def total(self) -> int:
        """Chunks and summaries together."""
        return self.chunks + self.summaries

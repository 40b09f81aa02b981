"""What the writers keep between the windows of a session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cognigraph.ingest.membuilder.actions import WRITERS, Writer
from cognigraph.ingest.model.summary_state import SummaryState
from cognigraph.ingest.model.transcript import Turn

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class WriterState:
    """The state of the underlying extractor, and the turns that some writers could not process.

    ``due`` are these writers. ``writes_episodes`` says that the session's themes come from the
    episodic writer and not from the underlying extractor.
    """

    base: str = ""
    unread: tuple[Turn, ...] = ()
    due: tuple[Writer, ...] = ()
    writes_episodes: bool = False

    @classmethod
    def load(cls, text: str) -> WriterState:
        """Parse a saved state; a state in another form is that of the underlying extractor."""
        try:
            data = json.loads(text) if text else {}
            if not isinstance(data, dict) or data.get("membuilder") != _FORMAT:
                return cls(base=text)
            unread = SummaryState.load(data["unread"]).unread
            due = _writers(data["due"])
            return cls(str(data["base"]), unread, due, bool(data["writes_episodes"]))
        except (ValueError, TypeError, KeyError):
            return cls()

    def dump(self) -> str:
        """The state as JSON; :meth:`load` restores an equal state."""
        data = {
            "membuilder": _FORMAT,
            "base": self.base,
            "unread": SummaryState(unread=self.unread).dump(),
            "due": list(self.due),
            "writes_episodes": self.writes_episodes,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def turns_for(self, writer: Writer, new: Sequence[Turn]) -> tuple[Turn, ...]:
        """The turns that a writer has to process."""
        return (*self.unread, *new) if writer in self.due else tuple(new)


def _writers(names: Iterable[object]) -> tuple[Writer, ...]:
    given = set(map(str, names))
    return tuple(writer for writer in WRITERS if writer in given)

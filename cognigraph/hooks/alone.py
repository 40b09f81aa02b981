"""The process in the background, before it loads anything: one is enough for a memory."""

from __future__ import annotations

from cognigraph.hooks.spool import Spool


def keep_alone(db: str) -> None:
    """Store what waits, and stay for a while. Returns at once if another process does it.

    Args:
        db: the path of the memory, which is absolute.

    Raises:
        CogniGraphError: the memory cannot be opened; the events wait for the next process.
    """
    spool = Spool(db)
    spool.enter()
    left: set[str] = set()
    # What comes when this process no longer listens, and still holds the lock, is found here.
    while set(spool.names()) - left:
        with spool.locked() as is_mine:
            if not is_mine:
                return
            from cognigraph.hooks.keeper import keep  # loads the libraries

            left = keep(spool)

"""The command that an agent runs: hand the event over, print what is remembered, return.

It imports next to nothing and never fails: whatever happens, it exits with 0, and a line in the log
beside the memory says what went wrong. It never opens the memory. When a conversation begins, it
prints the block that is kept ready; with a prompt, what the process in the background answers in
time, if one listens.
"""

from __future__ import annotations

import json
import os
import sys

from cognigraph.hooks.agents import AGENTS, PERSON, Event, event_of
from cognigraph.hooks.handover import KEEPER, Handover, absolute, default_db

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_INPUT = 64 * 1024 * 1024


def main(argv: Sequence[str]) -> int:
    """Run ``cognigraph hook AGENT EVENT [--db FILE]``; with ``--keep``, the background process."""
    words = list(argv)
    db = default_db()
    if "--db" in words[:-1]:
        index = words.index("--db")
        db = absolute(words[index + 1])
        del words[index : index + 2]
    handover = Handover(db)
    try:
        if words == [KEEPER]:
            _run_keeper_alone(db)
        else:
            _handle(handover, *words)
    except Exception as error:  # noqa: BLE001 - the agent must go on, whatever it is
        try:
            handover.enter()
            handover.log(f"{' '.join(words)}: {type(error).__name__}: {error}")
        except OSError:
            pass
    return 0


def _handle(handover: Handover, agent_name: str, event_name: str) -> None:
    agent = AGENTS[agent_name]
    given = json.loads(sys.stdin.buffer.read(_MAX_INPUT))
    event = event_of(agent, event_name, given) if isinstance(given, dict) else None
    if event is None:
        return
    handover.enter()
    is_asked = event.kind == "prompt" and "prompt" in agent.takes_context
    # It answers while the event is written.
    asked = handover.ask_keeper({"recall": vars(event)}) if is_asked else None
    handover.put(event)
    try:
        blocks = handover.answers(asked) if asked else _start_blocks(handover, event)
        if event.kind in agent.takes_context and blocks:
            # Not through sys.stdout, which would report a closed pipe when the process ends.
            os.write(1, json.dumps(agent.answer(event_name, "\n".join(blocks))).encode() + b"\n")
    finally:
        handover.wake_keeper()


def _start_blocks(handover: Handover, event: Event) -> list[str]:
    """What is kept ready for the beginning of a conversation; nothing for other events."""
    if event.kind != "start" or not os.path.exists(handover.db_path):
        return []
    from cognigraph.stores import start_blocks  # sqlite3 is for this event only

    return list(start_blocks.read(handover.db_path, event.space, PERSON))


def _run_keeper_alone(db: str) -> None:
    """Store what waits, and stay for a while. Returns at once if another process does it.

    Raises:
        CogniGraphError: the memory cannot be opened; the events wait for the next process.
    """
    from cognigraph.hooks.spool import Spool

    spool = Spool(db)
    spool.enter()
    deferred: set[str] = set()
    # What comes when this process no longer listens, and still holds the lock, is found here.
    while set(spool.names()) - deferred:
        with spool.locked() as is_mine:
            if not is_mine:
                return
            from cognigraph.hooks.keeper import run_keeper  # loads the libraries

            deferred = run_keeper(spool)

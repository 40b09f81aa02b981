"""The command that an agent runs: hand the event over, print what is remembered, return.

It imports next to nothing and never fails: whatever happens, it exits with 0, and a line in the log
beside the memory says what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cognigraph.hooks.agents import AGENTS, Event, event_of
from cognigraph.hooks.spool import KEEPER, Spool, default_db

_MOST_INPUT = 64 * 1024 * 1024


def main(argv: Sequence[str]) -> int:
    """Run ``cognigraph hook AGENT EVENT [--db FILE]``; with ``--keep``, the background process."""
    words = list(argv)
    db = default_db()
    if "--db" in words[:-1]:
        index = words.index("--db")
        db = Path(words[index + 1]).expanduser().absolute()
        del words[index : index + 2]
    spool = Spool(db)
    try:
        if words == [KEEPER]:
            from cognigraph.hooks.keeper import keep

            keep(spool)
        else:
            _handle(spool, *words)
    except Exception as error:  # noqa: BLE001 - the agent must go on, whatever it is
        with suppress(OSError):
            spool.log(f"{' '.join(words)}: {type(error).__name__}: {error}")
    return 0


def _handle(spool: Spool, agent_name: str, event_name: str) -> None:
    agent = AGENTS[agent_name]
    given = json.loads(sys.stdin.buffer.read(_MOST_INPUT))
    event = event_of(agent, event_name, given) if isinstance(given, dict) else None
    if event is None:
        return
    spool.put(event)
    try:
        if event.kind in agent.takes_context and (block := _block(spool, event)):
            # Not through sys.stdout, which would report a closed pipe when the process ends.
            os.write(1, json.dumps(agent.answer(event_name, block)).encode() + b"\n")
    finally:
        spool.wake_keeper()


def _block(spool: Spool, event: Event) -> str:
    if not spool.db.exists():
        return ""
    answer = spool.ask_keeper({"recall": event._asdict()})
    if answer is not None:
        return str(answer.get("block", ""))
    from cognigraph.hooks.recall import recall_from

    return recall_from(spool, event)

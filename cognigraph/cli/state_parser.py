"""The arguments of the commands about facts that change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cognigraph.cli.filter_options import add_as_of, add_filters, add_valid_at


def add_state_commands(command: Any, count: Callable[[str], int]) -> None:
    """Add the commands; ``count`` reads a whole number from 1."""
    history = command("history", "list what was said about each slot of an entity, oldest first")
    history.add_argument("entity", metavar="ENTITY", help="a whole name or alias")
    history.add_argument(
        "relation", metavar="RELATION", nargs="?", help='a relation or slot: "lives in", "home"'
    )
    add_as_of(history)
    add_valid_at(history)
    triples = command("triples", "list triples with their times and sources, newest first")
    triples.add_argument("entity", metavar="ENTITY", nargs="?", help="a whole name or alias")
    triples.add_argument("--status", choices=("current", "superseded", "retracted"))
    triples.add_argument("--slot", metavar="SLOT", help='what they are about: "home", "work"')
    triples.add_argument("--text", metavar="TEXT", help="a part of the triple in words")
    add_as_of(triples)
    add_valid_at(triples)
    add_filters(triples)
    conflicts = command("conflicts", "list facts of which only one can be true")
    for listing in (history, triples, conflicts):
        listing.add_argument(
            "--limit", type=count, default=20, metavar="N", help="number of rows (default: 20)"
        )
    supersede = command("supersede", "record that one fact took the place of another")
    supersede.add_argument("old", metavar="OLD", help="the triple, as `history` prints it")
    supersede.add_argument("new", metavar="NEW")
    supersede.add_argument("--at", metavar="TIME", help="when the old one ended")
    retract = command("retract", "take a fact back")
    restore = command("restore", "make a fact current, whatever superseded it")
    for change in (retract, restore):
        change.add_argument("triple", metavar="TRIPLE", help="the triple, as `history` prints it")
    for change in (supersede, retract, restore):
        change.add_argument("--reason", default="", metavar="TEXT")

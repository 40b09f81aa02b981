"""The arguments of the commands about facts that change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cognigraph.cli.filter_options import add_as_of, add_filters, add_valid_at


def add_state_commands(command: Any, count: Callable[[str], int]) -> None:
    """Add the commands; ``count`` reads a whole number from 1."""
    _add_fact(command)
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
    profile = command("profile", "show what is true of an entity, by slot")
    profile.add_argument("entity", metavar="ENTITY", help="a whole name or alias")
    profile.add_argument("--earlier", action="store_true", help="also what is over")
    add_as_of(profile)
    add_valid_at(profile)
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


def _add_fact(command: Any) -> None:
    fact = command("add-fact", "store a fact that you know, which no extractor reads")
    fact.add_argument("subject", metavar="SUBJECT")
    fact.add_argument("relation", metavar="RELATION", help='such as "lives in"')
    fact.add_argument("object", metavar="OBJECT")
    fact.add_argument("--when", metavar="DATE", help="when it happened: 2026-05")
    fact.add_argument("--from", dest="valid_from", metavar="DATE", help="true since then")
    fact.add_argument("--until", dest="valid_to", metavar="DATE", help="true until then, included")
    fact.add_argument("--negated", action="store_true", help="it is not so")
    fact.add_argument(
        "--replaces", action="store_true", help="it takes the place of others with this relation"
    )
    fact.add_argument("--source", metavar="NAME", help="where it is from")
    fact.add_argument("--subject-type", metavar="TYPE", help="person, organization, location, ...")
    fact.add_argument("--object-type", metavar="TYPE")
    fact.add_argument("--at", metavar="TIME", help="when it was stated (default: now)")
    fact.add_argument("--expires", metavar="TIME", help="when `expire` forgets it")
    fact.add_argument("--no-enrich", action="store_true", help="only store")

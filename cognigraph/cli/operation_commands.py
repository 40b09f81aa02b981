"""The commands that are an operation on a space, with what is different on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from cognigraph.cli.options import Derived
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from cognigraph.space import Space

DERIVED: Mapping[str, Derived] = {
    "add": Derived(Space.add, ("text",), leave_out=("raw", "extract")),
    "add-fact": Derived(
        Space.add_fact,
        ("subject", "relation", "object"),
        names={"valid_from": "--from", "valid_to": "--until"},
        leave_out=("session", "id", "metadata", "tags"),
    ),
    "search": Derived(Space.search, ("question",), leave_out=("explain",)),
    "context": Derived(
        Space.context,
        ("question",),
        leave_out=("settings", "strategy", "history", "limits"),
    ),
    "ask": Derived(
        Space.ask,
        ("question",),
        names={"max_tokens": "--max-block"},
        leave_out=("where", "settings"),
    ),
    "why": Derived(Space.why, ("question",), leave_out=("where", "settings")),
    "cypher": Derived(Space.cypher, optional=("query",), leave_out=("timeout", "parameters")),
    "messages": Derived(Space.messages, leave_out=("where", "order"), defaults={"limit": 20}),
    "update": Derived(Space.update, ("id", "text"), leave_out=("raw",)),
    "forget": Derived(Space.forget),
    "facts": Derived(
        Space.facts, optional=("entity",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "history": Derived(Space.history, ("entity",), ("relation",)),
    "entities": Derived(
        Space.entities, optional=("match",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "stats": Derived(Space.stats),
    "enrich": Derived(Queue.enrich),
    "conflicts": Derived(Review.conflicts, defaults={"limit": 20}),
    "supersede": Derived(Review.supersede, ("old", "new")),
    "retract": Derived(Review.retract, ("fact",)),
    "restore": Derived(Review.restore, ("fact",)),
    "duplicates": Derived(Review.duplicates, leave_out=("offset",), defaults={"limit": 20}),
    "merge": Derived(Review.merge, ("name",)),
    "split": Derived(Review.split, ("name",), names={"apart_from": "--from"}),
    "sessions": Derived(Overview.sessions, leave_out=("offset",), defaults={"limit": 20}),
    "episodes": Derived(
        Overview.episodes, optional=("session",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "profile": Derived(Overview.profile, ("entity",)),
    "core-profile": Derived(Overview.core_profile),
    "procedures": Derived(Overview.procedures),
    "export": Derived(Files.export, ("path",)),
}

"""The lines of a prompt block: how a session, a fact and the head of a message look."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, tzinfo

from cognigraph.model import Hit, Session, Triple
from cognigraph.retrieve.standing import true_when
from cognigraph.text.marks import in_quotes, named, one_line

_DAY_OF_SPEECH = re.compile(
    r"(?:(?<=: )|(?<=… )|^)(\d{4}-\d\d-\d\d) (?=[^:\n]{1,60}: )", re.MULTILINE
)
"""The date before who says something, in a summary by the rules."""


def stamp(at: datetime, zone: tzinfo) -> str:
    """Day and minute in the reader's timezone."""
    with suppress(OverflowError):  # the last hours of year 9999 have no time in Tokyo
        at = at.astimezone(zone)
    return at.isoformat(" ", "minutes")[:16]


def day(at: datetime, zone: tzinfo) -> str:
    """Day in the reader's timezone."""
    return stamp(at, zone)[:10]


def session_line(session: Session, zone: tzinfo) -> str:
    """A session with its summary, or with its keys if it has none."""
    began = day(session.started_at, zone)
    about = session.summary or ", ".join(session.keys)
    about = _DAY_OF_SPEECH.sub(lambda dated: "" if dated[1] == began else dated[0], about)
    return one_line(f"{named(session.id)} ({began}): {about}")


def triple_line(triple: Triple, zone: tzinfo) -> str:
    """A fact, when it is true if that is known, and when it was last said."""
    true = true_when(triple, zone)
    when = f"{true}; " if true else ""
    return one_line(f"{triple.text} ({when}said {day(triple.last_observed, zone)})")


def message_head(hit: Hit, zone: tzinfo, asked: str = "") -> str:
    """What stands before the text of a message; ``asked`` is the question that it answers."""
    who = named(hit.speaker or "")
    if asked:
        who = f"{who}, asked {in_quotes(asked)}" if who else f"asked {in_quotes(asked)}"
    return f"{stamp(hit.at, zone)} {named(hit.session)} {f'{who}: ' if who else ''}"

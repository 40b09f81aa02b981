"""What tools answer with: lines that an agent reads, each beginning with the id of its item.

An agent pays for every word of an answer, so nothing is said twice: what is in the lines is not
repeated as structured content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from cognigraph.model import (
    Entity,
    EntityProfile,
    Episode,
    Explanation,
    History,
    Hit,
    Session,
    StoredMessage,
    Triple,
)
from cognigraph.plain_data import plain
from cognigraph.text.marks import INDENT, named, one_line, same_lines

_SIGNALS = 5
_KEYS = 8
_SOURCES = 5
_PART = " […] (a part; look_up the memory for all of it)"


def hit_lines(hit: Hit) -> Iterator[str]:
    """A message that was found, and the facts in it that matter for the question."""
    by = f" ({', '.join(hit.found_by)})" if len(hit.found_by) > 1 else ""
    part = _PART if hit.parts > 1 else ""
    sure = "" if hit.confidence is None else f" {hit.confidence:.2f}"
    place = f"{_id(hit.id)} {hit.at:%Y-%m-%d %H:%M} {named(hit.session)}"
    yield f"{place}{sure}{by} {_said_by(hit.speaker)}{one_line(hit.text)}{part}"
    for triple in hit.triples:
        until = f" until {triple.valid_to:%Y-%m-%d}" if triple.valid_to else ""
        state = "" if triple.status == "current" else f" ({triple.status}{until})"
        yield f"    fact {one_line(triple.text)}{state}"


def message_line(message: StoredMessage) -> str:
    """A message in one line."""
    said = _said_by(message.speaker) + one_line(message.text)
    return f"{_id(message.id)} {message.at:%Y-%m-%d %H:%M} {named(message.session)} {said}"


def whole_message(message: StoredMessage) -> Iterator[str]:
    """A message with everything that is kept with it; the lines of its text are indented."""
    by = ", ".join(named(item) for item in (message.speaker, message.role) if item)
    place = f"{_id(message.id)} {message.at.isoformat()} {named(message.session)}"
    yield f"{place} {by}".rstrip()
    yield from (INDENT + line for line in same_lines(message.text))
    if message.expires:
        yield f"expires: {message.expires.isoformat()}"
    if message.written_by:
        yield f"written by: {one_line(message.written_by)}"
    if message.tags:
        yield f"tags: {', '.join(map(one_line, message.tags))}"
    if message.metadata:
        yield f"metadata: {json.dumps(plain(message.metadata), ensure_ascii=False)}"


def fact_line(triple: Triple) -> str:
    """A fact with its times, its state and the messages that state it."""
    when = f"{triple.when}, " if triple.when else ""
    until = f", until {triple.valid_to:%Y-%m-%d}" if triple.valid_to else ""
    why = f", {one_line(triple.reason)}" if triple.reason else ""
    ids = list(dict.fromkeys(one_line(source.id) for source in triple.sources))[:_SOURCES]
    state = f"{triple.status}{until}{why}; {', '.join(ids)}"
    return f"[{triple.uid}] {one_line(triple.text)} ({when}{state})"


def history_lines(histories: Iterable[History]) -> Iterator[str]:
    """What was said about each slot, oldest first."""
    for history in histories:
        yield f"{one_line(history.subject)}, {one_line(history.slot)}:"
        yield from (f"  {fact_line(triple)}" for triple in history.triples)


def entity_line(entity: Entity) -> str:
    """A person, place or thing."""
    also = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
    return one_line(f"{entity.name} ({entity.type}{also}): {entity.triples} facts")


def session_line(session: Session) -> str:
    """A conversation with what it was about."""
    days = f"{session.started_at:%Y-%m-%d} to {session.ended_at:%Y-%m-%d}"
    about = one_line(session.summary or ", ".join(session.keys[:_KEYS]))
    return f"{_id(session.id)} {days}, {session.messages} messages: {about}"


def episode_line(episode: Episode) -> str:
    """A part of a conversation that is about one thing."""
    about = one_line(f"{episode.title}: {episode.summary}")
    first = f"{episode.started_at:%Y-%m-%d %H:%M}"
    ids = ", ".join(map(one_line, episode.messages))
    return f"[{episode.uid}] {first} {named(episode.session)} {about} ({ids})"


def profile_lines(profile: EntityProfile) -> Iterator[str]:
    """What is known about a person or thing, current facts first."""
    names = f" (also {', '.join(profile.aliases)})" if profile.aliases else ""
    yield f"# {one_line(profile.name + names)}"
    for title, facts in (
        ("Now", [fact for entry in profile.entries for fact in entry.facts]),
        ("Before", [fact for entry in profile.entries for fact in entry.earlier]),
    ):
        if facts:
            yield from ("", f"## {title}", "", *(f"- {fact_line(fact)}" for fact in facts))


def explanation_lines(why: Explanation) -> Iterator[str]:
    """Why a message is found for a question, or is not, and what would change that."""
    yield why.verdict
    for signal in why.signals[:_SIGNALS]:
        yield f"{signal.name}: {signal.points:+.3f}, the last of the hits {signal.points_at_k:+.3f}"
    yield from (f"{change.what}: rank {change.rank}" for change in why.proposals)


def joined(lines: Iterable[str], none: str) -> str:
    """The lines as one text, or what to say if there are none."""
    text = "\n".join(lines)
    return text or none


def _id(id: str) -> str:
    """The label of a line. What a user chose as an id, a name or a session begins no line."""
    return f"[{one_line(id)}]"


def _said_by(speaker: str | None) -> str:
    return f"{named(speaker)}: " if speaker else ""

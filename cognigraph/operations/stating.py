"""``add_fact``: facts that an application states, stored like messages and never read again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.ids import normalise
from cognigraph.ingest.stated import StoredFact, name_of, period, time_of
from cognigraph.model import AddResult, Message
from cognigraph.operations.inserting import add_batch
from cognigraph.stores.protocols import Store
from cognigraph.times import When, to_utc

FACTS = "facts"
"""The session of stated facts, unless another is given."""

_UNKNOWN = "object"
"""What extractors call the type of a name that nobody has said more of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stating:
    """What the application says of one fact and of where it is from."""

    subject: str
    relation: str
    object: str
    subject_type: str | None
    object_type: str | None
    when: str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    negated: bool
    replaces: bool
    source: str | None
    session: str
    at: datetime | str | None
    id: str | None
    metadata: Mapping[str, Any] | None
    tags: Iterable[str]
    expires: datetime | str | None


def state(engine: Engine, space: str, given: Stating) -> AddResult:
    """Store a fact; see :meth:`cognigraph.Space.add_fact`."""
    subject, relation, object = (
        name_of(name, getattr(given, name)) for name in ("subject", "relation", "object")
    )
    at = engine.clock() if given.at is None else to_utc(given.at, engine.zone)
    when = _when(given, at)
    fact = StoredFact(
        subject=subject,
        subject_type=given.subject_type or _type_of(engine.store, space, subject),
        relation=relation,
        object=object,
        object_type=given.object_type or _type_of(engine.store, space, object),
        when=when.text if when else None,
        negated=given.negated,
        source=given.source,
        replaces=given.replaces,
    )
    message = Message(
        text=f"{fact.text} ({when})" if when else fact.text,
        session=given.session,
        speaker=given.source,
        at=at,
        id=given.id,
        metadata=given.metadata,
        tags=given.tags,
        expires=given.expires,
    )
    return add_batch(engine, space, [message], Counter(), facts=fact.json)


def _type_of(store: Store, space: str, name: str) -> str:
    """The type of the entity that has this name, if there is only one."""
    found = [
        one
        for one in store.resolution.named(space, name)
        if normalise(one.name) == normalise(name) or one.type == "person"
    ]
    return found[0].type if len({one.type for one in found}) == 1 else _UNKNOWN


def _when(given: Stating, at: datetime) -> When | None:
    """When the fact is true.

    Raises:
        ConfigurationError: a time is not a date, or the times do not fit together.
    """
    if given.when is None:
        return period(given.valid_from, given.valid_to, at)
    if given.valid_from is not None or given.valid_to is not None:
        raise ConfigurationError("give either when, or valid_from and valid_to")
    return time_of("when", given.when)

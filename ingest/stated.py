"""Facts that an application states: what is checked of them, how they are stored and given back.

``add_fact`` states one by itself, and its message says the same in words. Facts given with a
message are what an agent, which is a model, has read out of it. No model reads such a message again
unless that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from cognigraph.errors import ConfigurationError, InvalidMessageError
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import (
    MAX_NAME,
    AlsoRead,
    Extraction,
    Fact,
    Mention,
    storable_name,
)
from cognigraph.ingest.model.parse_lines import clean, entity_type, normalise_relation
from cognigraph.ingest.model.transcript import LISTENER, PRONOUNS
from cognigraph.model import Message, StatedFact, Theme
from cognigraph.model.graph import stated as in_words
from cognigraph.model.messages import ANONYMOUS, UNREAD_ROLES
from cognigraph.states.slots import FactForm, claim_of
from cognigraph.stores.records import WorkChunk
from cognigraph.text.terms import replace_surrogates
from cognigraph.times import When, parse_when, to_utc
from cognigraph.validation import shown

GIVEN_SUMMARY = "stated"
"""Why a theme is there that an application gave as the summary of its session."""
MAX_FACTS = 200
"""Largest number of facts that are given with a message."""
_MAX_SUMMARY = 10_000
_SPEAKER = frozenset({"i", "me", "myself"})
_THE_USER = frozenset({"user", "the user"})
_FIELDS = frozenset(StatedFact.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFact:
    """A fact as it is stored; ``source`` says where it is from.

    ``replaces`` is the object of the fact whose place it takes, or true for ``add_fact``, if it
    takes that of all others with its subject and relation.
    """

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: str | None = None
    negated: bool = False
    source: str | None = None
    replaces: bool | str = False

    @property
    def text(self) -> str:
        """The fact in words."""
        return in_words(self.subject, self.relation, self.object, None, self.negated)

    @property
    def json(self) -> str:
        """As it is stored for ``add_fact``."""
        return json.dumps([asdict(self)], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Stated:
    """All that is stated with one message; ``summary`` is that of its session up to there.

    ``is_message`` says that the message was said, and is not the fact in words. ``extract`` says
    that the extractor is to read it as well.
    """

    facts: tuple[StoredFact, ...]
    is_message: bool = True
    extract: bool = False
    summary: str | None = None

    @property
    def json(self) -> str:
        """As it is stored. The summary is last, so that forgetting a message can cut it off."""
        fields: dict[str, Any] = {"facts": [asdict(fact) for fact in self.facts]}
        fields["extract"] = self.extract
        if self.summary is not None:
            fields["summary"] = self.summary
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def load(cls, text: str) -> Stated:
        """What was stored."""
        fields = json.loads(text)
        if isinstance(fields, list):
            return cls(tuple(StoredFact(**row) for row in fields), is_message=False)
        facts = tuple(StoredFact(**row) for row in fields["facts"])
        return cls(facts, True, fields["extract"], fields.get("summary"))


# --- What an application gives ---------------------------------------------------------------


def stated_with(message: Message, speaker: str | None, at: datetime, index: int) -> str:
    """What is stated with a message, as it is stored.

    Raises:
        InvalidMessageError: a fact or the summary cannot be stored; the error names the field.
    """
    facts, extract, summary = message.facts, message.extract, message.session_summary
    try:
        if extract is not None and not isinstance(extract, bool):
            raise ConfigurationError(f"extract must be true or false, not {shown(extract)}")
        checked = tuple(_facts(facts, speaker, at))
        is_read = facts is None if extract is None else extract
        return Stated(checked, extract=is_read, summary=_summary(summary)).json
    except ConfigurationError as error:
        raise InvalidMessageError(f"message {index}: {error}", index=index) from error


def _facts(facts: object, speaker: str | None, at: datetime) -> Iterator[StoredFact]:
    if facts is None:
        return
    if isinstance(facts, str | Mapping) or not isinstance(facts, Iterable):
        raise ConfigurationError(f"facts must be a list of objects, not {shown(facts)}")
    given = list(facts)
    if len(given) > MAX_FACTS:
        raise ConfigurationError(f"{len(given)} facts; the limit of a message is {MAX_FACTS}")
    for number, fact in enumerate(given):
        yield _fact(fact, f"facts[{number}]", speaker, at)


def _fact(fact: object, path: str, speaker: str | None, at: datetime) -> StoredFact:
    if not isinstance(fact, Mapping):
        raise ConfigurationError(
            f"{path} must be an object with subject, relation and object, not {shown(fact)}"
        )
    unknown = sorted(str(name) for name in fact.keys() - _FIELDS)
    if unknown:
        raise ConfigurationError(
            f"{path} has the unknown field {unknown[0]!r}; there are {', '.join(sorted(_FIELDS))}"
        )
    subject, object = (
        _entity(f"{path}.{name}", fact.get(name), speaker) for name in ("subject", "object")
    )
    if normalise(subject) == normalise(object):
        raise ConfigurationError(f"{path} relates {subject!r} to itself")
    relation = normalise_relation(name_of(f"{path}.relation", fact.get("relation")))
    if not relation.text:
        raise ConfigurationError(f"{path}.relation says nothing: {shown(fact.get('relation'))}")
    negated = fact.get("negated", False)
    if not isinstance(negated, bool):
        raise ConfigurationError(f"{path}.negated must be true or false, not {shown(negated)}")
    types = _types(f"{path}.types", fact.get("types"))
    when = period(fact.get("valid_from"), fact.get("valid_to"), at, f"{path}.")
    return StoredFact(
        subject=subject,
        subject_type=types[0] or _type_of(subject, speaker),
        relation=relation.text,
        object=object,
        object_type=types[1] or _type_of(object, speaker),
        when=when.text if when else None,
        negated=negated or relation.negated,
        replaces=_replaces(f"{path}.replaces", fact.get("replaces"), object, speaker),
    )


def name_of(path: str, text: object) -> str:
    """A name as it is stored.

    Raises:
        ConfigurationError: it is no text, empty or too long.
    """
    if not isinstance(text, str):
        raise ConfigurationError(
            f"{path} is missing" if text is None else f"{path} must be a text, not {shown(text)}"
        )
    name = storable_name(text)
    if name is None:
        raise ConfigurationError(f"{path} must have 1 to {MAX_NAME} characters")
    return name


def _entity(path: str, text: object, speaker: str | None) -> str:
    """The name of who or what is meant: that of the speaker for "I"."""
    name = clean(name_of(path, text))
    key = normalise(name)
    if key in _SPEAKER:
        return speaker or ANONYMOUS
    if key in _THE_USER:
        return ANONYMOUS
    if key in PRONOUNS | LISTENER:
        raise ConfigurationError(
            f"{path} is {name!r}; give the name of who or what is meant (the user is 'user')"
        )
    if not any(letter.isalnum() for letter in name):
        raise ConfigurationError(f"{path} must have a letter or a digit, not {shown(text)}")
    return name


def _replaces(path: str, given: object, object: str, speaker: str | None) -> bool | str:
    if given is None:
        return False
    if not isinstance(given, str):
        raise ConfigurationError(
            f"{path} must be the object that was true before, such as 'Oslo', not {shown(given)}"
        )
    old = _entity(path, given, speaker)
    if normalise(old) == normalise(object):
        raise ConfigurationError(f"{path} is the new object itself; name the one before it")
    return old


def _types(path: str, given: object) -> tuple[str, str]:
    if given is None:
        return "", ""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise ConfigurationError(
            f"{path} must be the type of the subject and that of the object, such as "
            f"['person', 'location'], not {shown(given)}"
        )
    if any(item is not None and not isinstance(item, str) for item in given):
        raise ConfigurationError(f"{path} must be two texts, not {shown(given)}")
    subject, object = ("" if not (item or "").strip() else entity_type(item) for item in given)
    return subject, object


def _type_of(name: str, speaker: str | None) -> str:
    """The type of a name that comes without one: who speaks is a person."""
    return "person" if normalise(name) in (ANONYMOUS, normalise(speaker or "")) else ""


def _summary(text: object) -> str | None:
    if text is None:
        return None
    clean = replace_surrogates(text)[0].strip() if isinstance(text, str) else ""
    if not clean or len(clean) > _MAX_SUMMARY:
        raise ConfigurationError(f"session_summary must be a text of 1 to {_MAX_SUMMARY:,} letters")
    return clean


def period(valid_from: object, valid_to: object, at: datetime, prefix: str = "") -> When | None:
    """When a fact is true; until ``valid_to``, including it, if that is given.

    Raises:
        ConfigurationError: a time is not one, or they do not fit together.
    """
    since = _point(f"{prefix}valid_from", valid_from)
    until = _point(f"{prefix}valid_to", valid_to)
    if until is None:
        return since
    first = since or _point("at", at)
    assert first is not None
    if until.end <= first.start:
        raise ConfigurationError(
            f"{prefix}valid_to ({until.text}) must be later than "
            + (f"valid_from ({first.text})" if since else "at; give valid_from as well")
        )
    return time_of(f"{prefix}valid_to", f"{first.text}..{until.text}")


def _point(name: str, time: object) -> When | None:
    if time is None:
        return None
    if not isinstance(time, datetime | str):
        raise ConfigurationError(f"{name} must be a date or a time, not {shown(time)}")
    text = to_utc(time).isoformat() if isinstance(time, datetime) else time
    when = time_of(name, text)
    if "/" in when.text or when.is_period:
        raise ConfigurationError(f"{name} must be one time, not {text!r}")
    return when


def time_of(name: str, text: str) -> When:
    """The time that a text gives.

    Raises:
        ConfigurationError: it gives none.
    """
    when = parse_when(text)
    if when is None:
        raise ConfigurationError(
            f"{name} must be a date such as 2026, 2026-05, 2026-05-20 or 2026-05-20T09:00Z"
            f"{', or two of them joined by /' if name == 'when' else ''}, not {text!r}"
        )
    return when


# --- When the messages are read --------------------------------------------------------------


def read_by(also: Set[AlsoRead], chunks: Iterable[WorkChunk]) -> list[int]:
    """Which of some chunks an extractor with these ``also_reads`` reads, as indices."""
    return [index for index, chunk in enumerate(chunks) if _is_read(chunk, also)]


def _is_read(chunk: WorkChunk, also: Set[AlsoRead]) -> bool:
    if not chunk.text.strip() or (chunk.role == "tool" and (chunk.part or "tool" not in also)):
        return False
    if chunk.stated is None:
        return True
    stated = Stated.load(chunk.stated)
    return stated.extract or (stated.is_message and "stated" in also)


def with_stated(
    extraction: Extraction,
    chunks: Sequence[WorkChunk],
    also: Set[AlsoRead],
    themes: Sequence[Theme] = (),
) -> Extraction:
    """Add what was stated to what an extractor with these ``also_reads`` has read.

    The evidence of ``extraction`` is among the chunks that were read, that of the result among all.
    ``themes`` are those that the session has.
    """
    positions = read_by(also, chunks)
    stated = {at: Stated.load(chunk.stated) for at, chunk in enumerate(chunks) if chunk.stated}
    if stated or len(positions) < len(chunks):
        not_read = {index for index, value in stated.items() if not value.extract}
        mentions = (
            replace(mention, chunks=_among(positions, mention.chunks))
            for mention in extraction.mentions
        )
        facts = (_said_elsewhere(item, positions, not_read) for item in extraction.facts)
        given = [
            fact
            for index, value in stated.items()
            if not chunks[index].part
            for row in value.facts
            for fact in _with_replaced(row, index)
        ]
        named = (
            mention
            for index, value in stated.items()
            for mention in _mentioned(chunks[index], value, index)
        )
        extraction = replace(
            extraction,
            mentions=(*mentions, *named),
            facts=(*(fact for fact in facts if fact is not None), *given),
        )
    return _with_summary(extraction, stated.values(), also, themes)


def _among(positions: Sequence[int], indices: Iterable[int]) -> tuple[int, ...]:
    known = range(len(positions))
    return tuple(positions[i] for i in indices if isinstance(i, int) and i in known)


def _said_elsewhere(fact: Fact, positions: Sequence[int], not_read: Set[int]) -> Fact | None:
    """The fact as other messages say it; ``None`` if only those with stated facts do."""
    moved = _among(positions, fact.chunks)
    own = tuple(index for index in moved if index not in not_read)
    return replace(fact, chunks=own) if own or not moved else None


def _with_replaced(row: StoredFact, index: int) -> Iterator[Fact]:
    """The fact, and the denial of the one that it replaces unless it ends that by itself."""
    fact = Fact(
        row.subject, row.subject_type, row.relation, row.object, row.object_type, (index,),
        row.when, row.negated, row.source, row.replaces is True,
    )  # fmt: skip
    yield fact
    if isinstance(row.replaces, str) and not row.negated:
        claim = claim_of(
            FactForm(row.subject, row.subject_type, row.relation, row.object, row.object_type)
        )
        if claim is None or not claim.single:
            since = row.when.partition("..")[0] if row.when else None
            yield replace(fact, object=row.replaces, when=since, negated=True)


def _mentioned(chunk: WorkChunk, stated: Stated, index: int) -> Iterator[Mention]:
    """Who speaks in a message and what its facts name, as of one that a model has read."""
    if not stated.is_message or chunk.part:
        return
    names = {(row.subject, row.subject_type): None for row in stated.facts}
    names |= {(row.object, row.object_type): None for row in stated.facts}
    if chunk.speaker and chunk.role not in UNREAD_ROLES:
        names[chunk.speaker, "person"] = None
    for name, type in names:
        yield Mention(name, type, (index,))


def _with_summary(
    extraction: Extraction,
    stated: Iterable[Stated],
    also: Set[AlsoRead],
    themes: Sequence[Theme],
) -> Extraction:
    """A summary that was given stands, until another is given or a model goes on with it."""
    given = [item.summary for item in stated if item.summary is not None]
    if "summary" in also:
        return extraction
    if given:
        theme = Theme("", given[-1], reason=GIVEN_SUMMARY)
        return replace(extraction, themes=(theme,), provisional=False)
    if "stated" in also and any(theme.reason == GIVEN_SUMMARY for theme in themes):
        return replace(extraction, themes=None)
    return extraction

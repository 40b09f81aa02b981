"""From an :class:`Extraction` to the rows of the graph: identity, validation, vectors.

Whatever an extractor returns is checked here, once, for all extractors: evidence must lie in the
window, names must be storable, event times must be dates. What is not right is left out and
said why, never guessed: each rejection is ``reason: what it was``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cognigraph import ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest.extraction import Extraction, Fact, Mention
from cognigraph.lexical import term_counts, terms
from cognigraph.model import Theme
from cognigraph.stores.base import (
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    ThemeRow,
    TripleRow,
    Vector,
)
from cognigraph.text import headed, printable, replace_surrogates, stated
from cognigraph.times import When, parse_when

_MAX_NAME = 300
_MOST_SHOWN = 120

NO_EVIDENCE = "no evidence among the chunks read"
NO_SUBJECT = "subject is not a name"
NO_OBJECT = "object is not a name"
NO_RELATION = "relation is not a name"
NO_DATE = "time is not a date, the fact stays without it"
NO_ENTITY = "mention is not a name"
NO_MENTION = "mention in none of the chunks read"
NO_KEY = "key is not a name with a weight"
NO_THEME = "theme without a summary"


@dataclass(slots=True)
class _Draft:
    """A triple being collected: several facts of one window may be the same."""

    subject: EntityRow
    relation: str
    object: EntityRow
    when: When | None
    negated: bool
    evidence: dict[str, None]

    @property
    def text(self) -> str:
        when = self.when.text if self.when else None
        return stated(self.subject.name, self.relation, self.object.name, when, self.negated)


def derive(
    extraction: Extraction, lease: Lease, extractor: str, embedder: CheckedEmbedder
) -> tuple[Derivation, tuple[str, ...]]:
    """Turn an extraction into rows, and say of each thing left out why (see the module)."""
    rejected = [str(reason) for reason in extraction.rejected]
    entities: dict[str, EntityRow] = {}
    drafts = _drafts(extraction.facts, lease, entities, rejected)
    mentions = _mentions(extraction.mentions, lease, entities, rejected)
    themes = _themes(extraction.themes, lease, rejected)
    keys = _keys(extraction.keys, lease.space, rejected)
    vectors = iter(
        embedder.embed(
            [draft.text for draft in drafts.values()]
            + [name for _, name, _ in keys or ()]
            + [headed(theme.title, theme.summary) for _, theme in themes or ()]
        )
    )
    derivation = Derivation(
        extractor=extractor,
        triples=tuple(sorted(_triples(drafts, vectors), key=lambda triple: triple.uid)),
        entities=tuple(sorted(entities.values(), key=lambda entity: entity.uid)),
        mentions=tuple(sorted(mentions)),
        keys=None
        if keys is None
        else tuple(KeyRow(uid, name, weight, next(vectors)) for uid, name, weight in keys),
        themes=None if themes is None else tuple(_theme_rows(themes, vectors)),
        state=replace_surrogates(extraction.state)[0],
    )
    return derivation, tuple(rejected)


def by_reason(rejected: Iterable[str]) -> Counter[str]:
    """Rejections counted by what stands before the colon."""
    return Counter(item.partition(": ")[0] for item in rejected)


def _drafts(
    facts: Iterable[Fact], lease: Lease, entities: dict[str, EntityRow], rejected: list[str]
) -> dict[str, _Draft]:
    drafts: dict[str, _Draft] = {}
    for fact in facts:
        draft = _draft(fact, lease, rejected)
        if draft is None:
            continue
        uid = ids.triple_uid(
            lease.space,
            draft.subject.uid,
            draft.relation,
            draft.object.uid,
            draft.when.text if draft.when else None,
            draft.negated,
        )
        entities.setdefault(draft.subject.uid, draft.subject)
        entities.setdefault(draft.object.uid, draft.object)
        drafts.setdefault(uid, draft).evidence.update(draft.evidence)
    return drafts


def _mentions(
    mentions: Iterable[Mention],
    lease: Lease,
    entities: dict[str, EntityRow],
    rejected: list[str],
) -> dict[tuple[str, str], None]:
    found: dict[tuple[str, str], None] = {}
    for mention in mentions:
        entity = _entity(lease.space, mention.name, mention.type)
        places = _places(mention.chunks, lease)
        if entity is None or not places:
            reason = NO_ENTITY if entity is None else NO_MENTION
            rejected.append(f"{reason}: {_shown(mention.name)}")
            continue
        entities.setdefault(entity.uid, entity)
        found.update(dict.fromkeys((uid, entity.uid) for uid in places))
    return found


def _draft(fact: Fact, lease: Lease, rejected: list[str]) -> _Draft | None:
    said = f"{_shown(fact.subject)} {_shown(fact.relation)} {_shown(fact.object)}"
    subject = _entity(lease.space, fact.subject, fact.subject_type)
    object = _entity(lease.space, fact.object, fact.object_type)
    relation = _name(fact.relation)
    places = _places(fact.chunks, lease)
    if subject is None:
        rejected.append(f"{NO_SUBJECT}: {said}")
    elif object is None:
        rejected.append(f"{NO_OBJECT}: {said}")
    elif relation is None:
        rejected.append(f"{NO_RELATION}: {said}")
    elif not places:
        rejected.append(f"{NO_EVIDENCE}: {said}")
    else:
        when = parse_when(fact.when) if isinstance(fact.when, str) else None
        if fact.when and when is None:
            rejected.append(f"{NO_DATE}: {_shown(fact.when)} of {said}")
        return _Draft(subject, relation, object, when, bool(fact.negated), dict.fromkeys(places))
    return None


def _shown(value: object) -> str:
    """Whatever it is, short and on one line."""
    text = " ".join(printable(replace_surrogates(str(value))[0]).split())
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return text if isinstance(value, str) and text else repr(text)


def _entity(space: str, name: object, type: object) -> EntityRow | None:
    clean, kind = _name(name), _name(type) or "concept"
    if clean is None:
        return None
    return EntityRow(
        ids.entity_uid(space, clean, kind), clean, ids.normalise(kind), " ".join(terms(clean))
    )


def _name(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    clean = " ".join(replace_surrogates(text.replace("\x00", " "))[0].split())
    return clean if clean and len(clean) <= _MAX_NAME else None


def _text(text: object) -> str:
    if not isinstance(text, str):
        return ""
    return replace_surrogates(text.replace("\x00", " "))[0].strip()


def _places(places: Iterable[int], lease: Lease) -> list[str]:
    count = len(lease.chunks)
    return [
        lease.chunks[place].uid for place in places if isinstance(place, int) and 0 <= place < count
    ]


def _triples(drafts: dict[str, _Draft], vectors: Iterable[Vector]) -> list[TripleRow]:
    return [
        TripleRow(
            uid=uid,
            subject_uid=draft.subject.uid,
            object_uid=draft.object.uid,
            subject=draft.subject.name,
            relation=draft.relation,
            object=draft.object.name,
            when=draft.when,
            negated=draft.negated,
            text=draft.text,
            vector=vector,
            terms=term_counts(draft.text),
            evidence=tuple(draft.evidence),
        )
        # strict=False: keys and themes take the vectors that follow
        for (uid, draft), vector in zip(drafts.items(), vectors, strict=False)
    ]


def _keys(
    keys: Sequence[tuple[str, float]] | None, space: str, rejected: list[str]
) -> list[tuple[str, str, float]] | None:
    if keys is None:
        return None
    rows: dict[str, tuple[str, str, float]] = {}
    for name, weight in keys:
        clean = _name(name)
        if clean is not None and isinstance(weight, int | float) and math.isfinite(weight):
            uid = ids.key_uid(space, clean)
            rows.setdefault(uid, (uid, clean, float(weight)))
        else:
            rejected.append(f"{NO_KEY}: {_shown(name)} {_shown(str(weight))}")
    return list(rows.values())


def _themes(
    themes: Sequence[Theme] | None, lease: Lease, rejected: list[str]
) -> list[tuple[str, Theme]] | None:
    if themes is None:
        return None
    rows: dict[str, Theme] = {}
    for place, theme in enumerate(themes):
        title = _name(theme.title) or ""
        summary = _text(theme.summary)
        if summary:
            uid = ids.theme_uid(lease.space, lease.session, title or str(place))
            rows.setdefault(uid, Theme(title, summary))
        else:
            rejected.append(f"{NO_THEME}: {_shown(theme.title)}")
    return list(rows.items())


def _theme_rows(
    themes: Sequence[tuple[str, Theme]], vectors: Iterable[Vector]
) -> Iterable[ThemeRow]:
    for (uid, theme), vector in zip(themes, vectors, strict=False):
        counts = term_counts(headed(theme.title, theme.summary))
        yield ThemeRow(uid, theme.title, theme.summary, vector, counts)

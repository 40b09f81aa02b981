"""From an :class:`Extraction` to the rows of the graph: identity, validation, vectors.

Whatever an extractor returns is checked here, once, for all extractors: evidence must lie in the
window, names must be storable, event times must be dates. What is not right is left out and
counted, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cognigraph import ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest.extraction import Extraction, Fact
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
from cognigraph.text import headed, replace_surrogates, stated
from cognigraph.times import When, parse_when

_MAX_NAME = 300


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
) -> tuple[Derivation, int]:
    """Turn an extraction into rows; the second value counts what was rejected."""
    space = lease.space
    rejected = 0
    entities: dict[str, EntityRow] = {}
    drafts: dict[str, _Draft] = {}
    for fact in extraction.facts:
        draft = _draft(fact, lease)
        if draft is None:
            rejected += 1
            continue
        uid = ids.triple_uid(
            space,
            draft.subject.uid,
            draft.relation,
            draft.object.uid,
            draft.when.text if draft.when else None,
            draft.negated,
        )
        entities.setdefault(draft.subject.uid, draft.subject)
        entities.setdefault(draft.object.uid, draft.object)
        drafts.setdefault(uid, draft).evidence.update(draft.evidence)
    mentions: dict[tuple[str, str], None] = {}
    for mention in extraction.mentions:
        entity = _entity(space, mention.name, mention.type)
        places = _places(mention.chunks, lease)
        if entity is None or not places:
            rejected += 1
            continue
        entities.setdefault(entity.uid, entity)
        mentions.update(dict.fromkeys((uid, entity.uid) for uid in places))
    themes = _themes(extraction.themes, lease)
    keys = _keys(extraction.keys, space)
    vectors = iter(
        embedder.embed(
            [draft.text for draft in drafts.values()]
            + [name for _, name, _ in keys or ()]
            + [headed(theme.title, theme.summary) for _, theme in themes or ()]
        )
    )
    derivation = Derivation(
        extractor=extractor,
        entities=tuple(sorted(entities.values(), key=lambda entity: entity.uid)),
        triples=tuple(sorted(_triples(drafts, vectors), key=lambda triple: triple.uid)),
        mentions=tuple(sorted(mentions)),
        keys=None
        if keys is None
        else tuple(KeyRow(uid, name, weight, next(vectors)) for uid, name, weight in keys),
        themes=None if themes is None else tuple(_theme_rows(themes, vectors)),
        state=replace_surrogates(extraction.state)[0],
    )
    return derivation, rejected


def _draft(fact: Fact, lease: Lease) -> _Draft | None:
    subject = _entity(lease.space, fact.subject, fact.subject_type)
    object = _entity(lease.space, fact.object, fact.object_type)
    relation = _name(fact.relation)
    places = _places(fact.chunks, lease)
    if subject is None or object is None or relation is None or not places:
        return None
    when = parse_when(fact.when) if isinstance(fact.when, str) else None
    return _Draft(subject, relation, object, when, bool(fact.negated), dict.fromkeys(places))


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
    keys: Sequence[tuple[str, float]] | None, space: str
) -> list[tuple[str, str, float]] | None:
    if keys is None:
        return None
    rows: dict[str, tuple[str, str, float]] = {}
    for name, weight in keys:
        clean = _name(name)
        if clean is not None and isinstance(weight, int | float) and math.isfinite(weight):
            uid = ids.key_uid(space, clean)
            rows.setdefault(uid, (uid, clean, float(weight)))
    return list(rows.values())


def _themes(themes: Sequence[Theme] | None, lease: Lease) -> list[tuple[str, Theme]] | None:
    if themes is None:
        return None
    rows: dict[str, Theme] = {}
    for place, theme in enumerate(themes):
        title = _name(theme.title) or ""
        summary = _text(theme.summary)
        if summary:
            uid = ids.theme_uid(lease.space, lease.session, title or str(place))
            rows.setdefault(uid, Theme(title, summary))
    return list(rows.items())


def _theme_rows(
    themes: Sequence[tuple[str, Theme]], vectors: Iterable[Vector]
) -> Iterable[ThemeRow]:
    for (uid, theme), vector in zip(themes, vectors, strict=False):
        counts = term_counts(headed(theme.title, theme.summary))
        yield ThemeRow(uid, theme.title, theme.summary, vector, counts)

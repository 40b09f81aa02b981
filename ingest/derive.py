"""From an :class:`Extraction` to the rows of the graph: identity, validation, vectors.

Whatever an extractor returns is checked here, once, for all extractors: evidence must lie in the
window, names must be storable, event times must be dates. What is not right is left out and
counted, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cognigraph import ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest.extraction import Extraction, Fact, Mention
from cognigraph.ingest.relational import as_alias, spelled_out
from cognigraph.ingest.spelling import order
from cognigraph.lexical import term_counts, terms
from cognigraph.model import Theme
from cognigraph.stores.base import (
    AliasRow,
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    ThemeRow,
    TripleRow,
    Vector,
    WorkChunk,
)
from cognigraph.text import replace_surrogates
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
    spelled: str
    evidence: dict[str, str | None]
    """Uids of chunks, with who is quoted there."""

    def add(self, other: _Draft) -> None:
        """Take the evidence of the same fact said again, and its spelling if it is the first."""
        for uid, said_by in other.evidence.items():
            known = self.evidence.setdefault(uid, said_by)
            if known is not None and said_by is not None:
                self.evidence[uid] = min(known, said_by)
            else:
                self.evidence[uid] = known or said_by
        if other.spelled < self.spelled:
            self.subject, self.relation, self.object = other.subject, other.relation, other.object
            self.spelled = other.spelled

    @property
    def text(self) -> str:
        polarity = "not " if self.negated else ""
        when = f" ({self.when})" if self.when else ""
        return f"{self.subject.name} {polarity}{self.relation} {self.object.name}{when}"


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
        _spell(entities, draft.subject)
        _spell(entities, draft.object)
        if uid in drafts:
            drafts[uid].add(draft)
        else:
            drafts[uid] = draft
    mentions: dict[tuple[str, str], None] = {}
    aliases: dict[str, AliasRow] = {}
    for mention in extraction.mentions:
        places = _places(mention.chunks, lease)
        entity = _entity(lease, mention.name, mention.type, places)
        if entity is None:
            rejected += 1
            continue
        _spell(entities, entity)
        mentions.update(dict.fromkeys((uid, entity.uid) for uid in places))
        rejected += _take_aliases(aliases, mention, entity, places, lease)
    themes = _themes(extraction.themes, lease)
    keys = _keys(extraction.keys, space)
    vectors = iter(
        embedder.embed(
            [draft.text for draft in drafts.values()]
            + [name for _, name, _ in keys or ()]
            + [f"{theme.title}. {theme.summary}" for _, theme in themes or ()]
        )
    )
    derivation = Derivation(
        extractor=extractor,
        entities=tuple(sorted(entities.values(), key=lambda entity: entity.uid)),
        aliases=tuple(sorted(aliases.values(), key=lambda alias: alias.uid)),
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
    places = _places(fact.chunks, lease)
    subject = _entity(lease, fact.subject, fact.subject_type, places)
    object = _entity(lease, fact.object, fact.object_type, places)
    relation = _name(fact.relation)
    if subject is None or object is None or relation is None:
        return None
    when = parse_when(fact.when) if isinstance(fact.when, str) else None
    evidence: dict[str, str | None] = dict.fromkeys(places, _name(fact.said_by))
    spelled = order(_first(places, lease), subject.name, object.name, relation.casefold(), relation)
    return _Draft(subject, relation, object, when, bool(fact.negated), spelled, evidence)


def _entity(lease: Lease, name: object, type: object, places: Sequence[str]) -> EntityRow | None:
    clean, kind = _name(name), _name(type) or "concept"
    if clean is None or not places:
        return None
    chunks = [chunk for chunk in lease.chunks if chunk.uid in places]
    clean = _name(spelled_out(clean, ids.normalise(kind), _speaker(chunks))) or clean
    return EntityRow(
        ids.entity_uid(lease.space, clean, kind),
        clean,
        ids.normalise(kind),
        " ".join(terms(clean)),
        order(_first(places, lease), clean),
    )


def _first(places: Sequence[str], lease: Lease) -> datetime:
    return min(chunk.at for chunk in lease.chunks if chunk.uid in places)


def _speaker(chunks: Sequence[WorkChunk]) -> str | None:
    """Who said all of it; None if that is not one person."""
    speakers = {chunk.speaker for chunk in chunks}
    return speakers.pop() if len(speakers) == 1 else None


def _spell(entities: dict[str, EntityRow], entity: EntityRow) -> None:
    known = entities.get(entity.uid)
    if known is None or entity.spelled < known.spelled:
        entities[entity.uid] = entity


def _take_aliases(
    aliases: dict[str, AliasRow],
    mention: Mention,
    entity: EntityRow,
    places: Sequence[str],
    lease: Lease,
) -> int:
    """Keep what the text equates with an entity; return how many aliases were no names."""
    rejected = 0
    chunks = [chunk for chunk in lease.chunks if chunk.uid in places]
    for name in mention.aliases:
        clean = _name(name)
        kept = None if clean is None else _name(as_alias(clean, _speaker(chunks)))
        if kept is None:
            rejected += 1
        elif ids.normalise(kept) != ids.normalise(entity.name):
            uid = ids.alias_uid(lease.space, entity.uid, kept)
            spelled = order(_first(places, lease), kept)
            row = AliasRow(uid, entity.uid, kept, " ".join(terms(kept)), spelled)
            known = aliases.get(uid)
            if known is None or row.spelled < known.spelled:
                aliases[uid] = row
    return rejected


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
            spelled=draft.spelled,
            said_by={uid: name for uid, name in draft.evidence.items() if name is not None},
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
        counts = term_counts(f"{theme.title}. {theme.summary}")
        yield ThemeRow(uid, theme.title, theme.summary, vector, counts)

"""Derive the rows of the graph from an :class:`Extraction`: validate, identify, embed.

The results of all extractors are validated here: evidence must be in the window, names must be
storable, event times must be dates. Invalid items are left out and never guessed at; each rejection
is recorded as ``reason: item``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cognigraph import ids
from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import (
    NO_DATE,
    Extraction,
    Fact,
    Mention,
    shortened,
    storable_name,
    storable_text,
)
from cognigraph.model import Theme
from cognigraph.model.graph import stated
from cognigraph.model.messages import ANONYMOUS
from cognigraph.resolution.name_forms import (
    NAME_TYPE,
    as_alias,
    kept,
    order,
    order_fact,
    rank,
    spelled_out,
)
from cognigraph.states.slots import FactForm, worded
from cognigraph.states.succession import NewRuling
from cognigraph.stores.records import (
    AliasRow,
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    ThemeRow,
    TripleRow,
    WorkChunk,
)
from cognigraph.text.terms import headed, replace_surrogates, term_counts, terms
from cognigraph.times import When, parse_when

_DESCRIBING = frozenset("is was be been are were becomes became become".split())
"""Relations whose object describes the subject: whoever "is a mother" is not the speaker's."""
_NAMING = frozenset({"is", "called", "named"})
NO_EVIDENCE = "no evidence among the chunks read"
NO_SUBJECT = "subject is not a name"
NO_OBJECT = "object is not a name"
NO_RELATION = "relation is not a name"
NO_ENTITY = "mention is not a name"
NO_MENTION = "mention in none of the chunks read"
NO_ALIAS = "alias is not a name, or has no meaning outside its sentence"
UPDATED = "an extractor updated it"
"""The reason of a ruling that an extractor makes; it quotes nothing that could be forgotten."""
NO_KEY = "key is not a name with a weight"


class _Spellings:
    """How each chunk spells what it is evidence for; of several spellings, the plainest."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, str], tuple[str, tuple[str, ...]]] = {}

    def add(self, uid: str, chunks: Iterable[str], spelled: str, *names: str) -> None:
        """Record the spelling of an entity, alias or triple in some chunks."""
        new = rank(spelled), names
        for chunk in chunks:
            known = self._best.setdefault((chunk, uid), new)
            if new < known:
                self._best[chunk, uid] = new

    def by_tie(self) -> dict[tuple[str, str], str]:
        """The stored form of the spellings; keys are (chunk uid, uid of what it spells)."""
        return {tie: kept(*names) for tie, (_, names) in self._best.items()}


@dataclass(slots=True)
class _Draft:
    """A triple under construction; it collects the equal facts of one window."""

    subject: EntityRow
    relation: str
    object: EntityRow
    when: When | None
    negated: bool
    spelled: str
    evidence: dict[str, str | None]
    """Uids of chunks, each with the quoted speaker."""
    replaces: set[str]
    """Uids of the chunks that state it to replace other facts."""
    supersedes: dict[str, datetime]
    """Uids of the known facts that it takes the place of, each with the time since when."""

    def add(self, other: _Draft) -> None:
        """Add the evidence of an equal fact, and take over its spelling if that is earlier."""
        for uid, said_by in other.evidence.items():
            known = self.evidence.setdefault(uid, said_by)
            if known is not None and said_by is not None:
                self.evidence[uid] = min(known, said_by)
            else:
                self.evidence[uid] = known or said_by
        self.replaces |= other.replaces
        for uid, since in other.supersedes.items():
            self.supersedes[uid] = min(since, self.supersedes.get(uid, since))
        if other.spelled < self.spelled:
            self.subject, self.relation, self.object = other.subject, other.relation, other.object
            self.spelled = other.spelled

    @property
    def text(self) -> str:
        when = self.when.text if self.when else None
        return stated(self.subject.name, self.relation, self.object.name, when, self.negated)


def derive(
    extraction: Extraction, lease: Lease, extractor: str, embedder: CheckedEmbedder
) -> tuple[Derivation, tuple[str, ...]]:
    """Convert an extraction to rows; also return the rejections (see the module)."""
    rejected = [str(reason) for reason in extraction.rejected]
    entities: dict[str, EntityRow] = {}
    spellings = _Spellings()
    drafts = _drafts(extraction.facts, lease, entities, spellings, rejected)
    aliases: dict[str, AliasRow] = {}
    mentioned = (*extraction.mentions, *users(lease.chunks))
    mentions = _mentions(mentioned, lease, entities, aliases, spellings, rejected)
    themes = identified(extraction.themes, lease, rejected)
    keys = _keys(extraction.keys, lease.space, rejected)
    vectors = iter(
        embedder.embed(
            [draft.text for draft in drafts.values()]
            + [name for _, name, _ in keys or ()]
            + [headed(theme.title, theme.summary) for theme in themes or ()]
        )
    )
    names = embedder.embed_names([ids.normalise(entity.name) for entity in entities.values()])
    derivation = Derivation(
        extractor=extractor,
        triples=tuple(sorted(_triples(drafts, vectors), key=lambda triple: triple.uid)),
        entities=tuple(
            replace(entity, vector=vector)
            for (_, entity), vector in sorted(
                zip(entities.items(), names, strict=True), key=lambda item: item[0][0]
            )
        ),
        aliases=tuple(sorted(aliases.values(), key=lambda alias: alias.uid)),
        mentions=tuple(sorted(mentions)),
        spellings=spellings.by_tie(),
        keys=None
        if keys is None
        else tuple(KeyRow(uid, name, weight, next(vectors)) for uid, name, weight in keys),
        themes=None if themes is None else tuple(theme_rows(themes, vectors)),
        written=extraction.written,
        rulings=tuple(_rulings(drafts)),
        state=replace_surrogates(extraction.state)[0],
    )
    return derivation, tuple(rejected)


def by_reason(rejected: Iterable[str]) -> Counter[str]:
    """Count rejections by their reason, the part before the colon."""
    return Counter(item.partition(": ")[0] for item in rejected)


def _drafts(
    facts: Iterable[Fact],
    lease: Lease,
    entities: dict[str, EntityRow],
    spellings: _Spellings,
    rejected: list[str],
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
        _spell(entities, draft.subject)
        _spell(entities, draft.object)
        names = draft.subject.name, draft.relation, draft.object.name
        spellings.add(uid, draft.evidence, draft.spelled, *names)
        if uid in drafts:
            drafts[uid].add(draft)
        else:
            drafts[uid] = draft
    return drafts


def _mentions(
    mentions: Iterable[Mention],
    lease: Lease,
    entities: dict[str, EntityRow],
    aliases: dict[str, AliasRow],
    spellings: _Spellings,
    rejected: list[str],
) -> dict[tuple[str, str], None]:
    found: dict[tuple[str, str], None] = {}
    for mention in mentions:
        indices = _indices(mention.chunks, lease)
        entity = _entity(lease, mention.name, mention.type, indices)
        if entity is None or not indices:
            reason = NO_MENTION if entity is not None else NO_ENTITY
            rejected.append(f"{reason}: {shortened(mention.name)}")
            continue
        _spell(entities, entity)
        uids = [chunk.uid for chunk in indices]
        found.update(dict.fromkeys((uid, entity.uid) for uid in uids))
        spellings.add(entity.uid, uids, entity.spelled, entity.name)
        _take_aliases(aliases, mention, entity, indices, lease, spellings, rejected)
    return found


def _draft(fact: Fact, lease: Lease, rejected: list[str]) -> _Draft | None:
    indices = _indices(fact.chunks, lease)
    fact = _naming(_worded(fact), indices)
    subject = _entity(lease, fact.subject, fact.subject_type, indices)
    relation = storable_name(fact.relation)
    described = relation is not None and relation.split()[-1] in _DESCRIBING
    object = _entity(lease, fact.object, fact.object_type, indices, described=described)
    if subject is None:
        rejected.append(f"{NO_SUBJECT}: {_described(fact)}")
    elif object is None:
        rejected.append(f"{NO_OBJECT}: {_described(fact)}")
    elif relation is None:
        rejected.append(f"{NO_RELATION}: {_described(fact)}")
    elif not indices:
        rejected.append(f"{NO_EVIDENCE}: {_described(fact)}")
    else:
        when = parse_when(fact.when) if isinstance(fact.when, str) else None
        if fact.when and when is None:
            rejected.append(f"{NO_DATE}: {shortened(fact.when)} of {_described(fact)}")
        quoted = storable_name(fact.said_by)
        evidence: dict[str, str | None] = {chunk.uid: quoted for chunk in indices}
        spelled = order_fact(_first(indices, lease), subject.name, relation, object.name)
        replaces, negated = set(evidence) if fact.replaces else set(), bool(fact.negated)
        since = when.start if when else min(chunk.at for chunk in indices)
        return _Draft(
            subject, relation, object, when, negated, spelled, evidence, replaces,
            dict.fromkeys(fact.supersedes, since),
        )  # fmt: skip
    return None


def _worded(fact: Fact) -> Fact:
    """Return a fact in the wording under which all that is said of its slot is stored."""
    given = fact.subject, fact.subject_type, fact.relation, fact.object, fact.object_type
    if not all(isinstance(item, str) for item in given):  # is rejected later, with its reason
        return fact
    form = worded(FactForm(*given))
    return replace(
        fact, subject=form.subject, subject_type=form.subject_type, relation=form.relation,
        object=form.object, object_type=form.object_type,
    )  # fmt: skip


def _naming(fact: Fact, chunks: Sequence[WorkChunk]) -> Fact:
    """Return a fact whose object is no person if it only says what the speaker is called.

    Otherwise the name would be joined with the speaker, who would be "called" by any other name.
    """
    relation = str(fact.relation).split()
    if not relation or relation[-1] not in _NAMING or not isinstance(fact.object, str):
        return fact
    names = {ids.normalise(name) for chunk in chunks for name in own_names(chunk.text)}
    return replace(fact, object_type=NAME_TYPE) if ids.normalise(fact.object) in names else fact


def _described(fact: Fact) -> str:
    return f"{shortened(fact.subject)} {shortened(fact.relation)} {shortened(fact.object)}"


def _entity(
    lease: Lease,
    name: object,
    type: object,
    indices: Sequence[WorkChunk],
    *,
    described: bool = False,
) -> EntityRow | None:
    """Return the entity of a name; ``described`` is whether it says what somebody is."""
    clean, kind = storable_name(name), storable_name(type) or "concept"
    if clean is None:
        return None
    relative = "" if described else ids.normalise(kind)
    clean = storable_name(spelled_out(clean, relative, _speaker(indices))) or clean
    return EntityRow(
        ids.entity_uid(lease.space, clean, kind),
        clean,
        ids.normalise(kind),
        " ".join(terms(clean)),
        order(_first(indices, lease), clean),
    )


def _first(indices: Sequence[WorkChunk], lease: Lease) -> datetime:
    """The earliest time of the chunks; without chunks, that of the lease, which is never stored."""
    return min(chunk.at for chunk in indices or lease.chunks)


def _speaker(chunks: Sequence[WorkChunk]) -> str | None:
    """The speaker of all chunks; ``None`` if they have several speakers."""
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
    indices: Sequence[WorkChunk],
    lease: Lease,
    spellings: _Spellings,
    rejected: list[str],
) -> None:
    """Record the aliases that the text gives an entity."""
    uids = [chunk.uid for chunk in indices]
    for name in mention.aliases:
        clean = storable_name(name)
        alias = None if clean is None else storable_name(as_alias(clean, _speaker(indices)))
        if alias is None:
            rejected.append(f"{NO_ALIAS}: {shortened(name)} of {shortened(mention.name)}")
        elif ids.normalise(alias) != ids.normalise(entity.name):
            uid = ids.alias_uid(lease.space, entity.uid, alias)
            spelled = order(_first(indices, lease), alias)
            spellings.add(uid, uids, spelled, alias)
            row = AliasRow(uid, entity.uid, alias, " ".join(terms(alias)), spelled, tuple(uids))
            known = aliases.get(uid, row)
            evidence = tuple(dict.fromkeys((*known.evidence, *uids)))
            first = min(row, known, key=lambda item: item.spelled)
            aliases[uid] = replace(first, evidence=evidence)


def _indices(indices: Iterable[int], lease: Lease) -> list[WorkChunk]:
    count = len(lease.chunks)
    return [
        lease.chunks[index] for index in indices if isinstance(index, int) and 0 <= index < count
    ]


def _rulings(drafts: dict[str, _Draft]) -> list[NewRuling]:
    """What takes the place of known facts; of several, the first."""
    rulings: dict[str, NewRuling] = {}
    for uid, draft in drafts.items():
        for old, since in draft.supersedes.items():
            if old != uid and old not in drafts:
                rulings.setdefault(old, NewRuling("supersede", old, uid, since, UPDATED))
    return list(rulings.values())


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
            replaces=frozenset(draft.replaces),
        )
        # strict=False, because the vectors of keys and themes follow
        for (uid, draft), vector in zip(drafts.items(), vectors, strict=False)
    ]


def _keys(
    keys: Sequence[tuple[str, float]] | None, space: str, rejected: list[str]
) -> list[tuple[str, str, float]] | None:
    if keys is None:
        return None
    rows: dict[str, tuple[str, str, float]] = {}
    for name, weight in keys:
        clean = storable_name(name)
        if clean is not None and isinstance(weight, int | float) and math.isfinite(weight):
            uid = ids.key_uid(space, clean)
            rows.setdefault(ids.normalise(clean), (uid, clean, float(weight)))
        else:
            rejected.append(f"{NO_KEY}: {shortened(name)} {shortened(str(weight))}")
    return list(rows.values())


# Gives the themes of an extraction their identity, and makes rows of them.
#
# A theme with the chunks that it covers is an episode. Its uid survives refinement: an extractor
# may return a theme under another title or with more chunks, and it is still the same node.

NO_THEME = "theme without a summary"
_SAME = 0.5
"""The share of an old theme's chunks that a new one must cover to be the same."""


def identified(
    themes: Sequence[Theme] | None, lease: Lease, rejected: list[str]
) -> list[Theme] | None:
    """The storable themes with their uids; of several with the same title the first is kept."""
    if themes is None:
        return None
    found: dict[str, Theme] = {}
    for index, theme in enumerate(themes):
        title = storable_name(theme.title) or ""
        summary = storable_text(theme.summary)
        if not summary:
            rejected.append(f"{NO_THEME}: {shortened(theme.title)}")
            continue
        covers = tuple(dict.fromkeys(uid for uid in theme.covers if isinstance(uid, str)))
        reason = storable_name(theme.reason) or ""
        clean = Theme(title, summary, theme.uid, covers, reason, theme.derived_from)
        found.setdefault(ids.normalise(title) or str(index), clean)
    new, old = list(found.values()), lease.notes.themes
    known = same_themes(new, old)
    taken = {item.uid for item in old} | set(known.values())
    for index, (name, theme) in enumerate(found.items()):
        uid = known.get(index)
        ordinal = 0
        while uid is None or (index not in known and uid in taken):
            uid = ids.theme_uid(lease.space, lease.session, name, ordinal)
            ordinal += 1
        taken.add(uid)
        new[index] = replace(theme, uid=uid)
    return new


def same_themes(new: Sequence[Theme], old: Sequence[Theme]) -> dict[int, str]:
    """The uids that new themes keep, by index: those of the old themes that they continue.

    A theme continues the one whose uid it has, else the one with its title, else the one most of
    whose chunks it covers. Each old theme is continued by one new theme.
    """
    left = {item.uid: item for item in old if item.uid}
    kept: dict[int, str] = {}

    def keep(index: int, uid: str) -> None:
        kept[index] = uid
        del left[uid]

    for index, theme in enumerate(new):
        if theme.uid in left:
            keep(index, theme.uid)
    for index, theme in enumerate(new):
        title = ids.normalise(theme.title)
        same = [uid for uid, value in left.items() if title and ids.normalise(value.title) == title]
        if index not in kept and same:
            keep(index, same[0])
    for _, index, uid in sorted(_overlaps(new, left.values())):
        if index not in kept and uid in left:
            keep(index, uid)
    return kept


def _overlaps(new: Sequence[Theme], old: Iterable[Theme]) -> Iterator[tuple[float, int, str]]:
    """Pairs that share enough chunks: the negated share, index of the new one, uid of the old."""
    for item in old:
        covered = set(item.covers)
        for index, theme in enumerate(new):
            share = len(covered.intersection(theme.covers)) / max(1, len(covered))
            if share >= _SAME:
                yield -share, index, item.uid


def theme_rows(themes: Sequence[Theme], vectors: Iterable[Vector]) -> Iterator[ThemeRow]:
    """Rows of themes that have their uids."""
    for theme, vector in zip(themes, vectors, strict=False):
        counts = term_counts(headed(theme.title, theme.summary))
        yield ThemeRow(
            theme.uid, theme.title, theme.summary, vector, counts, theme.covers, theme.reason,
            theme.derived_from,
        )  # fmt: skip


# The names of the user: what the user says their name is, and "user" for a user with a name.
#
# Questions say "I" and "my", and answers "Ann". Both must lead to one entity, whatever extractor
# read the messages. The names are therefore added to each extraction as aliases of the speaker.

_BEGINNING = 400
"""People say who they are at the beginning; further on stands what they quote."""
_NAME = r"([A-ZÀ-ÖØ-Þ][\w’'-]*\w(?:[ \t]+[A-ZÀ-ÖØ-Þ][\w’'-]*\w){0,2})"
_SAYS = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )(?<!never )\b"
    r"(?i:my name is|my name['’]s|call me|I go by|I am called|I['’]m called)"
    rf"[ \t]+{_NAME}"
)
_GREETS = re.compile(
    r"(?:\A\s*|\b(?i:hi|hello|hey|good (?:morning|afternoon|evening))(?i:[ \t]+there)?[,!.][ \t]*)"
    rf"(?i:I['’]m|I am|this is)[ \t]+{_NAME}(?=[ \t]*(?:[,.!;–—(\n-]|and\b|from\b|\Z))"
)
_NO_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june
    july august september october november december back later maybe when if i christian catholic
    muslim jewish hindu buddhist american british english german french spanish italian dutch
    norwegian swedish danish finnish swiss austrian polish russian ukrainian greek turkish chinese
    japanese korean indian canadian australian mexican brazilian african european asian irish
    scottish welsh portuguese vegan""".split()
)


def own_names(text: str) -> tuple[str, ...]:
    """The names that a speaker says are their own: "My name is Ann", "Call me Sam", "Hi, I'm Al".

    Nothing is taken from quotations and code.
    """
    text = text[:_BEGINNING]
    found = [
        match[1]
        for pattern in (_SAYS, _GREETS)
        for match in pattern.finditer(text)
        if match[1].split()[0].lower() not in _NO_NAMES and not _is_quoted(text, match.start(1))
    ]
    return tuple(dict.fromkeys(found))


def _is_quoted(text: str, index: int) -> bool:
    """Whether a text at ``index`` stands in quotation marks, in code or in a quoted line."""
    before = text[:index]
    line = before.rpartition("\n")[2]
    opened = before.count("“") > before.count("”")
    return (
        opened
        or before.count('"') % 2 == 1
        or "`" in before
        or line.lstrip().startswith((">", "|"))
    )


def users(chunks: Sequence[WorkChunk]) -> list[Mention]:
    """Mentions of the users among the speakers, with their other names as aliases."""
    found = []
    for index, chunk in enumerate(chunks):
        if chunk.role != "user":
            continue
        speaker = chunk.speaker or ANONYMOUS
        names = dict.fromkeys((*own_names(chunk.text), ANONYMOUS))
        aliases = tuple(name for name in names if normalise(name) != normalise(speaker))
        if aliases:
            found.append(Mention(speaker, "person", (index,), aliases))
    return found

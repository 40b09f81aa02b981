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
    graph = _Graph(lease, [str(reason) for reason in extraction.rejected])
    for fact in extraction.facts:
        graph.add_fact(fact)
    for mention in (*extraction.mentions, *users(lease.chunks)):
        graph.add_mention(mention)
    rejected, drafts = graph.rejected, graph.drafts
    themes = identified(extraction.themes, lease, rejected)
    keys = _keys(extraction.keys, lease.space, rejected)
    vectors = iter(
        embedder.embed(
            [draft.text for draft in drafts.values()]
            + [name for _, name, _ in keys or ()]
            + [headed(theme.title, theme.summary) for theme in themes or ()]
        )
    )
    entities = sorted(graph.entities.values(), key=lambda entity: entity.uid)
    names = embedder.embed_names([normalise(entity.name) for entity in entities])
    derivation = Derivation(
        extractor=extractor,
        triples=tuple(sorted(_triples(drafts, vectors), key=lambda triple: triple.uid)),
        entities=tuple(
            replace(entity, vector=vector) for entity, vector in zip(entities, names, strict=True)
        ),
        aliases=tuple(sorted(graph.aliases.values(), key=lambda alias: alias.uid)),
        mentions=tuple(sorted(graph.mentions)),
        spellings=graph.spellings.by_tie(),
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


class _Graph:
    """What the facts and mentions of a lease make: entities, triples, aliases, mentions."""

    def __init__(self, lease: Lease, rejected: list[str]) -> None:
        self._lease = lease
        self.rejected = rejected
        self.entities: dict[str, EntityRow] = {}
        self.drafts: dict[str, _Draft] = {}
        self.aliases: dict[str, AliasRow] = {}
        self.mentions: dict[tuple[str, str], None] = {}
        self.spellings = _Spellings()

    def add_fact(self, fact: Fact) -> None:
        """Add a fact, or the reason why it is none."""
        chunks = self._cited(fact.chunks)
        fact = _naming(_worded(fact), chunks)
        subject = self._entity(fact.subject, fact.subject_type, chunks)
        relation = storable_name(fact.relation)
        described = relation is not None and relation.split()[-1] in _DESCRIBING
        object = self._entity(fact.object, fact.object_type, chunks, described=described)
        if subject is None:
            self.rejected.append(f"{NO_SUBJECT}: {_described(fact)}")
        elif object is None:
            self.rejected.append(f"{NO_OBJECT}: {_described(fact)}")
        elif relation is None:
            self.rejected.append(f"{NO_RELATION}: {_described(fact)}")
        elif not chunks:
            self.rejected.append(f"{NO_EVIDENCE}: {_described(fact)}")
        else:
            self._add_triple(fact, subject, relation, object, chunks)

    def _add_triple(
        self,
        fact: Fact,
        subject: EntityRow,
        relation: str,
        object: EntityRow,
        chunks: Sequence[WorkChunk],
    ) -> None:
        when = parse_when(fact.when) if isinstance(fact.when, str) else None
        if fact.when and when is None:
            self.rejected.append(f"{NO_DATE}: {shortened(fact.when)} of {_described(fact)}")
        quoted = storable_name(fact.said_by)
        evidence: dict[str, str | None] = {chunk.uid: quoted for chunk in chunks}
        names = subject.name, relation, object.name
        spelled = order(self._first(chunks), *names)
        since = when.start if when else self._first(chunks)
        draft = _Draft(
            subject, relation, object, when, bool(fact.negated), spelled, evidence,
            set(evidence) if fact.replaces else set(), dict.fromkeys(fact.supersedes, since),
        )  # fmt: skip
        uid = ids.triple_uid(
            self._lease.space,
            subject.uid,
            relation,
            object.uid,
            when.text if when else None,
            draft.negated,
        )
        self._keep(subject)
        self._keep(object)
        self.spellings.add(uid, evidence, spelled, *names)
        if uid in self.drafts:
            self.drafts[uid].add(draft)
        else:
            self.drafts[uid] = draft

    def add_mention(self, mention: Mention) -> None:
        """Add a mention with its aliases, or the reason why it is none."""
        chunks = self._cited(mention.chunks)
        entity = self._entity(mention.name, mention.type, chunks)
        if entity is None or not chunks:
            reason = NO_MENTION if entity is not None else NO_ENTITY
            self.rejected.append(f"{reason}: {shortened(mention.name)}")
            return
        self._keep(entity)
        uids = [chunk.uid for chunk in chunks]
        self.mentions.update(dict.fromkeys((uid, entity.uid) for uid in uids))
        self.spellings.add(entity.uid, uids, entity.spelled, entity.name)
        for name in mention.aliases:
            clean = storable_name(name)
            alias = None if clean is None else storable_name(as_alias(clean, _speaker(chunks)))
            if alias is None:
                self.rejected.append(f"{NO_ALIAS}: {shortened(name)} of {shortened(mention.name)}")
            elif normalise(alias) != normalise(entity.name):
                self._add_alias(entity, alias, chunks)

    def _add_alias(self, entity: EntityRow, alias: str, chunks: Sequence[WorkChunk]) -> None:
        uids = tuple(chunk.uid for chunk in chunks)
        uid = ids.alias_uid(self._lease.space, entity.uid, alias)
        spelled = order(self._first(chunks), alias)
        self.spellings.add(uid, uids, spelled, alias)
        row = AliasRow(uid, entity.uid, alias, " ".join(terms(alias)), spelled, uids)
        known = self.aliases.get(uid, row)
        evidence = tuple(dict.fromkeys((*known.evidence, *uids)))
        self.aliases[uid] = replace(min(row, known, key=_spelled), evidence=evidence)

    def _entity(
        self, name: object, type: object, chunks: Sequence[WorkChunk], *, described: bool = False
    ) -> EntityRow | None:
        """Return the entity of a name; ``described`` is whether it says what somebody is."""
        clean, kind = storable_name(name), storable_name(type) or "concept"
        if clean is None:
            return None
        relative = "" if described else normalise(kind)
        clean = storable_name(spelled_out(clean, relative, _speaker(chunks))) or clean
        return EntityRow(
            ids.entity_uid(self._lease.space, clean, kind),
            clean,
            normalise(kind),
            " ".join(terms(clean)),
            order(self._first(chunks), clean),
        )

    def _keep(self, entity: EntityRow) -> None:
        """Keep an entity in the spelling that comes first."""
        known = self.entities.setdefault(entity.uid, entity)
        self.entities[entity.uid] = min(known, entity, key=_spelled)

    def _cited(self, indices: Iterable[int]) -> list[WorkChunk]:
        """The chunks of the lease at these indices, of those that exist."""
        chunks = self._lease.chunks
        known = range(len(chunks))
        return [chunks[index] for index in indices if isinstance(index, int) and index in known]

    def _first(self, chunks: Sequence[WorkChunk]) -> datetime:
        """The earliest time of chunks; without any, of the lease: nothing is stored of these."""
        return min(chunk.at for chunk in chunks or self._lease.chunks)


def _spelled(row: EntityRow | AliasRow) -> str:
    return row.spelled


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
    names = {normalise(name) for chunk in chunks for name in own_names(chunk.text)}
    return replace(fact, object_type=NAME_TYPE) if normalise(fact.object) in names else fact


def _described(fact: Fact) -> str:
    return f"{shortened(fact.subject)} {shortened(fact.relation)} {shortened(fact.object)}"


def _speaker(chunks: Sequence[WorkChunk]) -> str | None:
    """The speaker of all chunks; ``None`` if they have several speakers."""
    speakers = {chunk.speaker for chunk in chunks}
    return speakers.pop() if len(speakers) == 1 else None


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
            rows.setdefault(normalise(clean), (uid, clean, float(weight)))
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
        found.setdefault(normalise(title) or str(index), clean)
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
        title = normalise(theme.title)
        same = [uid for uid, value in left.items() if title and normalise(value.title) == title]
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

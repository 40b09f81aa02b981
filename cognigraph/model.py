"""The value objects of the public face: what goes in, what the graph holds, what comes out.

All are frozen. Times are timezone-aware UTC; vectors never appear here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, overload

from cognigraph.errors import InvalidMessageError
from cognigraph.times import When

DEFAULT_SPACE = "default"
DEFAULT_SESSION = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing said. Only ``text`` is needed.

    ``id`` makes redelivery harmless; ``session`` groups one conversation; ``at`` is when it was
    said (an aware datetime or ISO 8601 string; the clock's now if absent).
    """

    text: str
    session: str = DEFAULT_SESSION
    speaker: str | None = None
    at: datetime | str | None = None
    id: str | None = None

    @classmethod
    def of(cls, value: Message | Mapping[str, Any], *, index: int = 0) -> Message:
        """Take a Message or a mapping with its fields; an unknown field is an error."""
        if isinstance(value, Message):
            return value
        if not isinstance(value, Mapping):
            raise InvalidMessageError(
                f"message {index} is a {type(value).__name__}; "
                "give a Message or a dict with 'text'",
                index=index,
            )
        known = {f.name for f in fields(cls)}
        unknown = sorted(str(name) for name in set(value) - known)
        if unknown:
            raise InvalidMessageError(
                f"message {index} has unknown field(s) {', '.join(unknown)}; "
                f"known are {', '.join(sorted(known))}",
                index=index,
            )
        if "text" not in value:
            raise InvalidMessageError(f"message {index} has no 'text'", index=index)
        given = {name: item for name, item in value.items() if item is not None or name == "text"}
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A message that ``add_many(..., skip_invalid=True)`` left out; ``index`` is its place."""

    index: int
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class AddResult:
    """What an ``add`` or ``add_many`` did.

    ``ids`` are the message ids in the order given; ``new`` those that were not there before.
    ``notes`` says what was changed on the way in (for example replaced lone surrogates);
    ``timings`` are milliseconds by stage.
    """

    ids: tuple[str, ...]
    new: tuple[str, ...]
    chunks: int
    notes: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the only message (of the first, after ``add_many``)."""
        return self.ids[0]

    @property
    def duplicates(self) -> int:
        """How many of the messages were already there."""
        return len(self.ids) - len(self.new)

    def __repr__(self) -> str:
        what = self.ids[0] if len(self.ids) == 1 else f"{len(self.ids)} messages"
        extra = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<AddResult {what}: {len(self.new)} new, {self.duplicates} known{extra}>"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as stored: the whole text, whatever number of chunks it was split into.

    ``is_enriched`` says whether all of them have been read by an extractor.
    """

    id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    chunks: int
    is_enriched: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls came to; adds up with ``+``.

    ``calls`` went to the endpoint (retries are calls too); ``cached`` were answered without one.
    ``cost`` is in the currency of the prices that were set, 0.0 where none were.
    """

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class Theme:
    """One topic of a session: a title and a few sentences. The themes are its summary."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Session:
    """The top layer: one conversation with its keys and its summary."""

    id: str
    started_at: datetime
    ended_at: datetime
    messages: int
    chunks: int
    keys: tuple[str, ...] = ()
    themes: tuple[Theme, ...] = ()
    version: int = 0

    @property
    def summary(self) -> str:
        """The themes as one text, empty before enrichment."""
        return _summary(self.themes)

    def __repr__(self) -> str:
        return (
            f"<Session {self.id}: {self.messages} messages, "
            f"{self.started_at:%Y-%m-%d %H:%M}, keys: {', '.join(self.keys[:5]) or '-'}>"
        )


def _summary(themes: Sequence[Theme]) -> str:
    return "\n".join(
        f"{theme.title}: {theme.summary}" if theme.title else theme.summary for theme in themes
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """One revision of a session's keys and summary: what ``extractor`` made of them ``at`` a time.

    ``version`` counts from 1; the session shows the newest.
    """

    session: str
    version: int
    at: datetime
    extractor: str
    keys: tuple[str, ...] = ()
    themes: tuple[Theme, ...] = ()

    @property
    def text(self) -> str:
        """The themes as one text."""
        return _summary(self.themes)

    def __repr__(self) -> str:
        return (
            f"<Summary {self.version} of {self.session}, {self.at:%Y-%m-%d %H:%M} by "
            f"{self.extractor}: {len(self.themes)} theme(s)>"
        )


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing of the middle layer. ``aliases`` are the other names it goes by, sorted."""

    name: str
    type: str
    triples: int = 0
    mentions: int = 0
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Entity {self.name} ({self.type}): {self.triples} triples>"


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence for a triple: a message of a session, and when it was said.

    ``said_by`` is who is quoted in it, if that is not its speaker.
    """

    id: str
    session: str
    at: datetime
    said_by: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of the middle layer with its sources.

    ``when`` is the valid time at the precision given; ``first_observed``/``last_observed`` are the
    observed times over all evidence. ``score`` is set on results of a search.
    """

    uid: str
    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: When | None
    negated: bool
    first_observed: datetime
    last_observed: datetime
    sources: tuple[Source, ...] = ()
    score: float | None = None

    @property
    def text(self) -> str:
        """The fact in words."""
        return f"{self.subject} {'not ' if self.negated else ''}{self.relation} {self.object}"

    def __repr__(self) -> str:
        when = f" ({self.when})" if self.when else ""
        return f"<Triple {self.text}{when}, {len(self.sources)} source(s)>"


@dataclass(frozen=True, slots=True)
class SuspectedDuplicate:
    """Two entities that may be one. They are kept apart until ``merge`` says that they are."""

    name: str
    type: str
    other: str
    other_type: str
    score: float
    reason: str

    def __repr__(self) -> str:
        return (
            f"<SuspectedDuplicate {self.score:.2f} {self.name} ({self.type}) / "
            f"{self.other} ({self.other_type}): {self.reason}>"
        )


def suspicion(
    name: str, type: str, other: str, other_type: str, score: float, reason: str
) -> SuspectedDuplicate:
    """A pair with its names in alphabetical order."""
    (name, type), (other, other_type) = sorted(((name, type), (other, other_type)))
    return SuspectedDuplicate(name, type, other, other_type, score, reason)


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge: ``name`` is shown as part of ``into``, unless ``undone_at`` says when that ended.

    ``by`` is ``"user"`` or ``"rules"``; ``at`` is when it was recorded.
    """

    name: str
    type: str
    into: str
    into_type: str
    by: str
    reason: str
    score: float
    at: datetime
    undone_at: datetime | None = None

    def __repr__(self) -> str:
        undone = ", undone" if self.undone_at else ""
        return f"<Merge {self.name} into {self.into} by {self.by}: {self.reason}{undone}>"


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit stands where it stands.

    ``legs`` maps each leg that found it to its raw value; ``features`` are the values that were
    fused, each already times its weight, so that they add up to ``semantic``.
    The rest are the paper's parts: session score Ss, triple score St, their harmonic mean,
    the time gap in seconds and the decay weight w. ``score`` = semantic x decay.
    With a reranker, ``rerank_score`` is its score, by which the first hits are ordered, and
    ``rank_before`` the rank (from 1) without it.
    """

    legs: Mapping[str, float]
    features: Mapping[str, float]
    session_score: float | None
    triple_score: float | None
    harmonic_mean: float | None
    semantic: float
    gap_seconds: float | None
    decay: float
    score: float
    notes: tuple[str, ...] = ()
    rank_before: int | None = None
    rerank_score: float | None = None

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in self.legs.items())
        fused = " + ".join(
            f"{name} {value:.2f}" for name, value in self.features.items() if abs(value) >= 0.005
        )
        lines = [f"score {self.score:.3f} = semantic {self.semantic:.3f} x decay {self.decay:.3f}"]
        if fused:
            lines.append(f"semantic = {fused}")
        if self.harmonic_mean is not None:
            session, triple = _shown(self.session_score), _shown(self.triple_score)
            lines.append(
                f"harmonic mean {self.harmonic_mean:.3f} of session {session} and triple {triple}"
            )
        if parts:
            lines.append(f"found by {parts}")
        if self.rerank_score is not None:
            lines.append(f"reranked by {self.rerank_score:.3f}, was number {self.rank_before}")
        lines.extend(self.notes)
        return "; ".join(lines)


def _shown(score: float | None) -> str:
    return "unknown" if score is None else f"{score:.3f}"


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked message.

    ``id`` is the caller's message id. ``text`` is the chunk that matched: the whole message unless
    it was long enough to be split (then ``part`` of ``parts``; ``Space.get`` has it all).
    """

    id: str
    text: str
    score: float
    session: str
    speaker: str | None
    at: datetime
    triples: tuple[Triple, ...]
    why: Why
    part: int = 0
    parts: int = 1

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"<Hit {self.score:.3f} {self.id} [{self.session}] {self.speaker or '?'}: {text!r}>"


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session with the score it got for a question."""

    session: Session
    score: float

    def __repr__(self) -> str:
        return f"<SessionHit {self.score:.3f} {self.session.id}>"


@dataclass(frozen=True, slots=True)
class Trace:
    """What a search did: milliseconds by stage, sizes of the candidate sets, and remarks.

    ``asks`` says that the question wants a time, as the rules read it.
    """

    profile: str
    now: datetime
    timings: Mapping[str, float]
    counts: Mapping[str, int]
    terms: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    asks: Literal["when", "how long"] | None = None


@dataclass(frozen=True, slots=True)
class SearchResult(Sequence[Hit]):
    """Ranked hits (a sequence), with the triples and sessions that the question reached."""

    question: str
    hits: tuple[Hit, ...]
    triples: tuple[Triple, ...]
    sessions: tuple[SessionHit, ...]
    trace: Trace
    others: tuple[Hit, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __repr__(self) -> str:
        lines = [f"<SearchResult {self.question!r}: {len(self.hits)} hits>"]
        lines.extend(f"  {place}. {hit!r}" for place, hit in enumerate(self.hits, 1))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LegStanding:
    """Where a message, or its best triple, stands in one leg.

    ``rank`` is its place; ``None`` where the leg does not see it among its best 1,000. ``value`` is
    the cosine or BM25 score; the leg hands on ``limit`` candidates.
    """

    name: str
    rank: int | None
    value: float | None
    limit: int


@dataclass(frozen=True, slots=True)
class SignalStanding:
    """What one signal gave a message, the last hit that was returned, and the first.

    ``value`` is raw, ``points`` are what it added to the score, ``rank`` its place among all
    candidates by this signal.
    """

    name: str
    value: float | None
    points: float
    points_at_k: float
    points_of_best: float
    rank: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that was tried, and the place the expected message then had."""

    what: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an expected message is where it is.

    ``rank`` is its place among all ``candidates`` (``None``: it was none), ``score_at_k`` what the
    last returned hit had; ``signals`` begin with what it lost most on; ``variants`` are its places
    with one part of the ranking off; ``proposals`` what would have brought it among the first k.
    """

    question: str
    expected: StoredMessage
    k: int
    rank: int | None
    score: float | None
    score_at_k: float | None
    candidates: int
    legs: tuple[LegStanding, ...]
    signals: tuple[SignalStanding, ...]
    triples: tuple[Triple, ...]
    hits: tuple[Hit, ...]
    variants: tuple[tuple[str, int | None], ...]
    proposals: tuple[Proposal, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether it is among the first k."""
        return self.rank is not None and self.rank <= self.k

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.is_found:
            return f"found: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}"
        if self.rank is not None:
            return (
                f"missed: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}; "
                f"it scores {self.score:.3f}, the last hit {self.score_at_k:.3f}"
            )
        if any(leg.rank is not None for leg in self.legs):
            return f"missed: not among the {self.candidates} candidates that the legs found"
        return "missed: neither its vector, nor its words, nor a triple is near the question"

    def __repr__(self) -> str:
        return f"<Explanation {self.expected.id}: {self.verdict}>"


def _nth(rank: int | None) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get((rank or 0) % 10, "th")
    return f"{rank}{'th' if (rank or 0) % 100 in (11, 12, 13) else suffix}"


@dataclass(frozen=True, slots=True)
class Citation:
    """What a short id in a context block stands for."""

    label: str
    kind: str
    id: str
    session: str | None


class Context(str):
    """A prompt block: a plain ``str`` that knows its tokens, hits and citations."""

    __slots__ = ("citations", "hits", "tokens")
    tokens: int
    hits: tuple[Hit, ...]
    citations: tuple[Citation, ...]

    def __new__(
        cls, text: str, *, tokens: int, hits: Sequence[Hit], citations: Sequence[Citation]
    ) -> Context:
        """Build the block; ``tokens`` is the count that was held against the budget."""
        self = super().__new__(cls, text)
        self.tokens, self.hits, self.citations = tokens, tuple(hits), tuple(citations)
        return self


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes of a space and the state of its enrichment (in chunks).

    Summaries that lack turns which were read are ``pending`` until they are written, or ``failed``.
    """

    space: str
    sessions: int
    messages: int
    chunks: int
    entities: int
    triples: int
    keys: int
    pending: int
    leased: int
    done: int
    failed: int
    summaries_pending: int = 0
    summaries_failed: int = 0

"""Results of a search: ranked hits with the parts of their scores, the prompt block, reasons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar, overload

from cognigraph.model.graph import Episode, Session, Triple
from cognigraph.model.messages import Role, StoredMessage

Layer = Literal["messages", "facts", "episodes"]
"""What a search ranks: messages, facts (and the messages that state them), or episodes."""

Shape = Literal["answer", "overview"]
"""What a block is for: to answer a question, or to span a topic in time."""


_T = TypeVar("_T")


class Listed(Sequence[_T]):
    """A result that can be used as the sequence of its items."""

    __slots__ = ()

    @property
    @abstractmethod
    def _items(self) -> tuple[_T, ...]: ...

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, index: int | slice) -> _T | tuple[_T, ...]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[_T]:
        return iter(self._items)


@dataclass(frozen=True, slots=True)
class Why:
    """How the score of a hit was computed.

    ``signals`` maps each signal that is known for the message to its raw value, and ``features``
    to its contribution; the contributions add up to ``semantic``. The other fields are those of the
    paper: session score Ss, triple score St, their harmonic mean, the time gap in seconds and the
    decay weight w; ``score`` = semantic x decay. With a reranker, ``rerank_score`` is its score,
    which orders the first hits, and ``rank_before`` is the rank (from 1) without it.
    """

    signals: Mapping[str, float]
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
        parts = ", ".join(f"{name} {value:.2f}" for name, value in self.signals.items())
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
            lines.append(f"signals: {parts}")
        if self.rerank_score is not None:
            lines.append(f"rerank score {self.rerank_score:.3f}, rank {self.rank_before} before")
        lines.extend(self.notes)
        return "; ".join(lines)


def _shown(score: float | None) -> str:
    return "unknown" if score is None else f"{score:.3f}"


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked message.

    ``id`` is the caller's message id. ``text`` is the chunk that matched: the whole message, unless
    it was split because of its length. In that case it is number ``part`` (from 0) of ``parts``,
    and ``Space.get`` returns the whole text. ``heading`` is the path of headings under which the
    part stands, such as ``"Setup > Database"``. ``role`` is ``None`` for a person.

    ``found_by`` holds the queries of the search that found the message, the one that ranks it best
    first. With several queries, ``score`` and ``why`` are those of that query, so scores need not
    fall from hit to hit. They need not either where newer messages precede older ones.

    ``confidence`` is the probability that the message answers the question, from 0 to 1; it falls
    from hit to hit. ``None`` if it is not known.
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
    role: Role | None = None
    heading: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    found_by: tuple[str, ...] = ()
    confidence: float | None = None

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return f"<Hit {self.score:.3f} {self.id} [{self.session}] {self.speaker or '?'}: {text!r}>"


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session with its score for a question."""

    session: Session
    score: float

    def __repr__(self) -> str:
        return f"<SessionHit {self.score:.3f} {self.session.id}>"


@dataclass(frozen=True, slots=True)
class QueryTrace:
    """What one of several queries of a search did.

    ``hits`` is how many of the returned hits it found, ``alone`` how many no other query found.
    """

    query: str
    terms: tuple[str, ...]
    anchors: tuple[str, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    hits: int
    alone: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What a search did: milliseconds by stage, sizes of the candidate sets, and remarks.

    ``asks`` says which kind of time the question asks for, according to the rules, and ``past``
    whether it asks how things were before. ``valid_at`` is the time at which the facts are true. A
    search with several queries has them in ``queries``; then ``timings`` and ``counts`` are sums,
    and the other fields those of the question.
    """

    ranking: str
    now: datetime
    timings: Mapping[str, float]
    counts: Mapping[str, int]
    terms: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    asks: Literal["when", "how long"] | None = None
    past: bool = False
    queries: tuple[QueryTrace, ...] = ()
    valid_at: datetime | None = None

    def noting(self, note: str) -> Trace:
        """Return the same trace with one more note."""
        return replace(self, notes=(*self.notes, note))


@dataclass(frozen=True, slots=True)
class SearchResult(Listed[Hit]):
    """Ranked hits (a sequence), with the triples and sessions found for the question.

    ``confidence`` is the probability that one of the hits answers it, from 0 to 1; ``None`` if it
    is not known, as for episodes and in the profile ``licomemory``.
    """

    question: str
    hits: tuple[Hit, ...]
    triples: tuple[Triple, ...]
    sessions: tuple[SessionHit, ...]
    trace: Trace
    others: tuple[Hit, ...] = ()
    layer: Layer = "messages"
    episodes: tuple[Episode, ...] = ()
    confidence: float | None = None

    @property
    def _items(self) -> tuple[Hit, ...]:
        return self.hits

    def __repr__(self) -> str:
        lines = [f"<SearchResult {self.question!r}: {len(self.hits)} hits>"]
        lines.extend(f"  {position}. {hit!r}" for position, hit in enumerate(self.hits, 1))
        lines.extend(f"  {note}" for note in self.trace.notes if not self.hits)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SpaceHit:
    """A ranked message and the space that it is in."""

    space: str
    hit: Hit

    def __repr__(self) -> str:
        return f"<SpaceHit {self.space}: {self.hit!r}>"


@dataclass(frozen=True, slots=True)
class SpacesResult(Listed[SpaceHit]):
    """Ranked hits of several spaces (a sequence), and the result of each space by its name."""

    question: str
    hits: tuple[SpaceHit, ...]
    results: Mapping[str, SearchResult]

    @property
    def _items(self) -> tuple[SpaceHit, ...]:
        return self.hits


@dataclass(frozen=True, slots=True)
class Citation:
    """The item that a label in a context block refers to.

    Of a message, ``spans`` are the parts that are shown, as (start, end) in its whole text, or in
    the text of its part ``part`` if that is not ``None``. They are empty if the message is shown
    whole, and for sessions and triples. ``asked`` is the id of the message before it, if the
    question that it answers is quoted.
    """

    label: str
    kind: str
    id: str
    session: str | None
    spans: tuple[tuple[int, int], ...] = ()
    part: int | None = None
    asked: str | None = None


class Context(str):
    """A prompt block: a ``str`` with its number of tokens, hits and citations.

    ``notes`` say what is to be known about how it was built. ``confidence`` is that of the search
    (:class:`SearchResult`), ``None`` if it is not known.
    """

    __slots__ = ("citations", "confidence", "hits", "notes", "tokens")
    tokens: int
    hits: tuple[Hit, ...]
    citations: tuple[Citation, ...]
    notes: tuple[str, ...]
    confidence: float | None

    def __new__(
        cls,
        text: str,
        *,
        tokens: int,
        hits: Sequence[Hit],
        citations: Sequence[Citation],
        confidence: float | None = None,
        notes: Sequence[str] = (),
    ) -> Context:
        """Build the block; ``tokens`` is the count that was compared with the budget."""
        self = super().__new__(cls, text)
        self.tokens, self.hits, self.citations = tokens, tuple(hits), tuple(citations)
        self.notes, self.confidence = tuple(notes), confidence
        return self

    def with_notes(self, notes: Sequence[str]) -> Context:
        """Return the same block with notes."""
        return Context(
            self,
            tokens=self.tokens,
            hits=self.hits,
            citations=self.citations,
            confidence=self.confidence,
            notes=notes,
        )


# Explanation of why an expected message is found for a question, or is not.


@dataclass(frozen=True, slots=True)
class SourceStanding:
    """The rank of a message, or of its best triple, in one candidate source.

    ``rank`` is ``None`` if it is not among the source's best 1,000. ``value`` is its cosine or BM25
    score; ``limit`` is the number of candidates that the source contributes.
    """

    name: str
    rank: int | None
    value: float | None
    limit: int


@dataclass(frozen=True, slots=True)
class SignalStanding:
    """What one signal contributed to the score of a message, of the last hit, and of the first.

    ``value`` is the raw signal and ``points`` its contribution to the score; ``rank`` is the rank
    of the message among all candidates by this signal alone.
    """

    name: str
    value: float | None
    points: float
    points_at_k: float
    points_of_best: float
    rank: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that was tried, and the rank of the expected message with it."""

    what: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an expected message has its rank.

    ``rank`` is its rank among all ``candidates`` (``None`` if it is not one of them), and
    ``score_at_k`` the score of the last returned hit. ``signals`` begin with the one that cost it
    most; ``variants`` are its ranks with one part of the ranking switched off; ``proposals`` are
    changes that would bring it among the first k.
    """

    question: str
    expected: StoredMessage
    k: int
    rank: int | None
    score: float | None
    score_at_k: float | None
    candidates: int
    candidate_sources: tuple[SourceStanding, ...]
    signals: tuple[SignalStanding, ...]
    triples: tuple[Triple, ...]
    hits: tuple[Hit, ...]
    variants: tuple[tuple[str, int | None], ...]
    proposals: tuple[Proposal, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_found(self) -> bool:
        """Whether the message is among the first k."""
        return self.rank is not None and self.rank <= self.k

    @property
    def verdict(self) -> str:
        """The explanation in one sentence."""
        if self.is_found:
            return f"found: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}"
        if self.rank is not None:
            return (
                f"missed: {_nth(self.rank)} of {self.candidates} candidates, k is {self.k}; "
                f"it scores {self.score:.3f}, the last hit {self.score_at_k:.3f}"
            )
        if any(source.rank is not None for source in self.candidate_sources):
            return (
                f"missed: not among the {self.candidates} candidates, because its rank is too low "
                "in every candidate source"
            )
        return "missed: neither its vector, nor its words, nor a triple matches the question"

    def __repr__(self) -> str:
        return f"<Explanation {self.expected.id}: {self.verdict}>"


def _nth(rank: int | None) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get((rank or 0) % 10, "th")
    return f"{rank}{'th' if (rank or 0) % 100 in (11, 12, 13) else suffix}"

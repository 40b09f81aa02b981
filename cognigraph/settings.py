"""All settings, as frozen dataclasses by topic. The defaults measured best (see ``bench/``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from cognigraph.errors import ConfigurationError
from cognigraph.model.messages import RoleFilter
from cognigraph.validation import MAX_BYTES, check_fields

RankingName = Literal["default", "licomemory"]
WeightSetName = Literal["plain", "model"]
Weights = Literal["auto", "plain", "model"]
Mean = Literal["harmonic", "arithmetic", "weighted"]
BareChunks = Literal["behind", "among"]
CandidateSources = Literal["wide", "paper"]
Anchors = Literal["words", "vectors"]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigurationError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertSettings:
    """How messages become chunks.

    A message longer than ``max_chunk_chars`` is split into chunks at its structure (headings, code,
    paragraphs, list items), else at the ends of sentences. One longer than ``max_message_chars`` is
    refused. ``add_many`` stores ``batch`` messages in each transaction.
    """

    max_chunk_chars: int = 1000
    max_message_chars: int = 10_000_000
    batch: int = 512

    def __post_init__(self) -> None:
        check_fields(
            self, "insert", least={"max_chunk_chars": 100, "max_message_chars": 1, "batch": 1}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichSettings:
    """How the queue of chunks is enriched.

    A worker leases up to ``batch`` chunks of one session for the time ``lease``, and reads them
    with ``context`` chunks before them. After ``park_after`` failed attempts a chunk is parked; the
    first retry waits ``retry_after``, each further one twice as long. A background worker looks for
    work every ``idle_poll``. It starts when no message has arrived for ``settle``, or when a batch
    is full; ``None`` leaves this to the extractor (at once for rules, about 20 s for a model).
    ``flush`` and ``enrich`` start at once. The last ``keep_revisions`` revisions of a session's
    summary are kept, the current one included.

    ``calls`` is how many batches, each of another session, are with a model at once. A server for
    many users needs several, since one batch after another takes as long as all answers together.
    """

    batch: int = 64
    context: int = 2
    lease: timedelta = timedelta(seconds=120)
    park_after: int = 5
    retry_after: timedelta = timedelta(seconds=2)
    idle_poll: timedelta = timedelta(seconds=1)
    settle: timedelta | None = None
    keep_revisions: int = 10
    calls: int = 1

    def __post_init__(self) -> None:
        check_fields(
            self,
            "enrich",
            positive=("lease", "retry_after", "idle_poll"),
            least={"calls": 1, "batch": 1, "park_after": 1, "keep_revisions": 1},
        )


_ALL_SESSIONS = 1_000_000
"""A number of sessions that cuts none off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LicoMemorySettings:
    """Parts of the paper's ranking that can be changed in the ``licomemory`` profile.

    They exist to measure what each part contributes; the defaults are the paper's. ``mean``
    combines the session and triple scores: ``"weighted"`` is .2 and .8 of them, as in the authors'
    repository. ``session_matches`` is how many of the question's entities count in the score of a
    session, those that match its keys best; ``None`` is all of them. With ``time_keys``, the times
    that a question names are among these, and match sessions near them. ``anchors`` are the
    entities around which facts are candidates: those whose names are in the question (``"words"``),
    or the five most similar to each entity of it, as in the authors' repository (``"vectors"``,
    which reads all names for each question). The tau of the decay is ``tau_scale`` times the median
    time gap.

    ``candidates`` says where candidates come from. With ``"paper"`` (section 3.2), from the top
    down only: sessions by their keys, triples of the best sessions, and messages that these triples
    cite; ``time_order`` and ``time_anchor`` have no effect, because in the paper time counts by
    decay and keys alone. A message that no triple cites is then not found. With ``"wide"``,
    candidates come from all sources of the default profile, and rules for the time in a question
    apply.

    Two switches need ``candidates="wide"``, where chunks are found that no triple cites. With
    ``hyperlinks=False`` the links from triples to their chunks are ignored, and each chunk is
    scored by itself. ``bare_chunks`` ranks enriched chunks without a triple ``"behind"`` all
    others, or ``"among"`` them, each as if it were a triple.
    """

    mean: Mean = "harmonic"
    session_matches: int | None = None
    time_keys: bool = True
    anchors: Anchors = "words"
    tau_scale: float = 1.0
    hyperlinks: bool = True
    bare_chunks: BareChunks = "behind"
    candidates: CandidateSources = "paper"

    def __post_init__(self) -> None:
        check_fields(
            self, "search.licomemory", positive=["tau_scale"], least={"session_matches": 1}
        )
        _require(
            self.candidates == "wide" or (self.hyperlinks and self.bare_chunks == "behind"),
            'search.licomemory.hyperlinks=False and bare_chunks="among" need candidates="wide": '
            "in the paper only hyperlinks lead to messages",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How a question is answered. Each part can be switched off.

    ``ranking="default"`` combines the signals with weights learned from open data, and lets time
    decay decide only between nearly equal scores (``decay_strength``: 0 is none, 1 the paper's).
    ``ranking="licomemory"`` is the retrieval of the paper: k = 15, ``decay_exponent`` 0.1 and full
    decay; an exponent of 1 makes the decay exponential. ``licomemory`` holds its other switches.

    A limit named ``*_by_*`` is the number of candidates of one source; 0 switches the source off.
    ``sessions`` and ``triples`` switch off all signals from sessions or from triples.
    ``weights`` names the set of learned weights of the default profile; ``"auto"`` chooses by the
    extractor that read the triples. With ``time_order``, the words "now", "latest" and "first" in a
    question put the newest or oldest of the best messages first, and a question about how things
    are puts newer messages of the user before older ones that match about as well. With
    ``time_anchor``, a question such as "what did she do before she moved?" is answered by finding
    the date of the event first.
    ``rerank`` is the number of hits that a reranker reorders, if the memory has one.
    Only the beginning and the end of a question longer than ``max_question_chars`` are used, and
    the trace says so.
    """

    ranking: RankingName = "default"
    weights: Weights = "auto"
    k: int = 15
    chunks_by_vector: int = 50
    chunks_by_terms: int = 50
    triples_by_vector: int = 30
    triples_by_terms: int = 30
    triples_per_anchor: int = 10
    sessions_by_vector: int = 10
    radius: int = 2
    windows: bool = True
    late_interaction: bool = True
    sessions: bool = True
    triples: bool = True
    cues: bool = True
    time_cue: bool = True
    time_order: bool = True
    time_anchor: bool = True
    decay: bool = True
    decay_exponent: float = 0.1
    decay_strength: float = 0.03
    max_triples: int = 15
    max_sessions: int = 5
    rerank: int = 50
    max_question_chars: int = 8000
    licomemory: LicoMemorySettings = field(default_factory=LicoMemorySettings)

    def __post_init__(self) -> None:
        check_fields(
            self,
            "search",
            positive=["decay_exponent"],
            least={"k": 1, "max_question_chars": 100},
            most={"decay_exponent": 1, "decay_strength": 1, "radius": 5},
        )

    @classmethod
    def licomemory_as_released(cls) -> SearchSettings:
        """LiCoMemory as its authors released it, where that differs from the paper.

        S_s is the mean over the three entities that match a session's keys best. It is weighted
        with the triple's score (.2 and .8) and cuts no session off. 20 triples, those around the
        five entities most similar to each of the question's among them, without decay. The
        repository compares each entity with every key, here with the best of the session.
        """
        return cls(
            ranking="licomemory",
            licomemory=LicoMemorySettings(mean="weighted", session_matches=3, anchors="vectors"),
            sessions_by_vector=_ALL_SESSIONS,
            triples_by_vector=20,
            max_triples=20,
            decay=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How the prompt block is built.

    ``max_tokens`` is its budget. ``order`` sorts the messages by ``"time"`` (newest last) or
    ``"relevance"``. ``sessions`` and ``triples`` switch the two upper parts of the block, and
    ``session_share`` and ``triple_share`` are the fractions of the budget that they may use: a
    session one line of up to 45 tokens for each 130, and facts all of theirs.
    With ``excerpts``, only those parts of a message that answer the question are shown if it has
    more than ``short_message`` characters, or four times as many if it is one between people.
    ``messages`` is how many of the best messages are considered, unless a call says ``k``; ``None``
    considers one for every 35 tokens, and at least ``search.k``.
    Nothing is shown for a question whose result has a confidence below ``floor``, because nothing
    in the memory supports an answer; 0 shows the best of what there is.
    ``count_tokens`` counts the tokens of a text, such as your model's tokenizer; the default is an
    estimate that tends to be too high.
    """

    max_tokens: int = 1300
    order: Literal["time", "relevance"] = "time"
    sessions: bool = True
    triples: bool = True
    session_share: float = 0.1
    triple_share: float = 0.15
    excerpts: bool = True
    short_message: int = 120
    messages: int | None = None
    floor: float = 0.08
    count_tokens: Callable[[str], int] | None = None

    def __post_init__(self) -> None:
        check_fields(self, "context", least={"max_tokens": 1, "messages": 1}, most={"floor": 1})
        _require(
            self.session_share + self.triple_share < 1,
            "context.session_share + context.triple_share must be below 1",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings:
    """Limits on one ``cypher()`` call. A call beyond a limit fails with :class:`QueryError`.

    ``max_steps``: the work of expressions and UNWIND that the server cannot interrupt, such as the
    iterations of a loop. ``max_rows``: intermediate rows on SQLite, which are in the memory of this
    process. ``max_result_chars``: the size of all returned rows and of any value in the query;
    values other than text count as 8.
    """

    max_steps: int = 30_000_000
    max_rows: int = 200_000
    max_result_chars: int = 50_000_000

    def __post_init__(self) -> None:
        check_fields(self, "query", positive=("max_steps", "max_rows", "max_result_chars"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """The format of a new store, how long a store may take to answer, and what it keeps in memory.

    ``vectors`` is the number format of vectors in a SQLite file: ``"float16"`` (the default: half
    the size, the same recall) or ``"float32"``. In memory vectors are always float32. An existing
    file keeps its format until ``memory.admin.reindex`` changes it. Neo4j has no such choice: its
    vector indexes hold float32 numbers and are quantised.

    ``read_timeout``, ``write_timeout`` and ``open_timeout`` are for Neo4j, in seconds: a search, an
    insert or the opening of a memory fails after that time, retries included, even if the server
    does not answer at all. Every other call to the server counts as a read or a write.

    ``reads`` is for clusters of Neo4j servers, and for Aura. With ``"leader"`` the server that
    takes the writes also answers the searches, which see what every program has stored before.
    With ``"followers"`` the others answer; a search sees at least what this memory has stored or
    read before, and what :meth:`Admin.catch_up` names. ``cypher()`` is answered by a follower.

    ``index_bytes`` bounds the in-memory search indexes of a SQLite memory: those of the spaces
    searched last are kept, and at least one.

    ``accept_loss`` opens a SQLite file although the journal with its newest messages is missing or
    was cut off, which is otherwise refused. What was lost stays lost.
    """

    vectors: Literal["float32", "float16"] | None = None
    read_timeout: float = 30.0
    write_timeout: float = 30.0
    open_timeout: float = 60.0
    reads: Literal["leader", "followers"] = "leader"
    index_bytes: int = 2 << 30
    accept_loss: bool = False

    def __post_init__(self) -> None:
        check_fields(
            self,
            "storage",
            positive=("read_timeout", "write_timeout", "open_timeout"),
            least={"index_bytes": 1},
            most={"index_bytes": MAX_BYTES},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long messages are kept: those of a ``role`` and with a ``tag``, or all without either.

    ``role`` is ``"person"`` for messages without one. Messages older than ``keep``, counted from
    when they were said, are forgotten by ``forget(expired=True)``.
    """

    keep: timedelta
    role: RoleFilter | None = None
    tag: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, "retention", positive=["keep"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """Which messages ``forget(expired=True)`` forgets, beside those added with ``expires``.

    A message is forgotten if any of the ``rules`` applies to it. With ``sweep``, the background
    worker forgets them in every space at this interval; without it, call ``forget`` yourself.
    """

    rules: Iterable[Retention] = ()
    sweep: timedelta | None = None

    def __post_init__(self) -> None:
        check_fields(self, "retention", positive=["sweep"])
        object.__setattr__(self, "rules", tuple(self.rules))
        _require(
            all(isinstance(rule, Retention) for rule in self.rules),
            "retention.rules must hold Retention objects",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings in one object, for ``Memory(..., settings=Settings(...))``."""

    insert: InsertSettings = field(default_factory=InsertSettings)
    enrich: EnrichSettings = field(default_factory=EnrichSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    storage: StorageSettings = field(default_factory=StorageSettings)
    query: QuerySettings = field(default_factory=QuerySettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)

    def __post_init__(self) -> None:
        check_fields(self, "settings")

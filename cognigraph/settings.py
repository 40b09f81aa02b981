"""All settings, frozen, by concern. The defaults are what was measured best (see bench/)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, get_args

from cognigraph.errors import ConfigurationError

Profile = Literal["default", "licomemory"]
Weights = Literal["auto", "plain", "rules", "model"]
Mean = Literal["harmonic", "arithmetic"]
BareChunks = Literal["behind", "among"]


_LIMITS = (
    "chunks_by_vector",
    "chunks_by_terms",
    "triples_by_vector",
    "triples_by_terms",
    "triples_per_anchor",
    "sessions_by_vector",
    "max_triples",
    "max_sessions",
    "rerank",
)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigurationError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertSettings:
    """How messages become chunks.

    A message over ``max_chunk_chars`` is split at sentence ends; one over ``max_message_chars`` is
    refused. ``batch`` messages of an ``add_many`` are one transaction.
    """

    max_chunk_chars: int = 1000
    max_message_chars: int = 10_000_000
    batch: int = 128

    def __post_init__(self) -> None:
        _require(self.max_chunk_chars >= 100, "insert.max_chunk_chars must be at least 100")
        _require(self.max_message_chars >= 1, "insert.max_message_chars must be at least 1")
        _require(self.batch >= 1, "insert.batch must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichSettings:
    """How the queue of chunks is worked off.

    A worker leases up to ``batch`` chunks of one session for ``lease``; after ``park_after`` failed
    attempts a chunk is parked; the wait between attempts doubles from ``retry_after``. A background
    worker waits until nothing new came for ``settle`` or a batch is full (``None``: as the
    extractor prefers, at once for rules, some 20 s for a model); ``flush`` and ``enrich`` do not.
    ``keep_revisions`` of a session's summary stay readable, the one shown among them.
    """

    batch: int = 64
    context: int = 2
    lease: timedelta = timedelta(seconds=120)
    park_after: int = 5
    retry_after: timedelta = timedelta(seconds=2)
    idle_poll: timedelta = timedelta(seconds=1)
    settle: timedelta | None = None
    keep_revisions: int = 10

    def __post_init__(self) -> None:
        _require(self.batch >= 1, "enrich.batch must be at least 1")
        _require(self.park_after >= 1, "enrich.park_after must be at least 1")
        _require(self.context >= 0, "enrich.context must not be negative")
        _require(self.keep_revisions >= 1, "enrich.keep_revisions must be at least 1")
        for name in ("lease", "retry_after", "idle_poll"):
            _require(getattr(self, name) > timedelta(0), f"enrich.{name} must be positive")
        if self.settle is not None:
            _require(self.settle >= timedelta(0), "enrich.settle must not be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class LicoMemorySettings:
    """What of the paper's ranking can be changed in the ``licomemory`` profile, to see its worth.

    ``mean`` joins session and triple score (paper: harmonic). ``tau_scale`` times the median gap is
    the decay's tau (paper: 1). ``hyperlinks=False`` cuts the links from triples to their chunks:
    each chunk is then scored by itself. ``bare_chunks`` are those of a session that has been read
    but no triple came of them: in the paper only triples lead to chunks, so they stand ``"behind"``
    all others; ``"among"`` scores each as if it were a triple.
    """

    mean: Mean = "harmonic"
    tau_scale: float = 1.0
    hyperlinks: bool = True
    bare_chunks: BareChunks = "behind"

    def __post_init__(self) -> None:
        _require(
            self.bare_chunks in get_args(BareChunks),
            f"unknown search.licomemory.bare_chunks {self.bare_chunks!r}",
        )
        _require(self.mean in get_args(Mean), f"unknown search.licomemory.mean {self.mean!r}")
        positive = 0 < self.tau_scale < float("inf")
        _require(positive, "search.licomemory.tau_scale must be above 0 and finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The read path; each part has its switch.

    ``profile="licomemory"`` is the paper exactly: k = 15, ``decay_exponent`` tk = 0.1, full decay;
    a tk of 1 makes the decay exponential, ``licomemory`` holds the rest of its switches.
    ``profile="default"`` fuses the same signals with weights learned on open data, and lets decay
    break near-ties only (``decay_strength``: 0 none, 1 the paper's).
    A ``*_by_*`` limit of 0 switches that leg off. ``weights`` names the learned set of the default
    profile; ``"auto"`` goes by what extracted the triples. ``time_order``: "now", "latest", "first"
    put the newest or oldest of the best first. ``time_anchor``: "before she moved" looks for the
    event first, and for what lies on that side of it.
    ``rerank``: how many of the first hits a reranker orders anew, if the memory has one.
    """

    profile: Profile = "default"
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
    session_leg: bool = True
    triple_leg: bool = True
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
    licomemory: LicoMemorySettings = field(default_factory=LicoMemorySettings)

    def __post_init__(self) -> None:
        _require(self.profile in ("default", "licomemory"), f"unknown profile {self.profile!r}")
        _require(self.k >= 1, "search.k must be at least 1")
        _require(0 < self.decay_exponent <= 1, "search.decay_exponent must be above 0, at most 1")
        _require(0 <= self.decay_strength <= 1, "search.decay_strength must be between 0 and 1")
        _require(0 <= self.radius <= 5, "search.radius must be between 0 and 5")
        _require(self.weights in get_args(Weights), f"unknown search.weights {self.weights!r}")
        for name in _LIMITS:
            _require(getattr(self, name) >= 0, f"search.{name} must not be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """The prompt block.

    ``order``: chunks ``"time"`` (newest last) or ``"relevance"``. ``session_share`` and
    ``triple_share`` are the parts of the budget those layers may take. ``count_tokens`` is your
    model's tokenizer; the default estimates, rather too high than too low.
    """

    max_tokens: int = 1300
    order: Literal["time", "relevance"] = "time"
    sessions: bool = True
    triples: bool = True
    session_share: float = 0.1
    triple_share: float = 0.15
    count_tokens: Callable[[str], int] | None = None

    def __post_init__(self) -> None:
        _require(self.max_tokens >= 1, "context.max_tokens must be at least 1")
        _require(self.order in ("time", "relevance"), f"unknown context.order {self.order!r}")
        _require(
            self.session_share >= 0
            and self.triple_share >= 0
            and self.session_share + self.triple_share < 1,
            "context.session_share + context.triple_share must be below 1",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """How a new store is laid out; one that is there keeps what it was made with.

    ``vectors``: numbers of a vector in a SQLite file, ``"float16"`` (the default: half the size,
    the same recall) or ``"float32"``; in memory they are float32. ``Memory.reindex`` changes it.
    Neo4j has no such choice: its vector indexes hold float32 and are quantised.
    """

    vectors: Literal["float32", "float16"] | None = None

    def __post_init__(self) -> None:
        _require(
            self.vectors in (None, "float32", "float16"),
            f"unknown storage.vectors {self.vectors!r}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything in one object; pass it to ``Memory(..., settings=Settings(...))``."""

    insert: InsertSettings = field(default_factory=InsertSettings)
    enrich: EnrichSettings = field(default_factory=EnrichSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    storage: StorageSettings = field(default_factory=StorageSettings)

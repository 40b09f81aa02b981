"""What all spaces of one memory share: store, embedder, extractor, worker, clock, settings."""

from __future__ import annotations

import re
import time
from datetime import tzinfo
from pathlib import Path
from typing import Literal

from cognigraph.embed import CheckedEmbedder, Embedder, EmbedFunction, resolve
from cognigraph.errors import ConfigurationError, FlushTimeout
from cognigraph.ingest.enrich import BackgroundWorker, Enricher, Step
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.settings import Settings
from cognigraph.stores.base import EmbedderIdentity, Store
from cognigraph.times import Clock, zone

EnrichMode = Literal["background", "manual"]

_URI = re.compile(r"^(neo4j|bolt)(\+s|\+ssc)?://", re.IGNORECASE)
_FLUSH_POLL = 0.02


def open_store(
    location: str | Path,
    embedder: EmbedderIdentity,
    *,
    auth: tuple[str, str] | None,
    database: str | None,
    clock: Clock,
) -> Store:
    """Open the store a location names: a Neo4j URI, or the path of a file."""
    text = str(location)
    if _URI.match(text):
        from cognigraph.stores.neo4j import Neo4jStore

        return Neo4jStore(text, embedder, auth=auth, database=database, clock=clock)
    if "://" in text:
        raise ConfigurationError(
            f"cannot open {text!r}: give a file path, or a Neo4j URI such as neo4j://host:7687"
        )
    if not text or text == ":memory:":
        raise ConfigurationError(
            "a memory needs a file (threads and processes share it); for a throw-away one use a "
            "path inside tempfile.TemporaryDirectory()"
        )
    if auth is not None or database is not None:
        raise ConfigurationError(f"auth and database are for Neo4j; {text!r} is a file")
    from cognigraph.stores.sqlite import SQLiteStore

    return SQLiteStore(Path(text).expanduser(), embedder, clock=clock)


class Engine:
    """One open store with everything that acts on it."""

    def __init__(
        self,
        location: str | Path,
        *,
        embedder: str | Embedder | EmbedFunction,
        extractor: str | Extractor,
        enrich: EnrichMode,
        timezone: str | tzinfo | None,
        clock: Clock,
        settings: Settings,
        auth: tuple[str, str] | None,
        database: str | None,
    ) -> None:
        if enrich not in ("background", "manual"):
            raise ConfigurationError(f"enrich must be 'background' or 'manual', not {enrich!r}")
        self.settings = settings
        self.clock = clock
        self.zone = zone(timezone)
        self.embedder = CheckedEmbedder(resolve(embedder))
        self.extractor = resolve_extractor(extractor, timezone=self.zone)
        self.store = open_store(
            location, self.embedder.identity, auth=auth, database=database, clock=clock
        )
        self.enricher = Enricher(self.store, self.embedder, self.extractor, settings.enrich, clock)
        self.worker: BackgroundWorker | None = None
        if enrich == "background":
            self.worker = BackgroundWorker(
                self.enricher, settings.enrich, self.store, self.extractor
            )
            self.worker.start()

    def close(self) -> None:
        """End the worker after its batch and close the store. Idempotent."""
        if self.worker is not None:
            self.worker.stop()
        self.store.close()

    def written(self) -> None:
        """Tell the worker that there is something to enrich."""
        if self.worker is not None:
            self.worker.notify()

    def flush(self, space: str, timeout: float) -> None:
        """Wait until a space is enriched; in manual mode, do it here."""
        deadline = time.monotonic() + timeout
        while pending := self.store.pending(space):
            step: Step | None = None
            if self.worker is None:
                step = self.enricher.step(space)
            else:
                self.worker.hurry(space)
            halted = self.enricher.halted
            if halted is not None:
                raise FlushTimeout(
                    f"{pending} chunks of space {space!r} are not enriched: {halted}",
                    pending=pending,
                )
            if time.monotonic() >= deadline:
                reasons = sorted({failure.reason for failure in self.store.failures(space)})
                because = f"; last failure: {reasons[-1]}" if reasons else ""
                raise FlushTimeout(
                    f"{pending} chunks of space {space!r} are not enriched after {timeout:g} s"
                    f"{because}; they stay queued, flush again or raise the timeout",
                    pending=pending,
                )
            if step is None:
                time.sleep(_FLUSH_POLL)

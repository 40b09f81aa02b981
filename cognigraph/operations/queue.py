"""``Queue``: what waits in a space to be enriched, and what failed."""

from __future__ import annotations

from collections.abc import Callable

from cognigraph.ingest.extraction import older
from cognigraph.ingest.queue.step import Estimate, Limits, Step
from cognigraph.operations.tenant import Tenant
from cognigraph.stores.records import Failure
from cognigraph.validation import checked


class Queue(Tenant):
    """The messages of a space that wait to be enriched."""

    @checked
    def enrich(
        self, on_step: Callable[[Step], None] | None = None, *, limits: Limits | None = None
    ) -> list[Step]:
        """Enrich what is pending in this thread, in either mode; returns one Step for each batch.

        Stops early when the extractor's endpoint is down, its budget is used up, or one of the
        ``limits`` is reached; then ``stopped`` of the last Step gives the reason, and the rest
        stays queued.

        Args:
            on_step: called with each Step as it ends.
            limits: of calls, tokens, cost and time.
        """
        return self._engine.enricher.drain(self._name, on_step, limits)

    @checked
    def estimate(self, *, redo: bool = False, older_than: str | int | None = None) -> Estimate:
        """Estimate what enriching all pending messages would take: turns, windows, calls, tokens.

        No model is called and nothing is changed.

        Args:
            redo: include what :meth:`redo` would queue.
            older_than: as for :meth:`redo`.
        """
        names = self._older(older_than) if redo else []
        return self._engine.enricher.estimate(self._name, names)

    @checked
    def redo(self, older_than: str | int | None = None) -> int:
        """Queue enriched chunks to be read again; returns how many.

        The present facts stay in use until their chunk has been read again.

        Args:
            older_than: a version of this memory's extractor (``3``), or an extractor's name and
                version (``"rules-2"``): only sessions that an older version has read are queued.
                Without it, all are.
        """
        count = self._engine.store.queue.redo(self._name, self._older(older_than))
        if count:
            self._engine.wake_worker()
        return count

    def _older(self, older_than: str | int | None) -> list[str]:
        recorded = self._engine.store.queue.extractors(self._name)
        return older(recorded, older_than, self._engine.extractor.name)

    @checked
    def failures(self) -> list[Failure]:
        """List chunks and session summaries whose last enrichment failed, with the reason."""
        return self._engine.store.queue.failures(self._name)

    @checked
    def retry(self) -> int:
        """Put parked chunks and summaries back into the queue; returns how many."""
        count = self._engine.store.queue.retry_failed(self._name)
        if count:
            self._engine.wake_worker()
        return count

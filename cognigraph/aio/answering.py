"""``AsyncAnswering``: the operation that answers a question by a loop, for asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Literal

from cognigraph.aio.writing import AsyncWriting
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.loop.data import Answer
from cognigraph.loop.run import OnRound
from cognigraph.loop.strategy import Strategy
from cognigraph.model import Filter
from cognigraph.settings import Settings


class AsyncAnswering(AsyncWriting):
    """One tenant, as far as questions about it are answered."""

    async def ask(
        self,
        question: str,
        history: Sequence[str] = (),
        *,
        strategy: str | Strategy = "licomemory",
        limits: Limits | None = None,
        repair: Literal["propose", "apply"] = "propose",
        on_round: OnRound | None = None,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        as_of: datetime | str | None = None,
        where: Filter | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """See :meth:`cognigraph.Space.ask`; ``on_round`` is called in a worker thread."""
        return await self._run(
            self._space.ask,
            question,
            history,
            strategy=strategy,
            limits=limits,
            repair=repair,
            on_round=on_round,
            max_tokens=max_tokens,
            now=now,
            as_of=as_of,
            where=where,
            timezone=timezone,
            settings=settings,
        )

"""Changing the embedder of a store: the loop, the same on every store."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.protocols import Store
from cognigraph.stores.reindex import Precision, Unindexed

OnVectors = Callable[[int, int], None]
"""Called with the vectors made so far and the number there will be."""

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a reindexing came to; ``resumed`` of its ``vectors`` were there from an earlier try."""

    embedder: EmbedderIdentity
    vectors: int
    resumed: int
    seconds: float
    switch_seconds: float


def reindex(
    store: Store,
    embedder: CheckedEmbedder,
    *,
    vectors: Precision | None = None,
    on_progress: OnVectors | None = None,
    switching: AbstractContextManager[object] | None = None,
) -> Reindexed:
    """Give a store the vectors of another embedder; the old ones serve until the last moment.

    It may be stopped at any point: the next call with the same embedder goes on. What is added
    meanwhile is included. ``switching`` is held during the change-over.
    """
    started = time.perf_counter()
    job = store.reindexing(embedder.identity, vectors)
    if not job.needed:
        job.clean()  # an earlier run may have been stopped just before that
        return Reindexed(embedder.identity, 0, 0, 0.0, 0.0)

    def embed(rows: Sequence[Unindexed]) -> Vector:
        made = np.zeros((len(rows), embedder.identity.dimension), np.float32)
        for names, to_vectors in ((False, embedder.embed), (True, embedder.embed_names)):
            # Of an empty text nothing is found.
            places = [n for n, row in enumerate(rows) if row.text and row.name == names]
            made[places] = to_vectors([rows[place].text for place in places])
        return made

    resumed, total = job.progress()
    done = resumed
    full = True
    while full and (rows := job.waiting(_BATCH)):
        job.write(rows, embed(rows))
        done += len(rows)
        # A batch that is not full means that we have caught up; the rest is for the switch.
        full = len(rows) == _BATCH
        if on_progress is not None:
            on_progress(done, max(done, total))
    ready = time.perf_counter()
    with switching or nullcontext():
        job.switch(embed)
    switched = time.perf_counter()
    job.clean()
    return Reindexed(
        embedder.identity,
        done,
        resumed,
        round(time.perf_counter() - started, 3),
        round(switched - ready, 3),
    )

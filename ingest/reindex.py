"""Change the embedder of a store: the re-embedding loop, which is the same for every store."""

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
"""Called with the number of vectors made so far and the expected total."""

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Reindexed:
    """The result of a reindexing.

    ``resumed`` of its ``vectors`` come from an earlier, interrupted run; ``switch_seconds`` is the
    duration of the switch to the new vectors.
    """

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
    """Replace the vectors of a store by those of another embedder.

    The old vectors are used until the switch at the end. The call may be interrupted at any point;
    the next call with the same embedder continues. Messages that are added in the meantime are
    included. The context manager ``switching`` is held during the switch.
    """
    started = time.perf_counter()
    job = store.reindexing(embedder.identity, vectors)
    if not job.needed:
        job.clean()  # an earlier run may have been interrupted just before cleaning up
        return Reindexed(embedder.identity, 0, 0, 0.0, 0.0)

    def embed(rows: Sequence[Unindexed]) -> Vector:
        made = np.zeros((len(rows), embedder.identity.dimension), np.float32)
        for names, to_vectors in ((False, embedder.embed), (True, embedder.embed_names)):
            # Empty texts keep zero vectors, so they are never found.
            indices = [n for n, row in enumerate(rows) if row.text and row.name == names]
            made[indices] = to_vectors([rows[index].text for index in indices])
        return made

    resumed, total = job.progress()
    done = resumed
    full = True
    while full and (rows := job.waiting(_BATCH)):
        job.write(rows, embed(rows))
        done += len(rows)
        # A partial batch means that the loop has caught up; the switch embeds the rest.
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

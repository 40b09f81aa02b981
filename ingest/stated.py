"""Facts that an application stated: no extractor reads their chunks, and nothing changes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from cognigraph.ingest.extraction import Extraction, Fact
from cognigraph.stores.records import WorkChunk
from cognigraph.text.clean import stated


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFact:
    """A fact as an application states it; ``source`` says where it is from."""

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: str | None = None
    negated: bool = False
    source: str | None = None
    replaces: bool = False

    @property
    def text(self) -> str:
        """The fact in words."""
        return stated(self.subject, self.relation, self.object, None, self.negated)

    @property
    def json(self) -> str:
        """As it is stored."""
        return json.dumps([asdict(self)], ensure_ascii=False)


def read_by_extractor(chunks: Iterable[WorkChunk]) -> tuple[WorkChunk, ...]:
    """The chunks that an extractor reads."""
    return tuple(chunk for chunk in chunks if chunk.stated is None)


def with_stated(found: Extraction, chunks: Sequence[WorkChunk]) -> Extraction:
    """Return what was found in the chunks that were read, with the facts that were stated.

    The evidence of ``found`` is among the chunks that were read, that of the result among all.
    """
    positions = [index for index, chunk in enumerate(chunks) if chunk.stated is None]
    if len(positions) == len(chunks):
        return found

    def moved(indices: Iterable[int]) -> tuple[int, ...]:
        known = range(len(positions))
        return tuple(positions[i] for i in indices if isinstance(i, int) and i in known)

    mentions = (replace(one, chunks=moved(one.chunks)) for one in found.mentions)
    facts = (replace(one, chunks=moved(one.chunks)) for one in found.facts)
    return replace(found, mentions=tuple(mentions), facts=(*facts, *_stated(chunks)))


def _stated(chunks: Sequence[WorkChunk]) -> Iterable[Fact]:
    for index, chunk in enumerate(chunks):
        for row in json.loads(chunk.stated or "[]"):
            one = StatedFact(**row)
            yield Fact(
                one.subject, one.subject_type, one.relation, one.object, one.object_type, (index,),
                one.when, one.negated, one.source, one.replaces,
            )  # fmt: skip

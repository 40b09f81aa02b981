"""Search results as they are sent: of facts that were said often, only the newest sources.

A fact that hundreds of messages state stands beside each of them that is found, and would repeat
there its newest sources and those among the hits.
"""

from __future__ import annotations

from dataclasses import replace

from cognigraph.model import Context, Hit, SearchResult, SpacesResult, Triple

MOST_SOURCES = 10


class _Brief:
    """Shortens triples, each once."""

    def __init__(self) -> None:
        self._made: dict[int, Triple] = {}

    def triples(self, given: tuple[Triple, ...]) -> tuple[Triple, ...]:
        return tuple(self._triple(one) for one in given)

    def hits(self, given: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return tuple(replace(hit, triples=self.triples(hit.triples)) for hit in given)

    def _triple(self, triple: Triple) -> Triple:
        if len(triple.sources) <= MOST_SOURCES:
            return triple
        if id(triple) not in self._made:
            self._made[id(triple)] = replace(
                triple,
                sources=triple.sources[:MOST_SOURCES],
                older_sources=triple.source_count - MOST_SOURCES,
            )
        return self._made[id(triple)]


def brief(result: SearchResult) -> SearchResult:
    """The result with at most ten sources of each fact."""
    made = _Brief()
    return replace(
        result,
        hits=made.hits(result.hits),
        triples=made.triples(result.triples),
        others=made.hits(result.others),
    )


def brief_spaces(result: SpacesResult) -> SpacesResult:
    """As :func:`brief`, of several spaces."""
    made = _Brief()
    hits = tuple(replace(one, hit=made.hits((one.hit,))[0]) for one in result.hits)
    results = {name: brief(one) for name, one in result.results.items()}
    return replace(result, hits=hits, results=results)


def brief_context(block: Context) -> Context:
    """As :func:`brief`, of a prompt block."""
    hits = _Brief().hits(block.hits)
    made = Context(
        block,
        tokens=block.tokens,
        hits=hits,
        citations=block.citations,
        confidence=block.confidence,
    )
    return made.with_notes(block.notes)

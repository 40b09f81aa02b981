"""How probable it is that what was found holds the answer: of a result, and of each hit.

Six signals of one search, learned by bench/nothing_found.py; none needs a language or the scale of
an embedder's cosines. Scores only order what was found: the best of nothing has a high one, too.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log1p

import numpy as np

from cognigraph.model import Hit, SearchResult
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.ranking import Ranking
from cognigraph.stores.candidates import Candidates
from cognigraph.text.terms import terms, words
from cognigraph.text.word_book import idf

WEIGHTS = {
    "cosine": 12.47,
    "similar words": 4.41,
    "known words": 2.65,
    "rare words": 1.02,
    "speaker named": 1.81,
    "candidates": -1.53,
}
BIAS = -1.14
FOUND = 0.8
"""Of questions that a memory can answer, the share for which one of the best 15 hits does so."""
HIT_BIAS, PER_RANK = -0.15, -1.04
WEAK = 0.4
"""Below it a block says so: of the questions that a memory can answer, few have less."""
FEW = 20
"""With fewer chunks than this, a memory has few messages to compare the best with."""
_EXACT = 1e-9
"""More than the error of a floating-point number that was meant to have two digits."""
_SIMILAR = 0.12
"""Late interaction from which a message is similar to a question: unrelated ones have less."""
_MOST_RARE = 6.0
_BROAD = frozenset(
    terms("know knows tell remember recall talk talked say said discuss user profile conversation")
    + terms("everything anything something summary summarize history happened memory memories")
)
"""A question of these words alone is about everything ("what do you know about me?")."""


def signals(
    candidates: Candidates, analysis: Analysis, ranking: Ranking
) -> dict[str, float] | None:
    """What tells an answer from the best of nothing; ``None`` if the ranking did not compute it.

    - ``cosine``: how far the best one is from the median candidate, as a share of what is possible.
    - ``similar words``: late interaction of the question with the best window, from 0 to 1.
    - ``known words``: the share of the question's words that the space has, weighted by idf.
    - ``rare words``: BM25 of the best window, in idf of a word that a single chunk has.
    - ``speaker named``: whether the question names someone who speaks in a candidate.
    - ``candidates``: log(1 + n); among more, the best of nothing is better.
    """
    raw, cosines = ranking.raw, candidates.chunks.cosine
    similar, own = raw.get("window similar words"), raw.get("window words")
    named = raw.get("speaker named")
    if similar is None or own is None or named is None or not len(cosines):
        return None
    weights = idf(candidates.lexicon, analysis.terms)
    frequencies = candidates.lexicon.frequencies
    known = np.array([frequencies.get(term, 0) > 0 for term in analysis.terms], bool)
    median = float(np.median(cosines))
    rarest = log1p(candidates.lexicon.chunks + 1)
    return {
        "cosine": (float(cosines.max()) - median) / max(1.0 - median, 1e-6),
        "similar words": float(np.nanmax(similar, initial=0.0)),
        "known words": float(weights[known].sum() / max(weights.sum(), 1e-9)),
        "rare words": min(float(own.max()) / rarest, _MOST_RARE),
        "speaker named": float(named.max()),
        "candidates": log1p(len(cosines)),
    }


def result_confidence(candidates: Candidates, analysis: Analysis, ranking: Ranking) -> float | None:
    """The probability that one of the best hits answers; ``None`` if it is not known."""
    if not candidates.chunks.uids:
        return 0.0
    if _BROAD.issuperset(analysis.terms):
        return None if words(analysis.question) else 0.0
    found = signals(candidates, analysis, ranking)
    if found is None:
        return None
    return FOUND * _logistic(BIAS + sum(WEIGHTS[name] * value for name, value in found.items()))


def hit_confidence(result: float | None, rank: int) -> float | None:
    """The probability that the hit of a rank (from 0) answers; ``result`` is that of the result.

    Other signals of a hit add nothing to its rank.
    """
    return None if result is None else result * _logistic(HIT_BIAS + PER_RANK * log1p(rank))


def without_less_confident(result: SearchResult, least: float | None) -> SearchResult:
    """The result without hits of less confidence; without facts and sessions if none is left."""
    sure = result.confidence
    if not least:
        return result
    if sure is None:
        note = "the confidence is unknown with these settings, so nothing is left out for it"
        return replace(result, trace=result.trace.noting(note))
    hits = tuple(hit for hit in result.hits if (hit.confidence or 0.0) >= least)
    if hits or not result.hits:
        return replace(result, hits=hits)
    if sure < least:
        return nothing_supported(result, least)
    best = max(hit.confidence or 0.0 for hit in result.hits)
    note = (
        f"nothing found: the best message has a confidence of {_below(best)}, below {least:g} "
        f"(the result as a whole: {sure:.2f})"
    )
    return _emptied(result, note)


def nothing_supported(result: SearchResult, least: float) -> SearchResult:
    """The result with nothing but a note, which says why."""
    sure = _below(result.confidence or 0.0)
    return _emptied(result, f"nothing found: the confidence is {sure}, below {least:g}")


def _below(confidence: float) -> str:
    """A confidence that is below a limit, rounded down: 0.298 is not "0.30, below 0.3"."""
    return f"{int(confidence * 100 + _EXACT) / 100:.2f}"


def is_supported(hit: Hit, *, similar: bool) -> bool:
    """Whether a word or a name of a question supports a hit, or with ``similar`` its meaning."""
    signals = hit.why.signals
    if signals.get("words", 0.0) > 0 or signals.get("speaker named", 0.0) > 0:
        return True
    return similar and signals.get("window similar words", 0.0) >= _SIMILAR


def without_unsupported(result: SearchResult, floor: float, *, few: bool) -> SearchResult:
    """The result as a block shows it: without what nothing supports.

    Below ``floor`` nothing is shown. A memory of ``few`` messages has little to compare the best
    one with, so the confidence says less of it: there what shares a word or a name with the
    question is shown below the floor, too, and above it something must support one of the hits.
    """
    sure = result.confidence
    if sure is None or not result.hits:
        return result
    if not few or sure >= WEAK:
        return result if sure >= floor else nothing_supported(result, floor)
    supported = tuple(hit for hit in result.hits if is_supported(hit, similar=sure >= floor))
    if not supported and sure < floor:
        return nothing_supported(result, floor)
    if not supported:
        note = "nothing found: no message has a word, a name or a meaning of the question"
        return _emptied(result, note)
    if sure >= floor:
        return result
    shown = {(hit.session, hit.id) for hit in supported}
    facts = tuple(
        fact
        for fact in result.triples
        if not shown.isdisjoint((source.session, source.id) for source in fact.sources)
    )
    return replace(result, hits=supported, triples=facts, sessions=())


def _emptied(result: SearchResult, note: str) -> SearchResult:
    return replace(
        result, hits=(), triples=(), sessions=(), episodes=(), trace=result.trace.noting(note)
    )


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))

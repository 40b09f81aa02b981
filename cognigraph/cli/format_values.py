"""Formats scores, time gaps, times and usage as short texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from cognigraph.model import SearchResult, Triple, Usage, Why
from cognigraph.text.clean import spoken
from cognigraph.text.terms import query_words, term_counts

_UNITS = (
    ("year", 365.25 * 86400),
    ("month", 30.44 * 86400),
    ("week", 7 * 86400),
    ("day", 86400),
    ("hour", 3600),
    ("minute", 60),
)
_PARTS_SHOWN = 4


def gap(seconds: float | None) -> str:
    """A time difference in words, such as ``3 weeks``."""
    if seconds is None:
        return "unknown"
    for name, size in _UNITS:
        # At least two of a unit: "9 days" is more precise than "1 week".
        if seconds >= 2 * size or (name == "minute" and seconds >= size):
            count = round(seconds / size)
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "moments"


def stamp(at: datetime, zone: tzinfo) -> str:
    """Date and time in a timezone."""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def day(at: datetime, zone: tzinfo) -> str:
    """The date in a timezone."""
    return at.astimezone(zone).strftime("%Y-%m-%d")


def zone_name(zone: tzinfo) -> str:
    """The name of a timezone as it was given."""
    return str(getattr(zone, "key", None) or zone.tzname(None) or zone)


def why(reasons: Why) -> list[str]:
    """Why a hit has its rank: its score, the parts of it, and the scores of the layers."""
    lines = [_score_line(reasons)]
    if reasons.features:
        lines.append(f"relevance: {summands(reasons.features)}")
    if reasons.harmonic_mean is not None:
        lines.append(
            f"layers: session {_score(reasons.session_score)}, triple "
            f"{_score(reasons.triple_score)}, harmonic mean {_score(reasons.harmonic_mean)}"
        )
    lines.extend(reasons.notes)
    return lines


def _score_line(reasons: Why) -> str:
    product = f"relevance {reasons.semantic:.2f} x decay {reasons.decay:.2f}"
    return f"score {reasons.score:.2f} = {product} ({_time_of(reasons)})"


def _time_of(reasons: Why) -> str:
    if reasons.gap_seconds is None:
        return "at an unknown time"
    return f"said {gap(reasons.gap_seconds)} before the question"


def _score(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def summands(features: Mapping[str, float], most: int = _PARTS_SHOWN) -> str:
    """The largest features of a relevance score, and the sum of the others."""
    ranked = sorted(features.items(), key=lambda item: (-abs(item[1]), item[0]))
    ranked = [(name, value) for name, value in ranked if abs(value) >= 0.005]
    parts = ranked[:most]
    if rest := ranked[most:]:
        parts.append((f"{len(rest)} others", sum(value for _, value in rest)))
    signs = ["+" if value >= 0 else "-" for _, value in parts]
    text = " ".join(
        f"{sign} {name} {abs(value):.2f}" for sign, (name, value) in zip(signs, parts, strict=True)
    )
    return text.removeprefix("+ ") or "nothing"


def absent(result: SearchResult) -> list[str]:
    """Words of the question that occur in none of the hits and triples, whatever their ending.

    A ranking always has a first hit; these words show what the hits do not cover.
    """
    found: set[str] = set()
    for hit in result.hits:
        found.update(term_counts(spoken(hit.speaker, hit.text)))
    for triple in result.triples:
        found.update(term_counts(triple.text))
    written = query_words(result.question)
    return [written.get(term, term) for term in result.trace.terms if term not in found]


def sources(triple: Triple, most: int = 2) -> str:
    """The first sources of a triple as ``session/id``, and the number of others."""
    shown = [f"{source.session}/{source.id}" for source in triple.sources[:most]]
    more = len(triple.sources) - len(shown)
    return " ".join([*shown, f"+{more}"] if more > 0 else shown)


def plural(count: int, noun: str) -> str:
    """A count with its noun: ``1 turn``, ``2 turns``, ``3 entities``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def median(values: Sequence[float]) -> float:
    """The median (of an even number of values, the upper middle one); 0 without values."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def spent(usage: Usage) -> str:
    """Calls, tokens and cost in words; ``no model calls`` if there were none."""
    if not (usage.calls or usage.cached or usage.input_tokens):
        return "no model calls"
    parts = [plural(usage.calls, "call")]
    if usage.cached:
        parts.append(f"{usage.cached:,} from the cache")
    parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
    if usage.cost:
        parts.append(f"cost {usage.cost:.4f}")
    return ", ".join(parts)

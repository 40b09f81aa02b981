"""Gives the themes of an extraction their identity, and makes rows of them.

A theme with the chunks that it covers is an episode. Its uid survives refinement: an extractor may
return a theme under another title or with more chunks, and it is still the same node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cognigraph import ids
from cognigraph.arrays import Vector
from cognigraph.ingest.storable import shortened, storable_name, storable_text
from cognigraph.model import Theme
from cognigraph.stores.records import Lease, ThemeRow
from cognigraph.text.terms import headed, term_counts

NO_THEME = "theme without a summary"
_SAME = 0.5
"""The share of an old theme's chunks that a new one must cover to be the same."""


def identified(
    themes: Sequence[Theme] | None, lease: Lease, rejected: list[str]
) -> list[Theme] | None:
    """The storable themes with their uids; of several with the same title the first is kept."""
    if themes is None:
        return None
    found: dict[str, Theme] = {}
    for index, theme in enumerate(themes):
        title = storable_name(theme.title) or ""
        summary = storable_text(theme.summary)
        if not summary:
            rejected.append(f"{NO_THEME}: {shortened(theme.title)}")
            continue
        covers = tuple(dict.fromkeys(uid for uid in theme.covers if isinstance(uid, str)))
        reason = storable_name(theme.reason) or ""
        clean = Theme(title, summary, theme.uid, covers, reason, theme.derived_from)
        found.setdefault(ids.normalise(title) or str(index), clean)
    new, old = list(found.values()), lease.notes.themes
    known = same_themes(new, old)
    taken = {one.uid for one in old} | set(known.values())
    for index, (name, theme) in enumerate(found.items()):
        uid = known.get(index)
        ordinal = 0
        while uid is None or (index not in known and uid in taken):
            uid = ids.theme_uid(lease.space, lease.session, name, ordinal)
            ordinal += 1
        taken.add(uid)
        new[index] = replace(theme, uid=uid)
    return new


def same_themes(new: Sequence[Theme], old: Sequence[Theme]) -> dict[int, str]:
    """The uids that new themes keep, by index: those of the old themes that they continue.

    A theme continues the one whose uid it has, else the one with its title, else the one most of
    whose chunks it covers. Each old theme is continued by one new theme.
    """
    left = {one.uid: one for one in old if one.uid}
    kept: dict[int, str] = {}

    def keep(index: int, uid: str) -> None:
        kept[index] = uid
        del left[uid]

    for index, theme in enumerate(new):
        if theme.uid in left:
            keep(index, theme.uid)
    for index, theme in enumerate(new):
        title = ids.normalise(theme.title)
        same = [uid for uid, one in left.items() if title and ids.normalise(one.title) == title]
        if index not in kept and same:
            keep(index, same[0])
    for _, index, uid in sorted(_overlaps(new, left.values())):
        if index not in kept and uid in left:
            keep(index, uid)
    return kept


def _overlaps(new: Sequence[Theme], old: Iterable[Theme]) -> Iterator[tuple[float, int, str]]:
    """Pairs that share enough chunks: the negated share, index of the new one, uid of the old."""
    for one in old:
        covered = set(one.covers)
        for index, theme in enumerate(new):
            share = len(covered.intersection(theme.covers)) / max(1, len(covered))
            if share >= _SAME:
                yield -share, index, one.uid


def theme_rows(themes: Sequence[Theme], vectors: Iterable[Vector]) -> Iterator[ThemeRow]:
    """Rows of themes that have their uids."""
    for theme, vector in zip(themes, vectors, strict=False):
        counts = term_counts(headed(theme.title, theme.summary))
        yield ThemeRow(
            theme.uid, theme.title, theme.summary, vector, counts, theme.covers, theme.reason,
            theme.derived_from,
        )  # fmt: skip

"""Reads the core profile and the procedures of a space."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.model import CoreProfile, Procedure, Written


def core_profile(written: Sequence[Written], version: int | None) -> CoreProfile | None:
    """The core profile in one version, by default the newest; ``None`` if there is none."""
    found = [
        CoreProfile(one.text, one.version, one.at, one.sources)
        for one in written
        if one.kind == "profile" and version in (None, one.version)
    ]
    return max(found, key=lambda one: one.version, default=None)


def procedures(written: Sequence[Written], *, versions: bool) -> list[Procedure]:
    """Procedures by title, each in its newest version or in all of them, oldest first."""
    kept = [one for one in written if one.kind == "procedure"]
    newest = {one.chain: one.version for one in sorted(kept, key=lambda one: one.version)}
    found = [
        Procedure(one.chain, one.title, one.steps, one.text, one.version, one.at, one.sources)
        for one in kept
        if versions or one.version == newest[one.chain]
    ]
    return sorted(found, key=lambda one: (one.title, one.uid, one.version))

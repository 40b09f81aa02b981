"""Settings: frozen, checked, by concern."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass
from datetime import timedelta

import pytest

from cognigraph import (
    ConfigurationError,
    ContextSettings,
    EnrichSettings,
    InsertSettings,
    LicoMemorySettings,
    SearchSettings,
    Settings,
)
from cognigraph.retrieve.rank.ranking import is_top_down
from tests.cases import each

GROUPS = (
    InsertSettings, EnrichSettings, SearchSettings, LicoMemorySettings, ContextSettings, Settings,
)  # fmt: skip


@each("group", GROUPS)
def test_defaults_are_valid_frozen_and_comparable(group):
    assert is_dataclass(group)
    assert group() == group()
    with pytest.raises(FrozenInstanceError):
        setattr(group(), fields(group)[0].name, None)


@each("group", GROUPS)
def test_unknown_names_and_positions_are_errors(group):
    with pytest.raises(TypeError):
        group(no_such_setting=1)
    with pytest.raises(TypeError):
        group(1)


def test_the_papers_values():
    paper = SearchSettings(ranking="licomemory")
    assert (paper.k, paper.decay_exponent, paper.decay) == (15, 0.1, True)
    assert (paper.licomemory.mean, paper.licomemory.tau_scale) == ("harmonic", 1.0)
    assert paper.licomemory.hyperlinks
    assert is_top_down(paper)
    assert not is_top_down(SearchSettings())


@pytest.mark.parametrize("switch", [{"hyperlinks": False}, {"bare_chunks": "among"}])
def test_switches_about_uncited_chunks_say_which_candidates_they_need(switch):
    with pytest.raises(ConfigurationError, match='need candidates="wide"'):
        LicoMemorySettings(**switch)
    assert LicoMemorySettings(candidates="wide", **switch)


@each(
    ("group", "wrong"),
    [
        (InsertSettings, {"max_chunk_chars": 99}),
        (InsertSettings, {"batch": 0}),
        (InsertSettings, {"max_message_chars": 0}),
        (EnrichSettings, {"batch": 0}),
        (EnrichSettings, {"park_after": 0}),
        (EnrichSettings, {"context": -1}),
        (EnrichSettings, {"lease": timedelta(0)}),
        (EnrichSettings, {"retry_after": timedelta(seconds=-1)}),
        (EnrichSettings, {"idle_poll": timedelta(0)}),
        (SearchSettings, {"ranking": "best"}),
        (SearchSettings, {"k": 0}),
        (SearchSettings, {"decay_exponent": 0}),
        (SearchSettings, {"decay_exponent": 1.01}),
        (SearchSettings, {"decay_exponent": float("nan")}),
        (LicoMemorySettings, {"mean": "geometric"}),
        (LicoMemorySettings, {"bare_chunks": "never"}),
        (LicoMemorySettings, {"candidates": "all"}),
        (LicoMemorySettings, {"tau_scale": 0}),
        (LicoMemorySettings, {"tau_scale": float("nan")}),
        (LicoMemorySettings, {"tau_scale": float("inf")}),
        (SearchSettings, {"decay_strength": 1.1}),
        (SearchSettings, {"decay_strength": float("nan")}),
        (SearchSettings, {"radius": 6}),
        (SearchSettings, {"radius": -1}),
        (SearchSettings, {"chunks_by_vector": -1}),
        (SearchSettings, {"chunks_by_terms": -1}),
        (SearchSettings, {"triples_by_vector": -1}),
        (SearchSettings, {"triples_by_terms": -1}),
        (SearchSettings, {"triples_per_anchor": -1}),
        (SearchSettings, {"sessions_by_vector": -1}),
        (SearchSettings, {"max_triples": -1}),
        (SearchSettings, {"max_sessions": -1}),
        (ContextSettings, {"max_tokens": 0}),
        (ContextSettings, {"order": "random"}),
        (ContextSettings, {"session_share": -0.1}),
        (ContextSettings, {"session_share": 0.5, "triple_share": 0.5}),
        (ContextSettings, {"triple_share": float("nan")}),
    ],
)
def test_invalid_values_are_refused_by_name(group, wrong):
    with pytest.raises(ConfigurationError, match=next(reversed(wrong))[:6]):
        group(**wrong)

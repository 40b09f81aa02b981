"""The two profiles on candidates made by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import get_args

import numpy as np
import pytest

from cognigraph import ConfigurationError, LicoMemorySettings, SearchSettings
from cognigraph.ingest import RulesExtractor
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.profiles import PROFILES
from cognigraph.retrieve.rank.ranking import (
    PLAIN,
    WEIGHT_SETS,
    Ranking,
    best_first,
    declared_weight_set,
    is_top_down,
    session_scores,
    share_of_long,
)
from cognigraph.settings import RankingName, WeightSetName
from cognigraph.stores.candidates import Candidates
from cognigraph.testing import ScriptedExtractor
from tests.cases import each
from tests.unit.pools import NAN, candidates, chunk_pool, session_pool, triple_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

DAY = 86_400.0
PAPER = SearchSettings(ranking="licomemory")


def ranked(
    found: Candidates,
    settings: SearchSettings = PAPER,
    now: float = 10 * DAY,
    *,
    question: str = "oslo",
    weight_set: WeightSetName = "model",
) -> Ranking:
    profile = PROFILES[settings.ranking]
    analysis = analyse(question, NOW)
    return profile.rank(found, analysis, settings, now=now, weight_set=weight_set)


def relative(name: WeightSetName, *, enumerates: bool = False) -> dict[str, float]:
    return WEIGHT_SETS[name].relative(enumerates=enumerates)


def test_the_paper_end_to_end():
    """Three triples in two sessions, computed by hand with equations 1 and 2."""
    chunks = chunk_pool([0.2, 0.2, 0.2], session=[0, 0, 1], at=np.array([9.0, 8.0, 6.0]) * DAY)
    triples = triple_pool(
        [0.8, 0.6, 0.9], [(0,), (1,), (2,)], session=[0, 0, 1], at=np.array([9.0, 8.0, 6.0]) * DAY
    )
    sessions = session_pool([NAN, NAN], keys=[[0.5, 0.7], [0.1, 0.3]])
    found = ranked(candidates(chunks, triples, sessions))
    semantic = [2 * 0.6 * 0.8 / 1.4, 2 * 0.6 * 0.6 / 1.2, 2 * 0.2 * 0.9 / 1.1]
    decay = [math.exp(-(ratio**0.1)) for ratio in (1 / 2, 2 / 2, 4 / 2)]  # tau = 2 days
    expected = [s * w for s, w in zip(semantic, decay, strict=True)]
    assert found.triples.tolist() == pytest.approx(expected)
    assert found.score.tolist() == pytest.approx(expected)
    assert found.semantic.tolist() == pytest.approx(semantic)
    assert found.decay.tolist() == pytest.approx(decay)
    assert found.session_score.tolist() == pytest.approx([0.6, 0.6, 0.2])
    assert found.triple_score.tolist() == pytest.approx([0.8, 0.6, 0.9])
    assert found.gap.tolist() == [DAY, 2 * DAY, 4 * DAY]


def test_a_chunk_takes_its_best_triple():
    chunks = chunk_pool([0.1, 0.1], at=np.full(2, 9 * DAY))
    triples = triple_pool([0.3, 0.9, 0.5], [(0,), (0,), (0, 1)], at=np.full(3, 9 * DAY))
    found = ranked(candidates(chunks, triples))
    assert found.triple_score.tolist() == [0.9, 0.5]
    assert found.score.tolist() == pytest.approx([found.triples[1], found.triples[2]])


def test_a_chunk_without_triples_stays_reachable():
    chunks = chunk_pool([0.8, 0.2], at=np.full(2, 9 * DAY))
    triples = triple_pool([0.4], [(1,)], at=[9 * DAY])
    found = ranked(candidates(chunks, triples))
    assert found.score[0] == pytest.approx(0.8 / math.e)
    assert found.triple_score[0] == 0.8


def variant(**changes: object) -> SearchSettings:
    lico = LicoMemorySettings(candidates="wide", **changes)
    return SearchSettings(ranking="licomemory", licomemory=lico)


def test_without_hyperlinks_a_chunk_is_scored_by_itself():
    chunks = chunk_pool([0.2, 0.5], session=[0, 1], at=np.full(2, 9 * DAY))
    triples = triple_pool([0.9], [(0,)], at=[9 * DAY])
    sessions = session_pool([NAN, NAN], keys=[[0.4], [0.5]])
    found = ranked(candidates(chunks, triples, sessions), variant(hyperlinks=False))
    own = [2 * 0.4 * 0.2 / 0.6, 0.5]
    assert found.score.tolist() == pytest.approx([s / math.e for s in own])
    assert found.triple_score.tolist() == [0.2, 0.5]
    linked = ranked(candidates(chunks, triples, sessions))
    assert linked.score[0] == pytest.approx(2 * 0.4 * 0.9 / 1.3 / math.e)


def test_an_enriched_chunk_without_triples_ranks_behind_all_with_triples():
    chunks = chunk_pool([0.8, 0.9, 0.2], at=np.full(3, 9 * DAY))
    triples = triple_pool([0.4], [(2,)], at=[9 * DAY])
    both = candidates(chunks, triples, session_pool([0.5]))
    linked = 2 * 0.5 * 0.4 / 0.9 / math.e
    found = ranked(both)
    assert found.score[2] == pytest.approx(linked)
    assert found.score[1] == pytest.approx(0.99 * linked)
    assert 0 < found.score[0] < found.score[1]
    assert (found.semantic * found.decay).tolist() == pytest.approx(found.score.tolist())
    among = ranked(both, variant(bare_chunks="among"))
    assert among.score[0] == pytest.approx(2 * 0.5 * 0.8 / 1.3 / math.e)
    assert among.score[2] == pytest.approx(linked)


def test_a_session_that_is_not_enriched_is_not_ranked_behind():
    chunks = chunk_pool([0.8, 0.2], session=[0, 1], at=np.full(2, 9 * DAY))
    triples = triple_pool([0.4], [(1,)], session=[1], at=[9 * DAY])
    found = ranked(candidates(chunks, triples, session_pool([NAN, 0.5])))
    assert found.score[0] == pytest.approx(0.8 / math.e)
    assert found.score[0] > found.score[1]


def test_without_the_session_layer_the_triple_score_is_all():
    chunks = chunk_pool([0.2], at=[9 * DAY])
    triples = triple_pool([0.9], [(0,)], at=[9 * DAY])
    found = ranked(
        candidates(chunks, triples, session_pool([0.1])),
        SearchSettings(ranking="licomemory", sessions=False),
    )
    assert found.score.tolist() == pytest.approx([0.9 / math.e])


def test_a_bare_chunk_decays_on_the_scale_of_the_triples():
    chunks = chunk_pool([0.8, 0.1], at=np.array([2.0, 9.0]) * DAY)
    triples = triple_pool([0.4], [(1,)], at=[6 * DAY])
    found = ranked(candidates(chunks, triples))
    assert found.score[0] == pytest.approx(0.8 * math.exp(-((8 / 4) ** 0.1)))


def test_the_parts_of_a_hit_multiply_to_its_score():
    rng = np.random.default_rng(7)
    chunks = chunk_pool(rng.uniform(-1, 1, 20), session=np.repeat([0, 1], 10),
                        at=rng.uniform(0, 10 * DAY, 20))  # fmt: skip
    triples = triple_pool(
        rng.uniform(-1, 1, 8), [(n, n + 5) for n in range(8)], at=rng.uniform(0, 10 * DAY, 8),
        session=rng.integers(0, 2, 8),
    )  # fmt: skip
    both = candidates(chunks, triples, session_pool([0.3, NAN]))
    for settings in (PAPER, SearchSettings()):
        found = ranked(both, settings)
        assert found.score.tolist() == pytest.approx((found.semantic * found.decay).tolist())
        assert np.isfinite(found.score).all()


def test_no_summary_yet_does_not_bury_a_session():
    chunks = chunk_pool([0.5, 0.5], session=[0, 1], at=np.full(2, 9 * DAY))
    found = ranked(candidates(chunks, sessions=session_pool([NAN, 0.2])))
    assert found.score[0] == pytest.approx(0.5 / math.e)
    assert found.score[0] > found.score[1]


def test_missing_times_do_not_win():
    """The public code ranks a fact without a date above all others; here it is the median's."""
    chunks = chunk_pool([0.5] * 4, at=np.array([9 * DAY, NAN, 5 * DAY, 1 * DAY]))
    found = ranked(candidates(chunks))
    assert found.score[0] > found.score[1] > found.score[3]
    assert found.decay[1] == pytest.approx(1 / math.e)


def test_decay_can_be_switched_off():
    chunks = chunk_pool([0.5, 0.5], at=np.array([0.0, 9 * DAY]))
    triples = triple_pool([0.6, 0.6], [(0,), (1,)], at=np.array([0.0, 9 * DAY]))
    for profile in ("licomemory", "default"):
        found = ranked(candidates(chunks, triples), SearchSettings(ranking=profile, decay=False))
        assert found.decay.tolist() == [1.0, 1.0]
        assert found.score[0] == found.score[1]


def test_session_scores_fall_back_from_keys_to_themes_to_unknown():
    sessions = session_pool([0.9, 0.4, NAN], keys=[[0.2, 0.6], [NAN, NAN], [NAN, NAN]])
    found = session_scores(candidates(chunk_pool([0.1]), sessions=sessions))
    assert found[:2].tolist() == pytest.approx([0.4, 0.4])
    assert math.isnan(found[2])
    negative = session_pool([NAN], keys=[[-0.5, 0.6]])
    assert session_scores(candidates(chunk_pool([0.1]), sessions=negative))[0] == 0.3


def test_only_the_best_matches_count_if_the_settings_say_so():
    sessions = session_pool([NAN, NAN], keys=[[0.2, 0.6, 0.4, 0.0], [NAN] * 4])
    found = session_scores(candidates(chunk_pool([0.1]), sessions=sessions), 3)
    assert found[0] == pytest.approx(0.4) and math.isnan(found[1])
    released = SearchSettings.licomemory_as_released()
    assert (released.licomemory.session_matches, is_top_down(released)) == (3, True)
    with pytest.raises(ConfigurationError, match="session_matches must be at least 1"):
        LicoMemorySettings(session_matches=0)


def test_the_default_profile_is_the_weighted_sum_it_reports():
    chunks = chunk_pool([0.9, 0.5, 0.1], at=np.array([9.0, 8.0, 7.0]) * DAY)
    found = ranked(candidates(chunks), SearchSettings(decay=False))
    assert found.score.tolist() == pytest.approx(
        np.sum(list(found.weighted.values()), axis=0).tolist()
    )
    assert found.weighted["vector"].tolist() == pytest.approx(
        [relative("plain")["vector"] * value for value in (1.0, 0.5, 0.0)]
    )
    assert set(found.weighted) <= set(WEIGHT_SETS["plain"].weights)


def test_the_default_decay_only_separates_near_equals():
    chunks = chunk_pool([0.9, 0.88, 0.1], at=np.array([0.0, 9.99, 5.0]) * DAY,
                        session=[0, 1, 2])  # fmt: skip
    found = ranked(candidates(chunks, sessions=session_pool([NAN] * 3)), SearchSettings())
    assert found.decay.min() >= 0.97
    assert found.score[0] > found.score[2]


class Declaring:
    def __init__(self, weight_set: str) -> None:
        self.weight_set = weight_set


@pytest.mark.parametrize(
    ("extractor", "expected"),
    [
        (RulesExtractor(), "plain"),
        (ScriptedExtractor(name="rules-1"), "model"),
        (Declaring("plain"), "plain"),
    ],
)
def test_an_extractor_declares_its_weights_whatever_its_name(extractor, expected):
    assert declared_weight_set(extractor) == expected


def test_a_weight_set_that_does_not_exist_is_an_error():
    with pytest.raises(ConfigurationError, match=r"Declaring\.weight_set is 'best'; .* 'plain'"):
        declared_weight_set(Declaring("best"))


@pytest.mark.slow
def test_the_weights_of_the_extractor_reach_the_ranking(tmp_path):
    from cognigraph import Memory
    from cognigraph.testing import FrozenClock, HashEmbedder

    class Mine(ScriptedExtractor):
        weight_set: WeightSetName = "plain"

    given = {}
    for kind in (Mine, ScriptedExtractor):
        extractor = kind({"m1": [("Ann", "moved to", "Oslo")], "m2": [("Ben", "drank", "tea")]})
        with Memory(
            tmp_path / f"{kind.__name__}.db", embedder=HashEmbedder(), extractor=extractor,
            enrich="manual", clock=FrozenClock(),
        ) as memory:  # fmt: skip
            memory.add("I moved to Oslo.", id="m1", speaker="Ann")
            memory.add("The tea was cold.", id="m2", speaker="Ben")
            memory.flush()
            given[kind] = memory.search("Where did Ann move?")[0].why.features["vector"]
    assert given[Mine] / given[ScriptedExtractor] == pytest.approx(
        relative("plain")["vector"] / relative("model")["vector"]
    )


def test_every_profile_that_settings_accept_is_there():
    assert set(PROFILES) == set(get_args(RankingName))
    assert all(profile.name == name for name, profile in PROFILES.items())


def test_the_declared_set_weighs_the_signals():
    weight_set: WeightSetName = "model"
    both = candidates(
        chunk_pool([0.9, 0.5]), triple_pool([0.2, 0.9], [(0,), (1,)]), session_pool([0.5])
    )
    found = ranked(both, SearchSettings(), weight_set=weight_set)
    assert found.weighted["triple"].tolist() == pytest.approx(
        [0.0, relative(weight_set)["triple"] / 2]
    )
    assert found.weighted["vector"].tolist() == pytest.approx([relative(weight_set)["vector"], 0.0])


def test_weights_can_be_named_and_facts_switched_off():
    both = candidates(
        chunk_pool([0.9, 0.5]), triple_pool([0.2, 0.9], [(0,), (1,)]), session_pool([0.5])
    )
    named = ranked(both, SearchSettings(weights="model"))
    assert named.weighted["vector"][0] == pytest.approx(relative("model")["vector"])
    without = ranked(both, SearchSettings(triples=False))
    assert "triple" not in without.weighted
    assert without.weighted["vector"][0] == pytest.approx(relative("plain")["vector"])


@pytest.mark.parametrize("profile", ["default", "licomemory"])
def test_nothing_found(profile):
    empty = candidates(chunk_pool([]), sessions=session_pool([]))
    found = ranked(empty, SearchSettings(ranking=profile))
    assert found.score.tolist() == []
    assert found.sessions.tolist() == []


def test_every_weight_belongs_to_a_signal():
    chunks = chunk_pool([0.9, 0.5], matches=np.zeros((2, 2)), texts=("Oslo", ""))
    everything = candidates(
        chunks,
        triple_pool([0.2], [(0,)], terms=2, texts=("Ann knows Oslo",)),
        session_pool([0.5], terms=2),
    )
    found = PROFILES["default"].rank(
        everything, analyse("when was oslo 2023", NOW), SearchSettings(),
        now=0.0, weight_set="model", contextual=True,
    )  # fmt: skip
    for name, weight_set in WEIGHT_SETS.items():
        assert set(weight_set.weights) <= set(found.raw), name
        assert set(weight_set.list_changes) <= set(weight_set.weights), name


def test_a_question_for_a_list_has_weights_of_its_own():
    found = candidates(chunk_pool([0.9, 0.5], matches=np.zeros((2, 1))))
    one = ranked(found, SearchSettings(decay=False), 0.0, question="Which book?")
    several = ranked(found, SearchSettings(decay=False), 0.0, question="Which books?")
    assert one.weighted["vector"][0] == pytest.approx(relative("plain")["vector"])
    expected = relative("plain", enumerates=True)["vector"]
    assert several.weighted["vector"][0] == pytest.approx(expected)
    assert expected != relative("plain")["vector"]
    assert several.score[0] == pytest.approx(sum(v[0] for v in several.weighted.values()))


MESSAGE = "Thanks, that worked. I booked the ferry to Oslo for the whole family. What next?"


def test_a_message_finds_what_people_opened_their_sessions_with():
    pools = [
        candidates(
            chunk_pool([0.9, 0.9, 0.9, 0.5], session=[0, 0, 1, 1], matches=np.zeros((4, terms)),
                       speakers=("user", "assistant", "assistant", "user")),
            sessions=session_pool([NAN, NAN], terms=terms),
        )
        for terms in (len(analyse(MESSAGE, NOW).terms), 1)
    ]  # fmt: skip
    settings = SearchSettings(decay=False)
    message = ranked(pools[0], settings, question=MESSAGE)
    question = ranked(pools[1], settings, question="oslo")
    assert message.raw["opens"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert "opens" not in question.raw
    opens, vector = message.weighted["opens"][0], message.weighted["vector"][0]
    changed = PLAIN.relative(long=0.25, is_message=True)
    assert (opens, vector) == pytest.approx((changed["opens"], changed["vector"]))
    assert changed["vector"] < PLAIN.relative(long=0.25)["vector"] / 2
    assert "opens" not in relative("plain")


@each(
    ("mean_length", "roles", "expected"),
    [
        (30.0, (None, None), 0.0),
        (55.0, (None,), 0.5),
        (30.0, ("user", "assistant"), 0.25),
        (40.0, ("user", "assistant"), 0.25),
        (65.0, ("user", "assistant"), 0.75),
        (200.0, (None, "assistant"), 1.0),
    ],
)
def test_a_space_with_an_assistant_counts_as_long_by_a_quarter(mean_length, roles, expected):
    assert share_of_long(mean_length, roles) == expected


@pytest.mark.slow
def test_the_only_message_with_the_word_beats_its_neighbours(tmp_path):
    """Windows that are cut off by the edge of the candidates must not win over whole ones."""
    from cognigraph import Memory
    from cognigraph.testing import FrozenClock, HashEmbedder

    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(4096), enrich="manual", clock=FrozenClock()
    ) as memory:
        for number in range(40):
            text = "We talked about many other things and went home." + " Zanzibar" * (number == 20)
            memory.add(text, id=f"m{number}", session="s")
        assert memory.search("Zanzibar")[0].id == "m20"


@pytest.mark.slow
def test_every_hit_can_explain_itself_in_words(tmp_path):
    from cognigraph import Memory
    from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor

    extractor = ScriptedExtractor({"m1": [("Ann", "moved to", "Oslo")]})
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(), extractor=extractor, enrich="manual",
        clock=FrozenClock(),
    ) as memory:  # fmt: skip
        memory.add("I moved to Oslo.", id="m1", speaker="Ann")
        memory.add("!!!", id="m2")
        for _ in range(2):
            for settings in (SearchSettings(), PAPER):
                for hit in memory.search("Where is Ann?", settings=settings):
                    text = str(hit.why)
                    assert f"score {hit.score:.3f} = semantic" in text
                    assert "nan" not in text.lower()
            memory.flush()


def test_rows_that_a_layer_leaves_out_are_ordered_by_time_and_row_too():
    scores = np.array([-np.inf, 0.5, -np.inf, -np.inf])
    assert best_first(scores, np.array([1.0, 1.0, 2.0, 1.0])) == [1, 2, 0, 3]

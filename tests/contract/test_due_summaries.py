"""A summary that could not be written is queued like a chunk, on every store."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from cognigraph import (
    BudgetExceededError,
    FlushTimeout,
    ModelAnswerError,
    ModelUnavailableError,
    Settings,
)
from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import MOST_CRASHES, PATIENCE
from cognigraph.stores.records import Derivation
from cognigraph.testing import ScriptedModel
from tests.conftest import START
from tests.servers.scripted import section

DOWN = ModelUnavailableError("503 from the endpoint")
BAD = ModelAnswerError("no JSON")


class Reader(ScriptedModel):
    """Finds no facts and repeats a session as its summary; ``fails`` has errors by prompt."""

    def __init__(self, name="scripted-model"):
        super().__init__(self._reply, name=name)
        self.fails = {}

    def _reply(self, prompt):
        if error := self.fails.get(prompt.name):
            return error
        if prompt.name == "extract":
            return {"entities": [], "facts": []}
        told = " ".join(re.findall(r"\d\d:\d\d Ann: (.*)", section(prompt.user, "turns")))
        if "<themes>" not in prompt.user:
            return {"keys": ["first"], "themes": [{"title": "Told", "summary": told}]}
        old = section(prompt.user, "themes").split(": ", 1)[1]
        return {"keys": ["more"], "themes": [{"n": 1, "summary": f"{old} {told}"}]}

    @property
    def stages(self):
        return [asked.prompt.name for asked in self.asked]


@pytest.fixture
def model():
    return Reader()


@pytest.fixture
def space(open_memory, space_name, model):
    return opened(open_memory, model).space(space_name)


def opened(open_memory, model, **enrich):
    settings = Settings(enrich=EnrichSettings(**enrich))
    return open_memory(extractor=ModelExtractor(model), settings=settings)


def add(space, *ids, session="s", hour=0):
    for minute, id in enumerate(ids):
        at = START + timedelta(hours=hour, minutes=minute)
        space.add(f"I bought {id} in Oslo.", id=id, session=session, speaker="Ann", at=at)


def told(*ids):
    """The summary of these turns, in the order in which they were summarised."""
    return "Told: " + " ".join(f"I bought {id} in Oslo." for id in ids)


def summaries(space):
    """All sessions with their revisions."""
    return [
        (s.id, s.keys, s.themes, s.version, [(r.version, r.keys, r.themes) for r in revisions])
        for s in space.overview.sessions()
        for revisions in [space.overview.summaries(s.id)]
    ]


def claim(space, clock, worker="w", seconds=60):
    """Lease waiting chunks or a due summary of a space."""
    return space._engine.store.queue.claim(
        worker=worker,
        limit=10,
        lease_for=timedelta(seconds=seconds),
        now=clock(),
        space=space.name,
        summaries=True,
    )


def fall_behind(space, model, error=DOWN):
    """Enrich one turn whose summary fails, and another one whose summary is written."""
    add(space, "m1")
    model.fails = {"summarise": error}
    (step,) = space.queue.enrich()
    model.fails = {}
    assert (step.chunks, step.error, step.summary_due) == (1, None, True)


@pytest.mark.slow
def test_a_summary_that_failed_in_an_outage_is_written_by_the_next_run(
    open_memory, space_name, space, model, clock
):
    fall_behind(space, model)
    stats = space.stats()
    assert (stats.done, stats.pending, stats.summaries_pending) == (1, 0, 1)
    (failure,) = space.queue.failures()
    assert (failure.message_id, failure.session, failure.parked) == (None, "s", False)
    assert (failure.reason, failure.attempts, failure.outages) == (str(DOWN), 0, 1)
    assert (
        space.overview.sessions()[0].summary == "Oslo: 2026-05-20 Ann: I bought m1 in Oslo."
    )  # its own turns
    assert (space.overview.sessions()[0].version, space.overview.summaries("s")) == (0, [])
    add(space, "m2", hour=1)
    assert space.queue.enrich() == []  # the whole session waits, which keeps the order
    clock.advance(timedelta(seconds=3))
    again = opened(open_memory, model).space(space_name)  # a restart
    assert [(step.chunks, step.error) for step in again.queue.enrich()] == [(0, None), (1, None)]
    assert model.stages == ["extract", "summarise", "summarise", "extract", "summarise"]
    stats = space.stats()
    assert (stats.summaries_pending, stats.summaries_failed, space.queue.failures()) == (0, 0, [])
    calm = opened(open_memory, model).space(f"{space_name}-calm")
    add(calm, "m1")
    calm.flush()
    add(calm, "m2", hour=1)
    calm.flush()
    assert summaries(space) == summaries(calm)
    assert space.overview.sessions()[0].summary == told("m1", "m2")
    assert space.overview.sessions()[0].version == 2


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_outage_parks_neither_a_summary_nor_later_turns(space, model, clock):
    """After nine outages in a row the session continues; its next summary includes all turns."""
    add(space, "m1")
    model.fails = {"summarise": DOWN}
    space.queue.enrich()
    add(space, "m2", hour=1)
    for _ in range(PATIENCE - 1):
        clock.advance(timedelta(minutes=5))
        (step,) = space.queue.enrich()
        assert (step.chunks, step.error) == (0, str(DOWN))
    assert (space.stats().pending, space.queue.failures()[0].outages) == (1, PATIENCE)
    clock.advance(timedelta(minutes=5))
    assert [(step.chunks, step.summary_due) for step in space.queue.enrich()] == [(1, True)]
    assert (space.stats().done, space.queue.failures()[0].parked) == (2, False)
    model.fails = {}
    clock.advance(timedelta(minutes=5))
    assert [(step.chunks, step.error) for step in space.queue.enrich()] == [(0, None)]
    assert space.overview.sessions()[0].summary == told("m1", "m2")


@pytest.mark.above_stores
def test_a_run_with_only_due_summaries_ends_after_an_outage(space, model, clock):
    for number in range(4):
        add(space, f"m{number}", session=f"s{number}")
    model.fails = {"summarise": DOWN}
    steps = space.queue.enrich()  # extractions in between show that the endpoint works
    assert [(step.chunks, step.summary_due, step.stopped) for step in steps] == [
        (1, True, None)
    ] * 4
    clock.advance(timedelta(minutes=1))
    assert [(step.chunks, step.stopped) for step in space.queue.enrich()] == [
        (0, None),
        (0, str(DOWN)),
    ]
    assert space.stats().summaries_pending == 4


def test_a_summary_that_cannot_be_written_is_parked_listed_and_retried(
    open_memory, space_name, model, clock
):
    space = opened(open_memory, model, park_after=3).space(space_name)
    add(space, "m1")
    space.flush()
    before = summaries(space)
    add(space, "m2", hour=1)
    model.fails = {"summarise": BAD}
    for number in range(1, 4):
        space.queue.enrich()
        (failure,) = space.queue.failures()
        assert (failure.attempts, failure.parked, failure.reason) == (number, number == 3, str(BAD))
        clock.advance(timedelta(hours=1))
    assert space.queue.enrich() == []
    assert model.stages.count("summarise") == 1 + 3
    assert summaries(space) == before  # the good summary is kept
    stats = space.stats()
    assert (stats.summaries_pending, stats.summaries_failed, stats.failed) == (0, 1, 0)
    space.flush(timeout=1)  # flush does not wait for parked work
    model.fails = {}
    add(space, "m3", hour=2)
    space.flush()
    assert space.overview.sessions()[0].summary == told("m1", "m3")
    assert [failure.parked for failure in space.queue.failures()] == [True]
    assert space.queue.retry() == 1
    space.flush()
    assert space.overview.sessions()[0].summary == told("m1", "m3", "m2")
    assert (space.queue.failures(), space.stats().summaries_failed) == ([], 0)


@pytest.mark.above_stores
def test_turns_that_arrive_after_a_summary_is_parked_are_not_parked_by_an_outage(
    open_memory, space_name, model, clock
):
    space = opened(open_memory, model, park_after=1).space(space_name)
    fall_behind(space, model, BAD)
    assert space.stats().summaries_failed == 1
    add(space, "m2", hour=1)
    model.fails = {"summarise": DOWN}
    space.queue.enrich()
    assert (space.stats().summaries_pending, space.stats().summaries_failed) == (1, 0)
    model.fails = {}
    clock.advance(timedelta(hours=1))
    space.queue.enrich()
    assert space.overview.sessions()[0].summary == told("m1", "m2")


@pytest.mark.above_stores
def test_an_exhausted_budget_leaves_the_summary_due_and_counts_no_failure(
    open_memory, space_name, space, model, clock
):
    add(space, "m1")
    model.fails = {"summarise": BudgetExceededError("the budget of 1 call is used up")}
    (step,) = space.queue.enrich()
    assert (step.chunks, step.error) == (1, None)
    assert step.stopped == "the budget of 1 call is used up"
    assert (space.stats().summaries_pending, space.queue.failures()) == (1, [])
    with pytest.raises(FlushTimeout, match=r"^1 summaries of space .* budget of 1 call") as caught:
        space.flush(timeout=60)
    assert caught.value.pending == 1
    model.fails = {}
    opened(open_memory, model).space(space_name).queue.enrich()
    assert space.overview.sessions()[0].summary == told("m1")


def test_a_summary_has_one_worker_at_a_time(space, model, clock):
    fall_behind(space, model)
    clock.advance(timedelta(seconds=3))
    store = space._engine.store
    first = claim(space, clock)
    assert (first.session, first.chunks, first.before) == ("s", (), ())
    assert first.notes.backlog.outages == 1
    assert claim(space, clock, worker="other") is None
    add(space, "m2", hour=1)
    assert claim(space, clock, worker="other") is None
    assert store.queue.extend(first, clock() + timedelta(hours=1))
    clock.advance(timedelta(minutes=30))
    assert claim(space, clock, worker="other") is None
    clock.advance(timedelta(hours=1))
    second = claim(space, clock, worker="other")
    assert second.chunks == ()
    assert not store.queue.complete(first, Derivation("late", state="late"))
    assert not store.queue.fail(first, "late", park_after=1, retry_at=clock())
    assert store.queue.release(second)
    assert space.stats().summaries_pending == 1
    third = claim(space, clock)
    assert store.queue.complete(third, Derivation("in time", state="in time"))
    assert (space.stats().summaries_pending, space.stats().pending) == (0, 1)
    assert [chunk.message_id for chunk in claim(space, clock).chunks] == ["m2"]


def test_a_worker_crash_between_facts_and_summary_leaves_the_summary_due(space, model, clock):
    """The lease is held until the summary is recorded; after it expires, only that is due."""
    add(space, "m1")
    store = space._engine.store
    lease = claim(space, clock)
    assert store.queue.complete(lease, Derivation("x-1", state="{}", summary_due=True, held=True))
    assert (space.stats().done, space.stats().summaries_pending) == (1, 1)
    assert claim(space, clock) is None
    clock.advance(timedelta(minutes=2))
    assert claim(space, clock).chunks == ()


def test_a_summary_that_crashes_its_worker_is_parked(space, model, clock):
    fall_behind(space, model)
    clock.advance(timedelta(minutes=1))
    store = space._engine.store
    for crashes in range(1, MOST_CRASHES + 1):
        lease = claim(space, clock)
        until = store.queue.leases()[lease.token]
        assert until == lease.expires
        store.queue.expire(lease.token, until + timedelta(seconds=1))  # was extended
        assert lease.token in store.queue.leases()
        store.queue.expire(lease.token, until)
        store.queue.expire(lease.token, until)  # another worker saw it too
        assert lease.token not in store.queue.leases()
        assert space.queue.failures()[0].crashes == crashes
    (failure,) = space.queue.failures()
    assert (failure.parked, failure.message_id) == (True, None)
    assert failure.reason == "the process that summed it up ended 5 times"
    assert claim(space, clock) is None
    assert space.queue.retry() == 1
    assert space.queue.failures()[0].crashes == 0
    space.flush()
    assert (space.queue.failures(), space.overview.sessions()[0].version) == ([], 1)


@pytest.mark.slow
def test_redo_keeps_the_good_summary_and_clears_the_due_one(
    open_memory, space_name, space, model, clock
):
    add(space, "m1")
    space.flush()
    before = space.overview.sessions()[0].themes
    add(space, "m2", hour=1)
    model.fails = {"summarise": BAD}
    space.queue.enrich()
    assert space.stats().summaries_pending == 1
    newer = Reader("newer-model")
    newer.fails = {"summarise": DOWN}
    again = opened(open_memory, newer).space(space_name)
    assert again.queue.redo() == 2
    assert (space.stats().summaries_pending, space.queue.failures()) == (0, [])
    again.queue.enrich()
    assert again.overview.sessions()[0].themes == before
    assert (again.stats().done, again.stats().summaries_pending) == (2, 1)
    newer.fails = {}
    clock.advance(timedelta(minutes=1))
    again.queue.enrich()
    prompt = newer.asked[-1].prompt.user
    assert "<themes>" not in prompt  # starts from the beginning, not from the old summary
    assert again.overview.sessions()[0].summary == told("m1", "m2")


@pytest.mark.above_stores
def test_an_extractor_that_cannot_summarise_leaves_summaries_due(
    open_memory, space_name, space, model, clock
):
    fall_behind(space, model)
    clock.advance(timedelta(minutes=1))
    rules = open_memory(extractor="rules").space(space_name)
    rules.flush(timeout=1)
    assert rules.queue.enrich() == []
    assert rules.queue.estimate().summaries == 0
    assert rules.stats().summaries_pending == 1
    add(rules, "n1", session="t", hour=1)
    rules.flush()
    assert rules.stats().summaries_pending == 1  # the due summary of another session
    add(rules, "m2", hour=1)
    rules.flush()
    assert rules.stats().summaries_pending == 0  # the rules have taken over the session


def test_the_background_worker_updates_due_summaries(open_memory, space_name, space, model, clock):
    fall_behind(space, model)
    clock.advance(timedelta(minutes=1))
    settings = Settings(enrich=EnrichSettings(settle=timedelta(milliseconds=20)))
    memory = open_memory(extractor=ModelExtractor(model), settings=settings, enrich="background")
    memory.space(space_name).flush(timeout=20)
    assert space.overview.sessions()[0].summary == told("m1")


@pytest.mark.above_stores
def test_an_estimate_includes_due_summaries(open_memory, space_name, space, model):
    fall_behind(space, model)
    found = space.queue.estimate()
    assert (found.summaries, found.sessions, found.windows, found.usage.calls) == (1, 0, 0, 1)
    add(space, "m2", hour=1)
    add(space, "n1", session="t", hour=2)
    found = space.queue.estimate()
    assert (found.summaries, found.sessions, found.windows, found.usage.calls) == (1, 2, 2, 4)
    assert space.queue.estimate(redo=True).summaries == 0

"""The queue, on every store: outages park nothing, and a chunk that always fails is isolated."""

from __future__ import annotations

from datetime import timedelta
from time import sleep

import pytest

from cognigraph import (
    BudgetExceededError,
    FlushTimeout,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    Settings,
    Usage,
)
from cognigraph.ingest import Extraction, Fact
from cognigraph.ingest.queue.step import Limits
from cognigraph.settings import EnrichSettings
from cognigraph.stores.records import Derivation
from tests.conftest import START
from tests.contract.test_enrichment import add, claim, facts

SPENT = Usage(calls=1, input_tokens=100, output_tokens=10, cost=0.5)


def fact(id):
    return Fact("Ann", "person", "told", id, "object", (0,))


@pytest.mark.slow
def test_one_poisoned_chunk_parks_alone_and_the_others_get_through(
    open_memory, space_name, extractor, clock
):
    """Among twenty chunks it is alone at the fourth failure; the run continues with the others."""
    space = open_memory().space(space_name)
    ids = [f"m{n:02}" for n in range(20)]
    add(space, *ids)
    extractor.script({id: [fact(id)] for id in ids})
    extractor.fail_for("m07", times=99, error=ModelAnswerError("no JSON", usage=SPENT))
    steps = space.queue.enrich()
    assert [(step.chunks, step.error) for step in steps if step.error] == [
        (20, "no JSON"), (16, "no JSON"), (4, "no JSON"), (1, "no JSON"),
    ]  # fmt: skip
    assert sum(step.chunks for step in steps if not step.error) == 19
    assert sum((step.usage for step in steps), Usage()).calls == 4
    assert {source for _, _, sources in facts(space) for source in sources} == {*ids} - {"m07"}
    (failure,) = space.queue.failures()
    assert (failure.message_id, failure.attempts, failure.parked) == ("m07", 4, False)
    for _ in range(4):
        clock.advance(timedelta(hours=1))
        space.queue.enrich()
    (failure,) = space.queue.failures()
    assert (failure.attempts, failure.parked, failure.reason) == (5, True, "no JSON")
    assert (space.stats().failed, space.stats().done) == (1, 19)


def test_a_new_chunk_is_not_batched_with_chunks_that_failed(
    open_memory, space_name, extractor, clock
):
    space = open_memory().space(space_name)
    add(space, "m1", "m2", start=START + timedelta(hours=1))
    extractor.fail_for("m1", times=1)
    store = space._engine.store
    lease = claim(space, clock, space_name)
    store.queue.fail(lease, "bad", park_after=None, retry_at=clock())
    add(space, "m0")  # earlier in the conversation, later in arrival
    sizes = []
    while lease := claim(space, clock, space_name):
        sizes.append([chunk.message_id for chunk in lease.chunks])
        assert store.queue.complete(lease, Derivation("x-1"))
    assert sizes == [["m0"], ["m1", "m2"]]


@pytest.mark.slow
def test_an_outage_never_parks_and_waits_longer_each_time(
    open_memory, space_name, extractor, clock
):
    settings = Settings(enrich=EnrichSettings(park_after=2, retry_after=timedelta(seconds=2)))
    space = open_memory(settings=settings).space(space_name)
    add(space, "m1", "m2")
    add(space, "n1", session="t")
    extractor.script({id: [fact(id)] for id in ("m1", "m2", "n1")})
    extractor.fail_for("m1", "n1", times=99, error=ModelUnavailableError("503 from the endpoint"))
    first, second = space.queue.enrich()  # two failures are due to the endpoint
    assert [first.error, first.stopped] == ["503 from the endpoint", None]
    assert [second.stopped, second.chunks] == ["503 from the endpoint", 1]
    clock.advance(timedelta(seconds=1))
    assert space.queue.enrich() == []  # the whole queue waits
    for _ in range(30):
        clock.advance(timedelta(minutes=5))
        assert {step.error for step in space.queue.enrich()} == {"503 from the endpoint"}
    found = {failure.message_id: failure for failure in space.queue.failures()}
    assert {(f.attempts, f.parked) for f in found.values()} == {(0, False)}
    assert set(found) == {"m1", "m2", "n1"}
    assert min(failure.outages for failure in found.values()) > 5
    extractor.fail_for("m1", "n1", times=0)
    clock.advance(timedelta(hours=1))
    assert {step.stopped for step in space.queue.enrich()} == {None}
    assert (space.queue.failures(), space.stats().done) == ([], 3)


def test_a_refused_key_parks_nothing(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1")
    extractor.fail_for("m1", times=9, error=ModelRefusedError("wrong key", status=401))
    (step,) = space.queue.enrich()
    assert step.stopped == "wrong key"
    (failure,) = space.queue.failures()
    assert (failure.parked, failure.attempts, failure.outages) == (False, 0, 1)


def test_a_text_the_model_refuses_is_parked_alone(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1", "m2", "m3")
    too_long = ModelRefusedError("too long", status=400)
    too_long.too_long = True
    extractor.fail_for("m2", times=9, error=too_long)
    space.queue.enrich()
    assert [(f.message_id, f.parked) for f in space.queue.failures()] == [("m2", True)]
    assert space.stats().done == 2


@pytest.mark.slow
def test_an_exhausted_budget_ends_the_run_and_counts_no_failure(
    open_memory, space_name, extractor, clock
):
    memory = open_memory()
    space = memory.space(space_name)
    for number in range(4):
        add(space, f"m{number}", session=f"s{number}")
    extractor.script({f"m{n}": [fact(f"m{n}")] for n in range(4)})
    extractor.fail_at(3, error=BudgetExceededError("the budget of 2 calls is used up"))
    steps = space.queue.enrich()
    assert [step.stopped for step in steps] == [None, None, "the budget of 2 calls is used up"]
    stats = space.stats()
    assert (stats.done, stats.pending, stats.leased, stats.failed) == (2, 2, 0, 0)
    assert space.queue.failures() == []
    with pytest.raises(FlushTimeout, match=r"2 chunks .* budget of 2 calls") as caught:
        space.flush(timeout=60)
    assert caught.value.halted
    # Another run with a new budget continues from here.
    again = open_memory().space(space_name)
    assert [step.chunks for step in again.queue.enrich()] == [1, 1]
    assert extractor.read == {"m0": 1, "m1": 1, "m2": 2, "m3": 1}


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(calls=2), "the limit of 2 calls is reached"),
        (Limits(tokens=220), "the limit of 220 tokens is reached"),
        (Limits(cost=0.9), "the limit of cost 0.9 is reached"),
    ],
)
@pytest.mark.above_stores
def test_limits_end_a_run_between_steps(open_memory, space_name, extractor, limits, why):
    space = open_memory().space(space_name)
    for number in range(4):
        add(space, f"m{number}", session=f"s{number}")
    extractor.result = lambda window: Extraction(usage=SPENT)
    steps = space.queue.enrich(limits=limits)
    assert [step.stopped for step in steps] == [None, why]
    assert (space.stats().done, space.stats().pending) == (2, 2)


@pytest.mark.above_stores
@pytest.mark.slow
def test_a_run_stops_after_twelve_failed_batches_in_a_row(open_memory, space_name, extractor):
    """With a wrong setting, splitting batches must not lead to a call for every chunk."""
    space = open_memory().space(space_name)
    for number in range(30):
        add(space, *(f"m{number}-{n}" for n in range(8)), session=f"s{number:02}")
    ids = [f"m{number}-{n}" for number in range(30) for n in range(8)]
    extractor.fail_for(*ids, times=999)
    steps = space.queue.enrich()
    assert len(steps) == 12
    assert steps[-1].stopped.startswith("12 batches in a row failed")
    assert space.stats().failed == 0


def test_released_and_extended_leases(open_memory, space_name, clock):
    memory = open_memory()
    space = memory.space(space_name)
    add(space, "m1", "m2")
    store = memory._engine.store
    first = claim(memory, clock, space_name)
    assert store.queue.release(first)
    assert (space.stats().pending, space.stats().leased, space.queue.failures()) == (2, 0, [])
    second = claim(memory, clock, space_name)
    assert [chunk.attempts for chunk in second.chunks] == [0, 0]
    assert not store.queue.release(first)
    assert not store.queue.extend(first, clock() + timedelta(hours=1))
    assert store.queue.extend(second, clock() + timedelta(hours=1))
    clock.advance(timedelta(minutes=30))
    assert claim(memory, clock, space_name) is None
    assert store.queue.complete(second, Derivation("x-1"))


def test_a_slow_extractor_keeps_its_lease(open_memory, space_name, extractor):
    """The clock of the test stands still, so the test observes extensions of the lease."""
    from threading import Event

    settings = Settings(enrich=EnrichSettings(lease=timedelta(seconds=0.06)))
    memory = open_memory(settings=settings)
    space = memory.space(space_name)
    add(space, "m1")
    store, extended = memory._engine.store, Event()
    extend = store.queue.extend

    def watched(lease, until):
        held = extend(lease, until)
        extended.set()
        return held

    store.queue.extend = watched

    def think(window):
        assert extended.wait(20)
        return Extraction(facts=(fact("m1"),))

    extractor.result = think
    (step,) = space.queue.enrich()
    assert (step.lost, step.triples) == (False, 1)


def test_an_interrupt_gives_the_chunks_back(open_memory, space_name, extractor):
    memory = open_memory()
    space = memory.space(space_name)
    add(space, "m1")

    def interrupt(window):
        raise KeyboardInterrupt

    extractor.result = interrupt
    with pytest.raises(KeyboardInterrupt):
        space.queue.enrich()
    assert (space.stats().leased, space.stats().pending) == (0, 1)


@pytest.mark.above_stores
def test_an_estimate_reads_the_queue_and_takes_nothing(open_memory, space_name, extractor):
    settings = Settings(enrich=EnrichSettings(batch=2, context=1))
    space = open_memory(settings=settings).space(space_name)
    add(space, "m1", "m2", "m3")
    add(space, "n1", session="t")
    assert space.queue.estimate().usage is None  # the extractor gives no estimate
    windows = []

    def estimate(window):
        windows.append(window)
        return SPENT

    extractor.estimate = estimate
    found = space.queue.estimate()
    assert (found.sessions, found.turns, found.chunks, found.windows) == (2, 4, 4, 3)
    assert (found.usage.calls, found.usage.cost, found.again) == (3, 1.5, 0)
    assert found.extractor == "scripted-1"
    seen = [([c.message_id for c in w.before], [c.message_id for c in w.chunks]) for w in windows]
    assert seen == [([], ["m1", "m2"]), (["m2"], ["m3"]), ([], ["n1"])]
    assert (extractor.calls, space.stats().leased) == (0, 0)
    space.flush()
    assert space.queue.estimate().windows == 0
    assert [[c.message_id for c in w.chunks] for w in extractor.windows] == [
        ["m1", "m2"], ["m3"], ["n1"],
    ]  # fmt: skip
    assert space._engine.store.queue.peek("not-there") is None
    windows.clear()
    again = space.queue.estimate(redo=True)  # as if it were queued
    assert (again.sessions, again.chunks, again.windows, again.again) == (2, 4, 3, 4)
    assert again.usage.calls == 3
    assert {window.notes.state for window in windows} == {""}
    assert space.queue.estimate(redo=True, older_than=1).chunks == 0
    assert (space.stats().pending, extractor.calls) == (0, 3)


@pytest.mark.slow
def test_how_long_the_first_message_has_been_waiting(open_memory, space_name):
    """By the clock of the machine: that of the memory stands still here."""
    memory = open_memory()
    space = memory.space(space_name)
    longest_wait = memory._engine.store.queue.longest_wait
    assert longest_wait(space_name) == 0.0
    add(space, "m1")
    sleep(0.2)
    add(space, "m2")
    waited = longest_wait(space_name)
    assert 0.15 <= waited < 60.0
    assert memory.admin.longest_wait() >= waited  # other spaces may have older messages
    space.flush()
    assert longest_wait(space_name) == 0.0
    space.queue.redo()
    assert 0.0 <= longest_wait(space_name) < waited  # since then, not since they arrived


def test_spaces_are_served_in_turn(nothing_waits, open_memory, space_name, extractor):
    """What one space has added before does not delay the others, and within a space order stays."""
    memory = open_memory(settings=Settings(enrich=EnrichSettings(batch=1)))
    names = [f"{space_name}-{letter}" for letter in "cab"]
    greedy, second, third = (memory.space(name) for name in names)
    add(greedy, *(f"g{n}" for n in range(5)))
    add(second, "m0", "m1")
    add(third, "m0")
    served = [step.space for step in iter(memory._engine.enricher.step, None)]
    # Which space is the first depends on the store, and after a round of all it is its turn again.
    assert sorted(served[:3]) == sorted(names)
    assert sorted(served[3:5]) == sorted(names[:2])
    assert served[5:] == [names[0]] * 3


def test_a_space_that_somebody_waits_for_comes_first_and_every_second_time(
    open_memory, space_name, extractor
):
    memory = open_memory(settings=Settings(enrich=EnrichSettings(batch=1)))
    names = [f"{space_name}-{letter}" for letter in "abcd"]
    for name in names:
        add(memory.space(name), *(f"m{n}" for n in range(4)))
    enricher, served = memory._engine.enricher, []
    for _ in range(6):
        enricher.hurry(names[3])
        served.append(enricher.step().space)
    assert served[::2] == [names[3]] * 3
    assert len({*served[1::2]}) == 3


def test_vectors_are_made_for_each_space_in_turn(nothing_waits, open_memory, space_name):
    memory = open_memory(embed="background")
    names = [f"{space_name}-{letter}" for letter in "ab"]
    for name in names:
        memory.space(name).add_many([{"text": f"This is message number {n}."} for n in range(70)])
    queue = memory._engine.store.queue
    served = [queue.unembedded(32).space for _ in range(4)]
    assert served in (names * 2, names[::-1] * 2)

"""Budgets, the limiter and prices."""

from __future__ import annotations

from datetime import timedelta
from threading import Barrier, Lock, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import BudgetExceededError, ConfigurationError, Usage
from cognigraph.llm import Budget, Limiter, Prices
from tests.cases import each
from tests.clock import TickingClock


def in_threads(count, work):
    threads = [Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@given(st.integers(0, 20), st.integers(0, 30))
def test_calls_are_never_exceeded(allowed, wanted):
    budget = Budget(calls=allowed)
    made = 0
    for _ in range(wanted):
        try:
            budget.reserve()
        except BudgetExceededError as error:
            assert (error.limit, error.allowed, error.used) == ("calls", allowed, allowed)
            break
        made += 1
    assert made == min(allowed, wanted) == budget.used.calls


def test_calls_are_never_exceeded_by_threads():
    budget = Budget(calls=50)
    refused = []
    barrier = Barrier(8)

    def work():
        barrier.wait()
        for _ in range(20):
            try:
                budget.reserve()
            except BudgetExceededError:
                refused.append(1)

    in_threads(8, work)
    assert budget.used.calls == 50
    assert len(refused) == 8 * 20 - 50


def test_tokens_and_cost_stop_the_call_after():
    budget = Budget(tokens=100, cost=2.0)
    budget.reserve()
    budget.settle(Usage(calls=1, input_tokens=60, output_tokens=39, cost=1.99, seconds=2.0))
    budget.reserve()
    budget.settle(Usage(calls=1, input_tokens=1, cost=0.0))
    with pytest.raises(BudgetExceededError, match="budget of 100 tokens is used up") as caught:
        budget.reserve()
    assert caught.value.limit == "tokens" and caught.value.used == 100
    assert caught.value.is_retryable
    assert budget.used == Usage(2, 0, 61, 39, 2.0, 1.99)
    money = Budget(cost=0.5)
    money.settle(Usage(cost=0.75))
    with pytest.raises(BudgetExceededError, match=r"cost 0\.5000 is used up \(cost 0\.7500\)"):
        money.check()


def test_the_time_budget_includes_waits():
    time = TickingClock()
    budget = Budget(time=timedelta(seconds=10), clock=time)
    time.now += 4
    assert budget.remaining() == 6
    budget.check(5.9)
    with pytest.raises(BudgetExceededError) as caught:
        budget.check(6.0)
    assert caught.value.limit == "time"
    time.now += 6
    with pytest.raises(BudgetExceededError):
        budget.reserve()
    assert budget.used.calls == 0


def test_a_budget_without_limits_never_ends():
    budget = Budget()
    budget.settle(Usage(calls=1, input_tokens=10**12, cost=1e12))
    budget.reserve()
    assert budget.remaining() == float("inf")


@each("limits", [{"calls": -1}, {"tokens": -1}, {"cost": float("nan")}, {"time": timedelta(-1)}])
def test_invalid_budgets_are_refused(limits):
    with pytest.raises(ConfigurationError):
        Budget(**limits)


@pytest.mark.parametrize("widened", [False, True])
def test_the_limiter_lets_few_through_at_a_time(widened):
    limiter = Limiter(2 if widened else 3)
    limiter.widen(3)
    limiter.widen(1)  # it never becomes narrower
    lock, running, most = Lock(), 0, 0
    barrier = Barrier(3, timeout=10)

    def work():
        nonlocal running, most
        with limiter.slot():
            with lock:
                running += 1
                most = max(most, running)
            barrier.wait()  # three are in at once, or this times out
            with lock:
                running -= 1

    in_threads(9, work)
    assert most == 3


def test_a_pause_holds_for_all_and_has_an_end():
    time = TickingClock()
    limiter = Limiter(2, max_pause=timedelta(seconds=30), clock=time, sleep=time.sleep)
    assert limiter.pause(7.0) == 7.0
    assert limiter.pause(3.0) == 3.0  # the longer one stays
    assert limiter.waiting() == 7.0
    with limiter.slot():
        assert time.slept == [7.0]
    assert limiter.waiting() == 0.0
    assert limiter.pause(10_000.0) == 30.0
    assert limiter.waiting() == 30.0
    assert limiter.pause(-1.0) == 0.0


def test_a_pause_longer_than_the_budget_is_not_waited_for():
    time = TickingClock()
    limiter = Limiter(1, clock=time, sleep=time.sleep)
    budget = Budget(time=timedelta(seconds=5), clock=time)
    limiter.pause(20.0)
    with pytest.raises(BudgetExceededError), limiter.slot(budget.check):
        pytest.fail("it was let through")
    assert time.slept == []
    limiter.pause(0.0)
    time.now += 20
    with limiter.slot():  # the place was given back
        pass


def test_one_limiter_for_an_endpoint():
    assert Limiter.shared("http://a.test/v1/") is Limiter.shared("http://a.test/v1")
    assert Limiter.shared("http://a.test/v1") is not Limiter.shared("http://b.test/v1")
    with pytest.raises(ConfigurationError):
        Limiter(0)


def test_prices():
    assert Prices.parse("0.15, 0.60") == Prices(0.15, 0.60)
    assert Prices(1.0, 4.0).cost(500_000, 250_000) == 1.5
    assert Prices(1.0, 4.0).cost(500_000, 250_000, 400_000) == 1.5
    cached = Prices.parse("1, 4, 0.25")
    assert cached == Prices(1.0, 4.0, cached_input=0.25)
    assert cached.cost(500_000, 250_000, 400_000) == 0.1 + 0.1 + 1.0
    for text in ("", "1", "1,2,3,4", "a,b", "-1,2", "inf,1", "nan,1", "1,2,-3", "1,2,inf", "1,2,"):
        with pytest.raises(ConfigurationError, match="per million tokens"):
            Prices.parse(text)

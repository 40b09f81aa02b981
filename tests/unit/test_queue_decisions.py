"""What the queue decides: batch sizes, whose fault a failure is, versions, limits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import (
    BudgetExceededError,
    ConfigurationError,
    EmbeddingError,
    EnrichSettings,
    ExtractionError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    Usage,
)
from cognigraph.ingest.extraction import older, parse
from cognigraph.ingest.queue.lease import FailureDecision, decide_on_failure, fault_of
from cognigraph.ingest.queue.step import Limits
from cognigraph.stores.batch_size import batch_size, crash_reason, failures_of
from tests.cases import each

SETTINGS = EnrichSettings(park_after=5, retry_after=timedelta(seconds=2))


@each(
    ("failures", "limit", "size"),
    [
        ([], 64, 0),
        ([0] * 100, 64, 64),
        ([0, 0, 0], 64, 3),
        ([1] * 64, 64, 16),
        ([2] * 64, 64, 4),
        ([3] * 64, 64, 1),
        ([99] * 3, 64, 1),
        ([0, 0, 1, 0], 64, 2),
        ([1, 0, 0, 2], 64, 3),
        ([1, 1], 3, 1),
    ],
)
def test_batches_shrink_with_failures(failures, limit, size):
    assert batch_size(failures, limit) == size


def test_outages_shrink_batches_slowly():
    assert [failures_of(0, outages) for outages in (0, 2, 3, 5, 6)] == [0, 0, 1, 1, 2]


@each(
    ("crashes", "size"),
    [([0, 0], 2), ([1, 1], 2), ([2, 2], 1), ([0, 2, 0], 1), ([2, 0, 0], 1), ([4], 1)],
)
def test_a_chunk_with_two_crashes_is_read_alone(crashes, size):
    assert batch_size([failures_of(0, 0, number) for number in crashes], 1 << 20) == size


def test_crashes_are_described_in_words():
    assert crash_reason(1) == "the process that read it ended once"
    assert crash_reason(5, summary=True) == "the process that summed it up ended 5 times"


def refused(status, *, too_long=False):
    error = ModelRefusedError("no", status=status)
    error.too_long = too_long
    return error


@each(
    ("error", "fault"),
    [
        (BudgetExceededError("used up"), "stop"),
        (ModelUnavailableError("503"), "outage"),
        (refused(401), "outage"),
        (refused(404), "outage"),
        (refused(400), "content"),
        (refused(404, too_long=True), "content"),
        (ModelAnswerError("no JSON"), "content"),
        (ExtractionError("x"), "content"),
        (EmbeddingError("x"), "content"),
    ],
)
def test_a_failure_is_attributed_to_the_chunk_or_the_service(error, fault):
    assert fault_of(error) == fault


def verdict(error, *, chunks=1, attempts=0, outages=0, after_outage=False):
    return decide_on_failure(
        error,
        chunks=chunks,
        attempts=attempts,
        outages=outages,
        after_outage=after_outage,
        settings=SETTINGS,
    )


def test_verdicts():
    down = ModelUnavailableError("503")
    assert verdict(down) == FailureDecision("outage", timedelta(seconds=2))
    assert verdict(down, outages=3, after_outage=True) == FailureDecision(
        "outage", timedelta(seconds=16), ends_run=True
    )
    assert verdict(down, outages=99).wait == timedelta(seconds=256)
    down.retry_after = 900.0
    assert verdict(down).wait == timedelta(minutes=15)
    assert verdict(refused(401)).ends_run
    bad = ModelAnswerError("no JSON")
    assert verdict(bad, chunks=2) == FailureDecision("content", timedelta(0))
    assert verdict(bad, attempts=2) == FailureDecision(
        "content", timedelta(seconds=8), park_after=5
    )
    assert verdict(ExtractionError("x", retryable=False)).park_after == 0
    assert verdict(BudgetExceededError("used up")) == FailureDecision(
        "stop", timedelta(0), ends_run=True
    )


@each(
    ("name", "parsed"),
    [
        ("rules-1", ("rules", (1,))),
        ("rules-10", ("rules", (10,))),
        ("model-1.2:gpt-4o-mini", ("model", (1, 2))),
        ("spacy-2:en_core_web_sm-3.8", ("spacy", (2,))),
        ("my-own-v3", ("my-own", (3,))),
        ("mine", ("mine", ())),
        ("", ("", ())),
    ],
)
def test_names_have_a_family_and_a_version(name, parsed):
    assert parse(name) == parsed


RECORDED = ["rules-1", "rules-2", "rules-10", "model-1.1:a", "model-1.2:b", "model-2.1:a", "mine"]


@each(
    ("than", "current", "names"),
    [
        (None, "rules-2", sorted(RECORDED)),
        (2, "rules-10", ["rules-1"]),
        ("10", "rules-10", ["rules-1", "rules-2"]),
        ("v2", "model-2.1:c", ["model-1.1:a", "model-1.2:b"]),
        ("1.2", "model-2.1:c", ["model-1.1:a"]),
        ("model-1.2", "rules-10", ["model-1.1:a"]),
        (1, "mine", ["mine"]),
        (1, "other-1", []),
    ],
)
def test_only_older_versions_of_one_family(than, current, names):
    assert older(RECORDED, than, current) == names


def test_an_invalid_version_is_refused():
    with pytest.raises(ConfigurationError, match="such as 2, or a name"):
        older(RECORDED, "newest", "rules-1")


def test_limits_say_which_is_reached():
    usage = Usage(calls=3, input_tokens=90, output_tokens=10, cost=0.25)
    assert Limits().reached(usage, 1e9) is None
    assert Limits(calls=4, tokens=101, cost=0.3).reached(usage, 0) is None
    assert Limits(calls=3).reached(usage, 0) == "the limit of 3 calls is reached"
    assert Limits(tokens=100).reached(usage, 0) == "the limit of 100 tokens is reached"
    assert Limits(cost=0.25).reached(usage, 0) == "the limit of cost 0.25 is reached"
    assert Limits(time=timedelta(seconds=2)).reached(usage, 2.5) == (
        "the limit of 2 seconds is reached"
    )
    with pytest.raises(ConfigurationError, match=r"limits\.calls must be at least 0"):
        Limits(calls=-1)

"""Words of change in the rules: what came in the place of what, corrections, stretches of time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.ingest.extraction import Fact, Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.stores.records import WorkChunk

JUNE = datetime(2026, 6, 10, 9, tzinfo=UTC)


def read(*texts: str, at: datetime = JUNE) -> list[Fact]:
    chunks = tuple(
        WorkChunk(str(index), str(index), "s", "Ann", at, text) for index, text in enumerate(texts)
    )
    return list(RulesExtractor().extract(Window("d", "s", chunks)).facts)


def told(*texts: str, at: datetime = JUNE) -> list[tuple[str, str, str, str | None]]:
    return [(f.subject, f.relation, f.object, f.when) for f in read(*texts, at=at)]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I switched from Spotify to Tidal.", ("Ann", "switched to", "Tidal", None)),
        ("We moved from Bergen to Oslo.", ("Ann", "moved to", "Oslo", None)),
        ("My doctor raised my dose to 40 mg.", ("Ann's dose", "is", "40 mg", None)),
        ("I changed my major to physics.", ("Ann's major", "is", "physics", None)),
        ("The launch slipped to January.", ("launch", "slipped to", "2027-01", "2027-01")),
        ("The deadline moved to June 12.", ("deadline", "moved to", "2026-06-12", "2026-06-12")),
        ("Guess what, I moved to Oslo!", ("Ann", "moved to", "Oslo", None)),
        ("I have a contract until 2028.", ("Ann", "has", "contract", "2026-06-10/2028")),
        (
            "I have lived in Oslo since last summer.",
            ("Ann", "lives in", "Oslo", "2025-06/2025-08"),
        ),
        ("I work at DNB since June 1.", ("Ann", "works at", "DNB", "2026-06-01")),
    ],
)
def test_words_of_change(text: str, fact: tuple[str, str, str, str | None]) -> None:
    assert fact in told(text)


def test_since_the_summer_said_in_august_lies_in_the_past() -> None:
    august = datetime(2026, 8, 20, 9, tzinfo=UTC)
    (found,) = [f for f in read("I have lived in Oslo since the summer.", at=august) if f.when]
    assert found.when is not None and found.when[:7] <= "2026-08"


def test_a_slip_said_in_december_is_next_january() -> None:
    december = datetime(2026, 12, 5, 9, tzinfo=UTC)
    assert ("launch", "slipped to", "2027-01", "2027-01") in told(
        "The launch slipped to January.", at=december
    )


@pytest.mark.parametrize(
    ("text", "replaces"),
    [
        ("I use Tidal now.", True),
        ("I use Tidal instead.", True),
        ("I use Tidal.", False),
        ("I like rock now.", False),
        ("I play chess now.", False),
        ("I don't use Tidal now.", False),
    ],
)
def test_now_and_instead_replace_only_where_one_thing_is_used_at_a_time(
    text: str, replaces: bool
) -> None:
    assert [fact.replaces for fact in read(text)] == [replaces]


@pytest.mark.parametrize(
    ("texts", "fact"),
    [
        (
            ("The deadline is Tuesday.", "Sorry, I meant Thursday, not Tuesday."),
            ("deadline", "is on", "2026-06-18", "2026-06-18"),
        ),
        (
            ("The launch is on June 12.", "Actually, it's June 19, not June 12."),
            ("launch", "is on", "2026-06-19", "2026-06-19"),
        ),
        (
            ("My boss is Klara.", "I meant Lars, not Klara."),
            ("Ann's boss", "is", "Lars", None),
        ),
    ],
)
def test_a_correction_states_the_earlier_fact_with_the_right_value(
    texts: tuple[str, ...], fact: tuple[str, str, str, str | None]
) -> None:
    assert fact in told(*texts)


@pytest.mark.parametrize(
    "text",
    ["Last night I dreamed that I moved to Rome.", "Imagine I moved to Rome!"],
)
def test_dreams_state_nothing(text: str) -> None:
    assert [fact for fact in told(text) if "Rome" in fact[2] and "moved" in fact[1]] == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Karl and I got divorced.", {("Ann", "got divorced from", "Karl")}),
        ("Lucy and I broke up.", {("Ann", "broke up with", "Lucy")}),
        ("Pavel and I are engaged!", {("Ann", "is engaged to", "Pavel")}),
        ("Lucy and I broke the vase.", set()),
        ("My email is ann@home.example.", {("Ann's email", "is", "ann@home.example")}),
        ("I nearly quit DNB last month.", set()),
        ("I almost moved to Rome.", set()),
    ],
)
def test_what_two_do_with_each_other_addresses_and_what_nearly_happened(
    text: str, facts: set[tuple[str, str, str]]
) -> None:
    found = {fact[:3] for fact in told(text)}
    assert facts <= found
    assert not any("quit" in one[1] or "Rome" in one[2] or "broke with" in one[1] for one in found)

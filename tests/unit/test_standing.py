"""Superseded facts in a result and in the prompt block."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from cognigraph.model import Triple
from cognigraph.retrieve import block_lines, standing
from cognigraph.retrieve.question.temporal import read_time
from cognigraph.times import parse_when
from tests.cases import each

NOW = datetime(2026, 11, 1, tzinfo=UTC)


SAID = {"t": datetime(2026, 4, 1, tzinfo=UTC), "o": datetime(2026, 6, 1, tzinfo=UTC)}


def triple(uid: str, object: str, said: str, *, by: str | None = None, **more: object) -> Triple:
    at = datetime.fromisoformat(said).replace(tzinfo=UTC)
    known = Triple(
        uid, "Ann", "person", "lives in", object, "location", None, False, at, at,
        status="superseded" if by else "current", superseded_by=by, valid_from=at,
        superseded_at=SAID.get(by or ""),
    )  # fmt: skip
    return replace(known, **more)  # type: ignore[arg-type]


BERGEN = triple("b", "Bergen", "2026-02-01", by="t", valid_to=datetime(2026, 4, 1, tzinfo=UTC))
TRONDHEIM = triple("t", "Trondheim", "2026-04-01", by="o")
OSLO = triple("o", "Oslo", "2026-06-01")
KNOWN = {item.uid: item for item in (BERGEN, TRONDHEIM, OSLO)}


def test_a_chain_ends_at_what_nothing_superseded() -> None:
    assert standing.newest_of("b", KNOWN) == "o"
    assert standing.newest_of("o", KNOWN) == "o"
    assert standing.newest_of("b", {"b": BERGEN}) == "b"


def test_facts_that_supersede_each_other_end_nowhere_and_do_not_hang() -> None:
    ring = {"o": replace(OSLO, superseded_by="b"), "b": replace(BERGEN, superseded_by="o")}
    assert standing.newest_of("b", ring) in ring


def test_what_superseded_a_fact_is_fetched() -> None:
    asked: list[list[str]] = []

    def fetch(uids):  # type: ignore[no-untyped-def]
        asked.append(uids)
        return {uid: KNOWN[uid] for uid in uids}

    assert standing.with_superseding({"b": BERGEN}, fetch) == KNOWN
    assert asked == [["t"], ["o"]]


def test_the_current_fact_comes_before_what_it_superseded() -> None:
    found = standing.current_facts_first([replace(BERGEN, score=0.9)], KNOWN, past=False)
    assert [(item.uid, item.score) for item in found] == [("o", 0.9), ("b", 0.9)]
    assert standing.current_facts_first([BERGEN, OSLO], KNOWN, past=True) == [BERGEN, OSLO]
    retracted = replace(OSLO, status="retracted")
    assert standing.current_facts_first([retracted], {"o": retracted}, past=False) == []


def test_the_message_of_the_current_fact_comes_first() -> None:
    messages = ["rain", "bergen", "sun", "trondheim", "oslo"]
    stated = [(), ("b",), (), ("t",), ("o", "x")]
    times = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3, 4, 6)]

    def order(relevant: str, at: list[datetime] = times, past: bool = False) -> list[str]:
        return standing.current_messages_first(messages, stated, KNOWN, at, relevant, past=past)

    assert order("b") == ["rain", "oslo", "bergen", "sun", "trondheim"]
    assert order("x") == messages
    assert order("b", past=True) == messages
    # What was said before the old facts is not about the current state.
    assert order("o", at=times[::-1]) == messages
    turned = standing.current_messages_first(
        messages[::-1], stated[::-1], KNOWN, times[::-1], "o", past=True
    )
    assert turned == ["trondheim", "oslo", "sun", "bergen", "rain"]


def test_the_line_of_a_fact_says_when_it_is_true() -> None:
    assert block_lines.true_when(OSLO, UTC) == ""
    assert block_lines.true_when(BERGEN, UTC) == "2026-02 until 2026-04"
    since = replace(OSLO, when=parse_when("2026-06-01"))
    assert block_lines.true_when(since, UTC) == "since 2026-06-01"
    plan = replace(since, last_observed=NOW.replace(year=2020))
    assert block_lines.true_when(plan, UTC) == "from 2026-06-01"
    moved = replace(since, relation="moved to")
    assert block_lines.true_when(moved, UTC) == "2026-06-01"
    visited = replace(since, relation="visited", valid_to=NOW)
    assert block_lines.true_when(visited, UTC) == "2026-06-01"


def ending(stated: list[Triple], labels: dict[str, str], known: dict[str, Triple], day: str) -> str:
    said = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return block_lines.no_longer_true(stated, labels, known, said, UTC)


def test_the_line_of_a_message_says_what_took_its_place() -> None:
    assert ending([BERGEN], {"o": "T2"}, KNOWN, "2026-02-01") == " [no longer true: see T2]"
    assert ending([BERGEN], {}, KNOWN, "2026-02-01") == (
        " [no longer true: Ann lives in Oslo (said 2026-06-01)]"
    )
    replaced = " [no longer true: replaced on 2026-04-01]"
    assert ending([BERGEN], {}, {"b": BERGEN}, "2026-02-01") == replaced
    assert ending([OSLO], {"o": "T1"}, KNOWN, "2026-02-01") == ""


def test_nothing_said_before_a_message_makes_it_untrue() -> None:
    assert ending([BERGEN], {"t": "T1"}, KNOWN, "2026-05-01") == ""
    assert ending([BERGEN], {"t": "T1"}, KNOWN, "2026-04-01") == ""
    early = replace(OSLO, first_observed=BERGEN.first_observed, last_observed=BERGEN.last_observed)
    chain = {**KNOWN, "o": early}  # the end of the chain was said before, what follows was not
    assert ending([BERGEN], {"t": "T1", "o": "T2"}, chain, "2026-03-01") == (
        " [no longer true: see T1]"
    )


@each(
    ("question", "order", "past"),
    [
        ("Where does Ann live?", None, False),
        ("Where does Ann live now?", "last", False),
        ("Where does Ann live today?", "last", False),
        ("What does she do these days?", "last", False),
        ("Who is her current boss?", "last", False),
        ("Does she still live in Oslo?", "last", False),
        ("What is she doing today?", None, False),
        ("Where did she live before?", None, True),
        ("Where did she live before that?", None, True),
        ("Where did she use to live before she moved?", None, False),
        ("What was her previous job?", None, True),
        ("Who is her former boss?", None, True),
        ("Where did Ann live in the past?", None, True),
        ("What did she use before June?", None, False),
    ],
)
def test_questions_about_now_and_before(question: str, order: str | None, past: bool) -> None:
    found = read_time(question, NOW)
    assert (found.order, found.past) == (order, past)

"""Inserting, on every store: an acknowledged message is stored completely, once, and searchable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cognigraph import ConflictError, InvalidMessageError, Message, Settings
from cognigraph.settings import InsertSettings
from tests.conftest import START, OpenMemory
from tests.contract.rounding import rounded


def chain(space, session):
    """Texts of a session in NEXT order."""
    rows = space.cypher(
        "MATCH (a:Chunk)-[:NEXT]->(b:Chunk) WHERE a.session = $session "
        "RETURN a.text AS first, b.text AS second",
        session=session,
    )
    following = {row["first"]: row["second"] for row in rows}
    starts = set(following) - set(following.values())
    assert len(starts) == 1, f"NEXT is not one chain: {rows}"
    texts = [starts.pop()]
    while texts[-1] in following:
        texts.append(following[texts[-1]])
    return texts


def test_a_turn_is_found_when_add_returns(open_memory: OpenMemory, space_name, later):
    space = open_memory().space(space_name)
    result = space.add(
        "I moved to Oslo in May.", session="s1", speaker="Ann",
        at="2026-05-20T09:00:00+02:00", id="m1",
    )  # fmt: skip
    assert (result.id, result.ids, result.new, result.duplicates) == ("m1", ("m1",), ("m1",), 0)
    hit = space.search("Where does Ann live? Oslo?", now=later)[0]
    assert (hit.id, hit.text, hit.session, hit.speaker) == (
        "m1", "I moved to Oslo in May.", "s1", "Ann",
    )  # fmt: skip
    assert hit.at == datetime(2026, 5, 20, 7, tzinfo=UTC)
    assert hit.at.utcoffset() == timedelta(0)


def test_redelivery_changes_nothing(open_memory: OpenMemory, space_name, later):
    space = open_memory().space(space_name)
    message = {"text": "The bike is repaired.", "id": "m1", "session": "s1", "at": START}
    space.add(**message)
    before = rounded((space.stats(), space.search("bike", now=later).hits))
    again = space.add(**message)
    assert (again.new, again.duplicates, again.chunks) == ((), 1, 0)
    assert space.add_many([message, message]).new == ()
    assert rounded((space.stats(), space.search("bike", now=later).hits)) == before


def test_redelivery_without_a_time_is_still_the_same_message(open_memory, space_name, clock):
    space = open_memory().space(space_name)
    space.add("Hello there", id="m1")
    clock.advance(timedelta(hours=1))
    assert space.add("Hello there", id="m1").new == ()
    assert space.get("m1").at == START


def test_an_id_with_another_text_is_a_conflict_and_the_rest_is_stored(open_memory, space_name):
    space = open_memory().space(space_name)
    space.add("first words", id="m1", session="s1")
    with pytest.raises(ConflictError, match="m1") as caught:
        space.add_many(
            [
                {"text": "other words", "id": "m1", "session": "s1"},
                {"text": "more", "id": "m2", "session": "s1"},
            ]
        )
    assert (caught.value.ids, caught.value.index) == (("m1",), 0)
    assert space.get("m1").text == "first words"
    assert space.get("m2").text == "more"


def test_the_same_id_in_another_session_is_another_message(open_memory, space_name):
    space = open_memory().space(space_name)
    space.add("in the first", id="m1", session="s1", at=START)
    space.add("in the second", id="m1", session="s2", at=START + timedelta(days=1))
    assert space.get("m1", session="s1").text == "in the first"
    assert space.get("m1", session="s2").text == "in the second"
    assert space.get("m1").text == "in the second"
    assert space.get("m3") is None


def test_messages_without_ids_are_told_apart_by_content_time_and_count(open_memory, space_name):
    space = open_memory().space(space_name)
    twice = [{"text": "ok", "at": START}, {"text": "ok", "at": START}]
    first = space.add_many(twice)
    assert len(set(first.ids)) == 2
    assert space.add_many(twice).new == ()
    assert space.add("ok", at=START + timedelta(seconds=1)).new != ()
    assert space.stats().messages == 3


def test_next_follows_time_then_arrival(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    for text, minute in [("b", 2), ("d", 4), ("c", 3), ("a", 1), ("d2", 4), ("a2", 1), ("e", 9)]:
        space.add(text, session="s", at=START + timedelta(minutes=minute), id=text)
    assert chain(space, "s") == ["a", "a2", "b", "c", "d", "d2", "e"]
    (session,) = space.overview.sessions()
    assert session.started_at == START + timedelta(minutes=1)
    assert session.ended_at == START + timedelta(minutes=9)
    assert (session.id, session.messages, session.chunks) == ("s", 7, 7)


def test_a_batch_in_any_order_makes_the_same_chain(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    texts = [f"turn {n}" for n in range(12)]
    order = [5, 3, 11, 0, 7, 1, 10, 2, 9, 4, 8, 6]
    space.add_many(
        {"text": texts[n], "session": "s", "at": START + timedelta(minutes=n), "id": str(n)}
        for n in order
    )
    assert chain(space, "s") == texts


def test_a_long_message_is_split_and_stays_one_to_the_caller(open_memory, space_name, later):
    space = open_memory(settings=Settings(insert=InsertSettings(max_chunk_chars=200))).space(
        space_name
    )
    text = " ".join(f"Sentence number {n} tells about topic{n} alone." for n in range(40))
    result = space.add(text, id="long", session="s", speaker="Ann")
    assert result.chunks >= 8
    stored = space.get("long")
    assert stored.text == text
    assert stored.chunks == result.chunks
    hits = space.search("What does sentence 31 tell about topic31?", now=later)
    assert [hit.id for hit in hits] == ["long"]
    assert "topic31" in hits[0].text
    assert hits[0].text.rstrip().endswith(".")
    assert hits[0].parts == result.chunks
    assert space.stats().messages == 1


@pytest.mark.parametrize(
    "text",
    [
        "emoji 👩‍👩‍👧‍👦 and flags 🇳🇴 and skin 👍🏽",
        "עברית מימין לשמאל, עם ניקוד: שָׁלוֹם",
        "العربية من اليمين إلى اليسار",
        "我五月搬到了奥斯陆。你呢？",
        "nul\x00inside and \x07 bell",
        "tabs\tand\r\nlines\n\nkept  as  they are ",
        "quotes ' \" ` ; -- /* */ $1 {x} %s \\ and * + - && || ! ( ) ^ ~ ? : /",
        "<script>alert(1)</script> [bold]markup[/bold]",
        "a" * 3000,
    ],
)
def test_every_text_comes_back_as_it_was(open_memory: OpenMemory, space_name, later, text):
    space = open_memory().space(space_name)
    space.add(text, id="m", speaker="Zoë")
    assert space.get("m").text == text
    assert [hit.id for hit in space.search(text[:500], now=later)] == ["m"]


def test_cjk_is_found_by_its_words(open_memory: OpenMemory, space_name, later):
    space = open_memory().space(space_name)
    space.add("昨天我的自行车坏了。", id="bike", session="a")
    space.add("我五月搬到了奥斯陆。", id="oslo", session="b")
    assert space.search("奥斯陆", now=later)[0].id == "oslo"
    assert space.search("自行车", now=later)[0].id == "bike"


def test_lone_surrogates_are_replaced_and_reported(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    result = space.add("half \ud83d of a pair", id="m")
    assert space.get("m").text == "half \ufffd of a pair"
    assert result.notes == ("message m: 1 lone surrogate(s) replaced by U+FFFD",)
    assert space.add("half \ud83d of a pair", id="m").new == ()


@pytest.mark.above_stores  # Neo4j: test_a_message_of_a_thousand_chunks_is_one_insert
@pytest.mark.slow
def test_a_megabyte_is_one_message(open_memory: OpenMemory, space_name, later):
    space = open_memory().space(space_name)
    text = "".join(f"This is line {n} of a very long log. " for n in range(27_000))[:1_000_000]
    space.add(text, id="log")
    assert space.get("log").text == text
    assert space.search("line 26000 of the log", now=later)[0].id == "log"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_empty_text_is_refused_and_can_be_skipped(open_memory: OpenMemory, space_name, text):
    space = open_memory().space(space_name)
    with pytest.raises(InvalidMessageError, match="empty"):
        space.add(text)
    batch = [{"text": "one", "id": "1"}, {"text": text, "id": "2"}, {"text": "three", "id": "3"}]
    with pytest.raises(InvalidMessageError, match="message 1") as caught:
        space.add_many(batch)
    assert caught.value.index == 1
    assert (space.get("1").text, space.get("3")) == ("one", None)
    result = space.add_many(batch, skip_invalid=True)
    assert result.new == ("3",)
    assert [rejection.index for rejection in result.rejected] == [1]
    assert "skip_invalid" not in result.rejected[0].reason


def test_naive_times_need_a_timezone(open_memory: OpenMemory, space_name):
    naive = datetime(2026, 1, 1, 12)
    with pytest.raises(InvalidMessageError, match="timezone"):
        open_memory().space(space_name).add("when?", at=naive)
    space = open_memory(timezone="Europe/Oslo").space(space_name)
    space.add("noon in winter", at=naive, id="w")
    space.add("noon in summer", at="2026-07-01T12:00:00", id="s")
    assert space.get("w").at == datetime(2026, 1, 1, 11, tzinfo=UTC)
    assert space.get("s").at == datetime(2026, 7, 1, 10, tzinfo=UTC)


def test_microseconds_and_far_times_are_exact(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    times = [
        datetime(2026, 5, 20, 9, 0, 0, 123_457, tzinfo=UTC),
        datetime(1850, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2500, 6, 1, 12, tzinfo=timezone(timedelta(hours=-9, minutes=-30))),
    ]
    for number, at in enumerate(times):
        space.add(f"at time {number}", at=at, id=str(number))
    assert [space.get(str(number)).at for number in range(3)] == times


def test_add_many_takes_messages_and_reports_progress(open_memory: OpenMemory, space_name):
    space = open_memory(settings=Settings(insert=InsertSettings(batch=10))).space(space_name)
    seen: list[int] = []
    messages = (Message(text=f"message {n}", id=str(n)) for n in range(25))
    result = space.add_many(messages, on_progress=seen.append)
    assert seen == [10, 20, 25]
    assert result.ids == tuple(str(n) for n in range(25))
    assert space.stats().messages == 25


def test_unknown_fields_and_wrong_types_are_named(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    with pytest.raises(InvalidMessageError, match="sesion"):
        space.add_many([{"text": "hi", "sesion": "s1"}])
    with pytest.raises(InvalidMessageError, match="'text'"):
        space.add_many([{"session": "s1"}])
    with pytest.raises(InvalidMessageError, match="int"):
        space.add(5)
    with pytest.raises(InvalidMessageError, match="session"):
        space.add("hi", session="")
    with pytest.raises(InvalidMessageError, match="id"):
        space.add("hi", id="a\x00b")
    assert space.stats().messages == 0

"""From messages to rows: what is refused, what is changed and reported, and identity."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cognigraph import InsertSettings, InvalidMessageError, Message, ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.operations.adding import CleanMessage, check_name, clean_message, to_rows
from cognigraph.testing import HashEmbedder
from cognigraph.text.terms import term_counts
from tests.cases import each

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)


def cleaned(message: Message, seen: Counter[str] | None = None, **options: Any) -> CleanMessage:
    defaults: dict[str, Any] = {"space": "s", "now": NOW, "zone": None, "limit": 1000, "index": 3}
    return clean_message(message, seen=Counter() if seen is None else seen, **(defaults | options))


def test_a_plain_message():
    found = cleaned(Message(text=" hi ", session="x", speaker="Ann", id="m1"))
    assert (found.text, found.session, found.speaker, found.id) == (" hi ", "x", "Ann", "m1")
    assert (found.at, found.replaced) == (NOW, 0)
    assert found.uid == ids.message_uid("s", "x", "m1")


def test_times_become_utc():
    given = datetime(2026, 5, 20, 9, 0, tzinfo=timezone(timedelta(hours=2)))
    assert cleaned(Message(text="hi", at=given)).at == NOW - timedelta(hours=2)
    oslo = ZoneInfo("Europe/Oslo")
    assert cleaned(Message(text="hi", at="2026-05-20T09:00"), zone=oslo).at == NOW - timedelta(
        hours=2
    )


@each(
    ("message", "reason"),
    [
        (Message(text=""), "empty text"),
        (Message(text=" \n\t"), "empty text"),
        (Message(text=7), "must be a string, not int"),  # type: ignore[arg-type]
        (Message(text=None), "must be a string, not NoneType"),  # type: ignore[arg-type]
        (Message(text="x" * 1001), "1,001 characters; the limit is 1,000"),
        (Message(text="x", session=""), "session must be 1 to 512"),
        (Message(text="x", session=" "), "session must be 1 to 512"),
        (Message(text="x", speaker="a" * 513), "speaker must be 1 to 512"),
        (Message(text="x", id="a\0b"), "id must be 1 to 512"),
        (Message(text="x", id="\ud800"), "id must be 1 to 512"),
        (Message(text="x", id=7), "id must be a string, not int"),  # type: ignore[arg-type]
        (Message(text="x", at="yesterday"), "cannot read the time"),
        (Message(text="x", at="2026-05-20"), "no timezone"),
    ],
)
def test_what_is_refused_says_which_message_and_why(message, reason):
    with pytest.raises(InvalidMessageError, match=reason) as caught:
        cleaned(message)
    assert caught.value.index == 3
    assert "message 3" in str(caught.value)


def test_lone_surrogates_are_replaced_and_counted():
    found = cleaned(Message(text="a\ud800b\udc00", id="m"))
    assert (found.text, found.replaced) == ("a\ufffdb\ufffd", 2)


def test_equal_messages_without_id_are_counted_apart_and_found_again():
    def run() -> list[str]:
        seen: Counter[str] = Counter()
        return [
            cleaned(Message(text=text, speaker="Ann", at=NOW), seen).uid
            for text in ("yes", "yes", "no", "yes")
        ]

    first = run()
    assert len(set(first)) == 4
    assert run() == first


def test_an_anonymous_id_depends_on_everything_said():
    base = {"text": "yes", "speaker": "Ann", "session": "x", "at": NOW}
    others = [
        {**base, "text": "no"},
        {**base, "speaker": None},
        {**base, "session": "y"},
        {**base, "at": NOW + timedelta(microseconds=1)},
    ]
    uids = {cleaned(Message(**fields)).uid for fields in (base, *others)}
    assert len(uids) == 5
    found = cleaned(Message(**base))
    assert found.id == found.uid[:12]
    # The same moment in another zone is the same moment.
    moved = {**base, "at": NOW.astimezone(ZoneInfo("Asia/Tokyo"))}
    assert cleaned(Message(**moved)).uid == found.uid


def test_names_are_kept_as_given():
    assert check_name(" Ann\n", "speaker") == " Ann\n"
    assert check_name("x" * 512, "speaker") == "x" * 512


def test_rows_hold_every_chunk_with_its_vector_and_terms():
    embedder = CheckedEmbedder(HashEmbedder(32))
    text = "One two three four. " * 12
    messages = [
        cleaned(Message(text=text, session="x", speaker="Ann", id="long")),
        cleaned(Message(text="short", session="x", id="short")),
    ]
    long, short = to_rows(messages, "s", InsertSettings(max_chunk_chars=100), embedder)
    assert "".join(chunk.text for chunk in long.chunks) == text
    assert [chunk.part for chunk in long.chunks] == [0, 1, 2]
    assert len({chunk.uid for chunk in (*long.chunks, *short.chunks)}) == 4
    for chunk in long.chunks:
        assert len(chunk.text) <= 100
        assert chunk.terms == term_counts(f"Ann: {chunk.text}")
        assert chunk.vector.tolist() == embedder.embed([f"Ann: {chunk.text}"])[0].tolist()
    assert short.chunks[0].terms == {"short": 1}
    assert long.session_uid == short.session_uid == ids.session_uid("s", "x")


def test_the_digest_tells_texts_and_speakers_apart_but_not_times():
    embedder = CheckedEmbedder(HashEmbedder(8))

    def digest(**fields: Any) -> str:
        message = cleaned(Message(**({"text": "hi", "speaker": "Ann", "id": "m"} | fields)))
        return to_rows([message], "s", InsertSettings(), embedder)[0].digest

    assert len({digest(), digest(text="ho"), digest(speaker="Ben"), digest(speaker=None)}) == 4
    assert digest(at=NOW + timedelta(days=1)) == digest()

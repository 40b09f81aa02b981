"""Messages in the format of chat completions: what is text, and what is kept as it is."""

from __future__ import annotations

import pytest

from cognigraph import InvalidMessageError, Message
from tests.cases import each

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


class Dumped:
    """An object of an SDK, as pydantic makes them."""

    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, mode):
        assert mode == "json"
        return self.fields


def part(text, kind="text"):
    return {"type": kind, "text": text}


@each(
    ("given", "expected"),
    [
        ({"role": "user", "content": "Hi."}, Message(text="Hi.", role="user")),
        (
            {"role": "user", "content": "Hi.", "name": "Ann", "session": "s", "id": "m"},
            Message(text="Hi.", role="user", speaker="Ann", session="s", id="m"),
        ),
        ({"role": "user", "content": [part("Hi.")]}, Message(text="Hi.", role="user")),
        (
            {"content": "Hi.", "expires": "2027-01-01T00:00:00Z"},
            Message(text="Hi.", expires="2027-01-01T00:00:00Z"),
        ),
        ({"content": "Hi.", "refusal": None}, Message(text="Hi.")),
        (
            {"role": "user", "content": "Hi.", "lang": "en", "n": {"a": [1]}},
            Message(text="Hi.", role="user", metadata={"lang": "en", "n": {"a": [1]}}),
        ),
        (
            {"text": "Hi.", "lang": "en", "metadata": {"n": 1}},
            Message(text="Hi.", metadata={"lang": "en", "n": 1}),
        ),
        (
            {"text": "Hi.", "session_id": "s", "uid": 1, "next": 2, "user_text": 3, "draw": 4},
            Message(
                text="Hi.",
                metadata={"session_id": "s", "uid": 1, "next": 2, "user_text": 3, "draw": 4},
            ),
        ),
        ({"text": "Hi.", "name": "Ann"}, Message(text="Hi.", speaker="Ann")),
        (
            {"content": "Hi.", "name": "annb", "speaker": "Ann"},
            Message(text="Hi.", speaker="Ann", metadata={"name": "annb"}),
        ),
        (
            Dumped(role="assistant", content="Hi.", tool_calls=None, refusal=None),
            Message(text="Hi.", role="assistant"),
        ),
    ],
)
def test_a_message_that_is_text_alone(given, expected):
    assert Message.of(given) == expected


@each(
    ("message", "text"),
    [
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, ""),
        ({"role": "assistant", "tool_calls": [CALL]}, ""),
        ({"role": "assistant", "content": "Wait.", "tool_calls": [CALL]}, "Wait."),
        ({"role": "assistant", "content": "", "function_call": {"name": "f"}}, ""),
        ({"role": "tool", "tool_call_id": "c1", "content": "Sunny."}, "Sunny."),
        ({"role": "user", "content": [part("Look:"), IMAGE, part("a cat")]}, "Look:\na cat"),
        ({"role": "user", "content": [IMAGE]}, ""),
        ({"role": "user", "content": [part("a") | {"cache_control": {"type": "x"}}]}, "a"),
        ({"role": "user", "content": [part("a"), part("b", "input_text"), "c"]}, "a\nb\nc"),
        ({"role": "assistant", "content": [part({"value": "a", "annotations": []})]}, "a"),
        ({"role": "user", "content": [{"type": "image", "text": "not this"}]}, ""),
        ({"role": "assistant", "content": None, "refusal": "No."}, ""),
        ({"role": "user", "content": [part("a"), 7, None]}, "a"),
    ],
)
def test_all_that_is_not_text_is_kept_in_the_raw_payload(message, text):
    found = Message.of({"id": "m", "session": "s", "other": 1, **message})
    assert (found.text, found.role) == (text, message["role"])
    assert found.raw == {name: value for name, value in message.items() if value is not None}
    assert (found.id, found.session, found.metadata) == ("m", "s", {"other": 1})


def test_a_raw_payload_that_is_given_is_kept():
    assert Message.of({"content": "Hi.", "raw": {"a": 1}}).raw == {"a": 1}
    assert Message.of({"text": "Hi.", "tool_calls": [CALL]}).raw == {"tool_calls": [CALL]}
    assert Message.of({"raw": [1]}) == Message(text="", raw=[1])


@each(
    ("value", "reason"),
    [
        (7, "message 3 is a int; pass a Message or a dict"),
        ("Hi.", "message 3 is a str"),
        ([("text", "Hi.")], "message 3 is a list"),
        ({"id": "m"}, "has no 'text' or 'content'"),
        ({"txt": "a", "b": 1}, "has no 'text' or 'content', but b, txt"),
        ({"content": 7}, "content must be a text or a list of parts, not int"),
        ({"text": "a", 7: 1}, "has the field 7; names of fields are strings"),
        ({"text": "a", "sesion": "s"}, "unknown field 'sesion'; did you mean 'session'?"),
        ({"text": "a", "sessoin": "s"}, "did you mean 'session'?"),
        ({"text": "a", "sezsion": "s"}, "did you mean 'session'?"),
        ({"text": "a", "metdata": {}}, "did you mean 'metadata'?"),
        ({"text": "a", "Session": "s"}, "did you mean 'session'?"),
        ({"role": "user", "content": "a", "Speakers": 1}, "did you mean 'speaker'?"),
        ({"text": "a", "raw": 1, "tool_calls": [CALL]}, "has 'raw' and a 'tool_calls' to be kept"),
        ({"content": [IMAGE], "raw": 1}, "has 'raw' and a 'content' to be kept"),
        ({"text": "a", "content": "b"}, "has both 'text' and 'content'"),
        ({"text": "a", "n": 1, "metadata": {"n": 2}}, "has 'n' as a field and in its metadata"),
    ],
)
def test_what_is_no_message(value, reason):
    with pytest.raises(InvalidMessageError) as caught:
        Message.of(value, index=3)
    assert reason in str(caught.value)
    assert caught.value.index == 3

"""Classification of replies, and what is sent after a refusal."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from cognigraph.llm.endpoint import Reply
from cognigraph.llm.replies import (
    Answered,
    AskDifferently,
    Dialect,
    Refused,
    TryAgain,
    Withheld,
    in_words,
    judge,
    retry_after,
)
from tests.cases import each

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}
MESSAGES = [{"role": "system", "content": "You read."}, {"role": "user", "content": "Ann left."}]


def reply(body, status=200, **headers) -> Reply:
    text = body if isinstance(body, str) else json.dumps(body)
    return Reply(status, text.encode(), {k.replace("_", "-"): v for k, v in headers.items()})


def error(message, status=400, **fields) -> Reply:
    return reply({"error": {"message": message, **fields}}, status)


def chat(content, finish="stop", usage=None, **message):
    choice = {"message": {"content": content, **message}, "finish_reason": finish}
    return reply({"choices": [choice], "usage": usage})


def test_an_answer_with_counts():
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    assert judge(chat("hi", usage=usage), Dialect()) == Answered("hi", False, 7, 3)


@each(
    ("details", "cached"),
    [
        ({"cached_tokens": 5}, 5),
        ({"cached_tokens": 0}, 0),
        ({"cached_tokens": 9}, 7),  # more than there were
        ({"cached_tokens": -1}, 0),
        ({"cached_tokens": "5"}, 0),
        ({"cached_tokens": True}, 0),
        ({}, 0),
        (None, 0),
        ([5], 0),
    ],
)
def test_input_from_the_cache_of_the_server(details, cached):
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": details}
    assert judge(chat("hi", usage=usage), Dialect()) == Answered("hi", False, 7, 3, cached)
    usage = {"prompt_tokens_details": details}
    assert judge(chat("hi", usage=usage), Dialect()) == Answered("hi", False, None, None, 0)


def test_an_answer_without_counts_or_with_nonsense_for_counts():
    assert judge(chat("hi"), Dialect()) == Answered("hi", False, None, None)
    usage = {"prompt_tokens": -1, "completion_tokens": "3"}
    assert judge(chat("hi", usage=usage), Dialect()) == Answered("hi", False, None, None)


def test_cut_off_is_what_the_server_says():
    assert judge(chat("{", "length"), Dialect()) == Answered("{", cut_off=True)


@each(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ({"facts": []}, '{"facts": []}'),
        (None, ""),
        (7, ""),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_content_in_other_forms(content, text):
    assert judge(chat(content), Dialect()) == Answered(text)


def test_refusals_and_filters_are_not_answers():
    assert isinstance(judge(chat(None, refusal="I will not"), Dialect()), Withheld)
    assert isinstance(judge(chat("", "content_filter"), Dialect()), Withheld)
    filtered = error("blocked by our content management policy", code="content_filter")
    assert isinstance(judge(filtered, Dialect()), Withheld)


@each(
    "body",
    ["", " ", "<html><title>Bad gateway</title></html>", "[]", "null", "{}", '{"choices": []}',
     '{"choices": [3]}', '{"choices": 3}', '"text"', '{"choices"', "[" * 100_000, "\0\0"],
)  # fmt: skip
def test_anything_but_a_completion_may_be_better_next_time(body):
    assert isinstance(judge(reply(body), Dialect()), TryAgain)


def test_an_html_page_is_reported_as_text():
    verdict = judge(reply("<html><style>a{}</style><h1>Bad\n gateway</h1></html>"), Dialect())
    assert isinstance(verdict, TryAgain)
    assert verdict.reason == "HTTP 200, but no chat completion (body: Bad gateway)"


@each("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_overload_is_retried(status):
    verdict = judge(reply({"error": "busy"}, status, retry_after="3"), Dialect())
    assert verdict == TryAgain(f"HTTP {status}: busy", after=3.0)


def test_an_empty_account_is_not_retried_at_once():
    verdict = judge(error("You exceeded your quota", 429, code="insufficient_quota"), Dialect())
    assert isinstance(verdict, TryAgain) and verdict.pointless


@each("status", [401, 403, 404, 400, 422, 418])
def test_a_refusal_is_not_retried(status):
    assert judge(error("no", status), Dialect()) == Refused(f"HTTP {status}: no")


def test_an_error_within_success_counts_as_its_code():
    inner = {"error": {"message": "slow down", "code": 429}}
    assert judge(reply(inner), Dialect()) == TryAgain("HTTP 429: slow down")
    assert isinstance(judge(reply({"error": {"message": "no", "code": 401}}), Dialect()), Refused)
    assert isinstance(judge(reply({"error": "oh"}), Dialect()), TryAgain)


@each(
    ("complaint", "param", "sent"),
    [
        ("invalid value: `json_schema`, supported: `json_object`", "response_format.type",
         Dialect("json_object")),
        ("Extra inputs are not permitted: response_format", "", Dialect("json_object")),
        ("failed to parse grammar", "", Dialect("json_object")),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. "
         "Use 'max_completion_tokens' instead.", "max_tokens",
         Dialect(limit="max_completion_tokens")),
        ("'temperature' does not support 0 with this model.", "temperature",
         Dialect(temperature=False)),
        ("max_tokens: unknown field", "", Dialect(limit="")),
    ],
)  # fmt: skip
def test_what_the_server_does_not_know_is_asked_differently(complaint, param, sent):
    assert judge(error(complaint, param=param), Dialect()) == AskDifferently(sent)


def test_down_to_plain_text_and_no_further():
    complaint = error("response_format is not supported")
    assert judge(complaint, Dialect("json_object")) == AskDifferently(Dialect("text"))
    assert isinstance(judge(complaint, Dialect("text")), Refused)


def test_a_server_that_breaks_at_the_form_is_asked_without():
    broken = error("Unsupported response_format: json_schema", 500)
    assert judge(broken, Dialect()) == AskDifferently(Dialect("json_object"))
    assert isinstance(judge(broken, Dialect("text")), TryAgain)


def test_fastapi_names_the_place_of_its_complaint():
    detail = [{"loc": ["body", "response_format"], "msg": "extra", "input": {"temperature": 0}}]
    verdict = judge(reply({"detail": detail}, 422), Dialect())
    assert verdict == AskDifferently(Dialect("json_object"))


def test_room_for_the_answer_is_given_up_before_the_input():
    whole = error(
        "This model's maximum context length is 4096 tokens. However, you requested 8492 tokens "
        "(300 in the messages, 8192 in the completion)."
    )
    assert judge(whole, Dialect()) == AskDifferently(Dialect(limit=""))
    verdict = judge(whole, Dialect(limit=""))
    assert isinstance(verdict, Refused) and verdict.too_long
    messages = error("maximum context length is 4097 tokens, your messages resulted in 6988 tokens")
    verdict = judge(messages, Dialect())
    assert isinstance(verdict, Refused) and verdict.too_long
    assert judge(reply("", 413), Dialect()) == Refused("HTTP 413: (nothing)", too_long=True)


@each(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "Wed, 20 May 2026 09:00:30 GMT"}, 30.0),
        ({"Retry-After": "Wed, 20 May 2026 08:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": ""}, None),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after-ms": "x", "Retry-After": "9"}, 9.0),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_bodies_of_the_three_modes():
    body = Dialect().body("m", MESSAGES, SCHEMA, temperature=0.5, max_output_tokens=9)
    assert body == {
        "model": "m",
        "messages": MESSAGES,
        "temperature": 0.5,
        "max_tokens": 9,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }
    told = [
        {"role": "system", "content": f"You read.\n\n{in_words(SCHEMA)}"},
        MESSAGES[1],
    ]
    body = Dialect("json_object", "", False).body(
        "m", MESSAGES, SCHEMA, temperature=0.5, max_output_tokens=9
    )
    assert body == {
        "model": "m", "messages": told, "response_format": {"type": "json_object"}
    }  # fmt: skip
    body = Dialect("text", "max_completion_tokens", False).body(
        "m", MESSAGES, SCHEMA, temperature=0.5, max_output_tokens=9
    )
    assert body == {"model": "m", "messages": told, "max_completion_tokens": 9}

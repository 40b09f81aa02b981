"""The client against a loopback server that misbehaves in many ways."""

from __future__ import annotations

import base64
import json
import logging
import random
import socket
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

pytest.importorskip("openai")

from pydantic import BaseModel

from cognigraph import (
    BudgetExceededError,
    ConfigurationError,
    ModelAnswerError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    Usage,
)
from cognigraph.llm import Budget, ChatModel, Limiter, Prices, Prompt, ResponseCache
from cognigraph.llm.parse_answer import json_schema
from cognigraph.llm.replies import in_words
from cognigraph.text.marks import estimate_tokens
from tests.clock import TickingClock
from tests.examples import examples
from tests.servers.model_server import (
    ModelServer,
    completion,
    cut,
    drip,
    drop,
    good,
    hang,
    raw,
    rejecting,
    status,
)  # fmt: skip

KEY = "sk-secret-0123456789"
PROMPT = Prompt("extract", "1", "You read.", "Ann moved to Oslo.")


class Facts(BaseModel):
    facts: list[str]


ONE = {"facts": ["Ann moved"]}


@pytest.fixture
def ticking() -> TickingClock:
    return TickingClock()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(good(ONE)) as server:
        yield server


@pytest.fixture
def connect(server, ticking):
    """Open models on the server; waits take no time, and jitter is at its maximum."""
    opened = []

    def connect(**options) -> ChatModel:
        defaults = {
            "base_url": server.url,
            "dialects": {},
            "limiter": Limiter(clock=ticking, sleep=ticking.sleep),
            "sleep": ticking.sleep,
            "random": lambda: 1.0,
        }
        opened.append(ChatModel("test", **(defaults | options)))
        return opened[-1]

    yield connect
    for model in opened:
        model.close()


def test_a_password_in_the_base_url_is_sent_and_shown_nowhere(server, connect, caplog):
    caplog.set_level(logging.DEBUG)
    server.then(status(401, "no login for user:pass/word0, KEY pass/word0"), good(ONE))
    model = connect(base_url=server.url.replace("://", "://user:pass%2Fword0@"), api_key=KEY)
    with pytest.raises(ModelRefusedError) as caught:
        model.ask(PROMPT, Facts)
    model.ask(PROMPT, Facts)
    sent = base64.b64encode(b"user:pass/word0").decode()
    assert [request.headers["Authorization"] for request in server.requests] == [
        f"Basic {sent}"
    ] * 2
    shown = f"{caught.value!r} {model!r} {caplog.text}"
    assert "HTTP 401: no login for" in shown and "HTTP Request: POST http://127.0.0.1" in shown
    assert not [item for item in (KEY, "word0", sent, sent[:-4]) if item in shown]


def test_a_question_and_its_answer(server, connect):
    model = connect(api_key=KEY, prices=Prices(1.0, 10.0))
    answer = model.ask(PROMPT, Facts)
    assert answer.value == Facts(facts=["Ann moved"])
    assert (answer.salvaged, answer.dropped, answer.cut_off) == (0, (), False)
    assert server.requests[-1].mode == "json_schema"
    usage = answer.usage
    assert (usage.calls, usage.cached, usage.input_tokens, usage.output_tokens) == (1, 0, 100, 10)
    assert usage.cost == pytest.approx(0.0002)
    assert 0 < usage.seconds < 30
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "test",
        "messages": [
            {"role": "system", "content": "You read."},
            {"role": "user", "content": "Ann moved to Oslo."},
        ],
        "temperature": 0.0,
        "max_tokens": 8192,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": json_schema(Facts)},
        },
    }


def test_any_text_can_be_asked_about(server, connect):
    server.then(good(lambda messages: {"facts": [messages[-1]["content"]]}))
    text = 'NUL \0, 🙂, עברית, "quotes", {braces}, \u2028'
    assert connect().ask(Prompt("p", "1", "", text), Facts).value.facts == [text]
    assert connect().ask(Prompt("p", "1", "", "a\ud800b"), Facts).value.facts == ["a\ufffdb"]


# Overload, outages, and servers that do not answer.


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504, 408])
def test_a_call_is_retried_until_the_overload_ends(server, connect, ticking, code):
    server.then(status(code), status(code), good(ONE))
    answer = connect().ask(PROMPT, Facts)
    assert answer.value.facts == ["Ann moved"]
    assert (answer.usage.calls, answer.usage.input_tokens) == (3, 100)
    assert ticking.slept == [0.5, 1.0]


def test_retries_wait_with_full_jitter(server, connect, ticking):
    shares = iter([0.5, 0.0, 0.25])
    server.then(status(500))
    with pytest.raises(ModelUnavailableError):
        connect(random=lambda: next(shares)).ask(PROMPT, Facts)
    assert ticking.slept == [0.25, 0.0, 0.5]


def test_retry_after_is_honoured(server, connect, ticking):
    server.then(status(429, retry_after=7), good(ONE))
    assert connect().ask(PROMPT, Facts).usage.calls == 2
    assert ticking.slept == [7.5]


def test_retry_after_may_be_a_date(server, connect, ticking):
    until = datetime.now(UTC) + timedelta(seconds=20)
    server.then(status(503, retry_after=format_datetime(until, usegmt=True)), good(ONE))
    assert connect().ask(PROMPT, Facts).usage.calls == 2
    assert ticking.slept == [pytest.approx(20, abs=3)]


def test_retry_after_is_capped(server, connect, ticking):
    server.then(status(429, retry_after=86_400), good(ONE))
    limiter = Limiter(max_pause=timedelta(seconds=30), clock=ticking, sleep=ticking.sleep)
    assert connect(limiter=limiter).ask(PROMPT, Facts).usage.calls == 2
    assert ticking.slept == [30.5]


def test_retry_after_delays_all_callers(server, connect, ticking):
    limiter = Limiter(clock=ticking, sleep=ticking.sleep)
    server.then(status(429, retry_after=9))
    with pytest.raises(ModelUnavailableError) as caught:
        connect(limiter=limiter, attempts=2).ask(PROMPT, Facts)
    assert caught.value.retry_after == 9
    ticking.slept.clear()
    limiter.pause(9)
    server.then(good(ONE))
    assert connect(limiter=limiter).ask(PROMPT, Facts).value.facts == ["Ann moved"]
    assert ticking.slept == [9]


def test_an_outage_is_an_error_that_may_be_retried(server, connect):
    server.then(status(500, "out of memory"))
    model = connect()
    with pytest.raises(ModelUnavailableError, match="HTTP 500: out of memory") as caught:
        model.ask(PROMPT, Facts)
    error = caught.value
    assert error.is_retryable and error.attempts == 4 == server.calls
    assert (error.status, error.usage.calls, error.usage.input_tokens) == (500, 4, 0)
    server.then(good(ONE))
    assert model.ask(PROMPT, Facts).value.facts == ["Ann moved"]


def test_no_credit_is_not_tried_again_at_once(server, connect):
    server.then(status(429, "You exceeded your current quota", error_code="insufficient_quota"))
    with pytest.raises(ModelUnavailableError, match="billing"):
        connect().ask(PROMPT, Facts)
    assert server.calls == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "behaviour", [hang(), drip(), drip(headers=False)], ids=["hang", "drip", "drip in the headers"]
)
def test_a_server_that_does_not_end_is_cut_short(server, connect, behaviour):
    connect().ask(PROMPT, Facts)  # imports, which may take that long
    model = connect(timeout=timedelta(seconds=0.7), attempts=2)
    server.then(behaviour)
    start = time.monotonic()
    with pytest.raises(
        ModelUnavailableError, match=r"no complete answer within 0\.7 seconds"
    ) as caught:
        model.ask(PROMPT, Facts)
    assert 1.4 <= time.monotonic() - start < 10
    usage = caught.value.usage
    assert usage.calls == 2
    assert usage.input_tokens > 2 * estimate_tokens(
        PROMPT.user
    )  # it may have been read, and charged
    server.then(behaviour, good(ONE))
    answer = model.ask(PROMPT, Facts)
    assert answer.value.facts == ["Ann moved"]


@pytest.mark.parametrize(
    "behaviour",
    [cut(), cut(reset=True), drop(), drop(reset=True), raw(""), raw("{"), raw("<html>502</html>"),
     raw("<html>Sign in</html>", content_type="text/html"), raw('{"choices": []}'), raw("null"),
     raw(b"\xff\xfe\x00", content_type="application/octet-stream"), raw("", code=204),
     raw("x", headers={"Content-Encoding": "gzip"}), raw("", code=302),
     raw('{"error": {"message": "upstream", "code": 502}}')],
)  # fmt: skip
def test_an_unusable_answer_is_retried_and_never_cached(server, connect, behaviour, tmp_path):
    with ResponseCache(tmp_path / "answers.db") as cache:
        server.then(behaviour)
        model = connect(cache=cache)
        with pytest.raises(ModelUnavailableError) as caught:
            model.ask(PROMPT, Facts)
        assert caught.value.attempts == 4 == server.calls
        assert len(cache) == 0
        server.then(behaviour, behaviour, behaviour, good(ONE))
        assert model.ask(PROMPT, Facts).value.facts == ["Ann moved"]
        assert len(cache) == 1


def test_an_unreachable_server_is_an_error(connect):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailableError, match="ConnectError") as caught:
        connect(base_url=url).ask(PROMPT, Facts)
    assert caught.value.attempts == 4 and caught.value.status is None


@pytest.mark.parametrize(
    ("code", "advice"),
    [(401, "API key"), (403, "API key"), (404, "usually ends in /v1"), (400, "length")],
)
def test_a_refusal_says_what_to_check(server, connect, code, advice):
    server.then(status(code, "says no"))
    with pytest.raises(ModelRefusedError, match=f"HTTP {code}: says no.*{advice}") as caught:
        connect().ask(PROMPT, Facts)
    assert not caught.value.is_retryable
    assert (caught.value.attempts, caught.value.status, server.calls) == (1, code, 1)


def test_an_input_that_is_too_long_is_reported(server, connect):
    server.then(status(400, "context length exceeded", error_code="context_length_exceeded"))
    with pytest.raises(ModelRefusedError) as caught:
        connect().ask(PROMPT, Facts)
    assert caught.value.too_long


# What the model writes.


def test_a_broken_answer_is_repaired_once(server, connect, tmp_path):
    server.then(good("I think Ann moved."), good(ONE))
    with ResponseCache(tmp_path / "answers.db") as cache:
        answer = connect(cache=cache).ask(PROMPT, Facts)
        assert answer.value.facts == ["Ann moved"]
        assert (answer.usage.calls, answer.usage.input_tokens) == (2, 200)
        first, second = server.requests
        assert second.messages[1] == first.messages[1]
        assert second.messages[2] == {"role": "assistant", "content": "I think Ann moved."}
        assert second.messages[3]["content"] == (
            "That could not be used: there is no JSON object in it.\n\n"
            + in_words(json_schema(Facts))
        )
        assert connect(cache=cache).ask(PROMPT, Facts).value.facts == ["Ann moved"]
        assert server.calls == 2


@pytest.mark.parametrize(
    "text",
    ["", "  ", "Sorry, no.", "{}", "[]", "null", '{"facts": "none"}', '{"facts": [{"a": 1}]}',
     '{"fact": ["Ann"]}', '{"facts": [', "```json\n```", "<think>Hm", "{" * 5000],
)  # fmt: skip
def test_an_answer_without_anything_is_an_error_not_an_empty_result(server, connect, text):
    server.then(good(text))
    model = connect(cache=(cache := ResponseCache()))
    with cache, pytest.raises(ModelAnswerError, match="even after one retry") as caught:
        model.ask(PROMPT, Facts)
    assert caught.value.is_retryable
    assert (caught.value.attempts, server.calls, len(cache)) == (2, 2, 0)
    assert caught.value.usage.input_tokens == 200
    assert len(server.requests[1].messages[2]["content"]) < 6100


def test_nothing_found_is_an_answer(server, connect):
    server.then(good({"facts": []}))
    answer = connect().ask(PROMPT, Facts)
    assert (answer.value.facts, answer.usage.calls) == ([], 1)


def test_a_cut_off_answer_keeps_its_complete_items(server, connect):
    server.then(good('{"facts": ["a", "b", "c and', finish="length"))
    cache = ResponseCache()
    answer = connect(cache=cache).ask(PROMPT, Facts)
    assert answer.value.facts == ["a", "b"]
    assert (answer.salvaged, answer.cut_off, server.calls) == (2, True, 1)
    assert len(answer.dropped) == 1
    assert len(cache) == 0  # there is more to get next time
    cache.close()


def test_an_answer_cut_off_before_anything_says_how_to_get_more(server, connect):
    server.then(completion("", finish="length"))
    with pytest.raises(ModelAnswerError, match=r"raise max_output_tokens \(now 50\)"):
        connect(max_output_tokens=50).ask(PROMPT, Facts)


def test_items_that_do_not_validate_are_named(server, connect):
    server.then(good({"facts": ["a", 1, "b", None]}))
    model = connect()
    answer = model.ask(PROMPT, Facts)
    assert answer.value.facts == ["a", "b"] and answer.salvaged == 2
    assert answer.dropped == (
        "facts[1]: Input should be a valid string", "facts[3]: Input should be a valid string"
    )  # fmt: skip


@pytest.mark.parametrize(
    "behaviour",
    [completion(None, refusal="I cannot help with that"), completion("", finish="content_filter"),
     status(400, "filtered", error_code="content_filter")],
)  # fmt: skip
def test_a_refusal_to_answer_is_not_argued_with(server, connect, behaviour):
    server.then(behaviour)
    with pytest.raises(ModelAnswerError, match="did not answer"):
        connect().ask(PROMPT, Facts)
    assert server.calls == 1


# Servers that know less.


def test_from_schema_to_json_to_text(server, connect):
    refuses = rejecting(
        lambda body: body.get("response_format", {}).get("type") == "json_schema",
        status(400, "invalid value: `json_schema`", param="response_format.type"),
        rejecting(
            lambda body: "response_format" in body,
            raw('{"detail": [{"loc": ["body", "response_format"], "msg": "extra"}]}', code=422),
            good(ONE),
        ),
    )
    server.then(refuses)
    dialects = {}
    answer = connect(dialects=dialects).ask(PROMPT, Facts)
    assert answer.usage.calls == 3
    assert [request.mode for request in server.requests] == ["json_schema", "json_object", "text"]
    told = server.requests[-1].messages[0]["content"]
    assert told == f"You read.\n\n{in_words(json_schema(Facts))}"
    answer = connect(dialects=dialects).ask(PROMPT, Facts)  # another client, the same process
    assert (server.requests[-1].mode, answer.usage.calls, server.calls) == ("text", 1, 4)


def test_a_server_that_ignores_the_schema_is_told_in_words(server, connect):
    def behave(messages):
        return ONE if "JSON schema" in messages[0]["content"] else "Ann moved, I think."

    server.then(good(behave))
    model = connect()
    assert model.ask(PROMPT, Facts).usage.calls == 2
    answer = model.ask(PROMPT, Facts)
    assert (server.requests[-1].mode, answer.usage.calls) == ("json_object", 1)


@pytest.mark.parametrize("text", ['{"facts": [1]}', "", '{"facts": "none"}'])
def test_a_bad_answer_in_the_right_form_is_not_held_against_the_server(server, connect, text):
    server.then(good(text), good(ONE))
    model = connect()
    assert model.ask(PROMPT, Facts).usage.calls == 2
    assert model.ask(PROMPT, Facts).value.facts == ["Ann moved"]
    assert server.requests[-1].mode == "json_schema"


def test_models_with_other_parameters(server, connect):
    server.then(
        rejecting(
            lambda body: "max_tokens" in body,
            status(400, "Unsupported: 'max_tokens'. Use 'max_completion_tokens' instead."),
            rejecting(
                lambda body: "temperature" in body,
                status(
                    400, "'temperature' does not support 0.0 with this model.", param="temperature"
                ),
                good(ONE),
            ),
        )
    )
    model = connect()
    assert model.ask(PROMPT, Facts).usage.calls == 3
    assert model.ask(PROMPT, Facts).usage.calls == 1
    body = server.requests[-1].body
    assert "temperature" not in body and body["max_completion_tokens"] == 8192
    assert server.requests[-1].mode == "json_schema"


def test_a_small_context_gives_up_the_room_for_the_answer(server, connect):
    complaint = (
        "This model's maximum context length is 4096 tokens. However, you requested 8292 tokens "
        "(100 in the messages, 8192 in the completion)."
    )
    server.then(rejecting(lambda body: "max_tokens" in body, status(400, complaint), good(ONE)))
    assert connect().ask(PROMPT, Facts).value.facts == ["Ann moved"]


def test_a_server_that_refuses_everything_is_left_alone(server, connect):
    server.then(status(400, "response_format, temperature, max_tokens: all wrong"))
    with pytest.raises(ModelRefusedError):
        connect().ask(PROMPT, Facts)
    assert server.calls <= 6


def test_tokens_are_estimated_where_the_server_gives_none(server, connect):
    server.then(good(ONE, usage={}))
    model = connect()
    answer = model.ask(PROMPT, Facts)
    assert answer.usage.output_tokens == estimate_tokens(json.dumps(ONE))
    texts = estimate_tokens(PROMPT.system) + estimate_tokens(PROMPT.user)
    assert texts < answer.usage.input_tokens < texts + 20


# Cache, budgets, limits.


def test_the_same_question_is_answered_from_the_cache(server, connect, tmp_path):
    path = tmp_path / "answers.db"
    with ResponseCache(path) as cache:
        assert connect(cache=cache).ask(PROMPT, Facts).usage.calls == 1
    with ResponseCache(path) as cache:
        model = connect(cache=cache)
        answer = model.ask(PROMPT, Facts)
        assert answer.value.facts == ["Ann moved"] and answer.usage == Usage(cached=1)
        model.ask(Prompt("extract", "2", PROMPT.system, PROMPT.user), Facts)
    assert server.calls == 2


def test_a_cached_answer_that_no_longer_fits_is_asked_for_again(server, connect):
    with ResponseCache() as cache:
        model = connect(cache=cache)
        model.ask(PROMPT, Facts)
        cache._run("update answer set text = 'rubbish'")
        assert model.ask(PROMPT, Facts).usage.calls == 1
        assert model.ask(PROMPT, Facts).usage.cached == 1


def test_calls_stop_before_the_budget_is_exceeded(server, connect):
    budget = Budget(calls=3)
    model = connect(budget=budget)
    for _ in range(3):
        model.ask(PROMPT, Facts)
    with pytest.raises(BudgetExceededError, match="budget of 3 calls") as caught:
        model.ask(PROMPT, Facts)
    assert (server.calls, budget.used.calls, caught.value.limit) == (3, 3, "calls")
    assert caught.value.usage == Usage() and caught.value.is_retryable


def test_repairs_and_retries_come_out_of_the_same_budget(server, connect):
    server.then(good("nonsense"))
    with pytest.raises(BudgetExceededError) as caught:
        connect(budget=Budget(calls=1)).ask(PROMPT, Facts)
    assert (server.calls, caught.value.usage.calls, caught.value.usage.output_tokens) == (1, 1, 10)
    server.then(status(500))
    with pytest.raises(BudgetExceededError):
        connect(budget=Budget(calls=2)).ask(PROMPT, Facts)
    assert server.calls == 3


def test_tokens_and_money_stop_the_next_call(server, connect):
    model = connect(budget=Budget(tokens=110))
    model.ask(PROMPT, Facts)
    with pytest.raises(BudgetExceededError, match="tokens"):
        model.ask(PROMPT, Facts)
    model = connect(budget=Budget(cost=0.0001), prices=Prices(1.0, 1.0))
    model.ask(PROMPT, Facts)
    with pytest.raises(BudgetExceededError, match="cost"):
        model.ask(PROMPT, Facts)
    assert server.calls == 2
    with pytest.raises(ConfigurationError, match="needs prices"):
        connect(budget=Budget(cost=1.0))


@pytest.mark.slow
def test_a_deadline_cuts_the_running_call_short(server, connect):
    connect().ask(PROMPT, Facts)  # imports, which may take that long
    server.then(hang())
    model = connect(budget=Budget(time=timedelta(seconds=1)))
    start = time.monotonic()
    with pytest.raises((BudgetExceededError, ModelUnavailableError)) as caught:
        model.ask(PROMPT, Facts)
    assert time.monotonic() - start < 5
    assert isinstance(caught.value, BudgetExceededError) and caught.value.limit == "time"
    assert caught.value.usage.calls == model.budget.used.calls == 1


def test_a_pause_beyond_the_deadline_is_not_slept_through(server, connect, ticking):
    server.then(status(429, retry_after=50))
    with pytest.raises(BudgetExceededError) as caught:
        connect(budget=Budget(time=timedelta(seconds=20))).ask(PROMPT, Facts)
    assert caught.value.limit == "time" and ticking.slept == []


@pytest.mark.slow
def test_one_limiter_for_many_threads(server, connect):
    def slow(messages):
        time.sleep(0.02)
        return {"facts": [messages[-1]["content"]]}

    server.then(good(slow))
    model = connect(limiter=Limiter(3))
    prompts = [Prompt("p", "1", "", str(number)) for number in range(60)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda prompt: model.ask(prompt, Facts), prompts))
    assert [answer.value.facts for answer in answers] == [[str(n)] for n in range(60)]
    assert server.most_running == 3
    assert sum(answer.usage.calls for answer in answers) == 60


# Broken bodies through the wire, and the key.


def envelope(text: str) -> str:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})


def broken(text: str, chance: random.Random) -> str:
    pieces = [*"{}[]:,\"'\\ ", "null", "<html>", "\0", "\ud800", "1e999", "```", "facts"]
    for _ in range(chance.randint(0, 4)):
        index = chance.randint(0, len(text))
        if chance.random() < 0.5:
            text = text[:index] + chance.choice(pieces) + text[index:]
        else:
            text = text[:index] + text[index + chance.randint(1, 9) :]
    return text if chance.random() < 0.9 else text[: chance.randint(0, len(text))]


@pytest.mark.slow
def test_fuzzed_bodies_through_the_wire(server, connect, tmp_path):
    chance = random.Random(7)
    cache = ResponseCache(tmp_path / "answers.db")
    model = connect(attempts=1, cache=cache)
    original = json.dumps({"facts": ["a {brace}", 'a "quote"', "Oslo"]})

    def fuzzed(exchange):
        if chance.random() < 0.5:
            body = broken(envelope(original), chance)
        else:
            body = envelope(broken(original, chance))
        code = chance.choice([200] * 40 + [500, 429, 400])
        exchange.send(body.encode("utf-8", "replace"), status=code)

    server.then(fuzzed)
    outcomes = {"value": 0}
    asks = examples(4000)
    for number in range(asks):
        try:
            answer = model.ask(Prompt("p", "1", "", str(number)), Facts)
        except ModelError as error:
            outcomes[type(error).__name__] = outcomes.get(type(error).__name__, 0) + 1
        else:
            outcomes["value"] += 1
            assert all(isinstance(fact, str) for fact in answer.value.facts)
    assert sum(outcomes.values()) == asks and outcomes["value"] > asks * 7 // 20, outcomes
    assert outcomes["ModelUnavailableError"] > asks // 20
    assert len(cache) <= outcomes["value"]
    cache.close()


@pytest.mark.slow
def test_the_key_is_seen_by_the_server_only(server, connect, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "answers.db"
    seen = []
    with ResponseCache(path) as cache:
        model = connect(api_key=KEY, cache=cache)
        model.ask(PROMPT, Facts)
        for behaviour in (
            status(401, f"Incorrect API key: {KEY}"),
            status(500, KEY),
            raw(KEY),
            drop(),
        ):
            server.then(behaviour)
            with pytest.raises(ModelError) as caught:
                model.ask(Prompt("p", "1", "", "other"), Facts)
            seen.append("".join(traceback.format_exception(caught.value)))
        seen += [repr(model), str(model), repr(model._endpoint)]
    seen += [caplog.text, path.read_bytes().decode("latin-1")]
    assert len(seen) == 9 and "HTTP 401: Incorrect API key: ***" in seen[0]
    assert [text for text in seen if KEY in text] == []
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_credentials_in_the_address_are_not_shown(server, connect):
    server.then(status(404))
    url = server.url.replace("http://", "http://user:hunter2@")
    model = connect(base_url=url)
    with pytest.raises(ModelRefusedError) as caught:
        model.ask(PROMPT, Facts)
    assert "hunter2" not in str(caught.value) + repr(model)

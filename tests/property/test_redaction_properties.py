"""Whatever a secret is, and wherever it stands, it is not shown; other text is."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cognigraph.llm.endpoint import Endpoint, Reply
from cognigraph.llm.replies import Dialect, judge
from cognigraph.stores.registry import located
from cognigraph.text.redaction import quoted, redacted

VISIBLE = st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["C", "Z"])
SECRET = st.text(VISIBLE, min_size=8, max_size=40)
FORMS = [
    lambda s: s,
    str.upper,
    lambda s: s[:6],
    lambda s: s[2:],
    lambda s: base64.b64encode(f"user:{s}".encode()).decode(),
    lambda s: base64.b64encode(s.encode()).decode(),
    lambda s: quote(s, safe=""),
]
PLACES = [
    "{}", "Bearer {}", "bad key {} for this project", "Authorization: Basic {}", "'{}'", "a{}b",
    "http://10.0.0.1/v1?key={}", "http://user:{}@host/v1", "{} {}",
]  # fmt: skip
WORDS = st.lists(
    st.sampled_from(
        ["the model", "`claude-3-5-sonnet-20241022`", "does", "not exist", "HTTP 404:", "8,192",
         "meta-llama/Llama-3.1-8B-Instruct-Turbo", "tokens", "missing bearer authentication",
         "basic understanding", "max_tokens", "response_format", "user name or password is wrong",
         "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "Ålesund", "2026-05-20T09:00:00Z", "a@b.example",
         "[link]", "file.py:12", "rate limit", "Token: unexpected", "gpt-4o-2024-08-06", "**bold**"]
    ),
    min_size=1, max_size=8,
).map(" ".join)  # fmt: skip


@pytest.mark.slow
@given(SECRET, st.sampled_from(FORMS), st.sampled_from(PLACES), WORDS,
       st.sampled_from([200, 401, 429, 500]))  # fmt: skip
def test_what_a_server_says_of_a_secret_is_not_shown(secret, form, place, words, status):
    sent = form(secret)
    assume(sent.lower() not in f"{words} {place}".lower())
    endpoint = Endpoint("http://localhost:1/v1", secret)
    body = json.dumps({"error": {"message": f"{words} {place.format(sent, sent)}"}}).encode()
    verdict = judge(Reply(status, body), Dialect("text"), endpoint.quoted)
    assert sent not in verdict.reason
    assert sent[:-2].lower() not in verdict.reason.lower()


@given(SECRET, SECRET)
@example("user", "p/w#x?y")
def test_a_password_in_an_address_is_held_apart(user, password):
    assume(":" not in user and "@" not in user and password not in "bolt://host:7687")
    shown, login = located(
        f"bolt://{quote(user, safe='')}:{quote(password, safe='')}@host:7687", None
    )
    assert (shown, login) == ("bolt://host:7687", (user, password))
    as_it_is = located(f"bolt://user:{password}@host:7687", None)[0]
    assert as_it_is == "bolt://host:7687"
    endpoint = Endpoint(f"http://user:{quote(password, safe='')}@host/v1", None)
    assert endpoint.base_url == "http://host/v1"
    assert password not in endpoint.quoted(f"no login for user:{password} here")
    assert password not in redacted(f"see http://user:{quote(password, safe='')}@host/v1")


@given(WORDS)
@example("abcdef/" * 5)
def test_other_text_is_unchanged(words):
    assert redacted(words) == words
    assert quoted(words) == words


def test_what_looks_like_the_credentials_of_others_is_hidden_too():
    said = (
        "Incorrect key sk-...abcd or sk-proj-ab****wxyz; \x1b[31mBasic dXNlcjpwYXNzd29yZA==, at "
        "http://db.internal:8080/v1/x?token=abc; Authorization: Bearer abcdefgh"
    )
    assert quoted(said) == (
        "Incorrect key *** or ***; [31mBasic ***, at db.internal:8080 Authorization: ***"
    )

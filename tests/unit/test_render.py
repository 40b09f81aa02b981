"""How the command line formats values: safe text, time gaps in words, tables, plain data."""

from __future__ import annotations

import io
import json
import os
import pty
import sys
import unicodedata
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console, RenderableType

from cognigraph.cli import render
from cognigraph.cli.commands import _parameters
from cognigraph.cli.terminal import Terminal, one_line, safe
from cognigraph.errors import ConfigurationError
from cognigraph.model import Hit, SearchResult, Session, Source, Theme, Trace, Triple, Why
from cognigraph.plain_data import plain
from cognigraph.times import parse_when

AT = datetime(2025, 5, 24, 19, 48, tzinfo=UTC)
WHY = Why(
    signals={"vector": 0.5},
    features={"words": 1.25, "vector": 2.5, "length": -0.5, "tiny": 0.001},
    session_score=0.2,
    triple_score=0.6,
    harmonic_mean=0.3,
    semantic=3.25,
    gap_seconds=86400.0 * 21,
    decay=0.98,
    score=3.185,
)
TRIPLE = Triple(
    "u", "Mira", "person", "owns", "[red]bike[/red]", "object", parse_when("2014"), True, AT,
    AT + timedelta(days=2), tuple(Source(f"m{n}", "s", AT) for n in range(4)),
)  # fmt: skip
HIT = Hit("m1", "a [bold]text[/bold]\x1b[2J", 3.185, "s1", None, AT, (TRIPLE,), WHY, 1, 3)
RESULT = SearchResult("q", (HIT,), (), (), Trace("default", AT, {}, {}, terms=("text", "heron")))


def shown(renderable: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=100, markup=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_safe_removes_control_characters_and_keeps_the_rest() -> None:
    assert safe("a\x1b[2J\x07b\x9bc\u202ed") == "a [2J b c d"
    assert safe("Inês 茶 👋\tx\r\ny") == "Inês 茶 👋\tx\ny"
    assert safe("\ud800") == "\ufffd"


def test_one_line_cuts_on_a_word() -> None:
    assert one_line("a\nb   c") == "a b c"
    assert one_line("one two three four", 12) == "one two..."
    assert one_line("x" * 20, 10) == "xxxxxxx..."
    assert one_line("short", 5) == "short"


def test_the_parts_of_an_explained_score_add_up() -> None:
    assert render.why(WHY) == [
        "score 3.19 = relevance 3.25 x decay 0.98 (said 21.0 days before the question)",
        "relevance: vector 2.50 + words 1.25 - length 0.50",
        "layers: session 0.20, triple 0.60, harmonic mean 0.30",
    ]
    assert render.summands(WHY.features, 1) == "vector 2.50 + 2 others 0.75"
    assert render.summands({}) == "nothing"


def test_hits_show_text_as_it_is_and_harmless() -> None:
    for output in (
        shown(render.hits(RESULT, ZoneInfo("Europe/Oslo"))),
        shown(render.hits_with_reasons(RESULT, ZoneInfo("Europe/Oslo"))),
    ):
        assert "a [bold]text[/bold] [2J [part 2 of 3]" in output
        assert "2025-05-24 21:48" in output
        assert "\x1b" not in output
    assert "facts: Mira does not own [red]bike[/red]" in output


def test_a_listing_is_told_its_columns() -> None:
    output = " ".join(shown(render.listing([TRIPLE], UTC, ">n=score", *render.FACTS)).split())
    fact = "Mira does not own [red]bike[/red]"
    assert output.endswith(f"{fact} 2014 2025-05-26 s/m0 s/m1 +2 u")
    columns = (("times", lambda item: (item.first_observed, 1234, 0.5)), "when=last_observed")
    output = shown(render.listing([TRIPLE], ZoneInfo("Europe/Oslo"), *columns))
    assert "when (Europe/Oslo)" in output
    assert "2025-05-24 21:48, 1,234, 0.50" in output and "2025-05-26 21:48" in output
    assert "Mira" in shown(render.listing([TRIPLE], UTC, "subject", most=4))
    assert "[r..." in shown(render.listing([TRIPLE], UTC, "object", most=5))


def test_cells_of_a_query_and_times() -> None:
    output = shown(render.rows([{"at": AT, "list": [1, "a"], "node": {"n": 1}, "none": None}]))
    assert "2025-05-24 19:48" in output
    assert "1, a" in output
    assert "n: 1" in output


def test_plain_is_json() -> None:
    document = plain({"hit": HIT, "nan": float("nan"), "session": _session()})
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["hit"]["at"] == "2025-05-24T19:48:00+00:00"
    assert document["hit"]["triples"][0]["when"] == "2014"
    assert document["hit"]["triples"][0]["text"] == "Mira does not own [red]bike[/red]"
    assert document["nan"] is None
    assert document["session"]["summary"] == "Bikes: One was stolen."


def _session() -> Session:
    return Session("s", AT, AT, 1, 1, ("bike",), (Theme("Bikes", "One was stolen."),))


def test_parameters_are_json_or_text_and_named_strings_stay_strings() -> None:
    given = ["n=3", "b=true", "s=two words", 'q="3"', "e="]
    assert _parameters(given, None) == {"n": 3, "b": True, "s": "two words", "q": "3", "e": ""}
    assert _parameters(["entity=42", "top=5"], "co-mentioned") == {"entity": "42", "top": 5}
    for wrong in ("x", "=1", "a b=1", "limit=1"):
        with pytest.raises(ConfigurationError):
            _parameters([wrong], None)


def test_json_on_a_terminal_has_no_character_that_it_obeys(monkeypatch):
    told = {"text": "a\x9b31m\x7f\r\x1b b\u202ec\u2066d\u2028 é猫"}
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        Terminal(width=80, json=True).document(told)
        stream.flush()
        written = os.read(ours, 10_000).decode()
    os.close(ours)
    assert json.loads(written) == told
    assert "é猫" in written and r"\u009b31m\u007f\r\u001b b\u202ec\u2066d\u2028" in written
    assert not [c for c in written if unicodedata.category(c)[0] == "C" and c not in "\r\n"]


def test_json_in_a_pipe_is_as_it_was(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n")
    monkeypatch.setattr(sys, "stdout", stream)
    Terminal(width=80, json=True).document({"text": "a\x9b\u202e"})
    stream.flush()
    assert stream.buffer.getvalue() == '{\n  "text": "a\x9b\u202e"\n}\n'.encode()

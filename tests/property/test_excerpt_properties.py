"""Excerpts of any text: parts of it in their order, safe, within the budget, cited as shown."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import Context, ContextSettings, Hit, SearchResult, Trace, Why
from cognigraph.ingest.pieces import fresh
from cognigraph.retrieve.assemble import FOOTER, HEADER, assemble
from cognigraph.retrieve.block_lines import Background, Before
from cognigraph.retrieve.excerpt.units import prose, segment
from cognigraph.text.marks import same_lines
from tests.property.alphabets import STORABLE_TEXT
from tests.property.test_assemble_properties import MARKDOWN

NOW = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
WHY = Why({}, {}, None, None, None, 0.5, None, 1.0, 0.5)
TEXTS = st.one_of(MARKDOWN, STORABLE_TEXT, st.tuples(MARKDOWN, STORABLE_TEXT).map("\n".join))
STRUCTURE = re.compile(r"[\s`~|:>-]*\w*")
"""What may be in no unit: fences with their language, rules of tables, and white space."""


@given(TEXTS)
def test_units_are_parts_of_the_text_in_order(text):
    units, end = segment(text), 0
    for index, unit in enumerate(units):
        assert end <= unit.start < unit.end <= len(text)
        between = [line for line in re.split(r"[\n\r]", text[end : unit.start]) if line.strip()]
        assert all(STRUCTURE.fullmatch(line) or "```" in line for line in between)
        assert all(needed < index for needed in unit.needs)
        end = unit.end


@st.composite
def results(draw: st.DrawFn) -> tuple[SearchResult, Background]:
    hits, before = [], {}
    for number, text in enumerate(draw(st.lists(TEXTS, min_size=1, max_size=6))):
        role = draw(st.sampled_from([None, "user", "assistant"]))
        hits.append(
            Hit(f"m{number}", text, 1.0 - number / 10, "s", role, NOW + timedelta(hours=number),
                (), WHY, role=role)
        )  # fmt: skip
        if draw(st.booleans()):
            before["s", f"m{number}"] = Before("m0", "user", draw(TEXTS) + " Which one?")
    question = draw(st.sampled_from(["What is first?", "Which rule?", "[C9] two", "indented x"]))
    return SearchResult(question, tuple(hits), (), (), Trace("default", NOW, {}, {})), Background(
        before=before
    )


def block(found, budget, **settings) -> Context:
    result, background = found
    chosen = ContextSettings(**settings)
    return assemble(result, chosen, max_tokens=budget, zone=UTC, background=background)


SHORT = st.sampled_from([0, 20, 120])


@pytest.mark.slow
@given(results(), st.integers(20, 400), SHORT)
def test_a_block_of_excerpts_fits_and_is_the_same_again(found, budget, short):
    made = block(found, budget, short_message=short)
    assert made == block(found, budget, short_message=short)
    assert made.tokens <= budget
    if made:
        assert made.startswith(HEADER)
        assert made.endswith("\n" + FOOTER)


@pytest.mark.slow
@given(results(), st.integers(20, 400), SHORT)
def test_no_text_of_a_message_begins_a_line_and_fences_are_closed(found, budget, short):
    lines = block(found, budget, short_message=short).split("\n")
    fence = ""
    for line in lines:
        own = re.fullmatch(r"  (`{3,})([\w+#.-]*)", line)
        if fence:
            fence = "" if own and own[1] == fence and not own[2] else fence
            assert not line or line.startswith("  ")
            continue
        assert re.match(r"\[C\d+\] |\[/?memory\]$|Messages:$|  |$", line)
        fence = own[1] if own else ""
        assert own or not re.match(r"\s*(```|~~~)", line)
    assert not fence


@pytest.mark.slow
@given(results(), st.integers(20, 10**6), SHORT)
def test_citations_say_what_is_shown(found, budget, short):
    made = block(found, budget, short_message=short)
    items = re.split(r"^\[(C\d+)\] ", str(made), flags=re.MULTILINE)
    shown = dict(zip(items[1::2], items[2::2], strict=True))
    hits = {hit.id: hit for hit in made.hits}
    assert [cited.label for cited in made.citations] == list(shown)
    for cited in made.citations:
        hit, text = hits[cited.id], " ".join(shown[cited.label].split())
        spans = cited.spans or ((0, len(hit.text)),)
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(spans))
        units = segment(hit.text)
        seen = [any(start <= u.start < u.end <= end for start, end in spans) for u in units]
        assert all(seen[need] for unit, is_seen in zip(units, seen, strict=True)
                   for need in unit.needs if is_seen)  # fmt: skip
        position = 0
        for start, end in spans:
            for unit in segment(hit.text):
                if not start <= unit.start < unit.end <= end:
                    continue
                raw = hit.text[unit.start : unit.end]
                written = "\n".join(same_lines(raw)) if unit.kind in ("code", "row") else prose(raw)
                position = text.find(" ".join(written.split()), position)
                assert position >= 0


@pytest.mark.slow
@given(results(), SHORT)
def test_without_a_limit_everything_is_shown_whole(found, short):
    made = block(found, 10**9, short_message=short)
    assert all(cited.spans == () for cited in made.citations)


@pytest.mark.slow
@given(results(), st.integers(20, 400), SHORT)
def test_a_block_that_comes_back_is_recognised(found, budget, short):
    made = str(block(found, budget, short_message=short))
    for text in (made, made.replace("\n", "\n> "), made.removesuffix(f"\n{FOOTER}")):
        assert fresh(f"I recall:\n{text}").split() in (["I", "recall:"], ["I", "recall:", ">"])

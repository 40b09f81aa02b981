"""Whatever a memory recalls is recognised when it comes back, and nothing else is."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.ingest.pieces import fresh, fresh_pieces, recalled, split
from cognigraph.retrieve.assemble import assemble
from tests.cases import each
from tests.property.alphabets import STORABLE_TEXT
from tests.property.test_assemble_properties import RESULTS, SETTINGS, ZONES

BLOCKS = (
    st.builds(
        lambda found, settings, zone: str(assemble(found, settings, max_tokens=10**6, zone=zone)),
        RESULTS, SETTINGS, ZONES,
    ).filter(bool)
)  # fmt: skip
"""Any block that ``context`` may make."""


def is_innocent(text):
    """Whether a text contains nothing that belongs to a block."""
    return not re.search(
        r"\[/?memory\]|\[[ESTC]\d+\]|Episodes:|Sessions:|Facts:|Messages:|```|~~~", text, re.I
    )


LINES = (
    st.text(max_size=40)
    .map(lambda t: " ".join(t.split()))
    .filter(is_innocent)
    .filter(lambda t: not t or t.strip(" >|*+•-"))
)
"""Not the mere marks of a quotation or a list, which go with the block they stand before."""
WORDS = st.lists(LINES, max_size=3).map("\n".join)


def words(text):
    return text.split()


@pytest.mark.slow
@given(WORDS, BLOCKS, WORDS)
def test_a_block_between_lines_is_found_and_the_rest_is_not_touched(before, block, after):
    assert words(fresh(f"{before}\n{block}\n{after}")) == words(f"{before}\n{after}")
    assert words(fresh(f"{before}\n```text\n{block}\n```\n{after}")) == words(f"{before}\n{after}")


@pytest.mark.slow
@given(LINES, BLOCKS, LINES)
def test_a_block_inside_a_line_is_found(before, block, after):
    for joined in (block, block.replace("\n", " "), block.replace("\n", "\\n")):
        assert words(fresh(f"{before} {joined} {after}")) == words(f"{before} {after}")


@pytest.mark.slow
@given(WORDS, BLOCKS, WORDS, st.sampled_from(["> ", ">> ", "    ", "\t", "- ", "| "]))
def test_a_quoted_or_indented_block_is_found(before, block, after, lead):
    quoted = "\n".join(lead + line for line in block.split("\n"))
    assert words(fresh(f"{before}\n{quoted}\n{after}")) == words(f"{before}\n{after}")


@pytest.mark.slow
@given(BLOCKS, st.data())
def test_a_block_cut_off_at_its_end_is_found(block, data):
    if "\n[" not in block:
        return
    first = block.index("\n[") + 6
    cut = data.draw(st.integers(first, len(block)))
    assert fresh(f"You asked me.\n{block[:cut]}") == "You asked me.\n"


@pytest.mark.slow
@given(BLOCKS, st.data(), WORDS)
def test_whole_lines_of_a_block_are_found_without_the_marks(block, data, after):
    # An item, with the lines of code or rows that belong to it.
    lines = re.findall(r"^\[[STC]\d.*(?:\n(?:  .*)?(?=\n|$))*", block, re.MULTILINE)
    if not lines:
        return
    first = data.draw(st.integers(0, len(lines) - 1))
    taken = "\n".join(lines[first : data.draw(st.integers(first + 1, len(lines)))])
    assert words(fresh(f"As it says:\n{taken}\n{after}")) == words(f"As it says:\n{after}")


@given(STORABLE_TEXT.filter(is_innocent))
def test_a_text_without_a_block_is_itself(text):
    assert fresh(text) is text
    assert recalled(text) == []


@given(STORABLE_TEXT)
def test_spans_are_in_order_and_inside_whatever_the_text(text):
    end = -1
    for start, stop in recalled(text):
        assert end < start < stop <= len(text)
        end = stop


@pytest.mark.slow
@given(WORDS, BLOCKS, WORDS, st.integers(20, 400))
def test_a_split_message_keeps_what_is_new_in_its_pieces(before, block, after, limit):
    text = f"{before}\n{block}\n{after}"
    pieces = split(text, limit)
    rest = fresh_pieces(text, pieces)
    new = "".join(piece if own is None else own for piece, own in zip(pieces, rest, strict=True))
    assert "".join(words(new)) == "".join(words(f"{before}\n{after}"))


@each(
    "text",
    [
        "see [C1] in the paper, and [T2]",
        "[memory] is what the block begins with and [/memory] how it ends",
        "[S1] first\n[S2] second\nMessages:\nnone",
        "[T1] Ann moved to Oslo (she said 2026 was fine)",
        "Facts:\n- Ann lives in Oslo\n- Ben does not",
        "[C1] 2026-05-20: dentist",
        "[C1] 9:30 dentist",
        "```\n[memory]\n```",
        "array[C1] 2026-05-20 07:00 s1 Ann: x",
        "Sessions:\n",
    ],
)
def test_ordinary_brackets_are_not_changed(text):
    assert fresh(text) is text


@each(
    ("text", "rest"),
    [
        ("Ann: I moved to Oslo.\n[C2] 2026-05-20 07:00 s1 Ann: Yes.\n[/memory]\nGood.", "Good."),
        (
            "This I know:\n[C2] 2026-05-20 07:00 s1 Ann: Yes.\n[/memory]\nGood.",
            "This I know:\nGood.",
        ),
        ("> [memory]\n> Facts:\n> [T1] Ann moved to\n> Oslo (said 2026-05-20)\n\nYes.", "\nYes."),
        ("Listen:\n[C3] 07:02 Ben: I said so.\nGood.", "Listen:\nGood."),
        ("[memory]\nEpisodes:\n[E1] s (2026-05-20): Oslo\n[E2] t (2026", ""),
        ("I recall [memory]\nFacts:\n[T1] x y z (said 2026-05-20)\n[/memory].", "I recall ."),
        ("a [memory] b [memory]\n[C1] 2026-05-20 07:00 s x\n[/memory] c", "a [memory] b  c"),
        ("Well.\n[memory]\nSessions:\n[S1] s (2026-05-20): Oslo\nMessages:", "Well.\n"),
        ("[memory]\nFacts:\n[T1] a b c (said 2026-05-20)\nMessages:\nNone.", "Messages:\nNone."),
    ],
)
def test_what_becomes_of_parts_of_a_block(text, rest):
    assert fresh(text) == rest


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[memory]" * 20_000,
        "[memory]\n[S1] x\n" * 20_000,
        "[memory] [S1] x" * 10_000 + "[/memory]" * 10_000,
        "> " * 100_000 + "[",
        "[T1] " + "(a; " * 40_000,
        "[S1] " + "a (" * 40_000,
        "```\n[\n" * 20_000,
    ],
)
def test_recognition_takes_linear_time(text):
    started = time.process_time()
    recalled(text)
    assert time.process_time() - started < 2.0

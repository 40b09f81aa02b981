"""Splitting: nothing lost, nothing over the limit, cuts where a reader would cut."""

from __future__ import annotations

import time

import pytest

from cognigraph.ingest.pieces import parts, split
from tests.cases import each


def test_a_text_within_the_limit_is_not_split():
    assert split("short", 100) == ["short"]
    assert split("x" * 100, 100) == ["x" * 100]
    assert split("", 100) == [""]


def test_cuts_fall_after_sentences():
    text = "One two three. Four five six! Seven eight nine? Ten eleven twelve."
    pieces = split(text, 40)
    assert pieces == ["One two three. Four five six! ", "Seven eight nine? Ten eleven twelve."]


def test_quotes_and_brackets_stay_with_their_sentence():
    text = "She said “come here now.” Then she went away and sat down."
    assert split(text, 40)[0] == "She said “come here now.” "


def test_cjk_sentences_need_no_space():
    text = "今日は天気がいい。" * 8
    assert split(text, 20) == ["今日は天気がいい。" * 2] * 4


def test_without_sentences_cuts_fall_between_words():
    pieces = split("word " * 50, 100)
    assert all(piece.endswith(" ") for piece in pieces[:-1])
    assert "".join(pieces) == "word " * 50


def test_without_spaces_cuts_fall_at_the_limit():
    assert [len(piece) for piece in split("x" * 250, 100)] == [100, 100, 50]


def test_a_period_inside_a_number_does_not_end_a_sentence():
    text = "a" * 52 + " 3.14159 " + "b" * 60
    assert split(text, 100)[0].endswith("3.14159 ")


@each(
    "cluster",
    ["e\u0301\u0323", "👍🏽", "👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "कि", "நி", "🇳🇴"],
    ids=["accents", "skin", "family", "variation", "keycap", "hindi", "tamil", "flag"],
)
def test_no_cut_inside_a_visible_character(cluster):
    for shift in range(len(cluster)):
        text = "x" * shift + cluster * 60
        pieces = split(text, 100)
        assert "".join(pieces) == text
        rest = pieces[0][shift:]
        assert len(rest) % len(cluster) == 0, f"cut inside {cluster!a}"


def test_an_endless_combining_sequence_is_cut_at_the_limit():
    text = "e" + "\u0301" * 500
    pieces = split(text, 100)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "x ",
        "!",
        ". ",
        "e\u0301",
        "\n",
        '."',
        "…”",
        "# a\n",
        "#",
        "# a#",
        "```\n",
        "|",
        "| \n",
        " ;",
        "def f():\n",
        "def f( ",
        "- a\n",
        "class ",
        "@a\n",
        "\t",
    ],
)
def test_time_is_linear(unit):
    # In processor time: linear takes some 50 ms, anything quadratic takes minutes.
    text = unit * (300_000 // len(unit))
    started = time.process_time()
    assert "".join(split(text, 1000)) == text
    assert time.process_time() - started < 3


GUIDE = """# Handbook

{}

## Setup

{}

### Database

{}

## Use ##

- {}
- {}
"""


def test_markdown_is_cut_before_headings_and_each_part_knows_its_path():
    text = GUIDE.format(*(f"{word} is explained here. " * 3 for word in "ABCDE"))
    found = parts(text, 130)
    assert [part.text.split("\n")[0] for part in found if part.text.startswith("#")] == [
        "# Handbook", "## Setup", "### Database", "## Use ##",
    ]  # fmt: skip
    assert list(dict.fromkeys(part.heading for part in found)) == [
        "Handbook", "Handbook > Setup", "Handbook > Setup > Database", "Handbook > Use",
    ]  # fmt: skip
    assert "".join(part.text for part in found) == text


def test_a_fenced_block_stays_whole_and_its_comments_are_no_headings():
    code = "```python\n# not a heading\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n```\n"
    text = f"# Recipe\n\n{'Read this first. ' * 5}\n{code}{'Then go on with the rest. ' * 4}"
    found = parts(text, 140)
    assert code in [part.text for part in found]
    assert {part.heading for part in found} == {"Recipe"}


def test_a_long_fenced_block_is_cut_before_definitions():
    functions = [f"def f{n}(x):\n    y = x + {n}\n    return y * y\n\n" for n in range(6)]
    text = "## Code\n\n```python\n" + "".join(functions) + "```\nThe end."
    found = parts(text, 150)
    assert all(part.text.startswith("def f") for part in found[1:-1])
    assert [part.heading for part in found[1:-1]] == ["Code > f3", "Code > f5"][: len(found) - 2]
    assert found[0].heading == "Code"


def test_a_source_file_is_cut_before_definitions_with_their_decorators():
    methods = "".join(
        f"    @cached\n    def method_{n}(self):\n        return self.x + {n}\n\n" for n in range(6)
    )
    text = f"import os\n\n# Numbers of all kinds\nclass Numbers:\n    x = 1\n\n{methods}"
    found = parts(text, 160)
    assert all(part.text.startswith("    @cached\n") for part in found[1:])
    assert found[1].heading is not None
    assert found[1].heading.startswith("Numbers > method_")


def test_a_log_is_cut_before_its_lines():
    line = "2026-05-20 09:00:0{} ERROR it failed\n  Traceback: in the middle\n"
    found = parts("".join(line.format(n) for n in range(8)), 150)
    assert all(part.text.startswith("2026-05-20") for part in found)
    assert {part.heading for part in found} == {None}


def test_a_list_is_cut_before_its_items():
    text = "Buy these things:\n" + "".join(f"{n}. A thing. It is good to have.\n" for n in range(9))
    assert all(part.text[0].isdigit() for part in parts(text, 120)[1:])


def test_prose_is_cut_before_paragraphs():
    paragraph = "One sentence here. Another sentence there. "
    text = "\n\n".join([paragraph * 2] * 4)
    assert {len(part.text) for part in parts(text, 160)[:-1]} == {len(paragraph) * 2 + 2}

"""Small functions on text."""

from __future__ import annotations

from cognigraph.text.terms import is_question, printable, replace_surrogates, spoken
from tests.cases import each


@each(
    ("text", "expected"),
    [
        ("Really?", True),
        ("Really?!", True),
        ("“Really?”", True),
        ("really?) 🙂", True),
        ("本当？", True),
        ("حقا؟", True),
        ("Really? Yes.", False),
        ("Really.", False),
        ("", False),
        ("?", True),
        ("What?" + " " * 5, True),
        ("Where is it? " + "." * 50, False),
    ],
)
def test_recognising_questions(text, expected):
    assert is_question(text) is expected


def test_surrogates_are_replaced_and_counted():
    assert replace_surrogates("a\ud800b\udfffc") == ("a\ufffdb\ufffdc", 2)
    assert replace_surrogates("plain 🙂") == ("plain 🙂", 0)


def test_printable_keeps_what_a_reader_needs():
    assert printable("a\x00b\x1b[31mc\x7f") == "a b [31mc "
    assert printable("tab\tline\nend") == "tab\tline\nend"


def test_spoken():
    assert spoken("Ann", "hi") == "Ann: hi"
    assert spoken(None, "hi") == "hi"

"""Source code without a fence is known as such, and shown line by line."""

from __future__ import annotations

from cognigraph.retrieve.excerpt.units import segment, shown_text
from cognigraph.text.terms import is_source_code
from tests.cases import each

PYTHON = 'def rate(a, b):\n    """Return the rate."""\n    c = a * b\n    d = c + 1\n    return d\n'


@each(
    "text",
    [
        PYTHON,
        "import os\n\nfor name in names:\n    print(name)\n    os.remove(name)\n",
        "func Rate(a int) int {\n\tb := a * 2\n\treturn b\n}\n",
        "const a = 1;\nlet b = a + 2;\nconsole.log(b);\n",
        "#include <stdio.h>\nint main() {\n  puts(x);\n}\n",
    ],
)
def test_code_is_known(text):
    assert is_source_code(text)
    assert {unit.kind for unit in segment(text)} == {"code"}


@each(
    "text",
    [
        "I let the dog out.\nFrom there we walked home.\nThen we slept.",
        "Three things:\n  - one;\n  - two;\n  - three;",
        "Roses are red,\n  violets are blue,\n    sugar is sweet,\n  and so are you.",
        "Agenda:\nMonday: gym\nTuesday: choir\nreturn the books",
        "def x():\n    pass",
        "",
    ],
)
def test_prose_lists_and_short_snippets_are_no_code(text):
    assert not is_source_code(text)


def test_an_excerpt_of_code_keeps_its_lines_and_indentation():
    units = segment(PYTHON)
    assert shown_text("", PYTHON, units, [0, 1, 4]).splitlines() == [
        "",
        "  ```",
        "  def rate(a, b):",
        '      """Return the rate."""',
        "  …",
        "      return d",
        "  ```",
    ]

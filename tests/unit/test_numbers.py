"""Which numbers a text states, in digits and in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.text.numbers import has_digits, quantities, stated_numbers, written_values
from tests.cases import each


def states_number(text: str, number: str) -> bool:
    """As a block tells whether a message carries a number of a fact (``retrieve/carried.py``)."""
    return not written_values(number).isdisjoint(stated_numbers(text)) or has_digits(text, number)


@each(
    ("text", "number"),
    [
        ("I paid 9,000 kr", "9000"),
        ("I paid 9.000 kr", "9,000"),
        ("nine thousand", "9,000"),
        ("about 9k", "9000"),
        ("1.2 million people", "1,200,000"),
        ("twice a week", "2"),
        ("a dozen eggs", "12"),
        ("two dozen eggs", "24"),
        ("two hundred and five", "205"),
        ("twenty-five", "25"),
        ("the seventy-fifth", "75"),
        ("in nineteen ninety-five", "1995"),
        ("in twenty twelve", "2012"),
        ("one and a half hours", "1.5"),
        ("three and a half thousand", "3500"),
        ("½ a cup, 1½ cups", "1.5"),
        ("我有三个孩子", "3"),
        ("我二十五岁", "25"),
        ("三万二千块", "32,000"),
        ("从2万8到3万2", "3.2万"),
        ("176，78.5公斤", "78.5"),
        ("二〇二六年", "2026"),
        ("２５号", "25"),
        ("٢٥ كيلو", "25"),
        ("call 0160 555 0199", "01605550199"),
        ("at 3:30", "30"),
    ],
)
def test_a_number_is_stated(text: str, number: str) -> None:
    assert states_number(text, number)


@each(
    ("text", "number"),
    [
        ("I have 40 hens", "4"),
        ("I have 14 hens", "4"),
        ("twenty-five", "52"),
        ("I have hens", "3"),
        ("9,000", "90"),
        ("3.5 kg", "35"),
        ("call 0160 555 0199", "01605550198"),
        ("", "7"),
    ],
)
def test_a_number_is_not_stated(text: str, number: str) -> None:
    assert not states_number(text, number)


def test_what_is_written_in_digits():
    assert quantities("80 kg, 9,000 kr, 4B, at 3:30") == ("80", "9,000", "4B", "3", "30")
    assert quantities("a TX81Z and an MS-20, A5") == ()
    assert quantities("体重78.5公斤") == ("78.5",)
    assert quantities("eighty kilos") == ()


@given(st.text(max_size=60))
def test_every_number_that_is_written_is_stated(text: str) -> None:
    stated_numbers(text)
    for number in quantities(text):
        assert states_number(text, number)


@given(st.integers(0, 10**9))
def test_a_number_is_stated_however_it_is_grouped(number: int) -> None:
    assert states_number(f"It was {number:,} in all.", str(number))
    assert states_number(f"It was {number} in all.", f"{number:,}")

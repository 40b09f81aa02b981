"""Excerpts: the units of a text, which of them answer, which are chosen, and how they look."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from cognigraph.retrieve.excerpt.messages import (
    Offer,
    choose_units,
    content,
    is_said_by,
    repeated,
    says_the_same,
    steps,
    with_needed,
)
from cognigraph.retrieve.excerpt.units import (
    LONGEST,
    MessageUnits,
    segment,
    shown_text,
    unit_worths,
)
from cognigraph.retrieve.question.analyse import analyse
from tests.cases import each

NOW = datetime(2026, 5, 20, tzinfo=UTC)
RECIPE = """Here is the dal. Serves four.

**Ingredients**
- 250 g red lentils
- 400 ml coconut milk
  - from a tin

1. Fry the onion.
2. Add the lentils.

| When | What |
|---|---|
| Day 1 | rest |
| Day 2 | run |

```python
def f():

    return 1
```
Enjoy!"""


def parts(text):
    return [(unit.kind, text[unit.start : unit.end]) for unit in segment(text)]


def test_the_units_of_a_message():
    assert parts(RECIPE) == [
        ("sentence", "Here is the dal."),
        ("sentence", "Serves four."),
        ("heading", "**Ingredients**"),
        ("item", "- 250 g red lentils"),
        ("item", "- 400 ml coconut milk"),
        ("item", "- from a tin"),
        ("item", "1. Fry the onion."),
        ("item", "2. Add the lentils."),
        ("row", "| When | What |"),
        ("row", "| Day 1 | rest |"),
        ("row", "| Day 2 | run |"),
        ("code", "def f():"),
        ("code", "    return 1"),
        ("sentence", "Enjoy!"),
    ]


def test_what_a_unit_needs():
    needs = [unit.needs for unit in segment(RECIPE)]
    assert needs[3:6] == [(2,), (2,), (4,)]  # an item its heading, a nested one its item
    assert needs[8:11] == [(), (8,), (8,)]  # a row its header
    assert segment("Options in order:\n- one\n- two")[2].needs == (0,)
    assert segment("A plain sentence.\n- one")[1].needs == ()


def test_a_long_item_is_cut_into_sentences_that_keep_their_number():
    text = f"3. **Dispenser.** {'It rotates and sounds an alarm at the given time. ' * 4}"
    units = segment(text)
    assert text[units[0].start : units[0].end] == "3. **Dispenser.**"
    assert [unit.needs for unit in units[1:]] == [(0,)] * 4


def test_an_open_fence_ends_with_the_text_and_its_language_is_known():
    units = segment("So:\n~~~sql\nSELECT 1\n```\n")
    assert [(unit.kind, unit.language) for unit in units] == [
        ("sentence", ""), ("code", "sql"), ("code", "sql"),
    ]  # fmt: skip


@each("text", ["word " * 300, "x" * 1000, "é\u0301" * 700, "字" * 900])
def test_no_unit_is_too_long(text):
    units = segment(text)
    assert max(unit.end - unit.start for unit in units) <= LONGEST
    assert "".join("".join(text[u.start : u.end] for u in units).split()) == "".join(text.split())


def worths(question, *texts, user=False):
    units = tuple(segment(" ".join(texts)))
    joined = " ".join(texts)
    message = MessageUnits(tuple(joined[u.start : u.end] for u in units), user)
    return unit_worths([message], analyse(question, NOW), {})[0]


def test_the_sentence_that_answers_is_worth_most():
    found = worths(
        "How much was the deposit?", "Good.", "Current deposit is £1,250.", "What gets deducted?"
    )
    assert found.argmax() == 1
    assert found[1] > 10 * found[0]


def test_what_is_asked_is_worth_less_than_what_is_told():
    told, asked = worths("Where is my cat?", "My cat is in Oslo.", "My cat is in Oslo?")
    assert told > asked
    assert (
        worths("Where is my cat?", "Cat one.", "Cat two.", user=True)[1]
        < worths("Where is my cat?", "Cat one.", "Cat two.")[1]
    )


def test_pleasantries_are_worth_nothing():
    assert worths("What did Ann say?", "Thanks so much!", "Ann sold her boat.")[0] < 0.01


def test_no_messages_and_no_units():
    assert unit_worths([], analyse("x", NOW), {}) == []
    assert [w.shape for w in unit_worths([MessageUnits(())], analyse("x", NOW), {})] == [(0,)]


def offer(worth, *units, header=10.0, needs=None):
    shares, costs = zip(*units, strict=True)
    return Offer(worth, shares, costs, needs or ((),) * len(units), header)


def test_the_first_step_is_the_densest_one_with_its_header():
    # .6 / 20 = .03 alone; with the second unit .9 / 30 = .03; the third makes it worse.
    first, *rest = steps(offer(1.0, (0.6, 10.0), (0.35, 10.0), (0.05, 30.0)))
    assert first.units == (0, 1)
    assert first.density == pytest.approx(0.95 / 30)
    assert [step.units for step in rest] == [(2,)]


def test_a_unit_comes_with_what_it_needs():
    needs = ((), (0,), (1,))
    assert with_needed(2, needs) == {0, 1, 2}
    first = steps(offer(1.0, (0.0, 5.0), (0.0, 5.0), (1.0, 5.0), needs=needs))[0]
    assert first.units == (0, 1, 2)


def chosen(offers, budget):
    left, spent = [budget], {}

    def take(index, units):
        cost = offers[index].header + sum(offers[index].costs[unit] for unit in units)
        if cost - spent.get(index, 0) > left[0]:
            return False
        left[0] -= cost - spent.get(index, 0)
        spent[index] = cost
        return True

    return choose_units(offers, take)


def test_two_good_sentences_go_before_a_whole_message():
    long = offer(1.0, (0.9, 10.0), (0.1, 100.0))
    short = offer(0.5, (1.0, 10.0))
    assert chosen([long, short], 45) == {0: (0,), 1: (0,)}
    assert chosen([long, short], 1000) == {0: (0, 1), 1: (0,)}


def test_the_best_message_is_never_crowded_out():
    weak = offer(0.1, (1.0, 50.0))
    strong = [offer(0.9, (1.0, 1.0)) for _ in range(5)]
    assert 0 in chosen([weak, *strong], 60)
    # With less than its first step, if that does not fit.
    assert chosen([offer(1.0, (0.6, 30.0), (0.5, 20.0))], 35) == {0: (1,)}


def test_what_a_unit_needs_comes_with_it_in_a_small_budget_too():
    asked = offer(1.0, (1.0, 30.0), (0.5, 5.0), needs=((), (0,)))
    assert chosen([asked], 20) == {}


def test_a_heading_that_did_not_fit_is_not_left_out_later():
    needs = ((), (), (1,), (1,))  # a sentence; a heading with a long and a short item
    listed = offer(1.0, (0.5, 5.0), (0.0, 10.0), (0.3, 30.0), (0.05, 10.0), needs=needs)
    assert chosen([listed], 35) == {0: (0, 1, 3)}
    assert chosen([listed], 30) == {0: (0,)}


def test_what_does_not_fit_does_not_stop_the_rest():
    offers = [offer(1.0, (1.0, 5.0)), offer(0.9, (1.0, 500.0)), offer(0.1, (1.0, 5.0))]
    assert sorted(chosen(offers, 40)) == [0, 2]


def test_near_duplicates():
    def same(one, other):
        return says_the_same(content(one), content(other))

    assert same("I moved to Oslo in May.", "i moved to oslo, in May!!")
    assert not same("I moved to Oslo in May 2024.", "I moved to Oslo in May 2025.")
    assert not same("I like Oslo.", "I don't like Oslo.")
    assert not same("I moved to Oslo.", "I moved to Bergen.")
    assert same("Thanks!", "thanks :)")
    assert is_said_by(content("I moved to Oslo."), content("Ann moved to Oslo (2026-05)"))
    assert not is_said_by(content("I moved to Oslo with Ben."), content("Ann moved to Oslo"))


def test_only_one_speaker_repeats_himself():
    said = [("Ann", "I live in Oslo"), ("Ben", "I live in Oslo"), ("Ann", "I live in Oslo.")]
    assert repeated(said) == [0, 1, 0]


def show(text, *indexes, head="now Ann: "):
    units = segment(text)
    return shown_text(head, text, units, indexes or range(len(units)))


def test_what_is_left_out_is_marked():
    assert (
        show(RECIPE, 1, 2, 4) == "now Ann: … Serves four. **Ingredients** … - 400 ml coconut milk …"
    )
    assert show(RECIPE, 11).split("\n") == [
        "now Ann: …", "  ```python", "  def f():", "  ```", "  …"
    ]  # fmt: skip


@each(
    ("text", "together"),
    [
        ("Launch is planned for 30 June. Hmm, actually Iain just wrote: 14 July. Good.", 2),
        ("We meet on the 3rd. Bring cake. Everyone is glad. Sorry, the 5th.", 1),
        ("The flat is in Leeds. No wait, Bradford. It has a garden.", 2),
        ("Das Treffen ist um drei. Moment, um vier.", 1),
        ("会议在三点。不对，四点。", 1),
        ("I sing. I actually enjoy it.", 2),
        ("# Notes\nActually, the 5th.", 2),
    ],
)
def test_a_correction_is_one_unit_with_what_it_corrects(text, together):
    assert len(segment(text)) == together


def test_rows_and_code_keep_their_lines():
    assert show(RECIPE, 0, 8, 10, 11, 12, 13).split("\n") == [
        "now Ann: Here is the dal. …",
        "  | When | What |",
        "  …",
        "  | Day 2 | run |",
        "  ```python",
        "  def f():",
        "",
        "      return 1",
        "  ```",
        "  Enjoy!",
    ]


def test_code_cannot_leave_its_fence():
    text = "Look:\n````\n```\n[/memory]\n[C7] x\n````\nDone."
    assert show(text).split("\n") == [
        "now Ann: Look:", "  ````", "  ```", "  (/memory)", "  (C7) x", "  ````", "  Done.",
    ]  # fmt: skip


def test_prose_cannot_open_a_fence():
    text = "Code:\n```\nx\n```\n``` `inline` ends. More."
    shown = show(text)
    assert shown.split("\n")[-1] == "  `` `inline` ends. More."
    assert np.sum([line.strip().startswith("```") for line in shown.split("\n")]) == 2


def test_a_whole_message_without_code_is_one_line():
    assert show("two\nlines\r\n\tand  more") == "now Ann: two lines and more"

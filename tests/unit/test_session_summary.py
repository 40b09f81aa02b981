"""How a model's answer changes a session's summary and state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cognigraph.ingest.model.answer_schema import SummaryAnswer
from cognigraph.ingest.model.summarise import (
    MAX_KEYS,
    MAX_KNOWN,
    MAX_SUMMARY,
    MAX_THEMES,
    MAX_UNREAD,
    SummaryDraft,
    SummaryState,
    key_line,
    known_lines,
    known_names,
    merged,
    merged_keys,
    remembered,
    theme_lines,
)
from cognigraph.ingest.model.transcript import Turn, WindowName
from cognigraph.model import Theme

AT = datetime(2025, 2, 8, 18, 0, tzinfo=UTC)
BIKE = Theme("Bike repair", "Mira's green Peugeot broke down on the Zeppelin bridge. Rasmus of the "
             "workshop Speiche in Lindenau is to repair it on 11 February 2025.")  # fmt: skip
RUN = Theme("Half marathon", "Jonas will run in Hamburg on 29 June 2025.")
OLD = SummaryDraft((("green Peugeot", 2.0), ("half marathon", 1.5)), (BIKE, RUN))


def answer(*themes: dict, keys=()) -> SummaryAnswer:
    return SummaryAnswer.model_validate({"keys": list(keys), "themes": list(themes)})


def test_a_first_answer_is_the_summary():
    given = answer(
        {"title": " Bike  repair ", "summary": "Mira's bike\nbroke down."},
        {"title": "Empty", "summary": " \n"},
        keys=["green Peugeot", "Mira", "Green peugeots", "", "Speiche"],
    )
    found, refused = merged(SummaryDraft(), given, ("Mira", "Jonas"))
    assert found.themes == (Theme("Bike repair", "Mira's bike broke down."),)
    assert [name for name, _ in found.keys] == ["green Peugeot", "Speiche"]
    assert refused == ["theme without a summary: Empty"]


def test_single_themes_are_rewritten_and_added():
    given = answer(
        {"n": 2, "title": "", "summary": "Jonas does not run: his meniscus is torn."},
        {"title": "Baby", "summary": "Pia expects a baby in August."},
        keys=["Pia"],
    )
    found, refused = merged(OLD, given, ())
    assert found.themes == (
        BIKE,
        Theme("Half marathon", "Jonas does not run: his meniscus is torn."),
        Theme("Baby", "Pia expects a baby in August."),
    )
    assert [name for name, _ in found.keys] == ["green Peugeot", "Pia", "half marathon"]
    assert refused == []


def test_a_theme_is_known_by_its_title_too():
    given = answer({"n": 9, "title": "HALF MARATHON", "summary": "Anselm ran instead of Jonas."})
    found, _ = merged(OLD, given, ())
    assert found.themes == (BIKE, Theme("HALF MARATHON", "Anselm ran instead of Jonas."))


def test_an_empty_answer_changes_nothing():
    assert merged(OLD, answer(), ()) == (OLD, [])


def test_a_good_theme_is_not_replaced_by_a_much_shorter_one():
    given = answer(
        {"n": 1, "title": "Bike", "summary": "The bike."},
        {"n": 2, "summary": "Jonas will run in June."},
        {"n": 2, "summary": "Something else about running in Hamburg with friends."},
    )
    found, refused = merged(OLD, given, ())
    assert found.themes == (BIKE, Theme("Half marathon", "Jonas will run in June."))
    assert refused == [
        "theme would lose most of its content: Bike repair",
        "theme was rewritten twice: Half marathon",
    ]


def test_too_many_themes_join_the_nearest():
    themes = tuple(Theme(f"Topic {n}", f"All about word{n}.") for n in range(MAX_THEMES))
    given = answer({"title": "More", "summary": "Even more about word3."})
    found, refused = merged(SummaryDraft((), themes), given, ())
    assert found.themes[3] == Theme("Topic 3", "All about word3. Even more about word3.")
    assert (len(found.themes), refused) == (MAX_THEMES, [])
    full = tuple(Theme(theme.title, "x" * MAX_SUMMARY) for theme in themes)
    found, refused = merged(SummaryDraft((), full), given, ())
    assert (found.themes, refused) == (full, ["no room for another theme: More"])


def test_long_summaries_end_with_a_sentence():
    long = "Mira cooked soup. " * 200
    found, _ = merged(SummaryDraft(), answer({"title": "Soup", "summary": long}), ())
    (theme,) = found.themes
    assert MAX_SUMMARY - 20 < len(theme.summary) < MAX_SUMMARY
    assert theme.summary.endswith("soup.")
    found, _ = merged(SummaryDraft(), answer({"title": "Soup", "summary": "x" * 5000}), ())
    assert found.themes[0].summary == "x" * (MAX_SUMMARY - 1) + "…"


def test_keys_gain_weight_and_the_lightest_go():
    old = tuple((f"key {n}", 1.0) for n in range(MAX_KEYS))
    found = merged_keys(old, ["KEYS 23", "new one", "x " * 20], ())
    assert found[:2] == (("key 23", 1.5), ("new one", 1.6667))[::-1]
    assert len(found) == MAX_KEYS
    assert "key 22" not in dict(found)


def test_the_state_comes_back_as_it_was():
    state = SummaryState(
        (Turn("Mira", AT, 'Brace {} and "quotes" \n 🙂'),),
        (WindowName("Pia", "person", ("Jonas's sister",)),),
        extractive=True,
    )
    assert SummaryState.load(state.dump()) == state
    assert SummaryState.load(SummaryState().dump()) == SummaryState()


def test_an_unknown_state_is_replaced_by_an_empty_one():
    wrong = '{"model": 1, "unread": [["2025", "a", "b"]], "known": 3, "extractive": 0}'
    partly = '{"model": 1, "unread": [[1]]}'
    for text in ("", "x", "[]", '{"rules": 1}', '{"model": 1}', partly, wrong):
        assert SummaryState.load(text) == SummaryState()


def test_the_text_waiting_for_a_summary_is_bounded():
    turns = [Turn("Ann", AT + timedelta(minutes=n), "x" * 1000) for n in range(30)]
    assert remembered(turns) == tuple(turns[-MAX_UNREAD // 1000 :])
    (kept,) = remembered([Turn("Ann", AT, "y" * (2 * MAX_UNREAD))])
    assert kept.text == "y" * MAX_UNREAD
    assert remembered([]) == ()


def test_known_entities_are_few_and_the_newest():
    new = [WindowName(f"Person {n}", "person") for n in range(MAX_KNOWN - 1)]
    old = [
        WindowName("person 1", "person", ("P",)),
        WindowName("Oslo", "location"),
        WindowName("Rome", "location"),
    ]
    found = known_names([*new, WindowName("love", "concept"), WindowName("2025", "time")], old)
    assert [item.name for item in found] == [item.name for item in new] + ["Oslo"]


def test_as_a_model_reads_it():
    assert theme_lines(OLD.themes).splitlines() == [
        f"1. Bike repair: {BIKE.summary}", f"2. Half marathon: {RUN.summary}",
    ]  # fmt: skip
    assert theme_lines([Theme("A", "b </themes>\n2. C: d")]) == "1. A: b (/themes) 2. C: d"
    assert key_line(OLD.keys) == "green Peugeot, half marathon"
    assert (key_line(()), known_lines(())) == ("-", "-")
    known = [WindowName("Pia", "person", ("Jonas's sister",)), WindowName("Oslo", "location")]
    assert known_lines(known) == "Pia (person; Jonas's sister)\nOslo (location)"

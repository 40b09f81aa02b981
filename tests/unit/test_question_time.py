"""Time in a question as the rules read it, and its effect on a result."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cognigraph.model import Session, Source, Triple
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.question.temporal import (
    EventAnchor,
    NamedDate,
    QuestionTime,
    TimeWindow,
    nearness,
    read_time,
)
from cognigraph.retrieve.standing import (
    DatedMessage,
    by_time_if_asked,
    is_over,
    newer_before_older,
    seen_from,
    state_time,
)
from cognigraph.times import parse_when
from tests.cases import each

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def span(start: str | None, end: str | None) -> TimeWindow:
    return TimeWindow(None if start is None else day(start), None if end is None else day(end))


@each(
    ("question", "expected"),
    [
        ("Where was she in May 2023?", NamedDate(2023, 5)),
        ("What did she buy in May?", NamedDate(None, 5)),
        ("What happened on 8 May 2023?", NamedDate(2023, 5, 8)),
        ("What did we do last summer?", span("2026-06-01", "2026-09-01")),
        ("What happened two weeks ago?", span("2026-11-02", "2026-11-09")),
        ("What did I say yesterday?", span("2026-11-20", "2026-11-21")),
        ("What did she do last year?", span("2025-01-01", "2026-01-01")),
        ("What did I say before June?", span(None, "2026-06-01")),
        ("What has she read since 2022?", span("2022-01-01", None)),
        ("Which titles had we read by the end of September?", span(None, "2026-10-01")),
        ("Where did we stay up to the end of May 2023?", span(None, "2023-06-01")),
        ("What had I paid by the start of June?", span(None, "2026-06-01")),
        ("Where did we stay between spring and the end of August?", span(None, "2026-09-01")),
        ("What did we do between May and July?", span("2026-05-01", "2026-08-01")),
        ("What did I do between May 2024 and July 2025?", span("2024-05-01", "2025-08-01")),
        ("What did we say at the end of September?", NamedDate(None, 9)),
        ("Which song was written by June Carter?", NamedDate(None, 6)),
        ("What did he play after March 2024?", span("2024-04-01", None)),
        ("What did Jo do the week before August 3, 2023?", span("2023-07-27", "2023-08-03")),
        ("The dog she got two weeks before August 11, 2023?", span("2023-07-28", "2023-08-04")),
        ("Whom did she see two days after 3 May 2024?", span("2024-05-05", "2024-05-06")),
        ("What was last weekend before April 10, 2023?", span("2023-04-03", "2023-04-10")),
    ],
)
def test_windows(question, expected):
    assert read_time(question, NOW).times == (expected,)


@each(
    ("question", "side", "event"),
    [
        ("Where did Ann live before she moved to Oslo?", "before", "she moved to oslo"),
        ("After the wedding, what did they do?", "after", "the wedding"),
        ("How has he changed since the boot camp?", "after", "the boot camp"),
        ("What did she play until the band split up?", "before", "the band split up"),
    ],
)
def test_anchors(question, side, event):
    assert read_time(question, NOW).anchor == EventAnchor(side, event)


@each(
    "question",
    [
        "Who's looking after the spaniel?",
        "Who looked after her old cat?",
        "Which aunt was Mira named after as a child?",
        "Who named it after the old harbour?",
        "Since when have I owned my old six-voice Roland?",
        "Until when are the emergency injectors usable?",
        "Which book did I stop reading, and after how many pages?",
        "After everything I've paid so far, how much is open?",
        "Did Juno get her diagnosis before or after I went to that local evening?",
    ],
)
def test_words_that_date_no_event(question):
    assert read_time(question, NOW).anchor is None


def test_an_event_after_a_phrasal_verb_is_still_found():
    question = "Who looked after the cat after we moved to Oslo?"
    assert read_time(question, NOW).anchor == EventAnchor("after", "we moved to oslo")


@each(
    ("question", "order"),
    [
        ("Where does Ann live now?", "last"),
        ("What is the latest on the boat?", "last"),
        ("Which book did she read most recently?", "last"),
        ("Is she still a nurse?", "last"),
        ("Where did they go the first time?", "first"),
        ("When did Ann first meet Ben?", "first"),
        ("What was the original plan?", None),
        ("When was his first concert?", None),
        ("What did he paint in the beginning of May 2023?", None),
        ("What does she do now, in August 2023?", None),
        ("How long has she had her current job?", None),
        ("What did she say just now?", None),
    ],
)
def test_orders(question, order):
    assert read_time(question, NOW).order == order


@each(
    ("question", "asks"),
    [
        ("When did Ann move?", "when"),
        ("In which year did he start?", "when"),
        ("What date is the wedding?", "when"),
        ("How long ago did she move?", "when"),
        ("How many weeks ago was it?", "when"),
        ("How long has she lived there?", "how long"),
        ("Where does she live?", None),
        ("What did she say when he left?", None),
    ],
)
def test_what_is_asked(question, asks):
    assert read_time(question, NOW).asks == asks


def test_as_of_is_the_end_of_what_it_names_and_never_after_now():
    assert read_time("As of March, where did she live?", NOW).as_of == day("2026-04-01")
    assert read_time("How long was it, as of December 2023?", NOW).as_of == day("2024-01-01")
    assert read_time("As of 2026, where does she live?", NOW).as_of == NOW


@each("question", ["", "?", "before", "since it", "May I?", "the week before"])
def test_nothing_is_read_out_of_nothing(question):
    assert read_time(question, NOW) == QuestionTime()


def test_open_stretches_are_near_everything_on_their_side():
    at = np.array([day(text).timestamp() for text in ("2020-01-01", "2026-05-31", "2026-06-15")])
    near = nearness((span(None, "2026-06-01"),), at)
    assert near[:2].tolist() == [1.0, 1.0]
    assert near[2] == pytest.approx(np.exp(-1.0))  # 14 days late
    assert nearness((span("2026-06-01", None),), at)[2] == 1.0


def test_only_the_band_of_the_best_is_put_in_order():
    items = [("oslo", 1.0, 1), ("kitchen", 0.9, 2), ("bergen", 0.8, 3), ("chess", 0.5, 4)]

    def names(order):
        texts, scores, times = zip(*items, strict=True)
        return by_time_if_asked(texts, order, scores, [day(f"2026-11-0{time}") for time in times])

    assert names(None) == ["oslo", "kitchen", "bergen", "chess"]
    assert names("last") == ["bergen", "kitchen", "oslo", "chess"]
    assert names("first") == ["oslo", "kitchen", "bergen", "chess"]
    assert by_time_if_asked([], "last", [], []) == []


def triple(when: str | None = None) -> Triple:
    sources = tuple(Source(f"m{n}", "s", NOW - timedelta(days=n)) for n in (1, 5, 9))
    return Triple(
        uid="t", subject="Ann", subject_type="person", relation="lives in", object="Oslo",
        object_type="location", when=parse_when(when), negated=False,
        first_observed=sources[-1].at, last_observed=sources[0].at, sources=sources,
    )  # fmt: skip


def test_a_triple_is_shown_as_it_was_known():
    known = seen_from(triple(), NOW - timedelta(days=4))
    assert [source.id for source in known.sources] == ["m5", "m9"]
    assert known.last_observed == NOW - timedelta(days=5)
    assert known.first_observed == triple().first_observed
    assert seen_from(triple(), None) == triple()
    assert seen_from(triple(), NOW) == triple()


def test_a_state_begins_when_it_is_valid_or_was_said():
    assert state_time(triple("2026-05")) == day("2026-05-01")
    assert state_time(triple()) == NOW - timedelta(days=1)


def test_a_session_that_went_on_is_not_over():
    session = Session("s", NOW - timedelta(days=2), NOW, messages=2, chunks=2)
    assert is_over(session, NOW)
    assert is_over(session, None)
    assert not is_over(session, NOW - timedelta(days=1))


@each(
    "question",
    [
        "Where do I live?",
        "What's my rent?",
        "Who looks after the spaniel?",
        "On which days do I have to be at the office?",
        "How many will be at our table on the 25th of December?",
        "Which broker did we end up with?",
        "After all that I have paid, how much is due?",
        "Where does Ann live now?",
        "When's the concert?",
        "How's the dog called?",
        "Who has the key at the moment?",
        "How many people work there now?",
        "How many bikes does she have?",
        "Who has the key to the shed?",
        "How long does the tram take?",
        "How long are the backups kept?",
    ],
)
def test_questions_about_a_state_that_holds(question):
    assert read_time(question, NOW).present


@each(
    "question",
    [
        "Where did I live?",
        "Where did I use to live?",
        "Where did I live before?",
        "Where do I live at first?",
        "Which plants have I lost?",
        "How much have I paid by now?",
        "Who had the key just now?",
        "Since when do I own the piano?",
        "How long has the tram been late?",
        "Who has lost the key?",
        "What does she do in May 2023?",
        "What came first, the move or the wedding?",
        "",
    ],
)
def test_questions_about_the_past_or_about_what_happened_ask_for_no_state(question):
    assert not read_time(question, NOW).present


def newer_first(scores, days, changes=None, moving=None, own=None):
    """The order of messages with these scores; their own answers are too far apart to count."""
    n = len(scores)
    own = own or [4.0**-row for row in range(n)]
    columns = zip(scores, days, own, changes or [0.0] * n, moving or [True] * n, strict=True)
    return newer_before_older(
        [
            DatedMessage(day(f"2026-11-{number:02}"), score, answer, change, may)
            for score, number, answer, change, may in columns
        ]
    )


def test_a_newer_message_moves_before_older_ones_that_score_little_more():
    assert newer_first([1.0, 0.95, 0.89], [1, 2, 3]) == [2, 1, 0]
    assert newer_first([1.0, 0.95, 0.87], [1, 3, 2]) == [1, 0, 2], "too little for the first"
    assert newer_first([1.0, 0.9, 0.89], [3, 2, 1]) == [0, 1, 2], "older ones stay"
    assert newer_first([1.0, 0.95, 0.9], [1, 1, 1]) == [0, 1, 2], "at the same time, too"
    assert newer_first([], []) == []


def test_among_few_a_newer_message_that_answers_as_well_by_itself_moves():
    assert newer_first([1.0, 0.1], [1, 2], own=[2.0, 1.2]) == [1, 0]
    assert newer_first([1.0, 0.1], [1, 2], own=[2.0, 1.1]) == [0, 1]
    many = [1.0, *[0.1] * 19]
    assert newer_first(many, range(1, 21), own=[2.0] * 20)[0] == 0, (
        "with many only the scores count"
    )


def test_a_message_that_tells_of_a_change_may_score_less():
    assert newer_first([1.0, 0.82], [1, 2]) == [0, 1]
    assert newer_first([1.0, 0.82], [1, 2], changes=[0.0, 0.5]) == [1, 0]
    assert newer_first([1.0, 0.8], [1, 2], changes=[0.0, 0.5]) == [0, 1]
    assert newer_first([1.0, 0.82], [1, 2], changes=[0.5, 0.0]) == [0, 1]


def test_those_that_may_not_move_keep_their_positions():
    found = newer_first([1.0, 0.95, 0.9, 0.85], [1, 2, 3, 4], moving=[True, False, True, False])
    assert found == [2, 1, 0, 3]


def test_only_the_first_messages_are_moved():
    found = newer_first([1.0] * 25, range(1, 26))
    assert found == [*range(19, -1, -1), *range(20, 25)]


@pytest.mark.parametrize("question", ["Was für ein Auto fahre ich?", "读书会在哪里举行？"])
def test_questions_in_other_languages_are_not_read(question):
    time = analyse(question, NOW).time
    assert time.unread
    assert not time.present


@each("question", ["Where do I live?", "Where did I live?", "Oslo?", ""])
def test_questions_in_english_and_those_too_short_to_tell_are_read(question):
    assert not analyse(question, NOW).time.unread


@each(
    ("question", "may_ask"),
    [
        ("Where does Teo live?", True),
        ("Where did Teo live?", False),
        ("Which bikes does Teo own?", False),
        ("quiet harbour", False),
        ("Wo wohnt Bojan?", True),
        ("Wo hat Bojan 2019 gewohnt?", False),
        ("林悦住在哪里？", True),
    ],
)
def test_which_questions_may_ask_how_one_thing_is(question, may_ask):
    assert analyse(question, NOW).may_ask_state is may_ask

"""The loaders on small files in the official formats, and what they say of other files."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.evaluate import locomo
from cognigraph.evaluate.files import DatasetError, items, sha256
from cognigraph.evaluate.formats import load
from tests.cases import each

DATA = Path(__file__).parents[1] / "data"
LOCOMO, LONGMEMEVAL = DATA / "locomo-small.json", DATA / "longmemeval-small.json"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def test_locomo_messages():
    first, second = load("locomo", LOCOMO)
    assert (first.name, second.name) == ("talk-1", "talk-2")
    assert [message.id for message in first.messages] == [
        "D1:1", "D1:2", "D1:3", "D1:4", "D2:1", "D2:2", "D2:3",
    ]  # fmt: skip
    assert first.messages[0].at == utc(2023, 5, 8, 13, 56)
    assert first.messages[1].at == utc(2023, 5, 8, 13, 56, 1)
    assert first.messages[4].at == utc(2023, 6, 30, 0, 5)
    assert (first.messages[4].session, first.messages[4].speaker) == ("2", "Bo")
    assert first.messages[2].text == "[photo: a grey dog asleep on a red sofa]"


def test_locomo_questions():
    first, second = load("locomo", LOCOMO)
    name, cello, when, orchestra, adversarial, unknown = first.questions
    assert (name.category, name.evidence, name.answer) == ("single-hop", ("D1:1",), "Comet")
    assert (cello.category, cello.evidence) == ("multi-hop", ("D1:2", "D2:1"))
    assert cello.evidence_sessions == ("1", "2")
    assert (when.category, when.answer, when.evidence) == ("temporal", "2023", ("D2:2",))
    assert (orchestra.category, orchestra.evidence) == ("open-domain", ("D1:2",))
    assert (adversarial.category, adversarial.unanswerable) == ("adversarial", True)
    assert adversarial.answer == "Comet"
    assert unknown.evidence == ()
    # The third session has a date and no turns: the last one said is the second.
    assert {question.asked_at for question in first.questions} == {utc(2023, 7, 1, 0, 5, 2)}
    assert second.questions[0].evidence == ("D1:1",)
    assert first.notes == {"questions without evidence, not counted in recall": 1}
    assert second.notes == {"evidence that names no turn": 1}


@each(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", utc(2023, 5, 8, 13, 56)),
        ("12:00 am on 1 January, 2023", utc(2023, 1, 1)),
        ("12:30 pm on 29 February, 2024", utc(2024, 2, 29, 12, 30)),
        ("9:05 am on 3 Sept, 2022", utc(2022, 9, 3, 9, 5)),
    ],
)
def test_locomo_times(text, expected):
    assert locomo.read_time(text) == expected


def test_longmemeval_entries():
    first, piano, soup, absent = load("longmemeval", LONGMEMEVAL)
    assert first.name == "q1"
    assert [message.session for message in first.messages] == [
        "ultra_1", "ultra_1", "answer_a1", "answer_a1", "answer_a1", "ultra_1~2", "ultra_1~2",
        "ultra_1~2",
    ]  # fmt: skip
    assert first.notes == {"session ids that came again": 1, "turns without text left out": 1}
    assert first.messages[0].at == utc(2023, 5, 20, 2, 21)
    assert first.messages[3].speaker == "assistant"
    (question,) = first.questions
    assert (question.evidence, question.evidence_sessions) == (("answer_a1#1",), ("answer_a1",))
    assert question.asked_at == utc(2023, 6, 1, 10)
    # not in order of time in the file, as in the oracle file
    assert piano.messages[0].id == "answer_b1#1"
    assert piano.questions[0].evidence == ("answer_b1#1", "answer_b2#1")
    assert piano.questions[0].answer == "21"
    assert soup.questions[0].evidence == ("answer_c1#2",)
    assert absent.questions[0].unanswerable
    assert (absent.questions[0].evidence, absent.questions[0].evidence_sessions) == ((), ())


def test_the_digest_is_that_of_the_bytes():
    assert sha256(LOCOMO) == hashlib.sha256(LOCOMO.read_bytes()).hexdigest()


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=4))
@pytest.mark.slow
def test_items_are_those_of_the_list(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("items") / "list.json"
    for indent in (None, 2):
        path.write_text(json.dumps(values, indent=indent), "utf-8")
        assert list(items(path)) == values


@pytest.mark.slow
def test_items_longer_than_a_block(tmp_path):
    values = [{"n": n, "text": "ä" * 700_000} for n in range(4)]
    path = tmp_path / "long.json"
    path.write_text("\ufeff" + json.dumps(values, ensure_ascii=False), "utf-8")
    assert list(items(path)) == values


SAMPLE = json.dumps(json.loads(LOCOMO.read_text("utf-8"))[0]).encode()
WRONG = {
    b"": "it is empty",
    b"PK\x03\x04....": "a zip archive",
    b"\x1f\x8b\x08": "a gzip archive",
    b"<!DOCTYPE html><html>": "a web page",
    b"version https://git-lfs.github.com/spec/v1": "git lfs pull",
    b"PAR1": "Parquet",
    b"hello": "does not begin with a list",
    b"[" + SAMPLE: "downloaded whole",
    b'[{"conversation": ': "downloaded whole",
    b"[" + SAMPLE + b"] x": "Expecting value",
    SAMPLE + b"\n" + SAMPLE: "JSON lines",
    b"[\xff\xfe]": "not UTF-8",
    b"[" * 100_000: "nested too deeply",
    b"[3]": "the first one is a int",
    b'[{"sessions": 1, "turns": 2}]': "the first one has sessions, turns",
    b'[{"question_id": "a", "haystack_sessions": []}]': "cognigraph eval longmemeval x.json",
    b'[{"conversation": 3, "qa": []}]': "sample sample-1 is not as LoCoMo's are",
    b'[{"conversation": {}, "qa": []}]': "has no turns",
}


@each("content", WRONG, ids=range(len(WRONG)))
def test_the_error_for_a_wrong_file_says_what_it_is(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        list(load("locomo", path))
    assert WRONG[content] in str(caught.value)


def test_locomo_given_as_longmemeval():
    with pytest.raises(DatasetError, match=r"looks like LoCoMo.*cognigraph eval locomo"):
        list(load("longmemeval", LOCOMO))


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(DatasetError, match="No such file"):
        sha256(tmp_path / "none.json")
    with pytest.raises(DatasetError, match=r"not LoCoMo, which is given as locomo10\.json: it has"):
        list(load("locomo", tmp_path))


def test_samples_and_turns_of_one_name_are_told_apart(tmp_path):
    sample = json.loads(SAMPLE)
    sample["conversation"]["session_2"][0]["dia_id"] = "D1:1"
    path = tmp_path / "twice.json"
    path.write_text(json.dumps([sample, sample]), "utf-8")
    first, second = load("locomo", path)
    assert (first.name, second.name) == ("talk-1", "talk-1-2")
    assert [message.id for message in first.messages[4:6]] == ["D1:1~2", "D2:2"]
    assert first.notes["turn ids that came again"] == 1


def test_one_sample_by_itself_is_read(tmp_path):
    path = tmp_path / "one.json"
    path.write_bytes(SAMPLE)
    (only,) = load("locomo", path)
    assert len(only.questions) == 6


def changed(path: Path, tmp_path: Path, change) -> Path:
    values = json.loads(path.read_text("utf-8"))
    change(values)
    new = tmp_path / "changed.json"
    new.write_text(json.dumps(values), "utf-8")
    return new


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v[0]["qa"][0].update(category=7), "category 7"),
        (lambda v: v[0]["conversation"].update(session_1_date_time="yesterday"), "'yesterday'"),
        (lambda v: v[0]["conversation"].pop("session_1_date_time"), "session_1_date_time"),
        (lambda v: v[0]["conversation"]["session_1"][0].pop("dia_id"), "dia_id"),
    ],
)
def test_a_damaged_sample_says_what_is_wrong(tmp_path, change, message):
    with pytest.raises(DatasetError, match=message):
        list(load("locomo", changed(LOCOMO, tmp_path, change)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v[1].update(question_id="q1"), "q1 twice"),
        (lambda v: v[0]["haystack_dates"].pop(), "3 session ids, 2 dates"),
        (lambda v: v[0].update(question_date="soon"), "'soon'"),
        (lambda v: v[0].pop("answer"), "answer"),
    ],
)
def test_a_damaged_entry_says_what_is_wrong(tmp_path, change, message):
    with pytest.raises(DatasetError, match=message):
        list(load("longmemeval", changed(LONGMEMEVAL, tmp_path, change)))


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 60)), max_size=5), st.data())
def test_evidence_is_read_whatever_stands_between(turns, data):
    ids = [f"D{session}:{turn}" for session, turn in turns]
    text = ""
    for id in ids:
        text += data.draw(st.sampled_from(["", " ", "; ", ",", "\n", "(", " and "])) + id
        text += data.draw(st.sampled_from([" ", ";", ", ", ")"]))
    unique = tuple(dict.fromkeys(ids))
    assert locomo.read_evidence([text]) == unique
    assert locomo.read_evidence(text) == unique
    assert locomo.read_evidence(ids) == unique
    assert locomo.read_evidence([None, "D", 3, *ids]) == unique

"""The loaders of the other benchmarks, on small data in their layouts, and how they are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from cognigraph.evaluate.dataset import Benchmark, Conversation
from cognigraph.evaluate.files import DatasetError, sha256
from cognigraph.evaluate.formats import FORMATS, detect, files_of, load


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8"
    )
    return path


CHAT = [
    {
        "batch_number": 1,
        "time_anchor": None,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "May-03-2024",
                    "content": "My loom broke.",
                },
                {"role": "assistant", "id": 1, "content": "Which part of it?"},
            ],
            [{"role": "user", "id": 2, "content": "The treadle."}],
        ],
    },
    {
        "batch_number": 2,
        "turns": [[{"role": "user", "id": 3, "time_anchor": "June-10-2024", "content": "Mended."}]],
    },
]
PROBES = {
    "abstention": [{"question": "Who sold it?", "ideal_response": "It is not said."}],
    "knowledge_update": [
        {
            "question": "Does the loom work?",
            "answer": "Yes",
            "source_chat_ids": {"original_info": [0, 2], "updated_info": [3]},
        }
    ],
    "summarization": [
        {"question": "Sum up.", "ideal_summary": "A repair.", "source_chat_ids": [0, 3]}
    ],
}


def beam(folder: Path) -> Path:
    write(folder / "1" / "chat.json", CHAT)
    write(folder / "1" / "probing_questions" / "probing_questions.json", PROBES)
    write(folder / "topics.json", {})
    return folder


def realmem(folder: Path) -> Path:
    first = {
        "session_identifier": "Craft:S1",
        "session_uuid": "aa",
        "current_time": "2025-12-21 (Sunday)",
        "dialogue_turns": [
            {"speaker": "User", "is_query": False, "content": "I weave on Mondays."},
            {"speaker": "Assistant", "is_query": False, "content": "Noted."},
        ],
        "extracted_memory": [
            {"content": "weaves on Mondays", "source_turn": 0, "session_uuid": "aa"}
        ],
    }
    second = {
        "session_identifier": "Craft:S2",
        "session_uuid": "bb",
        "current_time": "2025-12-21 (Sunday)",
        "dialogue_turns": [
            {
                "speaker": "User",
                "is_query": True,
                "content": "Plan my Monday.",
                "category_name": "Dynamic Updating",
            },
            {
                "speaker": "Assistant",
                "is_query": False,
                "content": "You weave then.",
                "memory_used": [{"session_uuid": "aa", "content": "weaves on Mondays"}],
            },
        ],
        "extracted_memory": [],
    }
    data = {"_metadata": {"person_name": "Ida"}, "dialogues": [first, second]}
    return write(folder / "Ida_dialogues_256k.json", data)


def memoryagentbench(folder: Path) -> Path:
    line = "Fact 1: a loom has a treadle.\n"
    row = {
        "context": line * 100,
        "questions": ["What has a loom?", "What is a loom?"],
        "answers": [["a treadle", "treadle"], ["a tool"]],
        "metadata": {"source": "facts_small", "question_dates": ["2023/05/30 (Tue) 10:00"]},
    }
    return write(folder / "rows.jsonl", json.dumps(row) + "\n" + json.dumps(row) + "\n")


def realtalk(folder: Path) -> Path:
    turns = [
        {"clean_text": "Look!", "speaker": "Ada", "date_time": "29.12.2023, 22:42:04",
         "dia_id": "D1:1", "blip_caption": "a loom"},
        {"clean_text": "Nice.", "speaker": "Bo", "date_time": "29.12.2023, 22:43:00",
         "dia_id": "D1:2"},
    ]  # fmt: skip
    chat = {
        "name": {"speaker_1": "Ada", "speaker_2": "Bo"},
        "session_1": turns,
        "session_1_date_time": "29.12.2023, 22:42:04",
        "events_session_1": {},
        "qa": [{"question": "What has Ada?", "answer": "a loom", "category": 1,
                "evidence": ["D1:1", "D9:9"]}],
    }  # fmt: skip
    write(folder / "Chat_1_Ada_Bo.json", chat)
    return folder


def vehiclemembench(folder: Path) -> Path:
    told = (
        "[2025-03-03 08:30] Ada Lind: I like the panel green.\n"
        "[2025-03-03 08:31] Bo: Done.\nIt is green now.\n"
        "[2025-03-03 19:00] Ada Lind: Home at last.\n"
        "[2025-04-01 07:00] Bo: Seats up.\n"
    )
    asked = {
        "gold_memory": "[March 3, 2025] At 7:15 PM, Ada came home.\n[April 1, 2025] Bo said so.",
        "reasoning_type": "preference_conflict",
        "query": "Ada wants her colour.",
        "new_answer": ['panel(color="green")'],
    }
    write(folder / "history" / "history_1.txt", told)
    write(folder / "qa_data" / "qa_1.json", {"related_to_vehicle_preference": [asked]})
    return folder


def lifebench(folder: Path) -> Path:
    person = folder / "linda"
    records: dict[str, list[dict[str, Any]]] = {
        "sms": [
            {"message_content": "Tea at five?", "contactName": "Bo", "phone_id": 0,
             "datetime": "2025-01-02 10:00:00", "message_type": "Receive"},
            {"message_content": "Yes.", "contactName": "Bo", "phone_id": "1",
             "datetime": "2025-01-02 10:05:00", "message_type": "Send"},
        ],
        "call": [{"contactName": "Bo", "phone_id": 0, "datetime": "2025-01-02 11:00:00"}],
        "note": [{"title": "Tea", "content": "Oolong", "phone_id": 0,
                  "datetime": "2025-01-03 09:00:00"}],
        "photo": [{"caption": "A teapot", "phone_id": 0, "datetime": "2025-01-03 09:30:00",
                   "location": {"city": "Bergen", "poi": ""}}],
        "push": [{"title": "Shop", "content": "Sale", "source": "Mall", "phone_id": 0,
                  "datetime": "2025-01-04 09:30:00"}],
        "calendar": [{"title": "Visit", "description": "Bo comes", "phone_id": 0,
                      "start_time": "2025-01-05 17:00:00", "end_time": "2025-01-05 18:00:00",
                      "datetime": "2025-01-04 12:00:00"}],
        "agent_chat": [{"date": "2025-01-06", "phone_id": 0, "conversation": {
            "turn 1": {"user": {"content": "Which tea?"}, "assistant": {"content": "Oolong."}}}}],
        "contact": [{"name": "Bo", "phone_id": "1"}],
    }  # fmt: skip
    for name, content in records.items():
        write(person / "phone_data" / f"{name}.json", content)
    asked = [
        {"question": "When is tea?", "answer": "At five", "ask_time": "2025-12",
         "question_type": "Multi-hop reasoning",
         "evidence": [{"type": "sms", "id": "0"}, {"type": "agent_chat", "id": 0},
                      {"type": "push", "id": None}]},
        {"question": "Which tea?", "answer": "B", "ask_time": "2025-01",
         "question_type": "Nondeclarative", "evidence": [{"type": "note", "id": 0}],
         "options": [{"option": "A", "content": "Black"}, {"option": "B", "content": "Oolong"}]},
        {"question": "Who is Cy?", "answer": "Unknown", "ask_time": "2025-01",
         "question_type": "Unanswerable"},
    ]  # fmt: skip
    write(person / "QA" / "QA_clean.json", asked)
    return folder


def perltqa(folder: Path) -> Path:
    memory = {
        "profile": {"Protagonist": "Mia Lo", "Hobbies": "weaving"},
        "social_relationship": {"1_0": {"Supporting Characters": "Bo", "Relationship": "brother"}},
        "events": {
            "1_0_0": {"content": "Mia and Bo built a loom.", "Creation Time": "one summer"},
            "1_0_1": {"content": "They sold it.", "Creation Time": "later"},
        },
        "dialogues": {
            "1_0_0#0": {
                "events": "1_0_0",
                "contents": {"2022-05-12 10:00": ["Mia Lo: It stands.", "Bo: At last: a loom."]},
            }
        },
    }

    def asked(text: str, reference: str) -> dict[str, Any]:
        return {"Question": text, "Answer": "so", "Reference Memory": reference}

    questions = {
        "profile": [asked("Her hobby?", "Hobbies")],
        "social_relationship": [{"1_0": [asked("Who is Bo?", "['1_0']")]}],
        "events": [{"1_0_0": [asked("What was built?", "['1_0_0']")]}],
        "dialogues": [{"1_0_0#0": [asked("What stands?", "['1_0_0#0']")]}],
    }
    write(folder / "perltmem_en_v2.json", {"Mia Lo": memory})
    write(folder / "perltqa_en_v2.json", [{"Mia Lo": questions}])
    return folder


MADE: dict[Benchmark, Callable[[Path], Path]] = {
    "beam": beam,
    "lifebench": lifebench,
    "memoryagentbench": memoryagentbench,
    "perltqa": perltqa,
    "realmem": realmem,
    "realtalk": realtalk,
    "vehiclemembench": vehiclemembench,
}


def read(name: Benchmark, folder: Path) -> list[Conversation]:
    given = MADE[name](folder)
    assert detect(given).name == name
    return list(load(name, given))


def test_every_format_can_be_asked_for():
    assert set(FORMATS) == set(get_args(Benchmark))
    assert set(MADE) | {"locomo", "longmemeval"} == set(FORMATS)


def test_beam(tmp_path):
    (chat,) = read("beam", tmp_path)
    assert chat.name == "1"
    assert [(m.id, m.session, m.speaker, m.at) for m in chat.messages] == [
        ("0", "1", "user", utc(2024, 5, 3, 0, 0, 1)),
        ("1", "1", "assistant", utc(2024, 5, 3, 0, 0, 2)),
        ("2", "1", "user", utc(2024, 5, 3, 0, 0, 3)),
        ("3", "2", "user", utc(2024, 6, 10, 0, 0, 1)),
    ]
    absent, update, summary = chat.questions
    assert (absent.category, absent.unanswerable, absent.evidence) == ("abstention", True, ())
    assert (update.evidence, update.evidence_sessions) == (("0", "2", "3"), ("1", "2"))
    assert (update.answer, summary.answer) == ("Yes", "A repair.")
    assert update.asked_at == utc(2024, 6, 11, 0, 0, 1)


def test_beam_prefers_the_shortened_chat_and_reads_plans_and_rows(tmp_path):
    expected = [question.evidence for question in read("beam", tmp_path / "a")[0].questions]
    write(tmp_path / "a" / "1" / "chat_trunecated.json", CHAT[:1])
    (short,) = load("beam", tmp_path / "a" / "1")
    assert [message.id for message in short.messages] == ["0", "1", "2"]
    assert short.notes["evidence that names no turn"] == 2
    plans = [{"plan-1": CHAT[:1]}, {"plan-2": CHAT[1:]}]
    flat = [[message for turn in batch["turns"] for message in turn] for batch in CHAT]
    for chat in (plans, flat):
        row = {"conversation_id": "7", "chat": chat, "probing_questions": repr(PROBES)}
        (same,) = load("beam", write(tmp_path / "rows.jsonl", json.dumps(row)))
        assert (same.name, [m.session for m in same.messages]) == ("7", ["1", "1", "1", "2"])
        assert [question.evidence for question in same.questions] == expected


def test_realmem_questions_see_what_was_said_before(tmp_path):
    (chat,) = read("realmem", tmp_path)
    assert [message.id for message in chat.messages] == ["aa#1", "aa#2", "bb#1", "bb#2"]
    (question,) = chat.questions
    assert (question.evidence, question.category) == (("aa#1",), "Dynamic Updating")
    assert question.answer == "You weave then."
    assert question.asked_at == chat.messages[2].at
    assert chat.messages[1].at < question.as_of < chat.messages[2].at


def test_memoryagentbench_contexts_become_messages_of_whole_lines(tmp_path):
    first, second = read("memoryagentbench", tmp_path)
    assert (first.name, second.name) == ("rows-1", "rows-2")
    assert len(first.messages) == 2
    assert all(len(str(message.text)) <= 2000 for message in first.messages)
    assert sum(str(message.text).count("treadle.") for message in first.messages) == 100
    known, tool = first.questions
    assert (known.answer, known.category, known.evidence) == (
        "a treadle / treadle",
        "facts_small",
        (),
    )
    assert (known.asked_at, tool.answer) == (utc(2023, 5, 30, 10), "a tool")


def test_realtalk(tmp_path):
    (chat,) = read("realtalk", tmp_path)
    assert chat.messages[0].text == "Look! [photo: a loom]"
    assert chat.messages[0].at == utc(2023, 12, 29, 22, 42, 4)
    (question,) = chat.questions
    assert (question.category, question.evidence) == ("multi-hop", ("D1:1",))
    assert question.asked_at == utc(2023, 12, 30, 22, 43)
    assert chat.notes == {"evidence that names no turn": 1}


def test_vehiclemembench_sessions_are_found_by_day_and_time(tmp_path):
    (drive,) = read("vehiclemembench", tmp_path)
    assert [message.session for message in drive.messages] == ["1", "1", "2", "3"]
    assert (drive.messages[0].speaker, drive.messages[1].text) == (
        "Ada Lind",
        "Done.\nIt is green now.",
    )
    (question,) = drive.questions
    assert (question.evidence, question.evidence_sessions) == ((), ("2", "3"))
    assert question.answer == 'panel(color="green")'
    assert FORMATS["vehiclemembench"].level == "session"


def test_lifebench(tmp_path):
    (life,) = read("lifebench", tmp_path)
    assert [(m.id, m.speaker, m.text) for m in life.messages] == [
        ("sms:0", "Bo", "Tea at five?"),
        ("sms:1", "me", "Yes. [to Bo]"),
        ("call:0", "phone", "Bo (2025-01-02 11:00:00)"),
        ("note:0", "note", "Tea: Oolong"),
        ("photo:0", "photo", "A teapot [Bergen]"),
        ("push:0", "Mall", "Shop: Sale"),
        (
            "calendar:0",
            "calendar",
            "Visit: Bo comes (2025-01-05 17:00:00 to 2025-01-05 18:00:00)",
        ),
        ("agent_chat:0:1", "user", "Which tea?"),
        ("agent_chat:0:2", "assistant", "Oolong."),
    ]
    assert life.messages[0].session == "2025-01-02"
    when, which, absent = life.questions
    assert when.evidence == ("sms:0", "agent_chat:0:1", "agent_chat:0:2")
    assert when.asked_at == utc(2026, 1, 1)
    assert (which.answer, which.text, which.asked_at) == ("Oolong", "Which tea?", utc(2025, 2, 1))
    assert absent.unanswerable
    assert life.notes == {"evidence that names no turn": 1}
    (same,) = load("lifebench", tmp_path / "linda")
    assert same == life


def test_perltqa(tmp_path):
    (person,) = read("perltqa", tmp_path)
    ids = {str(message.id): message for message in person.messages}
    assert set(ids) == {
        "Protagonist", "Hobbies", "1_0", "1_0_0", "1_0_1", "1_0_0#0/1", "1_0_0#0/2",
    }  # fmt: skip
    assert (ids["1_0_0#0/2"].speaker, ids["1_0_0#0/2"].text) == ("Bo", "At last: a loom.")
    assert ids["1_0_0"].at == ids["1_0_1"].at == utc(2022, 5, 12, 10)
    assert [question.evidence_sessions for question in person.questions] == [
        ("Hobbies",), ("1_0",), ("1_0_0",), ("1_0_0#0",),
    ]  # fmt: skip
    assert person.questions[3].evidence == ("1_0_0#0/1", "1_0_0#0/2")
    assert [question.category for question in person.questions] == list(
        ("profile", "social_relationship", "events", "dialogues")
    )


def test_names_that_come_again_get_a_number(tmp_path):
    realmem(tmp_path)
    again = (tmp_path / "Ida_dialogues_256k.json").read_text("utf-8")
    write(tmp_path / "Ole_dialogues_256k.json", again)
    assert [chat.name for chat in load("realmem", tmp_path)] == ["Ida", "Ida-2"]


def test_the_digest_covers_all_files(tmp_path):
    before = sha256(*files_of("perltqa", perltqa(tmp_path)))
    write(tmp_path / "perltqa_en_v2.json", [])
    assert sha256(*files_of("perltqa", tmp_path)) != before


@pytest.mark.parametrize("name", MADE)
def test_another_format_is_named(tmp_path, name):
    given = MADE[name](tmp_path)
    with pytest.raises(DatasetError, match=f"looks like {FORMATS[name].title}, not LoCoMo"):
        list(load("locomo", given))


def test_what_is_unknown_gets_a_list_of_what_is_known(tmp_path):
    with pytest.raises(DatasetError) as caught:
        detect(write(tmp_path / "x.json", [{"a": 1, "b": 2}]))
    message = str(caught.value)
    assert message.startswith("x.json is of no known benchmark: the first one has a, b.")
    assert all(format.title in message for format in FORMATS.values())
    with pytest.raises(DatasetError, match=r"no known benchmark: it has x\.json"):
        detect(tmp_path)


def test_a_part_that_is_different_is_named(tmp_path):
    chat = json.loads(realmem(tmp_path).read_text("utf-8"))
    del chat["dialogues"][0]["session_uuid"]
    file = write(tmp_path / "y.json", chat)
    with pytest.raises(DatasetError, match=r"y.json is not as RealMem's are: .*session_uuid"):
        list(load("realmem", file))
    write(tmp_path / "history" / "history_1.txt", "no time\n")
    write(tmp_path / "qa_data" / "qa_1.json", {"related_to_vehicle_preference": []})
    with pytest.raises(DatasetError, match=r"history_1\.txt does not begin with a line"):
        list(load("vehiclemembench", tmp_path))

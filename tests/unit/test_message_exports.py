"""Exports of programs in which people write to each other: Slack, Telegram, WhatsApp, and mail."""

from __future__ import annotations

import shutil
import zipfile
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from cognigraph import Memory, Message
from cognigraph.importers.formats import reader_for
from cognigraph.importers.mail import reply_of, text_of_html
from cognigraph.importers.record import Head
from tests.cases import each
from tests.unit.test_importers import DATA, read, written

OSLO = timezone(timedelta(hours=2))
ANDROID = "WhatsApp Chat with Trip.txt"


@each(
    ("file", "format"),
    [
        (ANDROID, "whatsapp"), ("whatsapp-ios.txt", "whatsapp"), ("telegram.json", "telegram"),
        ("mail.mbox", "mbox"), ("slack/general/2026-05-20.json", "slack"),
    ],
)  # fmt: skip
def test_the_format_is_known_by_the_content(file: str, format: str) -> None:
    data = (DATA / file).read_bytes()
    assert reader_for(Head(file, data)).name == format
    if format in ("mbox", "whatsapp"):
        assert reader_for(Head("-", data)).name == format


def test_slack_has_names_for_marks_and_sessions_for_days_and_threads(tmp_path: Path) -> None:
    whole = tmp_path / "team.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for file in sorted((DATA / "slack").rglob("*.json")):
            archive.write(file, Path("team") / file.relative_to(DATA / "slack"))
    found = [value for _, value in read(whole)]
    assert found == [value for _, value in read(DATA / "slack")]
    private, hello, asked, answered, bot, odd = found
    assert (private.text, private.speaker) == ("I am 3 < 4 years in Oslo.", "Cem Ak")
    assert (private.session, private.id) == ("D01 2026-05-22", "1779440400.000100")
    assert hello == Message(
        text="Hi @Bo, see the timetable (https://ferry.example/t?a=1&b=2) & #general @here",
        session="general 2026-05-20", id="1779267600.000200", speaker="Ann Berg",
        at="2026-05-20T09:00:00.000200+00:00", metadata={"channel": "general"},
        raw={"files": [{"id": "F1", "name": "plan.pdf", "mimetype": "application/pdf", "size": 7}]},
    )  # fmt: skip
    assert asked.session == answered.session == "general thread 1779267700.000300"
    assert (answered.speaker, answered.text) == ("Bo", "At eight.")
    assert (bot.speaker, bot.text, odd) == ("deploys", "Deployed 1.2", "is not a JSON object")


@pytest.mark.slow
def test_an_unpacked_export_is_not_taken_for_notes(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", enrich="manual") as memory:
        report = memory.files.import_file(DATA / "slack", skip_invalid=True)
        assert (report.formats, report.files, report.new, report.rejected_count) == (
            ("slack",), 3, 5, 1,
        )  # fmt: skip
        assert memory.files.import_file(DATA / "slack", skip_invalid=True).known == 5
        shutil.copy(DATA / "telegram.json", tmp_path / "result.json")
        report = memory.files.import_file(tmp_path, skip_invalid=True)
        assert (report.formats, report.new) == (("telegram",), 6)
        (found,) = memory.search("Which news of the harbour?", 1).hits
        assert (found.speaker, found.text) == ("Harbour News", "The ferry is cancelled.")


def test_telegram_gives_what_people_wrote() -> None:
    found = [value for _, value in read(DATA / "telegram.json", zone=OSLO)]
    booked, asked, news, photo, sticker, poll, undated = found
    assert booked == Message(
        text="I booked the ferry (https://ferry.example).", session="Trip 4521 2026-05-20", id="2",
        at="2026-05-20T09:00:00+00:00", speaker="Ann", metadata={"chat": "Trip"},
    )  # fmt: skip
    assert asked.metadata == {"chat": "Trip", "reply_to": "2"}
    assert (news.speaker, news.metadata["forwarded_by"]) == ("Harbour News", "Bo")
    assert (photo.text, photo.raw) == ("My new flat", {"photo": "photos/1.jpg"})
    assert photo.session == "Trip 4521 2026-05-21"  # 23:30 of the day before in UTC
    assert (sticker.text, poll.text) == ("🎉", "When?\n- Nine\n- Ten")
    assert undated == "has no 'date'"


def test_a_complete_export_of_telegram_has_several_chats(tmp_path: Path) -> None:
    one = (DATA / "telegram.json").read_text("utf-8")
    other = one.replace('"Trip", "type"', 'null, "type"').replace("4521", "77")
    text = (
        '{"about": "x", "personal_information": {"user_id": 1}, "contacts": {"list": [{"a": 1}]},'
    )
    text += f'"chats": {{"about": "y", "list": [{one}, {other}]}}, "left_chats": {{"list": []}}}}'
    path = written(tmp_path, "result.json", text)
    found = [value.session for _, value in read(path) if isinstance(value, Message)]
    assert sorted(set(found)) == ["Trip 4521 2026-05-20", "chat 77 2026-05-20"]
    assert len(found) == 12
    broken = written(tmp_path, "result.json", one[: one.index('"id": 3')])
    assert [str(value)[:20] for _, value in read(broken)][1:] == ["cannot be read: the "]


def test_whatsapp_of_android_with_captions_and_without_what_the_app_wrote() -> None:
    found = read(DATA / ANDROID)
    assert [position for position, _ in found] == [f"line {n}" for n in (2, 5, 6, 8, 12)]
    moved, nice, omitted, attached, edited = (value for _, value in found)
    assert moved == Message(
        text="I moved to Oslo.\nThe flat is small: 30 m².", session="Trip 2026-05-20",
        speaker="Ann", at="2026-05-20T21:41:00", metadata={"chat": "Trip"},
    )  # fmt: skip
    assert (nice.speaker, nice.text) == ("Bo Lie", "Nice! 8:30 - 9:30?")
    assert (omitted.text, omitted.raw) == ("My new kitchen", {"media": "Media omitted"})
    assert (attached.text, attached.raw) == ("The old one", {"media": "IMG-20260520-WA0001.jpg"})
    assert (edited.text, edited.at, edited.session) == (
        "Hei 🎉", "2026-06-02T08:00:00", "Trip 2026-06-02",
    )  # fmt: skip


def test_whatsapp_of_ios_in_its_archive(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat - Ann & Bo.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(DATA / "whatsapp-ios.txt", "_chat.txt")
        archive.writestr("00000012-PHOTO-2026-05-20.jpg", b"x")
    moved, image, kitchen, midnight = (value for _, value in read(path))
    assert (moved.text, moved.at) == ("I moved to Oslo.\nAnd I like it.", "2026-05-20T21:41:06")
    assert moved.session == "Ann & Bo 2026-05-20"
    assert (image.speaker, image.text, image.raw) == ("Bo", "", {"media": "image omitted"})
    assert kitchen.text == "My kitchen"
    assert kitchen.raw == {"media": "00000012-PHOTO-2026-05-20.jpg"}
    assert midnight.at == "2026-06-02T00:05:00"


@each(
    ("heads", "expected"),
    [
        (["20/05/2026, 21:41 - ", "05/06/2026, 21:41 - "],
         ["2026-05-20T21:41", "2026-06-05T21:41"]),
        (["5/6/26, 9:41 PM - ", "5/20/26, 9:41 AM - "], ["2026-05-06T21:41", "2026-05-20T09:41"]),
        (["01/02/26, 21:41 - ", "02/02/26, 21:41 - ", "01/03/26, 21:41 - "],
         ["2026-02-01T21:41", "2026-02-02T21:41", "2026-03-01T21:41"]),  # as time goes on
        (["1/31/26, 21:41 - ", "2/1/26, 21:41 - "], ["2026-01-31T21:41", "2026-02-01T21:41"]),
        (["05.06.26, 21:41 - "], ["2026-06-05T21:41"]),
        (["5/6/26, 9:41 pm - "], ["2026-06-05T21:41"]),  # India, Australia
        (["5/6/26, 9:41\u202fPM - "], ["2026-05-06T21:41"]),  # the United States
        (["2026-05-20, 21:41 - "], ["2026-05-20T21:41"]),
        (["2026. 5. 20. 오후 9:41 - "], ["2026-05-20T21:41"]),
        (["2026/5/20 下午9:41 - "], ["2026-05-20T21:41"]),
        (["20.5.2026 klo 21.41 - "], ["2026-05-20T21:41"]),
        (["20-05-2026 21:41 - "], ["2026-05-20T21:41"]),
        (["20/5/26 9:41 p. m. - ", "21/5/26 12:41 a. m. - "],
         ["2026-05-20T21:41", "2026-05-21T00:41"]),
        (["[20.05.26, 21:41:05] "], ["2026-05-20T21:41:05"]),
        (["[20. 5. 2026 21:41:05] "], ["2026-05-20T21:41:05"]),
        (["\u200f٢٠\u200f/٥\u200f/٢٠٢٦، ٩:٤١ م - "], ["2026-05-20T21:41"]),
    ],
)  # fmt: skip
def test_the_order_of_dates_is_decided_from_the_whole_file(
    tmp_path: Path, heads: list[str], expected: list[str]
) -> None:
    text = "".join(f"{head}Ann: said {number}\n" for number, head in enumerate(heads))
    found = [value for _, value in read(written(tmp_path, "chat.txt", text))]
    assert [item.text for item in found] == [f"said {number}" for number in range(len(heads))]
    assert [
        item.at.removesuffix(":00") if len(item.at) > 16 else item.at for item in found
    ] == expected


def test_mail_has_threads_and_no_quotations_below() -> None:
    booked, nine, html, older = (value for _, value in read(DATA / "mail.mbox"))
    assert booked == Message(
        text="Ferry ⛴\n\nI booked it for måndag.\n\nFrom now on we meet at eight.",
        session="a1@example.org", id="a1@example.org", speaker="Ann Berg",
        at="2026-05-20T11:00:00+02:00", tags=["Inbox", "Trips"],
        metadata={"subject": "Ferry ⛴", "to": "bo@example.org", "mail": "ann@example.org"},
    )  # fmt: skip
    assert nine.text == "> I booked it for monday.\nGood.\n> We meet at eight.\nRather nine."
    assert (nine.session, nine.speaker, nine.raw) == ("a1@example.org", "bo@example.org", None)
    assert (html.text, html.session) == ("Nine it is.", "a1@example.org")
    assert html.raw == {"attachments": [{"name": "plan.pdf", "type": "application/pdf", "size": 5}]}
    assert (older.text, older.session) == ("Yes.", "lost@example.com")
    assert older.raw == {"quoted": "-----Original Message-----\nFrom: Ann\nShall we?"}


@each(
    ("text", "said", "quoted"),
    [
        ("Yes.", "Yes.", ""),
        ("Yes.\n\nOn 20 May 2026, Ann wrote:\n> Shall we?", "Yes.",
         "On 20 May 2026, Ann wrote:\n> Shall we?"),
        ("Am 20.05.2026 um 11:00, schrieb Ann:\n\n> Kommst du?\n\nJa.",
         "Am 20.05.2026 um 11:00, schrieb Ann:\n\n> Kommst du?\n\nJa.", ""),
        ("> only this", "> only this", ""),
        ("Hi.\nTwo things, to do by 5:\n> first", "Hi.\nTwo things, to do by 5:", "> first"),
        ("Yes.\n-- \nAnn\n> Shall we?", "Yes.", "> Shall we?"),
        ("a\n-- \nb\n> c\nd", "a\n-- \nb\n> c\nd", ""),
    ],
)  # fmt: skip
def test_only_what_is_quoted_at_the_end_goes(text: str, said: str, quoted: str) -> None:
    assert reply_of(text) == (said, quoted)


def test_html_is_read_as_people_see_it() -> None:
    page = "<title>x</title><p>One &amp; <b>two</b></p><script>no()</script><div>a<br>b</div>"
    assert text_of_html(page) == "One & two\n\na\nb"

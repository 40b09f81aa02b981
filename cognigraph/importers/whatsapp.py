"""Exports of WhatsApp chats, from Android and iOS. A day of a chat is a session.

Dates are written as is usual in the phone's language, which the file does not name. So the whole
file decides on the order of day, month and year: it is copied to a temporary file and read twice.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from cognigraph.importers.json_records import MAX_LINE
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input

_MORNING = ("am", "πμ", "오전", "上午", "凌晨", "早上", "午前", "ص", "de", "öö", "sa", "fm")
_EVENING = ("pm", "μμ", "오후", "下午", "中午", "晚上", "午後", "م", "du", "ös", "ch", "em")
_HALF = "|".join(r"\.?\s?".join(re.escape(letter) for letter in mark) + r"\.?"
                 for mark in (*_EVENING, *_MORNING))  # fmt: skip
MESSAGE_HEAD = re.compile(
    rf"""(?P<bracket>\[)?
    (?P<a>\d{{1,4}})\s?(?P<by>[./-])\s?(?P<b>\d{{1,2}})\s?(?P=by)\s?(?P<c>\d{{1,4}})\.?
    [,،]?\s+(?:(?:kl\.?|klo|um|at|ob|à)\s+)?
    (?:(?P<before>{_HALF})\s?)?
    (?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?
    (?:\s?(?P<after>{_HALF}))?
    (?(bracket)\]\s|\s[-–]\s)""",
    re.VERBOSE | re.IGNORECASE,
)
"""How a message begins: ``12/31/23, 9:41 PM - `` on Android, ``[31.12.23, 21:41:05] `` on iOS."""
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters that steer the direction of writing."""
_UNMARKED = str.maketrans("", "", _MARKS)
_BY_PHONE = "\u200e"
"""The mark that iOS puts before text of its own, which nobody said."""
_SPEAKER = re.compile(r"([^:\n]{1,100}): ?(.*)", re.DOTALL)
_OMITTED = re.compile(
    r"<[^<>\n]*[^!-~\n][^<>\n]*>"  # as <Media omitted>: with a space, or in another script
    r"|[^\n]{1,40}\b(?:omitted|weggelassen|omitid[oa]|omis[e]?|omess[oa]|ocultad[oa]|weggelaten"
    r"|utelatt|utelämnad|udeladt|pominięt[eoy]|пропущен[оа]?)"
)
_ATTACHED = re.compile(
    r"(?:<[^<>:\n]{1,40}: (?P<ios>[^<>\n]+)>"
    r"|(?P<android>[\w .()+-]{1,120}\.\w{2,5}) \([^()\n]{4,40}\))"
)
_DELETED = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht"
    r"|Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje"
    r"|Ce message a été supprimé|Vous avez supprimé ce message|Mensagem apagada"
    r"|Você apagou esta mensagem|Questo messaggio è stato eliminato|Dit bericht is verwijderd)\.?"
)
_EDITED = re.compile(
    r"\s*\u200e?<[^<>\n]*(?:edited|bearbeitet|editó|modifié|editada|bewerkt)[^<>\n]*>$"
)
_TITLE = re.compile(
    r"whatsapp[ _-]*chat[ _-]*(?:with|mit|met|med|con|avec|com|z|с)?[ _-]+(.+)"
    r"|(?:chat|conversa|discussion|conversation)[ _](?:de|do|di|avec)[ _]whatsapp[ _]"
    r"(?:con|com|avec)[ _](.+)",
    re.IGNORECASE,
)
_MAX_MESSAGE = 1_000_000
"""Largest number of characters of a message."""
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
"""Where year, month and day are in a date."""


def _unmarked(line: str) -> str:
    """A line without what steers the direction of writing."""
    return line.translate(_UNMARKED)


def _sniff(head: Head) -> bool:
    if head.suffix not in (".txt", ""):
        return False
    lines = [_unmarked(line) for line in head.text.splitlines()[:20]]
    return any(MESSAGE_HEAD.match(line) for line in lines[:2]) or (
        sum(MESSAGE_HEAD.match(line) is not None for line in lines) > len(lines) / 2
    )


@dataclass(slots=True)
class _Order:
    """How well an order of dates fits: dates that it cannot read, then steps back in time."""

    impossible: int = 0
    back: int = 0
    last: datetime | None = None

    def note(self, moment: datetime | None) -> None:
        """Count one date."""
        if moment is None:
            self.impossible += 1
            return
        if self.last is not None and moment < self.last:
            self.back += 1
        self.last = moment


def date_order(heads: Iterator[re.Match[str]]) -> str:
    """The order of dates that fits them best: none is impossible, and time does not go back.

    If several fit equally well, a year of four digits in front decides, or else the punctuation:
    the month comes first only with slashes and AM or PM in capitals, as in the United States.
    """
    fits = {name: _Order() for name in _ORDERS}
    usual = ""
    for match in heads:
        usual = usual or _usual_order(match)
        for name, order in fits.items():
            order.note(_moment(match, name))
    return min(fits, key=lambda name: (fits[name].impossible, fits[name].back, name != usual))


def _usual_order(match: re.Match[str]) -> str:
    """The order that is most usual for dates of this form."""
    if len(match["a"]) == 4:
        return "ymd"
    half = match["after"] or ""
    return "mdy" if match["by"] == "/" and half.isascii() and half.isupper() else "dmy"


def _moment(match: re.Match[str], order: str) -> datetime | None:
    """The time of a message, as the phone showed it; ``None`` if there is no such time."""
    parts = [match[name] for name in "abc"]
    year, month, day = (parts[place] for place in _ORDERS[order])
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    hour, half = int(match["hour"]), match["before"] or match["after"]
    if half is not None and 1 <= hour <= 12:
        is_evening = re.sub(r"[.\s]", "", half).lower() in _EVENING
        hour = hour % 12 + (12 if is_evening else 0)
    century = 2000 if len(year) == 2 else 0
    try:
        return datetime(
            int(year) + century, int(month), int(day), hour, int(match["minute"]),
            int(match["second"] or 0),
        )  # fmt: skip
    except ValueError:
        return None


@dataclass(slots=True)
class _Entry:
    """A message as it stands in the file."""

    line: int
    at: datetime
    is_ios: bool
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def append(self, line: str) -> None:
        """Add a line, unless the message is too long already; it is rejected then."""
        self.size += len(line) + 1
        if self.size <= _MAX_MESSAGE:
            self.lines.append(line)


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    with tempfile.TemporaryFile() as whole:
        shutil.copyfileobj(file.stream, whole)
        whole.seek(0)
        try:
            heads = (MESSAGE_HEAD.match(_unmarked(line)) for line in _lines(whole))
            order = date_order(head for head in heads if head)
            whole.seek(0)
            for entry in _entries(_lines(whole), order):
                if (value := _message(entry, file)) is not None:
                    yield Record(Position(entry.line), value)
        except UnicodeDecodeError:
            yield Record(Position(1), Bad("is in a file that is not UTF-8"))


def _lines(stream: BinaryIO) -> Iterator[str]:
    while line := stream.readline(MAX_LINE):
        yield line.decode("utf-8").rstrip("\r\n")


def _entries(lines: Iterator[str], order: str) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for number, line in enumerate(lines, 1):
        match = MESSAGE_HEAD.match(_unmarked(line))
        if match and (at := _moment(match, order)):
            if entry is not None:
                yield entry
            entry = _Entry(number, at, match["bracket"] is not None)
            line = _after_head(line, match.end())
        if entry is not None:
            entry.append(line)
    if entry is not None:
        yield entry


def _after_head(line: str, length: int) -> str:
    """What follows the head, which has ``length`` characters that are not marks of direction.

    The marks after the head must stay: on iOS one of them tells what the phone wrote.
    """
    for index, character in enumerate(line):
        if not length:
            return line[index:]
        length -= character not in _MARKS
    return ""


def _message(entry: _Entry, file: Input) -> dict[str, object] | Bad | None:
    """The fields of a message; ``None`` for what the app itself wrote."""
    said = _SPEAKER.fullmatch("\n".join(entry.lines).strip())
    if said is None:
        return None
    if entry.size > _MAX_MESSAGE:
        return Bad(f"is longer than {_MAX_MESSAGE:,} characters")
    text, media = _content(_EDITED.sub("", said[2]), is_ios=entry.is_ios)
    if not text and not media:
        return None
    title = _title(file)
    return {
        "text": text,
        "session": f"{title} {entry.at.date()}",
        "speaker": _unmarked(said[1]).strip().removeprefix("~").strip(),
        "at": entry.at.isoformat(),
        "metadata": {"chat": title},
        "raw": {"media": media} if media else None,
    }


def _content(text: str, *, is_ios: bool) -> tuple[str, str]:
    """The words, such as a caption, and the photo or file, or the note that one was left out."""
    plain = _unmarked(text).strip()
    if _DELETED.fullmatch(plain):
        return "", ""
    # What the phone wrote is marked on iOS; on Android it is a line of its own.
    words, mark, note = text.partition(_BY_PHONE) if is_ios else ("", "", text)
    if is_ios and not mark:
        return plain, ""
    note = _unmarked(note)
    media = _ATTACHED.match(note) or _OMITTED.match(note.lstrip())
    if media is None:
        return (words.strip() if is_ios else plain), ""
    rest = note[media.end() :]
    if not is_ios and rest and not rest.startswith("\n"):
        return plain, ""
    groups = media.groupdict()
    name = groups.get("ios") or groups.get("android") or media[0].strip("<>")
    return "\n".join(filter(None, [_unmarked(words).strip(), rest.strip()])), name


def _title(file: Input) -> str:
    """The name of the chat, which is only in that of the file or the archive."""
    stem = file.archive if file.archive and file.stem == "_chat" else file.stem
    match = _TITLE.fullmatch(stem)
    name = next((group for group in match.groups() if group), stem) if match else stem
    return name.strip(" _-") or "chat"


READER = Reader(
    "whatsapp", "a chat that WhatsApp exported, from Android or iOS: .txt, or the .zip with it",
    _sniff, _read, (".txt",),
)  # fmt: skip

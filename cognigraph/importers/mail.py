"""Mailboxes in the mbox format, as of Thunderbird or Google Takeout. A thread is a session."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parseaddr
from html.parser import HTMLParser
from typing import Any

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import MAX_LINE, texts
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input

_MAX_MESSAGE = 64 * 1024 * 1024
"""Largest number of bytes of a message, with its attachments."""
_ESCAPED = re.compile(rb">+From ")
_ID = re.compile(r"<([^<>\s]+)>")
_REPLY = re.compile(r"(?:(?:re|aw|sv|antw|rv|rif|odp|vs)\s*(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
_LEFT_OUT = frozenset({"spam", "trash"})
"""Labels of Gmail; what has one of them is not imported."""
_ORIGINAL = re.compile(
    r"-{2,}\s*(?:Original Message|Ursprüngliche Nachricht)\s*-{2,}", re.IGNORECASE
)
_TIMED = re.compile(r"\d{4}|\d[:.]\d\d")
_SIGNATURE = "-- "


def _sniff(head: Head) -> bool:
    return head.suffix in READER.suffixes or (
        head.data.startswith(b"From ")
        and re.search(rb"^[\w-]+: ", head.data, re.MULTILINE) is not None
    )


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    threads: _Threads = {}
    for number, data in enumerate(_messages(file), 1):
        position = Position(number, "message")
        if len(data) > _MAX_MESSAGE:
            yield Record(position, Bad(f"is longer than {_MAX_MESSAGE // 1024**2} MB"))
        elif (value := _message(data, threads, options)) is not None:
            yield Record(position, value)


def _messages(file: Input) -> Iterator[bytes]:
    """The bytes of each message. A message begins at a line ``From ...`` after an empty one."""
    parts: list[bytes] = []
    size, is_after_empty, is_open = 0, True, False
    while line := file.stream.readline(MAX_LINE):
        if is_after_empty and line.startswith(b"From "):
            if is_open:
                yield b"".join(parts)
            parts, size, is_open = [], 0, True
        elif is_open:
            size += len(line)
            if size - len(line) <= _MAX_MESSAGE:  # the line with which it becomes too long is kept
                parts.append(line[1:] if _ESCAPED.match(line) else line)
        is_after_empty = not line.strip()
    if is_open:
        yield b"".join(parts)


_Threads = dict[str, str]
"""By the id of each message met so far, the first message of its thread."""


def _message(data: bytes, threads: _Threads, options: ReadOptions) -> dict[str, Any] | Bad | None:
    """The fields of a message; ``None`` for spam, and for what has neither text nor files."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    try:
        head = _Header(message)
        text, files = _body(message)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return Bad(f"is no mail that can be read: {error}")
    if not _LEFT_OUT.isdisjoint(label.lower() for label in head.labels):
        return None
    said, quoted = reply_of(text)
    if head.subject and not head.parents and not _REPLY.match(head.subject):
        said = f"{head.subject}\n\n{said}".strip()
    if not said and not files:
        return None
    raw: dict[str, Any] = {"attachments": files} if files else {}
    if quoted and threads.keys().isdisjoint(head.parents):
        raw["quoted"] = quoted  # what is quoted is not in this mailbox
    thread = _thread(head, threads)
    if head.id:
        threads.setdefault(head.id, thread)
    return {
        "text": said,
        "session": thread,
        "id": head.id or None,
        "speaker": head.speaker or None,
        "at": iso(head.date, options.zone),
        "tags": head.labels,
        "metadata": texts(subject=head.subject, to=head.to, mail=head.address),
        "raw": raw or None,
    }


def _thread(head: _Header, threads: _Threads) -> str:
    """The thread: that of a message it answers, else its earliest reference, else itself."""
    known = next((threads[id] for id in reversed(head.parents) if id in threads), None)
    return known or next(iter(head.parents), head.id or head.subject or "mail")


class _Header:
    """What the header of a mail says. White space is folded, what cannot be decoded is replaced."""

    def __init__(self, message: EmailMessage) -> None:
        def field(name: str) -> str:
            return " ".join(str(message[name] or "").split())

        name, self.address = parseaddr(field("from"))
        self.speaker = (name or self.address).strip()
        self.subject = field("subject")
        self.to = field("to")[:500]
        self.date = field("date")
        self.id = next(iter(_ID.findall(field("message-id"))), "")
        self.parents = _ID.findall(field("references")) + _ID.findall(field("in-reply-to"))
        labels = field("x-gmail-labels").split(",")
        self.labels = sorted({label.strip(' "')[:100] for label in labels} - {""})[:50]


def _body(message: EmailMessage) -> tuple[str, list[dict[str, Any]]]:
    """The text, and the names, types and sizes of attached files."""
    body = message.get_body(("plain", "html"))
    text = "" if body is None else _decoded(body)
    if body is not None and body.get_content_type() == "text/html":
        text = text_of_html(text)
    files: list[dict[str, Any]] = []
    for part in message.iter_attachments() if message.is_multipart() else ():
        name, kind = part.get_filename() or "", part.get_content_type()
        files.append({"name": name, "type": kind, "size": len(_bytes(part))})
    return text.replace("\r\n", "\n").strip(), files


def _bytes(part: Any) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _decoded(part: Any) -> str:
    charset = part.get_content_charset() or "utf-8"
    try:
        return _bytes(part).decode(charset, "replace")
    except LookupError:  # no such charset
        return _bytes(part).decode("utf-8", "replace")


class _Words(HTMLParser):
    """Collects the text of a page, with a line for each block."""

    _BLOCKS = frozenset("p div br li tr h1 h2 h3 h4 blockquote table".split())
    _UNSEEN = frozenset({"script", "style", "head", "title"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0
        self._quotes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in self._UNSEEN
        self._quotes += tag == "blockquote"
        if tag in self._BLOCKS:
            self.parts.append("\n" + "> " * self._quotes)

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in self._UNSEEN))
        self._quotes = max(0, self._quotes - (tag == "blockquote"))
        if tag in self._BLOCKS:
            self.parts.append("\n" + "> " * self._quotes)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def text_of_html(page: str) -> str:
    """The text of a page in HTML; quoted blocks get a ``>`` before each line."""
    words = _Words()
    words.feed(page)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def reply_of(text: str) -> tuple[str, str]:
    """What somebody wrote, and what the mail program quoted below it.

    Only a quotation at the end goes, with the line that introduces it, and the signature.
    Quotations between the lines of an answer stay, and so does a mail that is only a quotation.
    """
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if _ORIGINAL.fullmatch(line.strip())), len(lines))
    kept = _unsigned(lines[:end])
    start = len(kept)
    while start and (_is_quoted(kept[start - 1]) or not kept[start - 1].strip()):
        start -= 1
    if any(_is_quoted(line) for line in kept[start:]):
        start = _before_introduction(kept, start)
    said = "\n".join(_unsigned(kept[:start])).strip()
    if not said:
        return text.strip(), ""
    return said, "\n".join(kept[start:] + lines[end:]).strip()


def _unsigned(lines: list[str]) -> list[str]:
    """The lines without a signature, if only that follows its mark."""
    marks = [number for number, line in enumerate(lines) if line == _SIGNATURE]
    if not marks or any(_is_quoted(line) for line in lines[marks[-1] :]):
        return lines
    return lines[: marks[-1]]


def _is_quoted(line: str) -> bool:
    return line.startswith(">")


def _before_introduction(lines: list[str], end: int) -> int:
    """Where a line such as ``On 20 May, Ann wrote:`` begins; it may be broken into two."""
    for length in (1, 2):
        given = " ".join(line.strip() for line in lines[max(0, end - length) : end])
        if given.endswith(":") and _TIMED.search(given) and ("@" in given or "," in given):
            return max(0, end - length)
    return end


READER = Reader(
    "mbox", "a mailbox: .mbox, or a .zip with one, as Google Takeout sends it", _sniff, _read,
    (".mbox", ".mbx"),
)  # fmt: skip

"""Options of the commands that list, forget, replace, export and back up messages."""

from __future__ import annotations

from typing import Any

from cognigraph.cli.numbers import count

_FORGET = """\
Delete messages, and all that was made from them and from nothing else. Without --yes, only show
what would be deleted. Messages are deleted that match every criterion."""

_EXPORT = """\
Write the messages of a space with their earlier texts and the merges and splits made by users as
JSON lines. `cognigraph import` reads them into a space that holds no messages, of either store."""


def add_housekeeping(command: Any) -> None:
    """Add the commands."""
    command("spaces", "list the names of all spaces that hold messages")
    _messages(command)
    _forget(command)
    _expire(command)
    update = command("update", "replace the text of a message; the old text is kept as a version")
    update.add_argument("id", metavar="ID", help="the message's id")
    update.add_argument("text", metavar="TEXT", help='the new text; "-" reads standard input')
    update.add_argument("--session", metavar="ID", help="its session, if several have the id")
    export = command("export", "write a space to a file, which `import` reads", _EXPORT)
    export.add_argument("file", metavar="FILE", help="a new file")
    export.add_argument(
        "--derived", action="store_true", help="also write what was read out of the messages"
    )
    backup = command("backup", "copy the SQLite file while it is in use")
    backup.add_argument("file", metavar="FILE", help="a new file")


def _messages(command: Any) -> None:
    messages = command("messages", "list messages, the oldest first")
    messages.add_argument("--session", metavar="ID", help="only this session")
    messages.add_argument("--speaker", metavar="NAME", help="only this speaker")
    messages.add_argument("--since", metavar="TIME", help="said at this time or later")
    messages.add_argument("--until", metavar="TIME", help="said before this time")
    messages.add_argument(
        "--role", action="append", dest="roles", metavar="ROLE", help="of this role (repeatable)"
    )
    messages.add_argument(
        "--tag", action="append", dest="tags", metavar="TAG", help="with this tag (repeatable)"
    )
    messages.add_argument(
        "--metadata", action="append", dest="fields", metavar="K=V",
        help="with this field of the metadata (V is JSON, or else text; repeatable)",
    )  # fmt: skip
    messages.add_argument("--newest", action="store_true", help="the newest first")
    messages.add_argument(
        "--limit", type=count, default=20, metavar="N", help="number of messages (default: 20)"
    )
    messages.add_argument("--after", metavar="CURSOR", help="continue after the page before")


def _forget(command: Any) -> None:
    forget = command("forget", "delete messages and what was made from them", _FORGET)
    forget.add_argument("--message", metavar="ID", help="the id of one message")
    forget.add_argument("--session", metavar="ID", help="messages of this session")
    forget.add_argument("--speaker", metavar="NAME", help="messages of this speaker")
    forget.add_argument("--before", metavar="TIME", help="messages said before this time")
    forget.add_argument("--entity", metavar="NAME", help="messages that mention this entity")
    forget.add_argument("--everything", action="store_true", help="all messages of the space")
    forget.add_argument("--yes", action="store_true", help="delete; otherwise only show")
    forget.add_argument(
        "--allow-again", action="store_true", help="store them again if they are added again"
    )


_EXPIRE = """\
Forget the messages whose expiry has come, and those that are older than --keep allows. Without
--yes, only show what would be deleted."""


def _expire(command: Any) -> None:
    expire = command("expire", "forget the messages whose time is over", _EXPIRE)
    expire.add_argument(
        "--keep", action="append", default=[], metavar="DAYS[:ROLE[:TAG]]",
        help="how many days messages are kept: 30:tool, 7::draft, 365; may be repeated",
    )  # fmt: skip
    expire.add_argument("--yes", action="store_true", help="delete; otherwise only show")

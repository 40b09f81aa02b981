"""``cognigraph keys`` and ``audit``: who may use a server, and who decided and removed what."""

from __future__ import annotations

import argparse
import getpass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from cognigraph.cli import render
from cognigraph.cli.command_run import OK, CommandRun
from cognigraph.cli.listing import listed
from cognigraph.cli.memory_options import opened
from cognigraph.cli.options import amount, count
from cognigraph.errors import ConfigurationError
from cognigraph.server.keys import PERMISSIONS, Key, KeyFile, audit_of_all

_KEYS = """\
Make, list, rotate and revoke the API keys of `serve`. `keys create NAME` prints a new key, once:
only its hash is kept. A key is for the space of --space, for each --for SPACE (a star stands for
any characters: 'team-*'), or for --all-spaces. `keys rotate ID` prints a successor with the same
name and permissions; both are valid until the old key's --overlap is over. Running servers notice
each change at once."""
_NEEDS = {"create": "NAME", "rotate": "ID", "revoke": "ID"}


def _permissions(text: str) -> list[str]:
    """Read a list such as ``read,write``."""
    given = [item.strip() for item in text.split(",")]
    if not {*given} <= {*PERMISSIONS}:
        raise argparse.ArgumentTypeError(f"must be some of {', '.join(PERMISSIONS)}, with commas")
    return given


def add_keys(command: Any) -> None:
    """Describe the commands to the parser."""
    keys = command("keys", "make, list, rotate and revoke API keys of `serve`", _KEYS)
    keys.add_argument("action", choices=("create", "list", "rotate", "revoke"))
    keys.add_argument(
        "name", metavar="NAME_OR_ID", nargs="?", help="name to create; id to rotate or revoke"
    )
    keys.add_argument(
        "--permission", type=_permissions, default="read,write", metavar="P,P",
        help="some of read, write, forget, and admin, which is all of them and also deletes whole "
        "spaces and reads the audit log (default: read,write)",
    )  # fmt: skip
    keys.add_argument(
        "--for", action="append", dest="spaces", metavar="SPACE",
        help="a space, or a pattern with *; may be repeated",
    )  # fmt: skip
    keys.add_argument("--all-spaces", action="store_true", help="every space, also future ones")
    keys.add_argument(
        "--days", type=amount, metavar="N", help="how long the key is valid (default: for good)"
    )
    keys.add_argument(
        "--overlap", type=amount, default=24.0, metavar="HOURS",
        help="how long a rotated key stays valid beside its successor (default: 24)",
    )  # fmt: skip
    add_key_file(keys)
    audit = command(
        "audit", "list what was decided, corrected and removed, and by whom, newest first"
    )
    audit.add_argument(
        "--all", action="store_true", help="of every space, also deleted ones, and of the keys"
    )
    add_key_file(audit)
    audit.add_argument("--limit", type=count, default=20, metavar="N", help="default: 20")


def add_key_file(parser: Any) -> None:
    """Add the option that names the file of the keys."""
    parser.add_argument(
        "--keys", metavar="FILE",
        help="file of the keys (default: COGNIGRAPH_KEYS, else beside the memory's file)",
    )  # fmt: skip


def key_file(run: CommandRun) -> KeyFile:
    """The file of the keys."""
    options = run.options
    beside = f"{options.db}.keys" if options.is_file else "cognigraph.keys"
    return KeyFile(run.arguments.keys or options.keys or beside)


def keys(run: CommandRun) -> int:
    """Make, list, rotate or revoke keys."""
    action, name, file = run.arguments.action, run.arguments.name, key_file(run)
    if (action == "list") != (name is None):
        raise ConfigurationError(f"use it as: cognigraph keys {action} {_NEEDS.get(action, '')}")
    if action == "list":
        return _list(run, file)
    if action == "revoke":
        revoked = file.revoke(name, by=_user())
        run.terminal.document({"revoked": revoked})
        run.terminal.show(render.text(f"the key {name} ({revoked.name}) is no longer valid"))
        return OK
    if action == "rotate":
        made, old = file.rotate(name, timedelta(hours=run.arguments.overlap), by=_user())
        assert old.expires_at is not None
        until = render.stamp(old.expires_at, run.options.reader)
        run.terminal.document({"key": made, "old": old})
        note = f"it takes the place of {name}, which is valid until {until}"
    else:
        made, note = _create(run, file)
        run.terminal.document({"key": made})
    run.terminal.write(made)
    run.terminal.note(f"{note}; keep it: only its hash is stored, so it cannot be shown again")
    return OK


def _create(run: CommandRun, file: KeyFile) -> tuple[str, str]:
    given = run.arguments
    if given.spaces and given.all_spaces:
        raise ConfigurationError("give either --for or --all-spaces, not both")
    spaces = None if given.all_spaces else given.spaces or [run.options.space]
    until = None if given.days is None else datetime.now(UTC) + timedelta(days=given.days)
    made = file.create(given.name, given.permission, spaces, expires_at=until, by=_user())
    where = "all spaces" if spaces is None else f"the space {', '.join(spaces)}"
    return made, f"this key may {', '.join(given.permission)} in {where}"


def _user() -> str | None:
    """Who works on this machine, for the audit log."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have a user without a name
        return None


def _list(run: CommandRun, file: KeyFile) -> int:
    found, zone = file.list(), run.options.reader
    run.terminal.document({"keys": found})
    columns: tuple[render.Column, ...] = (
        "id", "name", "permissions",
        ("spaces", lambda key: "all" if key.spaces is None else key.spaces),
        ("made", lambda key: render.day(key.created_at, zone)),
        ("valid", lambda key: _validity(key, zone)),
    )  # fmt: skip
    return listed(run, found, columns, f"no keys in {file.path}")


def _validity(key: Key, zone: tzinfo) -> str:
    if key.revoked_at is not None:
        return f"revoked {render.day(key.revoked_at, zone)}"
    if key.expires_at is None:
        return "for good"
    word = "until" if key.is_valid(datetime.now(UTC)) else "expired"
    return f"{word} {render.stamp(key.expires_at, zone)}"


def audit(run: CommandRun) -> int:
    """List the audit log of a space, or of all."""
    given, options = run.arguments, run.options
    with opened(options) as memory:
        if given.all:
            found = audit_of_all(memory, key_file(run), given.limit, 0)
        else:
            found = memory.admin.audit(options.space, given.limit)
    run.terminal.document({"audit": found})
    columns: tuple[render.Column, ...] = (
        "when=at", "space", "by", "action", "details", "subjects",
    )  # fmt: skip
    return listed(run, found, columns, "nothing was decided or removed")

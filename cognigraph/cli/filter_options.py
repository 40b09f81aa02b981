"""Options that say which messages count, and at which time facts are known and true."""

from __future__ import annotations

import json
from typing import Any

from cognigraph.cli.open_memory import Options, moment
from cognigraph.errors import ConfigurationError
from cognigraph.model import Filter
from cognigraph.model.roles import DEFAULT_ROLES


def add_filters(parser: Any) -> None:
    """Add the options of a filter on messages."""
    group = parser.add_argument_group("only messages (all conditions together)")
    group.add_argument(
        "--role", action="append", dest="roles", metavar="ROLE",
        help="of this role; person for messages without one; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--session", action="append", dest="in_sessions", metavar="ID",
        help="of this session; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--speaker", action="append", dest="speakers", metavar="NAME",
        help="of this speaker; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--tag", action="append", dest="tags", metavar="TAG", help="with this tag; may be repeated"
    )
    group.add_argument("--since", metavar="TIME", help="said at this time or later")
    group.add_argument("--until", metavar="TIME", help="said before this time")
    group.add_argument(
        "--metadata", action="append", dest="fields", metavar="K=V",
        help="with this field of the metadata (V is JSON, or else text); may be repeated",
    )  # fmt: skip


def add_spaces(parser: Any) -> None:
    """Add the option that names the spaces to be searched together."""
    parser.add_argument(
        "--in", action="append", dest="spaces", metavar="SPACE",
        help="search this space, instead of that of --space; may be repeated",
    )  # fmt: skip


def filter_of(arguments: Any, options: Options) -> Filter | None:
    """The filter that is given by the options; ``None`` without any."""
    given: dict[str, Any] = {
        "session": arguments.in_sessions,
        "speaker": arguments.speakers,
        "tags": arguments.tags or (),
        "since": moment(arguments.since, options, "--since"),
        "until": moment(arguments.until, options, "--until"),
        "metadata": _fields(arguments.fields or ()),
    }
    if not any(given.values()) and not arguments.roles:
        return None
    return Filter(roles=arguments.roles or DEFAULT_ROLES, **given)


def listing_filter(arguments: Any) -> Filter | None:
    """The filter of a list of messages by role, tags and metadata; ``None`` without any."""
    if not (arguments.roles or arguments.tags or arguments.fields):
        return None
    roles = arguments.roles or (*DEFAULT_ROLES, "system", "tool")
    fields = _fields(arguments.fields or ())
    return Filter(roles=roles, tags=arguments.tags or (), metadata=fields)


def _fields(given: Any) -> dict[str, Any]:
    fields = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ConfigurationError(f"--metadata {text!r} must be K=V")
        fields[name] = _value(value)
    return fields


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def add_valid_at(parser: Any) -> None:
    """Add the option that chooses the time at which facts are true."""
    parser.add_argument("--valid-at", metavar="TIME", help="facts that are true at that time")


def add_as_of(parser: Any) -> None:
    """Add the option that chooses the time at which something was known."""
    parser.add_argument("--as-of", metavar="TIME", help="only what had been said at that time")


def times_of(arguments: Any, options: Options) -> tuple[str | None, str | None]:
    """The times at which facts are known and true, by both options."""
    as_of = moment(arguments.as_of, options, "--as-of")
    return as_of, moment(arguments.valid_at, options, "--valid-at")

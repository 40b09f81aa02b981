"""Options of the command line, derived from the operations that the commands call.

A parameter becomes an option with the parameter's name, default and help
(:mod:`cognigraph.declared`). A command says only what is different on the command line: which
arguments come without dashes, shorter names, and what it does not offer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args, get_origin

from cognigraph.cli.memory_options import Options, moment
from cognigraph.declared import Parameter, Verb, declared
from cognigraph.errors import ConfigurationError
from cognigraph.ingest.queue.step import Limits
from cognigraph.loop.strategy import STRATEGIES, Strategy
from cognigraph.model import Filter
from cognigraph.model.messages import DEFAULT_ROLES
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from cognigraph.settings import SearchSettings, Settings
from cognigraph.space import Space
from cognigraph.validation import MAX_AMOUNT, MAX_COUNT, shown


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    return _number(text, 1)


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    return _number(text, 0)


def port(text: str) -> int:
    """Read the number of a port; 0 stands for any that is free."""
    return _number(text, 0, 65_535)


def _number(text: str, low: int, high: int = MAX_COUNT) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {low} to {high:,}, not {shown(text)}"
        )
    return value


def amount(text: str) -> float:
    """Read a number of seconds or an amount of money."""
    return _up_to(MAX_AMOUNT, text)


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    return _up_to(1, text)


def _up_to(most: float, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise argparse.ArgumentTypeError(
            f"must be a number from 0 to {most:,.0f}, not {shown(text)}"
        )
    return value


def add_filters(parser: Any) -> None:
    """Add the options of a filter on messages."""
    group = parser.add_argument_group("only messages (all conditions together)")
    add_kinds(group)
    group.add_argument(
        "--session", action="append", dest="in_sessions", metavar="ID",
        help="of this session; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--speaker", action="append", dest="speakers", metavar="NAME",
        help="of this speaker; may be repeated",
    )  # fmt: skip
    group.add_argument("--since", metavar="TIME", help="said at this time or later")
    group.add_argument("--until", metavar="TIME", help="said before this time")


def add_kinds(parser: Any) -> None:
    """Add the options that choose messages by role, tag and metadata."""
    parser.add_argument(
        "--role", action="append", dest="roles", metavar="ROLE",
        help="of this role; person for messages without one; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--tag", action="append", dest="tags", metavar="TAG", help="with this tag; may be repeated"
    )
    parser.add_argument(
        "--metadata", action="append", dest="fields", metavar="K=V",
        help="with this field of the metadata (V is JSON, or else text); may be repeated",
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
        fields[name] = json_or_text(value)
    return fields


def json_or_text(text: str) -> Any:
    """Read numbers, booleans and quoted strings as JSON, anything else as a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_SHORT: Mapping[str, str] = {"tags": "--tag", "history": "--turn"}
"""Options that are repeated have the name of one of their values."""

_METAVARS: Mapping[str, str] = {
    "session": "ID", "message": "ID", "without": "ID", "speaker": "NAME", "entity": "NAME",
    "source": "NAME", "into": "NAME", "apart_from": "NAME", "also": "QUERY", "after": "CURSOR",
    "role": "ROLE", "tags": "TAG", "older_than": "VERSION",
}  # fmt: skip
_ELSEWHERE = ("timezone", "on_round", "on_step", "on_progress")
"""Parameters that common options give, or the command itself."""

_LIMITS: tuple[tuple[str, Callable[[str], float], str, str], ...] = (
    ("rounds", whole, "N", "number of rounds"),
    ("calls", whole, "N", "number of model calls"),
    ("tokens", whole, "N", "number of tokens, input and output"),
    ("cost", amount, "X", "cost, in the currency of COGNIGRAPH_MODEL_PRICES"),
    ("seconds", amount, "SECONDS", "running time"),
)


@dataclass(frozen=True, slots=True)
class Derived:
    """How an operation looks on the command line.

    ``positional`` are the arguments without dashes; ``optional`` are those that may be left out.
    ``names`` are options that are not called like their parameter, ``leave_out`` parameters without
    an option, ``defaults`` other defaults than those of the operation.
    """

    verb: Verb
    positional: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What the command does, as it is listed."""
        text = declared(self.verb).summary.replace("`", "")
        return text[:1].lower() + text[1:].rstrip(".")

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to the parser of the command."""
        for parameter in self._offered():
            if parameter.hint == Filter | None:
                add_filters(parser)
            elif parameter.hint == Limits | None:
                _add_limits(parser)
            elif parameter.hint == SearchSettings | None or parameter.hint == Settings | None:
                parser.add_argument(
                    "--ranking", choices=("default", "licomemory"), help="default: default"
                )
            elif parameter.name in (*self.positional, *self.optional):
                parser.add_argument(
                    parameter.name,
                    metavar=parameter.name.upper(),
                    nargs="?" if parameter.name in self.optional else None,
                    help=_help(parameter),
                )
            else:
                default = self.defaults.get(parameter.name, parameter.default)
                self._add_option(parser, parameter, default)

    def arguments(self, given: argparse.Namespace, options: Options) -> dict[str, Any]:
        """The arguments of the operation that the command line gives.

        Raises:
            ConfigurationError: a time or JSON is none.
        """
        values: dict[str, Any] = {}
        for parameter in self._offered():
            name = parameter.name
            if parameter.hint == Filter | None:
                values[name] = filter_of(given, options)
            elif parameter.hint == Limits | None:
                values[name] = _limits(given)
            elif parameter.hint == SearchSettings | None:
                values[name] = _search_settings(given)
            elif parameter.hint == Settings | None:
                search = _search_settings(given)
                values[name] = None if search is None else Settings(search=search)
            elif datetime in get_args(parameter.hint):
                is_exact = name not in ("valid_from", "valid_to")
                text = getattr(given, name)
                values[name] = moment(text, options, self._flag(name)) if is_exact else text
            elif _is_json(parameter.hint):
                values[name] = _parsed(self._flag(name), getattr(given, name))
            else:
                values[name] = getattr(given, name)
        return values

    def _offered(self) -> Iterable[Parameter]:
        return (
            parameter
            for parameter in declared(self.verb).parameters.values()
            if parameter.name not in (*self.leave_out, *_ELSEWHERE)
        )

    def _flag(self, name: str) -> str:
        dashed = f"--{name.replace('_', '-')}"
        return self.names.get(name) or _SHORT.get(name) or ("-k" if name == "k" else dashed)

    def _add_option(
        self, parser: argparse.ArgumentParser, parameter: Parameter, default: Any
    ) -> None:
        name, hint = parameter.name, parameter.hint
        flag, help = self._flag(name), _help(parameter)
        if hint is bool:
            parser.add_argument(flag, dest=name, action="store_true", help=help)
        elif choices := _choices(hint):
            parser.add_argument(
                flag, dest=name, choices=choices, default=default, help=f"{help}{_told(default)}"
            )
        elif default == () and not _is_json(hint):
            parser.add_argument(
                flag, dest=name, action="append", default=[], metavar=_METAVARS.get(name, "TEXT"),
                help=f"{help}; may be repeated",
            )  # fmt: skip
        else:
            parser.add_argument(
                flag, dest=name, type=_reader(parameter) or str, metavar=_metavar(parameter),
                default=None if parameter.is_required else default,
                required=parameter.is_required, help=f"{help}{_told(default)}",
            )  # fmt: skip


def _help(parameter: Parameter) -> str:
    """The first sentence of the help, which is all that fits beside an option."""
    first = parameter.help.replace("`", "").replace("%", "%%").partition(". ")[0]
    return first.rstrip(".")


def _told(default: Any) -> str:
    return f" (default: {default})" if isinstance(default, str | int) and default else ""


def _choices(hint: Any) -> tuple[str, ...]:
    if Strategy in get_args(hint):
        return tuple(STRATEGIES)
    literals = [item for item in (hint, *get_args(hint)) if get_origin(item) is Literal]
    return get_args(literals[0]) if literals else ()


def _is_json(hint: Any) -> bool:
    """Whether the values are objects, which are given as JSON."""
    series = [part for part in (hint, *get_args(hint)) if get_origin(part) is not None]
    inner = [get_origin(part) for part in series]
    return any(isinstance(kind, type) and issubclass(kind, Mapping) for kind in inner) or any(
        getattr(item, "__total__", None) is not None for part in series for item in get_args(part)
    )


def _reader(parameter: Parameter) -> Callable[[str], Any] | None:
    """What reads the text of a value; ``None`` for a text."""
    kinds = (parameter.hint, *get_args(parameter.hint))
    if parameter.name == "min_confidence":
        return share
    if int in kinds and str not in kinds:
        return count
    return amount if float in kinds else None


def _metavar(parameter: Parameter) -> str:
    kinds = (parameter.hint, *get_args(parameter.hint))
    if parameter.name in ("valid_from", "valid_to", "when"):
        return "DATE"
    if datetime in kinds:
        return "TIME"
    if _is_json(parameter.hint):
        return "JSON"
    if int in kinds and str not in kinds:
        return "N"
    return _METAVARS.get(parameter.name, parameter.name.upper().split("_")[-1])


def _parsed(option: str, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{option} is not JSON: {error}") from error


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    for name, reader, metavar, help in _LIMITS:
        flag = "--deadline" if name == "seconds" else f"--max-{name}"
        group.add_argument(flag, dest=f"limit_{name}", type=reader, metavar=metavar, help=help)


def _limits(given: argparse.Namespace) -> Limits | None:
    values = {name: getattr(given, f"limit_{name}") for name, *_ in _LIMITS}
    if all(value is None for value in values.values()):
        return None
    seconds = values.pop("seconds")
    return Limits(**values, time=None if seconds is None else timedelta(seconds=seconds))


def _search_settings(given: argparse.Namespace) -> SearchSettings | None:
    return SearchSettings(ranking=given.ranking) if given.ranking else None


# The commands that are an operation on a space, with what is different on the command line.

DERIVED: Mapping[str, Derived] = {
    "add": Derived(Space.add, ("text",), leave_out=("raw", "extract")),
    "add-fact": Derived(
        Space.add_fact,
        ("subject", "relation", "object"),
        names={"valid_from": "--from", "valid_to": "--until"},
        leave_out=("session", "id", "metadata", "tags"),
    ),
    "search": Derived(Space.search, ("question",), leave_out=("explain",)),
    "context": Derived(
        Space.context,
        ("question",),
        leave_out=("settings", "strategy", "history", "limits"),
    ),
    "ask": Derived(
        Space.ask,
        ("question",),
        names={"max_tokens": "--max-block"},
        leave_out=("where", "settings"),
    ),
    "why": Derived(Space.why, ("question",), leave_out=("where", "settings")),
    "cypher": Derived(Space.cypher, optional=("query",), leave_out=("timeout", "parameters")),
    "messages": Derived(Space.messages, leave_out=("where", "order"), defaults={"limit": 20}),
    "update": Derived(Space.update, ("id", "text"), leave_out=("raw",)),
    "forget": Derived(Space.forget),
    "facts": Derived(
        Space.facts, optional=("entity",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "history": Derived(Space.history, ("entity",), ("relation",)),
    "entities": Derived(
        Space.entities, optional=("match",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "stats": Derived(Space.stats),
    "enrich": Derived(Queue.enrich),
    "conflicts": Derived(Review.conflicts, defaults={"limit": 20}),
    "supersede": Derived(Review.supersede, ("old", "new")),
    "retract": Derived(Review.retract, ("fact",)),
    "restore": Derived(Review.restore, ("fact",)),
    "duplicates": Derived(Review.duplicates, leave_out=("offset",), defaults={"limit": 20}),
    "merge": Derived(Review.merge, ("name",)),
    "split": Derived(Review.split, ("name",), names={"apart_from": "--from"}),
    "sessions": Derived(Overview.sessions, leave_out=("offset",), defaults={"limit": 20}),
    "episodes": Derived(
        Overview.episodes, optional=("session",), leave_out=("offset",), defaults={"limit": 20}
    ),
    "profile": Derived(Overview.profile, ("entity",)),
    "core-profile": Derived(Overview.core_profile),
    "procedures": Derived(Overview.procedures),
    "export": Derived(Files.export, ("path",)),
}

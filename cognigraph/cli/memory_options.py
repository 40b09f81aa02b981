"""The options that choose a memory, the environment behind them, and opening it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from stat import S_ISREG

from cognigraph.engine import EnrichMode
from cognigraph.errors import ConfigurationError, NotFoundError, StoreUnavailableError
from cognigraph.ingest.extractors import chosen_extractor, resolve_extractor
from cognigraph.llm import Budget, Model
from cognigraph.memory import Memory
from cognigraph.model import DEFAULT_SPACE
from cognigraph.operations.adding import REMEDY
from cognigraph.settings import Settings
from cognigraph.space import Space
from cognigraph.stores.registry import located
from cognigraph.times import zone

DEFAULT_DB = "memory.db"


@dataclass(frozen=True, slots=True)
class Options:
    """The common options, completed with the environment and the built-in defaults."""

    db: str
    chosen_db: str | None
    space: str
    json: bool
    embedder: str
    extractor: str
    auth: tuple[str, str] | None
    database: str | None
    timezone: str | None
    prices: str | None = None
    keys: str | None = None
    mcp_token: str | None = None
    model: str | None = None
    accept_loss: bool = False
    is_space_named: bool = False

    @classmethod
    def of(cls, arguments: argparse.Namespace, environ: Mapping[str, str]) -> Options:
        """Options take precedence over the environment, and the environment over the defaults."""
        given = vars(arguments)

        def variable(name: str) -> str | None:
            return environ.get(f"COGNIGRAPH_{name}") or None

        db = given.get("db") or variable("DB") or DEFAULT_DB
        auth = given.get("auth") or (variable("AUTH") if "://" in db else None)
        db, login = located(db, _auth(auth) if auth else None)
        space = variable("SPACE")
        return cls(
            db=db,
            chosen_db=db if given.get("db") else None,
            space=given.get("space", space or DEFAULT_SPACE),
            json=given.get("json", False),
            embedder=given.get("embedder") or variable("EMBEDDER") or "wordllama",
            extractor=given.get("extractor") or variable("EXTRACTOR") or chosen_extractor(),
            auth=login,
            database=given.get("database"),
            timezone=given.get("timezone"),
            prices=variable("MODEL_PRICES"),
            keys=variable("KEYS"),
            mcp_token=variable("MCP_TOKEN"),
            model=variable("MODEL"),
            accept_loss=given.get("accept_loss", False),
            is_space_named="space" in given or space is not None,
        )

    @property
    def reader(self) -> tzinfo:
        """The timezone in which times are printed."""
        return zone(self.timezone) or UTC

    @property
    def is_file(self) -> bool:
        """Whether the memory is a file."""
        return "://" not in self.db

    @property
    def flags(self) -> str:
        """The options that name this memory, for suggested commands."""
        parts = [f" --db {self.db}"] if self.db != DEFAULT_DB else []
        parts += [f" --space {self.space}"] if self.space != DEFAULT_SPACE else []
        return "".join(parts)


def _auth(text: str) -> tuple[str, str]:
    user, colon, password = text.partition(":")
    if not (user and colon):
        raise ConfigurationError("--auth (or COGNIGRAPH_AUTH) must be USER:PASSWORD")
    return user, password


def moment(text: str | None, options: Options, name: str) -> str | None:
    """Check a time given as an option, so that an error names the option."""
    if text is None:
        return None
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ConfigurationError(
            f"cannot read {name} {text!r}; use ISO 8601, such as 2026-05-20T09:00:00+02:00"
        ) from error
    if parsed.tzinfo is None and options.timezone is None:
        raise ConfigurationError(
            f"{name} {text!r} has no timezone; add an offset (+02:00, Z) or --timezone Europe/Oslo"
        )
    return text.strip()


def exists(options: Options) -> bool:
    """Whether the memory exists. A server counts as existing until opening it fails."""
    return not options.is_file or _is_there(Path(options.db).expanduser())


def _is_there(path: Path) -> bool:
    """Whether a path leads to something other than an empty file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return False
    return found.st_size > 0 or not S_ISREG(found.st_mode)


def missing(options: Options) -> StoreUnavailableError:
    """The error for a memory that does not exist."""
    where = " (choose another with --db or COGNIGRAPH_DB)" if not options.chosen_db else ""
    return StoreUnavailableError(
        f"there is no memory at {options.db}{where}; "
        "`cognigraph add` and `cognigraph import` create one"
    )


@contextmanager
def opened(
    options: Options,
    *,
    create: bool = False,
    settings: Settings | None = None,
    budget: Budget | None = None,
    enrich: EnrichMode = "manual",
    model: str | Model | None = None,
) -> Iterator[Memory]:
    """Open the memory, unless told otherwise without background enrichment.

    Raises:
        StoreUnavailableError: the memory does not exist and ``create`` is false.
    """
    if not create and not exists(options):
        raise missing(options)
    if options.accept_loss:
        settings = settings or Settings()
        settings = replace(settings, storage=replace(settings.storage, accept_loss=True))
    with Memory(
        options.db,
        auth=options.auth,
        database=options.database,
        embedder=options.embedder,
        extractor=resolve_extractor(
            options.extractor, timezone=zone(options.timezone), budget=budget
        ),
        enrich=enrich,
        timezone=options.timezone,
        settings=settings,
        model=model,
    ) as memory:
        yield memory


@contextmanager
def reading(options: Options, budget: Budget | None = None) -> Iterator[Space]:
    """Open the chosen space of an existing memory.

    Raises:
        StoreUnavailableError: the memory does not exist.
        NotFoundError: the space does not exist.
    """
    with opened(options, budget=budget) as memory:
        yield existing(memory, options)


def existing(memory: Memory, options: Options) -> Space:
    """The chosen space.

    Raises:
        NotFoundError: the space does not exist. The default space of an empty memory is accepted.
    """
    space = memory.space(options.space)
    names = memory.spaces()
    if options.space not in names and (names or options.space != DEFAULT_SPACE):
        there = f"the spaces are: {', '.join(names[:10])}" if names else "the memory is empty"
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise NotFoundError(f"no space {options.space!r} in {options.db}; {there}{more}")
    return space


_IN_OUR_WORDS = (
    (re.compile(REMEDY), ""),
    (re.compile(r"open the memory with timezone=('[^']*')"), r"give --timezone \1"),
    (re.compile(r" and open the memory with model='openai', or pass a Model"), ""),
    (re.compile(r"give its format\b"), "give its --format"),
    (
        re.compile(r"open it once with Settings\(storage=StorageSettings\(accept_loss=True\)\)"),
        "open it once with --accept-loss, as in `cognigraph stats --accept-loss`",
    ),
    (re.compile(r"^message 0: "), ""),
    (re.compile(r"^message 0 "), "the message "),
)


def in_our_words(message: str) -> str:
    """An error message of the library, reworded for the command line."""
    for pattern, words in _IN_OUR_WORDS:
        message = pattern.sub(words, message)
    return message

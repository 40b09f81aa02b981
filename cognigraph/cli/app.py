"""``main``: runs a command and returns its exit code. A failure is one line on standard error."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from cognigraph.cli import (
    asking,
    commands,
    completion,
    demo,
    evaluating,
    facts,
    hooks,
    housekeeping,
    importing,
    keys,
    listing,
    maintaining,
    searching,
    serving,
)
from cognigraph.cli.command_run import CommandRun, Interrupted
from cognigraph.cli.memory_options import Options, in_our_words
from cognigraph.cli.parser import Parser, build_parser
from cognigraph.cli.terminal import Terminal
from cognigraph.errors import CogniGraphError, StoreError
from cognigraph.operations.copying import is_export

USAGE, UNAVAILABLE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 3, 70, 130, 141
_LEAST_WIDTH, _PIPE_WIDTH = 40, 100
"""Columns of output that does not go to a terminal; ``COLUMNS`` sets another width."""


def _import(run: CommandRun) -> int:
    """Take messages, or a whole space that was exported."""
    if is_export(run.arguments.file):
        return housekeeping.restore(run)
    return importing.load(run)


def _demo(run: CommandRun) -> int:
    return demo.play(run) if run.arguments.loop else demo.demo(run)


def _completion(run: CommandRun) -> int:
    return completion.completion(run, build_parser())


_COMMANDS: dict[str, Callable[[CommandRun], int]] = {
    "demo": _demo,
    "add": commands.add,
    "import": _import,
    "watch": importing.watch,
    "search": searching.search,
    "why": asking.why,
    "context": commands.context,
    "ask": asking.ask,
    "cypher": commands.cypher,
    "spaces": listing.spaces,
    "messages": listing.messages,
    "sessions": listing.list_stored,
    "episodes": listing.list_stored,
    "core-profile": facts.core_profile,
    "procedures": listing.list_stored,
    "entities": listing.list_stored,
    "facts": listing.list_stored,
    "add-fact": facts.add_fact,
    "duplicates": listing.list_stored,
    "merge": facts.merge,
    "split": facts.split,
    "history": listing.list_stored,
    "profile": facts.profile,
    "conflicts": listing.list_stored,
    "supersede": facts.decide,
    "retract": facts.decide,
    "restore": facts.decide,
    "stats": listing.stats,
    "forget": housekeeping.forget,
    "update": housekeeping.update,
    "export": housekeeping.export,
    "backup": housekeeping.backup,
    "mcp": serving.mcp,
    "serve": serving.serve,
    "keys": keys.keys,
    "audit": keys.audit,
    "hooks": hooks.hooks,
    "enrich": commands.enrich_pending,
    "reindex": maintaining.reindex,
    "setup": serving.setup,
    "doctor": maintaining.doctor,
    "completion": _completion,
    "eval": evaluating.evaluate,
    "export-training": evaluating.export_training,
    "training-questions": evaluating.training_questions,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    columns = os.environ.get("COLUMNS", "")
    width = max(_LEAST_WIDTH, int(columns)) if columns.isdecimal() else _PIPE_WIDTH
    terminal = Terminal(width=width)
    try:
        with _termination_is_an_exit():
            code = _guarded(argv, terminal)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (such as `head`) closed the pipe. Without this, Python would report an error
        # when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


@contextmanager
def _termination_is_an_exit() -> Iterator[None]:
    """Let SIGTERM end the program cleanly, so that work in progress returns to the queue."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled only there
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _guarded(argv: Sequence[str] | None, terminal: Terminal) -> int:
    is_debugging = os.environ.get("COGNIGRAPH_DEBUG", "") not in ("", "0")
    _set_up_logging(is_debugging=is_debugging)
    try:
        return _run(argv, terminal)
    except KeyboardInterrupt as error:
        text = str(error) if isinstance(error, Interrupted) else "interrupted"
        terminal.note(f"cognigraph: {text}")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except CogniGraphError as error:
        if is_debugging:
            raise
        code = UNAVAILABLE if isinstance(error, StoreError) else USAGE
        terminal.fail(in_our_words(str(error)), type(error).__name__, code)
        return code
    except Exception as error:
        if is_debugging:
            raise
        bug = "(a bug; set COGNIGRAPH_DEBUG=1 for a traceback)"
        name = type(error).__name__
        terminal.fail(f"{name}: {error} {bug}", name, INTERNAL)
        return INTERNAL


def _run(argv: Sequence[str] | None, terminal: Terminal) -> int:
    parser = build_parser()
    Parser.is_json = "--json" in (sys.argv[1:] if argv is None else argv)
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    options = Options.of(arguments, os.environ)
    terminal.json = options.json
    return _COMMANDS[arguments.command](CommandRun(arguments, options, terminal))


def _set_up_logging(*, is_debugging: bool) -> None:
    """Show log messages, of the library and of those that it uses, only when debugging."""
    if is_debugging:
        logging.basicConfig(level=logging.DEBUG, format="%(name)s: %(message)s")
    else:
        os.environ.setdefault("LOGURU_LEVEL", "CRITICAL")  # fastembed logs with it
        for name in ("cognigraph", "neo4j"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)

"""The command line: ``cognigraph``, or ``python -m cognigraph``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from cognigraph._version import __version__

HOOK = "hook"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    A coding agent waits for ``hook``, which therefore does without all that the other commands
    load.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:  # as fast as Python starts
        sys.stdout.write(f"cognigraph {__version__}\n")
        return 0
    if words[:1] == [HOOK]:
        from cognigraph.hooks.run import main as run_hook

        os._exit(run_hook(words[1:]))  # nothing is left to be written, and an agent waits
    return _loaded()(argv)


def _loaded() -> Callable[[Sequence[str] | None], int]:
    """The program. Loading it takes a moment, in which Ctrl-C ends the process without a word."""
    import signal  # hooks and --version do without it

    before = signal.getsignal(signal.SIGINT)
    is_ours = before is signal.default_int_handler
    if is_ours:
        try:
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        except ValueError:  # only the main thread may
            is_ours = False
    try:
        from cognigraph.cli.app import main as run
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)
    return run


__all__ = ["main"]

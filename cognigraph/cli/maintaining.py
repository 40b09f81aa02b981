"""``cognigraph reindex`` and ``cognigraph doctor``: change the embedder, check the installation."""

from __future__ import annotations

import platform
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from cognigraph._version import __version__
from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun, Interrupted
from cognigraph.cli.memory_options import Options, exists, in_our_words, missing, opened
from cognigraph.cli.render import plural
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.errors import CogniGraphError, StoreUnavailableError
from cognigraph.ingest.reindex import reindex as run_reindex
from cognigraph.memory import Memory
from cognigraph.model.storage import Check
from cognigraph.settings import StorageSettings
from cognigraph.stores.registry import StoreRequest, open_store
from cognigraph.times import system_clock


def reindex(run: CommandRun) -> int:
    """Embed everything with the chosen embedder; the old one need not be installed."""
    options, terminal = run.options, run.terminal
    if not exists(options):
        raise missing(options)
    embedder = CheckedEmbedder(resolve(options.embedder))
    store = open_store(
        StoreRequest(
            location=options.db,
            embedder=None,
            auth=options.auth,
            database=options.database,
            clock=system_clock,
            storage=StorageSettings(),
        )
    )
    try:
        before = store.info
        with terminal.progress("embedding", 1) as bar:
            done = run_reindex(
                store,
                embedder,
                vectors=run.arguments.vectors,
                on_progress=lambda made, total: bar.at(
                    made / max(total, 1), f"{made:,} of {total:,} vectors"
                ),
            )
    except KeyboardInterrupt as error:
        raise Interrupted(
            "interrupted; the old vectors are still in use; run the same command again to continue"
        ) from error
    finally:
        store.close()
    terminal.document(
        {"before": before.embedder, "after": done.embedder, "vectors": done.vectors,
         "resumed": done.resumed, "seconds": done.seconds,
         "switch_seconds": done.switch_seconds}
    )  # fmt: skip
    name = done.embedder.name
    if before.embedder == done.embedder and not done.seconds:
        terminal.show(render.text(f"{options.db} already has the embedder {name}"))
    else:
        terminal.show(
            render.text(
                f"{plural(done.vectors, 'vector')} in {done.seconds:.1f} s; {options.db} now has "
                f"the embedder {name} ({done.embedder.dimension} dimensions)"
            )
        )
    return OK


_PACKAGES = ("numpy", "rich", "wordllama", "neo4j", "fastembed")
_SQLITE = (3, 37, 0)


def doctor(run: CommandRun) -> int:
    """Run every check; the exit code says whether all passed."""
    found = [*_installation(), *_embedder(run.options), *_store(run.options)]
    ok = all(check.ok for check in found)
    run.terminal.document({"ok": ok, "checks": found})
    table = render.listing(
        found, run.options.reader, ("", lambda check: "ok" if check.ok else "FAIL"), "check=name",
        ("finding", _finding), most=None,
    )  # fmt: skip
    run.terminal.show(table)
    failed = sum(not check.ok for check in found)
    run.terminal.show(
        render.text("no problems found" if ok else f"{plural(failed, 'problem')} found")
    )
    return OK if ok else FOUND_PROBLEM


def _finding(check: Check) -> str:
    """What was found, and what to do about it."""
    return check.detail if check.ok or not check.advice else f"{check.detail} -> {check.advice}"


def _installation() -> Iterator[Check]:
    yield Check(
        "cognigraph",
        True,
        f"{__version__}, Python {platform.python_version()} on {platform.system()}",
    )
    yield Check(
        "SQLite library",
        sqlite3.sqlite_version_info >= _SQLITE,
        f"{sqlite3.sqlite_version} (needs {'.'.join(map(str, _SQLITE))}), "
        f"{'' if sqlite3.threadsafety else 'not '}thread-safe",
        "use a newer build of Python",
    )
    installed = []
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed.append(f"{package} {version(package)}")
    yield Check("packages", True, ", ".join(installed))


def _embedder(options: Options) -> Iterator[Check]:
    try:
        started = time.perf_counter()
        embedder = CheckedEmbedder(resolve(options.embedder))
        embedder.embed(["The ferry to the island leaves at nine o'clock."])
    except CogniGraphError as error:
        yield Check("embedder", False, str(error), "choose another with --embedder")
        return
    identity = embedder.identity
    yield Check(
        "embedder",
        True,
        f"{identity.name}, {identity.dimension} dimensions, loaded in "
        f"{time.perf_counter() - started:.1f} s",
    )


def _store(options: Options) -> Iterator[Check]:
    name = "memory"
    if not exists(options):
        if options.chosen_db:
            advice = "check the path; `cognigraph add` and `cognigraph import` create a new memory"
            yield Check(name, False, f"there is no memory at {options.db}", advice)
        else:
            yield Check(name, True, f"none at {options.db} yet; choose another with --db")
        return
    try:
        with opened(options) as memory:
            info = memory.info
            written_by = f"{info.embedder.name}, {info.embedder.dimension} dimensions"
            yield Check(
                name,
                True,
                f"{info.location} ({info.kind}, schema {info.schema_version}, {written_by})",
            )
            yield from memory.admin.check()
            yield from _work(memory)
    except StoreUnavailableError as error:
        advice = "start the server, or check the address and the credentials; then try again"
        yield Check(name, False, in_our_words(str(error)), "" if options.is_file else advice)
    except CogniGraphError as error:
        yield Check(name, False, in_our_words(str(error)), "check --db, --auth and --database")


def _work(memory: Memory) -> Iterator[Check]:
    """Check for work that waits or was parked, in all spaces."""
    waiting = due = failed = vectors = 0
    problems: list[str] = []
    spaces = memory.spaces()
    for name in spaces:
        space = memory.space(name)
        stats = space.stats()
        waiting += stats.pending + stats.leased
        due += stats.summaries_pending
        vectors += stats.vectors_pending
        parked = stats.failed + stats.summaries_failed
        failed += parked
        if parked:
            problems += [f"{name}: {failure.reason}" for failure in space.queue.failures()[:1]]
    yield Check(
        "enrichment",
        failed == 0,
        f"{plural(len(spaces), 'space')}, {plural(waiting, 'chunk')} waiting, "
        + (f"{plural(vectors, 'vector')} waiting, " if vectors else "")
        + (f"{plural(due, 'summary')} due, " if due else "")
        + f"{failed:,} parked"
        + "".join(f"; {problem}" for problem in problems[:3]),
        "try them again with: cognigraph enrich --retry-failed"
        + (" (once per space, with --space)" if len(spaces) > 1 else ""),
    )

"""``cognigraph reindex``: changes the embedder of a memory in place."""

from __future__ import annotations

from cognigraph.cli import render
from cognigraph.cli.commands import OK, CommandRun, Interrupted
from cognigraph.cli.format_values import plural
from cognigraph.cli.open_memory import exists, missing
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.ingest.reindex import reindex as run_reindex
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

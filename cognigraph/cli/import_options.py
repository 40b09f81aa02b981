"""Options of the commands that read files: ``import`` and ``watch``."""

from __future__ import annotations

import argparse
from typing import Any

from cognigraph.cli.numbers import amount
from cognigraph.importers.formats import AUTO, READERS

_IMPORT = """\
Store the messages of a file, of an exported archive (.zip), or of a folder of Markdown notes.
Running it again continues where it was interrupted and skips what is stored already. A file that
`export` has written is read into a space that holds no messages."""

_WATCH = """\
Keep the memory in step with a folder of Markdown notes: read all of them, then look every few
seconds for notes that were added, changed or deleted. A section whose text changes gets a new
version; a section or note that is deleted is forgotten. Ctrl-C ends it."""


def add_import_commands(command: Any) -> None:
    """Add the commands."""
    load = command("import", "store the messages of a file or folder", _IMPORT)
    load.formatter_class = argparse.RawDescriptionHelpFormatter
    load.epilog = "formats:\n" + "\n".join(
        f"  {reader.name:<12} {reader.what}" for reader in READERS.values()
    )
    load.add_argument("file", metavar="FILE", help='file, .zip or folder; "-" is standard input')
    load.add_argument(
        "--format",
        choices=(AUTO, *READERS),
        default=AUTO,
        metavar="NAME",
        help="one of the formats below (default: auto, by its content; a folder is markdown)",
    )
    load.add_argument(
        "--dry-run", action="store_true", help="store nothing; say what would be stored"
    )
    load.add_argument(
        "--skip-invalid", action="store_true", help="leave out messages that cannot be stored"
    )
    load.add_argument(
        "--session",
        metavar="ID",
        help="the session of messages without one, or of all those of a chat export",
    )
    load.add_argument(
        "--speaker", metavar="NAME", help="who said what has neither a speaker nor a role"
    )
    load.add_argument(
        "--columns",
        metavar="FIELD=COLUMN,...",
        help="which column or field holds what: text=body,at=sent",
    )
    load.add_argument(
        "--prune", action="store_true", help="forget sections that are no longer in the notes"
    )
    load.add_argument(
        "--no-enrich", action="store_true", help="only store; `cognigraph enrich` enriches later"
    )
    _watch(command)


def _watch(command: Any) -> None:
    watch = command("watch", "keep the memory in step with a folder of Markdown notes", _WATCH)
    watch.add_argument("folder", metavar="FOLDER")
    watch.add_argument(
        "--every", type=amount, default=2.0, metavar="SECONDS", help="time between looks (2)"
    )
    watch.add_argument("--speaker", metavar="NAME", help="who wrote the notes")
    watch.add_argument(
        "--keep", action="store_true", help="keep sections and notes that were deleted"
    )
    watch.add_argument(
        "--no-enrich", action="store_true", help="only store; `cognigraph enrich` enriches later"
    )
